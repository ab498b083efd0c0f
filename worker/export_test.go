package worker

import (
	"time"

	"github.com/rs/zerolog"
	"go.temporal.io/sdk/interceptor"

	"github.com/harvest-engine/harvest/workflows"
)

// Guard gives the interceptor that stands before every activity of a worker.
func Guard(log zerolog.Logger) interceptor.WorkerInterceptor {
	return &guard{log: log, drain: time.Minute, finish: time.Minute}
}

// Stopping gives the interceptor of a worker with its own limits for what runs as it stops.
func Stopping(drain, finish time.Duration) interceptor.WorkerInterceptor {
	return &guard{log: zerolog.Nop(), drain: drain, finish: finish}
}

// ServedQueues names the task queues that a worker would poll.
func ServedQueues(q workflows.Queues, keys []string) (names []string, err error) {
	list, err := served(q, keys)
	for _, class := range list {
		names = append(names, class.name)
	}
	return names, err
}
