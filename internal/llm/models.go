package llm

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	modelsFresh   = 300 * time.Second // how long a discovered list serves
	modelsTimeout = 10 * time.Second  // a picker does not wait longer for a service
)

// discovery keeps the lists of models that services gave.
type discovery struct {
	now func() time.Time

	mu    sync.Mutex
	lists map[string]modelList
}

type modelList struct {
	models []domain.ModelInfo
	at     time.Time
}

func newDiscovery(now func() time.Time) *discovery {
	return &discovery{now: now, lists: map[string]modelList{}}
}

// offers reports whether the service of the id is known to have the model.
func (d *discovery) offers(id, model string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.lists[id].models, func(m domain.ModelInfo) bool { return m.ID == model })
}

// get gives the models of a service: the kept list while it is fresh, else a new one. A
// service that does not answer keeps the list it had, and is asked again the next time.
func (d *discovery) get(ctx context.Context, e Entry, refresh bool) []domain.ModelInfo {
	d.mu.Lock()
	kept, known := d.lists[e.Config.ID]
	d.mu.Unlock()
	if known && !refresh && d.now().Sub(kept.at) < modelsFresh {
		return kept.models
	}
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	models, err := e.Provider.Models(ctx)
	if err != nil {
		return kept.models
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lists[e.Config.ID] = modelList{models: models, at: d.now()}
	return models
}

// Providers gives the providers that the model picker shows, by priority, each with the
// models of its allow-list, or else those that its service offers. A service that can't be
// asked shows its configured model. Lists are kept for 300 s; refresh asks anew.
func (c *Chain) Providers(ctx context.Context, refresh bool) []domain.ProviderInfo {
	shown := slices.DeleteFunc(slices.Clone(c.links), func(e Entry) bool { return !e.Config.ExposeToUI })
	infos := make([]domain.ProviderInfo, len(shown))
	var group errgroup.Group
	for i, e := range shown {
		group.Go(func() error {
			infos[i] = c.info(ctx, e, refresh)
			return nil
		})
	}
	_ = group.Wait() // no member gives an error
	return infos
}

func (c *Chain) info(ctx context.Context, e Entry, refresh bool) domain.ProviderInfo {
	info := e.Provider.Info()
	info.ID, info.Kind, info.Name = e.Config.ID, e.Config.Kind, e.Config.Name
	if e.Config.Model != "" {
		info.DefaultModel = e.Config.Model
	}
	info.Models = []domain.ModelInfo{}
	for _, id := range e.Config.Models {
		info.Models = append(info.Models, domain.ModelInfo{ID: id})
	}
	if len(info.Models) == 0 {
		info.Models = append(info.Models, c.models.get(ctx, e, refresh)...)
	}
	if len(info.Models) == 0 {
		info.Models = append(info.Models, domain.ModelInfo{ID: info.DefaultModel})
	}
	return info
}
