// Package crashtest holds tests that kill things: workers, APIs, servers and all of them at
// once, in the middle of turns, on a real stack. Whatever is killed, no turn is lost, no tool
// call with a committed outcome is run again, every reader gets one gapless sequence of
// events, and the answer is the one that an undisturbed turn gives.
package crashtest
