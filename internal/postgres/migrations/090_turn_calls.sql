-- The calls and messages of a turn are written under the lock of its log, which is made with the turn.
-- A key would look the turn up, and lock its row, for each of them once more. Whoever removes a turn
-- removes them too.
alter table turn_messages drop constraint turn_messages_turn_id_fkey;
alter table turn_calls drop constraint turn_calls_turn_id_fkey;
