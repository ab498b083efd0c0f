package web

// Parse is parse, for tests outside.
var Parse = parse

func (s *Server) Mount() { s.mount() }
