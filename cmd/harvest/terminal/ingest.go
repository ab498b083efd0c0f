package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Ingest shows how far the reading of a repository is.
type Ingest struct {
	screen *Screen
	name   string
	begun  time.Time
	now    domain.IngestProgress
	told   map[string]string // the last phase told of each version, on a plain screen
	waits  map[string]string // why each version waits
}

// NewIngest begins to show a run.
func NewIngest(screen *Screen, name string) *Ingest {
	i := &Ingest{screen: screen, name: name, begun: time.Now(), told: map[string]string{}, waits: map[string]string{}}
	screen.Status(i.status)
	return i
}

var phases = map[string]string{
	"fetch": "fetching", "list": "listing files", "parse": "parsing", "resolve": "resolving calls",
	"load": "storing", "publish": "publishing",
}

func phaseName(phase string) string {
	if name := phases[phase]; name != "" {
		return name
	}
	return "reading"
}

func (i *Ingest) status(width int) string {
	p := i.now
	text := phaseName(p.Phase) + " " + strings.TrimSpace(i.name+" "+p.Version)
	clock := i.screen.Style(Dim, seconds(time.Since(i.begun).Truncate(100*time.Millisecond)))
	if p.FilesTotal == 0 {
		return clip(text, width-12) + "  " + clock
	}
	numbers := fmt.Sprintf("%s/%s files", count(int64(p.FilesDone)), count(int64(p.FilesTotal)))
	if p.BytesTotal > 0 {
		numbers += fmt.Sprintf(", %.1f/%s", float64(p.BytesDone)/1e6, megabytes(p.BytesTotal))
	}
	room := width - len(numbers) - 14
	barWidth := min(24, max(0, room-30))
	return clip(text, room-barWidth) + "  " + i.screen.bar(int64(p.FilesDone), int64(p.FilesTotal), barWidth) + " " + numbers + "  " + clock
}

// Show renders one event. After the terminal one the run is over: nil where everything was
// read, else an error that says what was not, and why.
func (i *Ingest) Show(kind domain.EventType, event Event) error {
	switch kind {
	case domain.EventIngestProgress:
		return i.showProgress(event)
	case domain.EventIngestDone, domain.EventIngestFailed, domain.EventCanceled:
		i.screen.Status(nil)
	}
	if kind != domain.EventIngestFailed && kind != domain.EventCanceled {
		return nil
	}
	var end struct {
		Message string      `json:"message"`
		Code    domain.Code `json:"code"`
	}
	if err := event.Decode(&end); err != nil {
		return err
	}
	if kind == domain.EventCanceled {
		end.Code = domain.CodeCanceled
	}
	if strings.Contains(end.Message, " of "+i.name+" could not be read") { // some versions were
		return domain.Errorf(end.Code, "%s", end.Message)
	}
	return domain.Errorf(end.Code, "%s was not read: %s", i.name, end.Message)
}

func (i *Ingest) showProgress(event Event) error {
	var p domain.IngestProgress
	if err := event.Decode(&p); err != nil {
		return err
	}
	i.screen.mu.Lock()
	i.now = p
	i.screen.mu.Unlock()
	switch {
	case p.Error != "":
		i.screen.Line("%s %s: %s", i.screen.Style(Red, i.screen.mark("✗", "!")), strings.TrimSpace(i.name+" "+p.Version), printable(p.Error))
	case p.Phase == "done":
		i.screen.Line("%s %s  %s", i.screen.Style(Green, i.screen.mark("✓", "+")),
			i.screen.Style(Bold, strings.TrimSpace(i.name+" "+p.Version)), i.screen.Style(Dim, readSummary(p, time.Since(i.begun))))
	case p.Waiting != "" && i.waits[p.Version] != p.Waiting:
		i.screen.Waits(strings.TrimSpace(i.name+" "+p.Version) + ": " + p.Waiting)
		i.waits[p.Version] = p.Waiting
	case p.Waiting != "": // told already
	case !i.screen.fancy && i.told[p.Version] != p.Phase:
		i.screen.Line("  %s %s", phaseName(p.Phase), strings.TrimSpace(i.name+" "+p.Version))
	}
	i.told[p.Version] = p.Phase
	return nil
}

// readSummary says what was read.
func readSummary(p domain.IngestProgress, elapsed time.Duration) string {
	facts := []string{plural(int64(p.FilesTotal), "file"), plural(int64(p.Symbols), "symbol")}
	switch {
	case p.Edges > 0 && p.Reused > 0: // those of unchanged files were known, and are not counted
		facts = append(facts, plural(int64(p.Edges), "new edge"))
	case p.Edges > 0:
		facts = append(facts, plural(int64(p.Edges), "edge"))
	}
	if p.Reused > 0 {
		facts = append(facts, count(int64(p.Reused))+" unchanged")
	}
	if skipped := p.Skipped.Oversized + p.Skipped.Binary + p.Skipped.Generated; skipped > 0 {
		facts = append(facts, count(int64(skipped))+" skipped (too large, binary or generated)")
	}
	return strings.Join(append(facts, seconds(elapsed)), " · ")
}
