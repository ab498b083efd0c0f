// Package embedded runs the servers that Harvest stands on when nobody else runs them:
// PostgreSQL and the project's own build of the Temporal server, as supervised children
// on the loopback interface, with all their data in one folder.
//
// Start gives a running Stack. A child that dies is started again; children of a parent
// that was killed end with it, or are ended by the next Start on the same data folder.
package embedded

import "time"

// Progress says how far a long step of a start is: a download, a build, the making of a
// database.
type Progress struct {
	Step    string        // what is being done, for people
	Done    int64         // in Unit
	Total   int64         // in Unit; 0 where unknown
	Unit    string        // "bytes", "packages", …; "" where nothing is counted
	Elapsed time.Duration // since the step began
	Ended   bool          // the step is over
	Failed  bool          // it is over, and it failed
}

// ProgressFunc is told of Progress: when a step begins, about once a second while it
// lasts, and when it ends. It is called from one goroutine at a time for one step.
type ProgressFunc func(Progress)
