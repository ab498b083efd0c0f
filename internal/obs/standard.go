package obs

import (
	"bytes"
	stdlog "log"

	"github.com/rs/zerolog"
)

// TakeStandard makes log write what libraries say through Go's own log package, which else
// goes to standard error as it is: HTTP servers and model SDKs do. It is for the process's
// one logger.
func TakeStandard(log zerolog.Logger) {
	stdlog.SetFlags(0)
	stdlog.SetOutput(Library(log))
}

// Library gives a writer that makes an entry of each write of a library's own log.
func Library(log zerolog.Logger) LibraryLog { return LibraryLog{log} }

// LibraryLog is an io.Writer for a library's own log.
type LibraryLog struct{ log zerolog.Logger }

// Write implements io.Writer.
func (l LibraryLog) Write(line []byte) (int, error) {
	if text := bytes.TrimSpace(line); len(text) > 0 {
		l.log.Warn().Bytes("text", text).Msg("library_log")
	}
	return len(line), nil
}
