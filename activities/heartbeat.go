package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
)

// heartbeatEvery is how often an activity tells that it lives. It learns that it was canceled
// by the answer, so within two of these at most: the SDK may hold one back. The server waits
// 10 s before it gives up.
const heartbeatEvery = time.Second

// beat heartbeats for the running activity until stop is called. An activity that ends
// within heartbeatEvery sends none.
func beat(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return func() {
		cancel()
		<-stopped
	}
}
