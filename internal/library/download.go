package library

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/harvest-engine/harvest/internal/domain"
)

// renderPoll is how often a download looks whether its rendering is there.
const renderPoll = 100 * time.Millisecond

// Download gives a version of an artifact as a file, 0 for the newest: Markdown and context as
// they are, a bundle as JSON, a PDF as it was rendered. A PDF that is still being rendered is
// waited for a while, then unavailable.
func (s *Artifacts) Download(ctx context.Context, id string, version int) (domain.Download, error) {
	a, err := s.store.Artifact(ctx, id)
	if err != nil {
		return domain.Download{}, err
	}
	title, content := a.Title, a.Content
	if version != 0 && version != a.Version {
		then, err := s.store.ArtifactVersion(ctx, id, version)
		if err != nil {
			return domain.Download{}, err
		}
		title, content, a.Version = then.Title, then.Content, version
	}
	switch {
	case a.Kind == domain.ArtifactPDF:
		body, err := s.rendered(ctx, id, a.Version)
		return domain.Download{Name: fileName(title, ".pdf"), Type: "application/pdf", Body: body}, err
	case a.Kind.Bundle():
		return domain.Download{Name: fileName(title, ".json"), Type: "application/json", Body: []byte(content)}, nil
	}
	return domain.Download{Name: fileName(title, ".md"), Type: "text/markdown; charset=utf-8", Body: []byte(content)}, nil
}

// rendered waits for the rendering of a version.
func (s *Artifacts) rendered(ctx context.Context, id string, version int) ([]byte, error) {
	deadline := time.NewTimer(s.wait)
	defer deadline.Stop()
	look := time.NewTicker(renderPoll)
	defer look.Stop()
	for {
		out, err := s.store.Rendering(ctx, id, version)
		switch {
		case err != nil:
			return nil, err
		case out.Fault == tooSlow:
			return nil, domain.Errorf(domain.CodeUnprocessable, "version %d can't be made a PDF: %s; make its text shorter or plainer", version, out.Fault)
		case out.Fault != "":
			return nil, domain.Errorf(domain.CodeInternal, "render artifact %s, version %d: %s", id, version, out.Fault)
		case out.Body != nil:
			return out.Body, nil
		}
		select {
		case <-look.C:
		case <-deadline.C:
			return nil, &domain.Error{Code: domain.CodeUnavailable, Message: "the PDF is still being rendered; try again in a few seconds", Wait: 5 * time.Second}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

const maxFileName = 100 // bytes, without what it ends with

// fileName makes a name of a title that any file system takes: letters, digits and hyphens.
func fileName(title, ending string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case out.Len() >= maxFileName:
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
	}
	name := strings.Trim(out.String(), "-")
	if name == "" {
		name = "artifact"
	}
	return name + ending
}
