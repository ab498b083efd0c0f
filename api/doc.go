// Package api is the HTTP front of Harvest: REST and server-sent events as existing
// clients know them.
//
// Every route stands in routes.go. A handler is a function from a decoded request to a
// value; endpoint.go decodes, validates, calls and encodes, errors.go gives every failure
// the same envelope, auth.go says who calls, and sse.go streams events. What the API needs
// from the rest of the engine are the interfaces of ports.go.
package api
