-- A decision names its action by the conversation that it belongs to.
create index actions_conversation on actions (conversation_id, id);
