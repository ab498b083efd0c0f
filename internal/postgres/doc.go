// Package postgres keeps turns, their events and their conversations in PostgreSQL.
//
// The rows are the truth: a workflow only drives them. Every state change commits together
// with the event that tells of it, every append is one SQL statement that checks who may
// write, and a reader can begin at any event it has seen.
package postgres
