// Package engine starts, decides, cancels and asks: it is the one way by which the API, the
// command line and every other front reach workflows.
//
// A front's request is a row first: the store commits it, then its workflow is started. A
// sweeper starts what that missed, and a reconciler ends rows whose workflow is gone, so that
// every id that was given to a client comes to a terminal event. Any number of processes may
// run both beside each other.
package engine
