package domain

import "time"

// Retention says how long what is over is kept.
type Retention struct {
	Events time.Duration // the events of turns; runs, commands and idempotency keys; 0: for ever
	Audit  time.Duration // entries of the audit; 0: for ever
	Values time.Duration // large values, from when nothing refers to them any more
}

// Housekeeping counts what was removed.
type Housekeeping struct {
	Partitions []string // months of events
	Runs       int64    // readings and deletions of repositories, with their events
	Commands   int64    // on machines, with their outputs and events
	Keys       int64    // idempotency keys
	Values     int64    // large values
	Versions   int64    // superseded or never finished, of the code graph
	Blobs      int64    // contents of files
	Audit      int64    // entries of the audit
	Leftovers  int64    // sessions that ended, counts of attempts, and other rows that nothing asks for
}

// Any reports whether anything was removed.
func (h Housekeeping) Any() bool {
	return len(h.Partitions) > 0 || h.Runs+h.Commands+h.Keys+h.Values+h.Versions+h.Blobs+h.Audit+h.Leftovers > 0
}
