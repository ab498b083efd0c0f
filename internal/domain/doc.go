// Package domain holds the nouns of Harvest and the rules that belong to them alone:
// turns, events, messages, tools, repositories, symbols and citations.
//
// It imports the standard library only, so that every other package may import it.
package domain
