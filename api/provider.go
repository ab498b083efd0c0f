package api

import (
	"context"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	providersLife  = 300 * time.Second
	providersLimit = 30 * time.Second // to ask every service
)

// providerCache keeps what the services said of their models.
type providerCache struct {
	mu   sync.Mutex
	list []domain.ProviderInfo
	at   time.Time
}

type providerList struct {
	Providers []domain.ProviderInfo `json:"providers"`
}

// providers answers GET /llm/providers.
func (s *Server) providers(ctx context.Context, r request[none]) (providerList, error) {
	refresh, err := flag(r.query, "refresh")
	if err != nil {
		return providerList{}, err
	}
	s.models.mu.Lock()
	list, at := s.models.list, s.models.at
	s.models.mu.Unlock()
	if !refresh && list != nil && s.now().Sub(at) < providersLife {
		return providerList{list}, nil
	}
	list, err = share(ctx, s, "providers", providersLimit, s.askProviders)
	return providerList{list}, err
}

func (s *Server) askProviders(ctx context.Context) ([]domain.ProviderInfo, error) {
	found, err := s.Providers.Providers(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]domain.ProviderInfo, len(found))
	for i, p := range found {
		p.Models = listed(p.Models)
		list[i] = p
	}
	s.models.mu.Lock()
	defer s.models.mu.Unlock()
	s.models.list, s.models.at = list, s.now()
	return list, nil
}
