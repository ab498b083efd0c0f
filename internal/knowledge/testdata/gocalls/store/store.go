// Package store keeps entries.
package store

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"

	"example.com/ledger/internal/clock"
)

// ErrMissing says that nothing is there.
var ErrMissing = errors.New("missing")

// Entry is a line of the ledger.
type Entry struct {
	ID     string
	Amount Money
	Tags   []Tag
	parent *Entry
}

// Money is an amount in cents.
type Money int64

// Add adds.
func (m Money) Add(o Money) Money { return m + o }

// String renders.
func (m Money) String() string { return fmt.Sprintf("%d.%02d", m/100, m.abs()%100) }

func (m Money) abs() Money {
	if m < 0 {
		return -m
	}
	return m
}

// Tag is a label.
type Tag struct{ Name string }

func (t *Tag) normal() string { return strings.ToLower(t.Name) }

// Root gives the topmost parent.
func (e *Entry) Root() *Entry {
	if e.parent == nil {
		return e
	}
	return e.parent.Root()
}

// Label renders.
func (e *Entry) Label() string {
	names := make([]string, len(e.Tags))
	for i := range e.Tags {
		names[i] = e.Tags[i].normal()
	}
	sort.Strings(names)
	return e.Amount.String() + strings.Join(names, ",")
}

// Reader reads entries.
type Reader interface {
	Get(ctx context.Context, id string) (*Entry, error)
	Each(ctx context.Context, visit func(*Entry) error) error
}

// Writer writes entries.
type Writer interface {
	Put(ctx context.Context, e *Entry) error
}

// Store does both.
type Store interface {
	Reader
	Writer
	Close() error
}

// Memory is a Store.
type Memory struct {
	mu      sync.Mutex
	entries map[string]*Entry
	clock   clock.Clock
	hooks   []Hook
	index   *Index[string, *Entry]
}

// Hook is told of each entry.
type Hook func(*Entry) error

// HookOf is a Hook that is an interface too.
func (h Hook) Handle(e *Entry) error { return h(e) }

// NewMemory makes a Memory.
func NewMemory(opts ...Option) *Memory {
	m := &Memory{entries: map[string]*Entry{}, clock: clock.Default, index: NewIndex[string, *Entry]()}
	for _, opt := range opts {
		opt(m)
	}
	return m
}

// Option changes a Memory.
type Option func(*Memory)

// WithClock sets the clock.
func WithClock(c clock.Clock) Option { return func(m *Memory) { m.clock = c } }

// WithHook adds a hook.
func WithHook(h Hook) Option {
	return func(m *Memory) { m.addHook(h) }
}

func (m *Memory) addHook(h Hook) { m.hooks = append(m.hooks, h) }

// Get implements Reader.
func (m *Memory) Get(_ context.Context, id string) (*Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[id]
	if !ok {
		return nil, missing(id)
	}
	return e.Root(), nil
}

// Put implements Writer.
func (m *Memory) Put(ctx context.Context, e *Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	check := validate
	if err := check(e); err != nil {
		return err
	}
	m.store(e)
	for _, h := range m.hooks {
		if err := h.Handle(e); err != nil {
			return wrap(err, e)
		}
	}
	m.clock.Sleep(1)
	return nil
}

func (m *Memory) store(e *Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[e.ID] = e
	m.index.Add(e.ID, e)
}

// Each implements Reader.
func (m *Memory) Each(ctx context.Context, visit func(*Entry) error) error {
	for _, id := range m.index.Keys() {
		e, err := m.Get(ctx, id)
		if err != nil {
			return err
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Store.
func (m *Memory) Close() error { return nil }

func validate(e *Entry) error {
	if e.ID == "" || e.Amount.abs() == 0 {
		return missing(e.ID)
	}
	return nil
}

func missing(id string) error { return fmt.Errorf("%q: %w", id, ErrMissing) }

func wrap(err error, e *Entry) error {
	return fmt.Errorf("entry %s: %w", e.Label(), err)
}
