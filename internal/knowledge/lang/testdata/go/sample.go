//go:build !ignore

// Package shop sells things.
package shop

import (
	"context"
	"errors"
	"fmt"
	. "math"
	"net/http"
	_ "net/http/pprof"
	str "strings"
	"sync"

	"example.com/shop/stock"
)

// ErrEmpty says that nothing is there.
var ErrEmpty = errors.New("empty")

// Limits of a basket.
const (
	// MaxItems bounds a basket.
	MaxItems         = 100
	maxPrice float64 = 1e6 // not a doc
)

const (
	Small Size = iota
	Large
)

var defaultStore, backup = NewStore(nil), &Store{}

var handlers = map[string]func(*Store) error{
	"refill": func(s *Store) error { return s.Refill(context.Background(), 1) },
	"close":  closeStore,
}

var _ Keeper = (*Store)(nil)

// Size is how big a thing is.
type Size int

type Price = float64

type Predicate[T any] func(T) bool

// Keeper keeps
// items.
type Keeper interface {
	fmt.Stringer
	// Keep stores an item.
	Keep(ctx context.Context, items ...*Item) (n int, err error)
	Find(id string) *Item
}

type Number interface {
	~int | ~float64
}

// Item is a thing.
type Item struct {
	ID    string `json:"id"`
	Size  Size
	Price Price
	tags  map[string]Tag
	next  *Item
}

type Tag struct{ Name string }

type Base struct{ log Logger }

type Logger interface {
	Printf(format string, args ...any)
}

// Store is a Keeper.
type Store struct {
	*Base
	sync.Mutex
	stock.Counter
	items   []*Item
	byID    map[string]*Item
	client  *http.Client
	pool    Pool[*Item]
	onClose func() error
	queue   chan *Item
}

// Pool is generic.
type Pool[T any] struct {
	free []T
	make func() T
}

func (p *Pool[T]) Get() (item T, ok bool) {
	if n := len(p.free); n > 0 {
		item, p.free = p.free[n-1], p.free[:n-1]
		return item, true
	}
	return p.make(), false
}

// NewStore opens a store.
func NewStore(client *http.Client) *Store {
	s := &Store{client: client, byID: make(map[string]*Item), pool: Pool[*Item]{make: newItem}}
	s.log.Printf("opened %d", Abs(1))
	return s
}

func newItem() *Item { return new(Item) }

func closeStore(s *Store) error {
	defer s.Unlock()
	s.Lock()
	if s.onClose != nil {
		return s.onClose()
	}
	return nil
}

// Keep implements Keeper.
func (s *Store) Keep(ctx context.Context, items ...*Item) (int, error) {
	for i, item := range items {
		if err := item.validate(); err != nil {
			return i, fmt.Errorf("keep %s: %w", item.ID, err)
		}
		s.byID[item.ID].merge(item)
		items[i].next.touch()
	}
	for key, tag := range items[0].tags {
		_ = str.ToUpper(key)
		tag.Print()
	}
	return len(items), s.Flush(ctx)
}

func (s *Store) Find(id string) *Item { return s.byID[id] }

func (s Store) String() string { return Sum(s.items, (*Item).Cost) }

func (s *Store) Refill(ctx context.Context, n int) error {
	resp, err := s.client.Get("http://example.com")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	spare, ok := s.pool.Get()
	if !ok {
		spare.touch()
	}
	counter := stock.NewCounter(n)
	counter.Add(n)
	stock.Default.Reset()
	stock.Open("x").Sub("y").Close()
	found := s.Find("a")
	found.touch()
	NewStore(s.client).Find("b").touch()
	go func(it *Item) {
		it.touch()
		select {
		case next := <-s.queue:
			next.touch()
		case s.queue <- newItem():
		}
	}(found)
	for it := range s.queue {
		it.touch()
	}
	return defaultStore.Flush(ctx)
}

func (s *Store) Flush(ctx context.Context) error {
	type entry struct {
		item *Item
		err  error
	}
	check := func(it *Item) error { return it.validate() }
	var last entry
	for _, it := range s.items {
		last = entry{it, check(it)}
		last.item.touch()
	}
	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		r.Context()
	})
	handler.ServeHTTP(nil, nil)
	return last.err
}

func (i *Item) validate() error {
	if i == nil {
		return ErrEmpty
	}
	return nil
}

func (i *Item) merge(other *Item) { *i = *other }
func (i *Item) touch()            {}
func (i *Item) Cost() float64     { return float64(i.Price) * Sqrt(2) }
func (t Tag) Print()              { fmt.Println(t.Name) }

// Sum adds.
func Sum[T any, N Number](items []T, cost func(T) N) string {
	var total N
	for _, item := range items {
		total += cost(item)
	}
	return fmt.Sprint(total)
}

func Describe(v any) string {
	switch x := v.(type) {
	case *Item:
		return x.ID + fmt.Sprint(x.Cost())
	case Keeper, fmt.Stringer:
		return fmt.Sprint(x)
	case error:
		return x.Error()
	}
	if k, ok := v.(Keeper); ok {
		return k.String()
	}
	total := Sum[*Item, float64](nil, (*Item).Cost)
	matches := Predicate[string](func(s string) bool { return s != "" })
	return total + fmt.Sprint(matches(total), Price(1), stock.Level(3))
}

func init() { http.Handle("/", nil) }
