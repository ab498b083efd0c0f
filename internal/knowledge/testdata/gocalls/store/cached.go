package store

import "context"

// Cached keeps what it read.
type Cached struct {
	Store
	seen  map[string]*Entry
	stats struct {
		hits, misses counter
	}
	onMiss func(id string)
}

type counter int

func (c *counter) inc() { *c++ }

// NewCached wraps a Store.
func NewCached(inner Store) *Cached {
	return &Cached{Store: inner, seen: map[string]*Entry{}, onMiss: ignore}
}

func ignore(string) {}

// Get implements Reader.
func (c *Cached) Get(ctx context.Context, id string) (*Entry, error) {
	if e, ok := c.seen[id]; ok {
		c.stats.hits.inc()
		return e, nil
	}
	c.stats.misses.inc()
	c.onMiss(id)
	e, err := c.Store.Get(ctx, id)
	if err == nil {
		c.remember(e)
	}
	return e, err
}

func (c *Cached) remember(e *Entry) { c.seen[e.ID] = e }

// Reload reads all again.
func (c *Cached) Reload(ctx context.Context) error {
	remember := c.remember
	return c.Each(ctx, func(e *Entry) error {
		remember(e)
		return nil
	})
}

// Drain moves all to another.
func (c *Cached) Drain(ctx context.Context, to Writer) (err error) {
	defer func() {
		if e := c.Close(); err == nil {
			err = e
		}
	}()
	put := to.Put
	return c.Each(ctx, func(e *Entry) error { return put(ctx, e) })
}

var _ Store = (*Cached)(nil)

func open(kind string) Store {
	make := map[string]func() Store{
		"memory": func() Store { return NewMemory() },
		"cached": func() Store { return NewCached(NewMemory()) },
	}
	if f, ok := make[kind]; ok {
		return f()
	}
	return nil
}

// Open opens a Store of a kind.
func Open(kind string) (Store, error) {
	if s := open(kind); s != nil {
		return s, nil
	}
	return nil, missing(kind)
}
