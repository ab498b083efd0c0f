// Package worker runs workflows and activities: it registers them on one screen, names the
// task queues, sets what a worker may take of the machine, and guards what leaves for
// Temporal with a codec that compresses and encrypts.
package worker
