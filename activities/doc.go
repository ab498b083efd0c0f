// Package activities holds what workflows let happen: one struct a file, with its
// dependencies as small interfaces declared beside it. Activities are idempotent by a key
// derived from the workflow, heartbeat while they work, and return domain errors.
package activities
