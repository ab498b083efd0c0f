package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	maxNodes     = 1500
	maxEdges     = 6000
	pictureBytes = 64 << 20 // of all pictures kept
	pictureLimit = time.Minute
)

// picture is an encoded graph of one reading of a version.
type picture struct {
	repo string
	etag string
	json []byte
	used time.Time
}

// pictureCache keeps encoded graphs by repository and version. An entry holds only for the
// version row it was made of: reading the version again makes a new one.
type pictureCache struct {
	mu      sync.Mutex
	entries map[string]*picture
	bytes   int
}

func pictureKey(repo, version string) string { return repo + "\x00" + version }

// rowTag names a reading of a version. It changes whenever the version is read again.
func rowTag(v domain.VersionDetail) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "1|%d|%s|%d|%d", v.ID, v.Commit, v.IngestedAt.UnixNano(), v.Symbols))
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

func (c *pictureCache) get(key, etag string, now time.Time) (picture, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.entries[key]
	if !ok || p.etag != etag {
		return picture{}, false
	}
	p.used = now
	return *p, true
}

// put keeps a picture and drops those unused for longest until all fit.
func (c *pictureCache) put(key string, p picture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[string]*picture{}
	}
	c.drop(key)
	c.entries[key] = &p
	c.bytes += len(p.json)
	for c.bytes > pictureBytes && len(c.entries) > 1 {
		oldest := ""
		for k, e := range c.entries {
			if k != key && (oldest == "" || e.used.Before(c.entries[oldest].used)) {
				oldest = k
			}
		}
		c.drop(oldest)
	}
}

func (c *pictureCache) drop(key string) {
	if old, ok := c.entries[key]; ok {
		c.bytes -= len(old.json)
		delete(c.entries, key)
	}
}

// forget drops the pictures of a repository.
func (c *pictureCache) forget(repo string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, e := range c.entries {
		if e.repo == repo {
			c.drop(key)
		}
	}
}

// picture gives the graph of a version as it stands now. Callers that ask for the same one
// at once share one reading.
func (s *Server) picture(ctx context.Context, repo, version string) (picture, error) {
	row, err := s.Sources.Version(ctx, repo, version)
	if err != nil {
		return picture{}, err
	}
	key, etag := pictureKey(repo, version), rowTag(row)
	if p, ok := s.pictures.get(key, etag, s.now()); ok {
		return p, nil
	}
	return share(ctx, s, "graph\x00"+key+etag, pictureLimit, func(ctx context.Context) (picture, error) {
		return s.draw(ctx, repo, version)
	})
}

// draw reads the graph and keeps it, unless the version was read again meanwhile.
func (s *Server) draw(ctx context.Context, repo, version string) (picture, error) {
	for try := 0; ; try++ {
		before, err := s.Sources.Version(ctx, repo, version)
		if err != nil {
			return picture{}, err
		}
		found, err := s.Graph.Graph(ctx, repo, version, maxNodes, maxEdges)
		if err != nil {
			return picture{}, err
		}
		after, err := s.Sources.Version(ctx, repo, version)
		if err != nil {
			return picture{}, err
		}
		if rowTag(before) != rowTag(after) && try < 3 {
			continue
		}
		p := picture{repo: repo, etag: rowTag(before), json: encodePicture(found), used: s.now()}
		if rowTag(before) == rowTag(after) {
			s.pictures.put(pictureKey(repo, version), p)
		}
		return p, nil
	}
}
