// Package live holds the newest end of event logs in memory, for readers that follow them.
//
// A Feed mirrors the last events of one subject, text that is not committed yet included.
// Readers pull from it at their own pace and own no buffer: one that is too slow, or asks
// for what the feed does not hold, reads the database and comes back. A feed exists only
// while it has readers, and nothing in it is ever trusted over a committed row.
package live
