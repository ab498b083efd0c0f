package lxd

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// waitSpell is how long one request waits for an operation; then the next one does.
	waitSpell = 20 * time.Second
	// watchSpell is it where somebody is told how far the operation is.
	watchSpell = 3 * time.Second
	// waitPatience is how long a server that is away may take to come back amid a wait.
	waitPatience = 30 * time.Second
	waitPause    = 500 * time.Millisecond
	// cancelLimit bounds what is done for an operation that nobody waits for any more.
	cancelLimit = 5 * time.Second
)

// operation implements Operation.
type operation struct {
	client *Client
	doing  string // what it does, in words
	id     string
	// handler is told how the operation stands; nil for nobody.
	handler func(OperationInfo)
}

// AddHandler implements Operation.
func (o *operation) AddHandler(handler func(OperationInfo)) { o.handler = handler }

// begin sends a call that begins an operation.
func (c *Client) begin(ctx context.Context, l call) (*operation, OperationInfo, error) {
	var info OperationInfo
	l.out = &info
	a, err := c.do(ctx, l)
	if err != nil {
		return nil, info, err
	}
	path, _, _ := strings.Cut(a.Operation, "?") // servers of a cluster name the project behind it
	id := path[strings.LastIndex(path, "/")+1:]
	if a.Type != "async" || id == "" {
		return nil, info, domain.Errorf(domain.CodeUpstream, "LXD could not %s: it answered without an operation", l.doing)
	}
	return &operation{client: c, doing: l.doing, id: id}, info, nil
}

// GetOperation implements InstanceServer.
func (c *Client) GetOperation(id string) Operation {
	return &operation{client: c, doing: "end the operation " + id, id: id}
}

// GetOperations implements InstanceServer.
func (c *Client) GetOperations(ctx context.Context) ([]OperationInfo, error) {
	byStatus := map[string][]OperationInfo{}
	_, err := c.do(ctx, call{
		doing: "list its operations", method: http.MethodGet, path: []string{"operations"},
		query: url.Values{"recursion": {"1"}}, out: &byStatus,
	})
	var all []OperationInfo
	for _, list := range byStatus {
		all = append(all, list...)
	}
	return all, err
}

// Wait implements Operation.
func (o *operation) Wait(ctx context.Context) (OperationInfo, error) {
	var away time.Time // since when the server has not answered
	for {
		info, err := o.spell(ctx)
		switch {
		case ctx.Err() != nil:
			return info, o.abandon(ctx)
		case err == nil && info.over():
			return info, o.outcome(info)
		case err == nil:
			away = time.Time{}
		case domain.CodeOf(err) == domain.CodeNotFound:
			return info, domain.Errorf(domain.CodeUnavailable, "LXD lost the operation to %s: it was restarted, or is another server now", o.doing)
		case domain.CodeOf(err) != domain.CodeUnavailable:
			return info, err
		default:
			if away.IsZero() {
				away = time.Now()
			}
			if time.Since(away) > waitPatience {
				return info, err
			}
			pause(ctx, waitPause)
		}
	}
}

// pause waits, or ends with ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// spell waits for one spell, and gives the operation as it is then.
func (o *operation) spell(ctx context.Context) (info OperationInfo, err error) {
	length := waitSpell
	if o.handler != nil {
		length = watchSpell
	}
	_, err = o.client.do(ctx, call{
		doing: o.doing, method: http.MethodGet, path: []string{"operations", o.id, "wait"},
		query: url.Values{"timeout": {strconv.Itoa(int(length.Seconds()))}},
		limit: length + o.client.limit, out: &info,
	})
	if err == nil && o.handler != nil {
		o.handler(info)
	}
	return info, err
}

// outcome gives the error that the operation ended with.
func (o *operation) outcome(info OperationInfo) error {
	switch {
	case info.StatusCode == operationSucceeded:
		return nil
	case info.StatusCode == operationCanceled && info.Err == "":
		return domain.Errorf(domain.CodeUpstream, "LXD could not %s: somebody canceled the operation there", o.doing)
	}
	return refused(o.doing, info.StatusCode, info.Err)
}

// abandon stops an operation that nobody waits for any more, as far as it can be.
func (o *operation) abandon(ctx context.Context) error {
	short, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelLimit)
	defer stop()
	_ = o.Cancel(short) // many can't be canceled: whoever cleans up waits for them
	return fmt.Errorf("%s: %w", o.doing, context.Cause(ctx))
}

// Cancel implements Operation.
func (o *operation) Cancel(ctx context.Context) error {
	_, err := o.client.do(ctx, call{
		doing: "cancel its operation to " + o.doing, method: http.MethodDelete, path: []string{"operations", o.id}, limit: cancelLimit,
	})
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil
	}
	return err
}
