// Package secrets keeps the secrets of projects: it seals values before they reach the store,
// opens them for the tools that may use them, and takes them out of every text that leaves.
//
// A value is sealed with XChaCha20-Poly1305 (Tink) under a key derived from the configured
// one, bound to its project, name and version: a row that is moved or renamed does not open.
package secrets
