package api

import "time"

// Routes lists "METHOD path" of every route.
func (s *Server) Routes() []string {
	var list []string
	for _, r := range s.routes() {
		for _, method := range r.methods() {
			list = append(list, method+" "+r.path)
		}
	}
	return list
}

// SetKeepAlive changes how often idle streams show a sign of life.
func (s *Server) SetKeepAlive(every time.Duration) { s.keepAlive = every }

// SetClock replaces the clock.
func (s *Server) SetClock(now func() time.Time) { s.now = now }

// SetSendLimit changes how long a client may take to accept what is sent.
func (s *Server) SetSendLimit(limit time.Duration) { s.sendLimit = limit }
