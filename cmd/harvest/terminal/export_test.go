package terminal

// Prose writes a piece of text as an answer's.
func (t *Turn) Prose(piece string) { t.text.write(piece) }
