package domain

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// How the tokens of machines begin.
const (
	InstallTokenPrefix = "hvi_" // joins a project
	AgentTokenPrefix   = "hva_" // permanent, of one agent
)

// tokenBytes are 160 random bits: nobody guesses them, so their plain hash can be kept.
const tokenBytes = 20

// NewMachineToken makes a token with one of the prefixes, and the hash that is kept of it.
func NewMachineToken(prefix string) (text string, hash []byte) {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never returns an error
	text = prefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
	return text, MachineTokenHash(text)
}

// MachineTokenHash gives what is kept of a token: its SHA-256.
func MachineTokenHash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}
