package domain

// maxNotedLine is how much of a command line a project's feed tells, in bytes.
const maxNotedLine = 2000

// OrderedEvent tells a project that a person has ordered the command, which runs without an
// approval. name is the person's.
func (c Command) OrderedEvent(name string) NewEvent {
	payload := c.noted(name)
	payload["command"], payload["description"] = cutText(c.Command, maxNotedLine), c.Description
	return c.note(EventCommandOrdered, payload)
}

// EndedEvent tells a project how a person's command has ended.
func (c Command) EndedEvent(name string) NewEvent {
	payload := c.noted(name)
	payload["status"], payload["exit_code"], payload["error"] = c.Status, c.ExitCode, c.Error
	return c.note(EventCommandEnded, payload)
}

// noted names a command as its action is named where it waits for an approval.
func (c Command) noted(name string) map[string]any {
	return map[string]any{"id": c.ID, "agent_id": c.AgentID, "hostname": c.Hostname, "requester": c.UserID, "requester_name": name}
}

func (c Command) note(kind EventType, payload map[string]any) NewEvent {
	e := NewPayload(kind, payload)
	e.CallID = c.ID
	return e
}
