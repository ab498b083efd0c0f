package gotypes

import (
	"bytes"
	"container/list"
	"go/token"
	"go/types"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
)

// Cache keeps what packages declare between the versions that a process reads, so that a
// package is parsed and checked for those that import it once, not in each version. What a
// package declares follows from its View, which is its key; of the standard library it
// follows from the path. Declarations are kept as export data, which is small and is no
// burden to the garbage collector. It is safe for concurrent use.
type Cache struct {
	lock    sync.Mutex
	limit   int // bytes
	size    int
	entries map[string]*list.Element // of *declared
	recent  *list.List               // those used last come first
}

// NewCache makes a cache that keeps that many bytes; those that were used last stay.
func NewCache(limit int) *Cache {
	return &Cache{limit: limit, entries: map[string]*list.Element{}, recent: list.New()}
}

// declared is what a package declares. It does not change.
type declared struct {
	key       string
	data      []byte     // export data; other packages' declarations that it needs are in it too
	needs     []string   // paths of the packages that it imports
	contracts []contract // its exported interfaces, without their types
}

// overhead is about what an entry takes besides its data.
const overhead = 512

func (c *Cache) get(key string) *declared {
	c.lock.Lock()
	defer c.lock.Unlock()
	at, ok := c.entries[key]
	if !ok {
		return nil
	}
	c.recent.MoveToFront(at)
	return at.Value.(*declared)
}

func (c *Cache) put(d *declared) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if _, ok := c.entries[d.key]; ok {
		return
	}
	c.entries[d.key] = c.recent.PushFront(d)
	c.size += len(d.data) + overhead
	for c.size > c.limit && c.recent.Len() > 0 {
		last := c.recent.Back()
		old := c.recent.Remove(last).(*declared)
		delete(c.entries, old.key)
		c.size -= len(old.data) + overhead
	}
}

// export writes what a package declares; nil where that can't be written. known are the
// packages that it may have imported, by path.
func export(fset *token.FileSet, pkg *types.Package, known map[string]*types.Package) (d *declared) {
	defer func() {
		if recover() != nil {
			d = nil
		}
	}()
	var data bytes.Buffer
	if err := gcexportdata.Write(&data, fset, pkg); err != nil {
		return nil
	}
	d = &declared{data: bytes.Clone(data.Bytes())}
	for _, dep := range pkg.Imports() {
		if known[dep.Path()] == dep { // the others stand for what is not known
			d.needs = append(d.needs, dep.Path())
		}
	}
	return d
}
