package postgres

// Statements gives every SQL statement by name.
func Statements() map[string]string { return statements }
