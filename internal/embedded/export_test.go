package embedded

// PostgresHome is exported for tests.
func PostgresHome(dataDir string) (string, error) {
	home, _, err := postgresHome(dataDir)
	return home, err
}

// ServerCredential is the user that PostgreSQL runs as; ok is false for our own.
func ServerCredential() (uid, gid uint32, ok bool) {
	acct, err := serverAccount("")
	if err != nil || acct == nil {
		return 0, 0, false
	}
	return acct.uid, acct.gid, true
}

// ProcessLives reports whether a process with the id runs.
func ProcessLives(pid int) bool {
	_, ok := processStart(pid)
	return ok
}

// ParseMajor is exported for tests.
var ParseMajor = parseMajor

// CheckRoomOf is CheckRoom with another bound.
func CheckRoomOf(dir string, least int64) error { return checkRoom(dir, least) }

// OrBelow is what puts a full disk before an error, with another bound.
func OrBelow(least int64, err error, dirs ...string) error { return orBelow(least, err, dirs...) }

// BinaryRepository is where builds of PostgreSQL are fetched from.
var BinaryRepository = binaryRepository

// StartPatiently is exported for tests.
var StartPatiently = startPatiently
