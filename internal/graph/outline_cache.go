package graph

import (
	"container/list"
	"encoding/json"
	"sync"
)

// OutlineCacheBytes is how much of outlines a backend keeps.
const OutlineCacheBytes = 16 << 20

// OutlineCache keeps outlines by the id of their snapshot, which never changes, up to a number
// of bytes. It lets go first of what was not asked for the longest. It is safe for concurrent use.
type OutlineCache struct {
	mu    sync.Mutex
	most  int
	bytes int
	order *list.List // of keptOutline, the one asked for last in front
	byID  map[int64]*list.Element
}

type keptOutline struct {
	id      int64
	bytes   int
	outline Outline
}

// NewOutlineCache gives an empty cache that holds at most the given bytes.
func NewOutlineCache(most int) *OutlineCache {
	return &OutlineCache{most: most, order: list.New(), byID: map[int64]*list.Element{}}
}

// Get gives the outline of a snapshot, if it is kept. It is shared: no part may be changed.
func (c *OutlineCache) Get(id int64) (Outline, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.byID[id]
	if !ok {
		return Outline{}, false
	}
	c.order.MoveToFront(at)
	return at.Value.(keptOutline).outline, true
}

// Put keeps the outline of a snapshot; one larger than the cache is not kept.
func (c *OutlineCache) Put(id int64, outline Outline) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.byID[id]; ok {
		c.drop(at)
	}
	kept := keptOutline{id: id, bytes: outline.memory(), outline: outline}
	if kept.bytes > c.most {
		return
	}
	c.byID[id] = c.order.PushFront(kept)
	for c.bytes += kept.bytes; c.bytes > c.most; {
		c.drop(c.order.Back())
	}
}

func (c *OutlineCache) drop(at *list.Element) {
	kept := c.order.Remove(at).(keptOutline)
	delete(c.byID, kept.id)
	c.bytes -= kept.bytes
}

// memory is about how many bytes an outline takes: those of its JSON.
func (o Outline) memory() int {
	text, _ := json.Marshal(o) // of strings, numbers and times
	return len(text)
}
