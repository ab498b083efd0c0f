// Package obs makes the logs of Harvest: one JSON line per entry with timestamp, level,
// service and event, a readable form on a terminal, and the ids that a context carries.
package obs

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"
)

// The forms of a log.
const (
	FormatAuto    = "auto"    // console on a terminal, JSON elsewhere
	FormatJSON    = "json"    // one object a line
	FormatConsole = "console" // for people
)

// New makes the logger of a process. Level is trace, debug, info, warn or error; service
// names the process ("up", "serve", "worker"). The text given to Msg is the entry's event.
func New(w io.Writer, format, level, service string) (zerolog.Logger, error) {
	at, err := zerolog.ParseLevel(level)
	if err != nil || level == "" {
		return zerolog.Nop(), fmt.Errorf("log level %q is none of trace, debug, info, warn, error", level)
	}
	// The library keeps these names in package variables; every logger of the process shares them.
	nameFields()
	switch {
	case format == FormatConsole, format == FormatAuto && terminal(w):
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly, NoColor: !terminal(w)}
	case format != FormatJSON && format != FormatAuto:
		return zerolog.Nop(), fmt.Errorf("log format %q is none of auto, json, console", format)
	}
	return zerolog.New(w).Level(at).Hook(contextFields{}).With().Timestamp().Str("service", service).Logger(), nil
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
