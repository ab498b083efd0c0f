package secrets

import (
	"container/list"
	"context"
	"sync"

	"github.com/harvest-engine/harvest/internal/domain"
)

// maxCached bounds the forms of values that are kept at hand, in bytes; those of the project
// used last stay in any case.
const maxCached = 64 << 20

// scrubber implements domain.Scrubber for one generation of a project's secrets.
type scrubber struct {
	all    *index
	hidden *index // without the secrets that models may see
}

// Scrub implements domain.Scrubber.
func (s scrubber) Scrub(text string) string { return s.all.scrub(text) }

// ForModel implements domain.Scrubber.
func (s scrubber) ForModel(text string) string { return s.hidden.scrub(text) }

// Scrubber gives what takes the values of a project's secrets, all kept versions, out of
// texts; "" is no project, which has none. It reads each time whether the secrets have
// changed, since another process may have changed them, and opens them only where they have.
//
// A value that can't be opened is an error: nothing may go on unscrubbed.
func (v *Vault) Scrubber(ctx context.Context, projectID string) (domain.Scrubber, error) {
	if projectID == "" {
		return scrubber{}, nil
	}
	generation, err := v.store.SecretGeneration(ctx, projectID)
	if err != nil || generation == 0 {
		return scrubber{}, err
	}
	if s, ok := v.cache.get(projectID, generation); ok {
		return s, nil
	}
	kept, generation, err := v.store.KeptSecrets(ctx, projectID)
	if err != nil {
		return nil, err
	}
	s, err := v.scrubberOf(kept)
	if err != nil {
		return nil, err
	}
	v.cache.put(projectID, generation, s)
	return s, nil
}

func (v *Vault) scrubberOf(kept []domain.KeptSecret) (scrubber, error) {
	var all, hidden []form
	for _, secret := range kept {
		value, err := v.sealer.Open(secret.SealedSecret)
		if err != nil {
			return scrubber{}, err
		}
		for _, text := range forms(value.Reveal()) {
			all = append(all, form{text, secret.Slot})
			if !secret.Revealable {
				hidden = append(hidden, form{text, secret.Slot})
			}
		}
	}
	s := scrubber{all: newIndex(all)}
	if s.hidden = s.all; len(hidden) < len(all) {
		s.hidden = newIndex(hidden)
	}
	return s, nil
}

// cache keeps the scrubbers of projects, those used last first out of its way.
type cache struct {
	mu     sync.Mutex
	byID   map[string]*list.Element // of *cached
	recent list.List                // the one used last in front
	size   int
}

type cached struct {
	projectID  string
	generation int64
	scrubber   scrubber
}

func (c *cached) size() int {
	if c.scrubber.all == nil {
		return 0
	}
	return c.scrubber.all.size
}

func (c *cache) get(projectID string, generation int64) (scrubber, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.byID[projectID]
	if !ok || element.Value.(*cached).generation < generation {
		return scrubber{}, false
	}
	c.recent.MoveToFront(element)
	return element.Value.(*cached).scrubber, true
}

func (c *cache) put(projectID string, generation int64, s scrubber) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.byID[projectID]; ok {
		if element.Value.(*cached).generation > generation {
			return // somebody else has read a newer one meanwhile
		}
		c.remove(element)
	}
	if c.byID == nil {
		c.byID = map[string]*list.Element{}
	}
	entry := &cached{projectID, generation, s}
	c.byID[projectID] = c.recent.PushFront(entry)
	c.size += entry.size()
	for c.size > maxCached && c.recent.Len() > 1 {
		c.remove(c.recent.Back())
	}
}

func (c *cache) remove(element *list.Element) {
	entry := c.recent.Remove(element).(*cached)
	delete(c.byID, entry.projectID)
	c.size -= entry.size()
}
