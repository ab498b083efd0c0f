package llm

import (
	"errors"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The waits before a model call is made again.
const (
	timeoutBase   = 2 * time.Second
	rateLimitBase = 30 * time.Second
	overloadWait  = 5 * time.Second
	maxRetryAfter = 5 * time.Minute
	maxDoublings  = 4
)

// RetryDelay says whether a model call that ended in err may succeed if it is made again,
// and how long to wait before. failures counts the call's failures before this one.
//
// A timeout or a lost connection waits 2 s, doubled with each failure up to 32 s; a rate
// limit waits what the service asked for, up to 5 minutes, or else 30 s, doubled up to
// 8 minutes; an overload waits 5 s. Nothing else is worth another try.
func RetryDelay(err error, failures int) (wait time.Duration, retry bool) {
	doubled := time.Duration(1) << min(max(failures, 0), maxDoublings)
	switch domain.CodeOf(err) {
	case domain.CodeTimeout, domain.CodeUnavailable:
		return timeoutBase * doubled, true
	case domain.CodeRateLimited:
		if asked := waitOf(err); asked > 0 {
			return min(asked, maxRetryAfter), true
		}
		return rateLimitBase * doubled, true
	case domain.CodeOverloaded:
		return overloadWait, true
	}
	return 0, false
}

// waitOf gives the wait that err asks for, 0 where it asks for none.
func waitOf(err error) time.Duration {
	var e *domain.Error
	if errors.As(err, &e) {
		return e.Wait
	}
	return 0
}
