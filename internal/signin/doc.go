// Package signin knows who people are: local accounts with passwords, providers that speak
// OpenID Connect, and the sessions of browsers. It keeps nothing itself; see Store.
package signin
