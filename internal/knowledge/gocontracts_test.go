package knowledge_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// TestConsumerInterfaces holds that a type is known to satisfy interfaces of packages that its
// own does not import, and only those whose methods it has with the same types.
func TestConsumerInterfaces(t *testing.T) {
	t.Parallel()
	dir := checkout{t, t.TempDir()}
	dir.write(map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.22\n",
		"item/item.go": `package item

import "context"

type Item struct{ ID string }

type base struct{}

func (base) Close() error { return nil }

type Store struct{ base }

func (s *Store) Get(ctx context.Context, ids ...string) ([]*Item, error) { return nil, nil }

func (s *Store) Watch(f func(*Item, any)) (stop func()) { return nil }
`,
		"use/use.go": `package use

import (
	stdctx "context"
	"io"

	other "example.com/m/item"
)

type getter interface {
	Get(c stdctx.Context, names ...string) (items []*other.Item, err error)
}

type Keeper interface {
	getter
	io.Closer
}

type Watcher interface {
	Watch(func(*other.Item, interface{})) func()
}

type wrongResult interface{ Get(stdctx.Context, ...string) ([]other.Item, error) }

type hidden interface {
	Watch(func(*other.Item, any)) func()
	private()
}

type onlyGeneric[T any] interface{ Watch(func(T, any)) func() }

type Closer interface{ Close() error }

func Use(k Keeper) error { return k.Close() }
`,
	})
	for _, options := range []knowledgeOptions{{goroot: runtime.GOROOT()}, {namesOnly: true}} {
		got := map[string]bool{}
		for _, e := range read(t, dir.dir, options).Edges("r", domain.WorktreeVersion) {
			if f := strings.Fields(e); f[1] == "implements" {
				got[f[0]+" "+f[2]] = true
			}
		}
		want := []string{
			"item/item.go:Store use/use.go:getter", "item/item.go:Store use/use.go:Keeper", "item/item.go:Store use/use.go:Watcher",
			"item/item.go:Store use/use.go:Closer", "item/item.go:base use/use.go:Closer",
		}
		for _, edge := range want {
			if !got[edge] {
				t.Errorf("%s is missing of %v", edge, got)
			}
			delete(got, edge)
		}
		if len(got) > 0 {
			t.Errorf("%v is too much", got)
		}
	}
}
