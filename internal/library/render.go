package library

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/library/pdf"
)

// maxRenderAttempts is how often a rendering may begin: one that takes its process down must
// not do so for ever.
const maxRenderAttempts = 3

// renderLimit bounds how long one rendering may keep the others waiting. It is shorter than
// the time after which another process takes one up.
const renderLimit = 30 * time.Second

// tooSlow is what is kept of a rendering that took longer.
var tooSlow = "it took longer than " + renderLimit.String()

// ordered wakes the renderer of this process where a version is to be rendered.
func (s *Artifacts) ordered(a domain.Artifact) {
	if a.Kind != domain.ArtifactPDF {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// Render renders what waits to be a PDF, one after the other, until ctx ends. It may run in
// several processes: each version is rendered by one. Errors of the store are given to report,
// and tried again.
func (s *Artifacts) Render(ctx context.Context, report func(error)) {
	look := time.NewTicker(s.every)
	defer look.Stop()
	for ctx.Err() == nil {
		more, err := s.renderNext(ctx)
		if err != nil && ctx.Err() == nil {
			report(err)
		}
		if more {
			continue
		}
		select {
		case <-s.wake:
		case <-look.C:
		case <-ctx.Done():
		}
	}
}

// renderNext renders the version that has waited longest, and reports whether there was one.
func (s *Artifacts) renderNext(ctx context.Context) (bool, error) {
	r, ok, err := s.store.ClaimRendering(ctx)
	if err != nil || !ok {
		return false, err
	}
	out := domain.Rendered{Fault: "it was interrupted several times"}
	if r.Attempt <= maxRenderAttempts {
		out = render(ctx, r)
	}
	if ctx.Err() != nil {
		return false, ctx.Err() // another process takes it up
	}
	return true, s.store.SaveRendering(ctx, r.ArtifactID, r.Version, out)
}

// render turns what goes wrong, a panic of a library included, into the reason why there is
// no PDF.
func render(ctx context.Context, r domain.Rendering) (out domain.Rendered) {
	defer func() {
		if fault := recover(); fault != nil {
			out = domain.Rendered{Fault: fmt.Sprint("panic: ", fault)}
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, renderLimit, errors.New(tooSlow))
	defer cancel()
	body, err := pdf.Render(ctx, pdf.Document{Title: r.Title, Markdown: r.Content, At: r.At})
	if err != nil {
		return domain.Rendered{Fault: err.Error()}
	}
	return domain.Rendered{Body: body}
}
