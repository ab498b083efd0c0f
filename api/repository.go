package api

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// repository is an element of GET /repositories.
type repository struct {
	Name           string                 `json:"name"`
	URL            *string                `json:"url"`
	Versions       []string               `json:"versions"`
	VersionDetails []domain.VersionDetail `json:"version_details"`
}

// repositories answers GET /repositories: those with at least one whole version.
func (s *Server) repositories(ctx context.Context, _ request[none]) ([]repository, error) {
	all, err := s.Sources.Repositories(ctx)
	if err != nil {
		return nil, err
	}
	list := []repository{}
	for _, r := range all {
		if len(r.Versions) == 0 {
			continue
		}
		entry := repository{Name: r.Name, VersionDetails: r.Versions}
		if r.URL != "" {
			shown := withoutPassword(r.URL)
			entry.URL = &shown
		}
		for _, v := range r.Versions {
			entry.Versions = append(entry.Versions, v.Tag)
		}
		list = append(list, entry)
	}
	return list, nil
}

// withoutPassword drops the credentials of an address.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	if u.Scheme == "ssh" { // the user belongs to the address, its password does not
		u.User = url.User(u.User.Username())
	} else {
		u.User = nil
	}
	return u.String()
}

// ingestBody is the body of POST /repositories and POST /repositories/:name/ingest.
type ingestBody struct {
	Name     string   `json:"name"`
	URL      string   `json:"url"`
	Refs     []string `json:"refs"`
	AllTags  bool     `json:"all_tags"`
	Worktree bool     `json:"worktree"`
	Watch    string   `json:"watch"`   // "5m"; "off" for never; "" as it was
	Token    string   `json:"token"`   // for https; kept sealed
	SSHKey   string   `json:"ssh_key"` // a private key as text, for ssh; kept sealed

	every time.Duration
}

// watchOff is the watch of a repository that is not to be looked at any more.
const watchOff = "off"

const maxSecretBytes = 64 << 10

var repositoryName = regexp.MustCompile(`^[^:\[\]\s\x00-\x1f]{1,200}$`)

func (b *ingestBody) validate() error {
	if b.Name != "" && (!repositoryName.MatchString(b.Name) || !plainText(b.Name)) {
		return domain.Invalid("name", `must be at most 200 characters without blanks, ":" and brackets`)
	}
	if len(b.URL) > 2000 || !plainText(b.URL) {
		return domain.Invalid("url", "must be an address or a path of at most 2000 bytes")
	}
	if err := validNames("refs", b.Refs); err != nil {
		return err
	}
	for i, ref := range b.Refs {
		if err := domain.CheckRef(fmt.Sprintf("refs[%d]", i), ref); err != nil {
			return err
		}
	}
	for _, f := range []struct{ field, value string }{{"token", b.Token}, {"ssh_key", b.SSHKey}} {
		if len(f.value) > maxSecretBytes || !plainText(f.value) {
			return domain.Invalid(f.field, "must be a text of at most %d bytes", maxSecretBytes)
		}
	}
	switch b.Watch {
	case "":
		return nil
	case watchOff:
		b.every = domain.WatchOff
		return nil
	}
	every, err := time.ParseDuration(b.Watch)
	if err != nil || every != 0 && every < 10*time.Second {
		return domain.Invalid("watch", `%q is neither a duration of 10s or more, such as "5m", nor "off"`, b.Watch)
	}
	b.every = every
	if every == 0 {
		b.every = domain.WatchOff
	}
	return nil
}

func (b ingestBody) request(who caller) domain.IngestRequest {
	return domain.IngestRequest{
		UserID: who.UserID, Name: b.Name, URL: b.URL, Refs: b.Refs, AllTags: b.AllTags, Worktree: b.Worktree, Watch: b.every,
		AnyPath:     who.bearer && who.UserID == domain.OwnerID,
		Credentials: domain.Credentials{Token: b.Token, SSHKey: b.SSHKey},
	}
}

type addBody ingestBody

func (b *addBody) validate() error {
	if strings.TrimSpace(b.URL) == "" {
		return domain.Invalid("url", "must not be empty")
	}
	return (*ingestBody)(b).validate()
}

// addRepository answers POST /repositories.
func (s *Server) addRepository(ctx context.Context, r request[addBody]) (domain.Ingest, error) {
	run, err := s.Ingests.AddRepository(ctx, ingestBody(r.body).request(r.caller))
	return started(run, r.reply.Set), err
}

type againBody ingestBody

func (*againBody) mayBeEmpty() {}

func (b *againBody) validate() error {
	if b.Name != "" || b.URL != "" {
		return domain.Invalid("name", "name and url can't change here; add the repository anew")
	}
	return (*ingestBody)(b).validate()
}

// ingestRepository answers POST /repositories/:name/ingest.
func (s *Server) ingestRepository(ctx context.Context, r request[againBody]) (domain.Ingest, error) {
	req := ingestBody(r.body).request(r.caller)
	req.Name = r.path["name"]
	run, err := s.Ingests.IngestRepository(ctx, req)
	return started(run, r.reply.Set), err
}

type ok struct {
	OK bool `json:"ok"`
}

// deleteRepository answers DELETE /repositories/:name.
func (s *Server) deleteRepository(ctx context.Context, r request[none]) (ok, error) {
	if err := s.Ingests.DeleteRepository(ctx, r.path["name"]); err != nil {
		return ok{}, err
	}
	s.pictures.forget(r.path["name"])
	return ok{true}, nil
}
