package domain

import (
	"strings"
	"time"
)

// Span gives a length of time as people write it, such as 5m, 1h30m or 36h: as
// time.ParseDuration takes it, without the parts that are nothing.
func Span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
