package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	keepFor   = 7 * 24 * time.Hour
	dayLayout = "2006-01-02"
	endDay    = ".jsonl"
)

// graveyard remembers the commands that are over for everybody: a file for each day, with a
// line for each command. It is not brought to the disk line by line: the server has what
// they stand for, and does not ask again.
type graveyard struct {
	folder string

	mu    sync.Mutex
	day   string
	file  *os.File
	known map[string]grave
}

type grave struct {
	day    string
	ending Ending
}

type epitaph struct {
	ID string `json:"id"`
	Ending
}

func openGraveyard(folder string, now time.Time) (*graveyard, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	g := &graveyard{folder: folder, known: map[string]grave{}}
	names, err := filepath.Glob(filepath.Join(escape(folder), "*"+endDay))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := g.load(name); err != nil {
			return nil, err
		}
	}
	g.forget(now)
	return g, nil
}

// load reads the file of a day. A machine that stopped may have left anything in it, such as
// zeros without an end: what is no line is no error, or the agent would never start again.
func (g *graveyard) load(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	day := strings.TrimSuffix(filepath.Base(name), endDay)
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		var e epitaph
		if json.Unmarshal(line, &e) == nil {
			g.known[e.ID] = grave{day: day, ending: e.Ending}
		}
	}
	return nil
}

func (g *graveyard) add(id string, ending Ending, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	ending.Error = Brief(ending.Error)
	text, err := json.Marshal(epitaph{ID: id, Ending: ending})
	if err != nil {
		return err
	}
	if day := now.UTC().Format(dayLayout); day != g.day || g.file == nil {
		if err := g.turn(day, now); err != nil {
			return err
		}
	}
	// A line that was cut off by a full disk is ended by the next one's beginning.
	if _, err := g.file.Write(append(append([]byte{'\n'}, text...), '\n')); err != nil {
		return err
	}
	g.known[id] = grave{day: g.day, ending: ending}
	return nil
}

// turn begins the file of a day.
func (g *graveyard) turn(day string, now time.Time) error {
	if err := os.MkdirAll(g.folder, 0o700); err != nil { // somebody may have removed it
		return err
	}
	file, err := os.OpenFile(filepath.Join(g.folder, day+endDay), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if g.file != nil {
		_ = g.file.Close()
	}
	g.file, g.day = file, day
	g.forget(now)
	return nil
}

// forget removes the days that are long past.
func (g *graveyard) forget(now time.Time) {
	oldest := now.UTC().Add(-keepFor).Format(dayLayout)
	for id, grave := range g.known {
		if grave.day < oldest {
			delete(g.known, id)
			_ = os.Remove(filepath.Join(g.folder, grave.day+endDay))
		}
	}
}

func (g *graveyard) find(id string) (Ending, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	grave, ok := g.known[id]
	return grave.ending, ok
}

func (g *graveyard) close() error {
	if g.file == nil {
		return nil
	}
	return errors.Join(g.file.Sync(), g.file.Close())
}
