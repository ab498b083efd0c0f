package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/worker"
)

// keyUseLimit bounds the open runs whose histories the doctor looks at.
const keyUseLimit = 1000

// examineKeys looks at the encryption keys: whether the running processes have the same, and
// what uses each. A key must stay for as long as anything open is encrypted with it.
func examineKeys(ctx context.Context, cfg *config.Config) []finding {
	if !haveKeys(cfg) {
		return []finding{{name: "encryption", detail: "a key of its own (made by the first start)"}}
	}
	keys, err := keyring(cfg)
	if err != nil {
		return fail("encryption", err, "correct [temporal.codec], or the file "+keyFile+" in the data folder")
	}
	use, err := countKeyUse(ctx, cfg, keys)
	found := use.findings(cfg, keys)
	if err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		found = append(found, finding{name: "encryption", detail: "what uses the keys can't be counted: " + reason,
			remedy: "keep all keys until it can; see the lines on postgres and temporal"})
	}
	own := domain.Process{ActiveKey: keys.Active(), Keys: keys.Fingerprints()}
	for _, other := range use.processes {
		found = append(found, finding{name: "process", detail: fmt.Sprintf("%s, started %s ago", nameOf(other), time.Since(other.StartedAt).Round(time.Second))})
		for _, fault := range keyFaults(own, other) {
			found = append(found, finding{name: "encryption", detail: fault, remedy: sameKeys(cfg), fault: true})
		}
	}
	return found
}

// haveKeys reports whether there are encryption keys: the first start makes some where there are
// none.
func haveKeys(cfg *config.Config) bool {
	_, err := os.Stat(filepath.Join(cfg.Data.Dir, keyFile))
	return len(cfg.Temporal.Codec.Keys) > 0 || !errors.Is(err, fs.ErrNotExist)
}

// keyUse is what the servers, as far as they could be asked, know of the keys.
type keyUse struct {
	runs      worker.KeyUse
	stored    map[string]int // sealed values by the key's id
	processes []domain.Process
	counted   bool // everything was asked
}

func (u keyUse) findings(cfg *config.Config, keys worker.Keyring) []finding {
	var found []finding
	for _, key := range slices.Backward(keys) {
		f := finding{name: "encryption", detail: fmt.Sprintf("old key %q", key.ID)}
		active := key.ID == keys.Active()
		if active {
			f.detail = fmt.Sprintf("active key %q of %s", key.ID, keySource(cfg))
		}
		switch runs, stored := u.runs.Open[key.ID], u.stored[key.ID]; {
		case !u.counted:
		case active, runs+stored > 0:
			f.detail += ": " + u.count(runs, stored)
		case !u.runs.More:
			f.detail, f.notice = f.detail+": nothing open uses it any more; it may be removed", true
		}
		found = append(found, f)
	}
	for _, id := range slices.Sorted(maps.Keys(u.missing(keys))) {
		found = append(found, finding{name: "encryption", fault: true,
			detail: fmt.Sprintf("the key %q is not here, and %s", id, u.count(u.runs.Open[id], u.stored[id])),
			remedy: "add it under [temporal.codec] keys: without it they can't go on, or be read"})
	}
	return found
}

// missing gives the ids of keys that something needs and the keyring does not have.
func (u keyUse) missing(keys worker.Keyring) map[string]bool {
	have, missing := keys.Fingerprints(), map[string]bool{}
	for _, needed := range []map[string]int{u.runs.Open, u.stored} {
		for id := range needed {
			if _, ok := have[id]; !ok {
				missing[id] = true
			}
		}
	}
	return missing
}

func (u keyUse) count(runs, stored int) string {
	most := ""
	if u.runs.More {
		most = fmt.Sprintf(" (of the first %d)", u.runs.Seen)
	}
	return fmt.Sprintf("%d open runs or watches%s and %d stored values use it", runs, most, stored)
}

// knownServers gives the servers of the configuration, or those of the harvest that runs on
// the data folder; "" where there are none.
func knownServers(cfg *config.Config) servers {
	on := servers{dsn: cfg.Database.URL.Reveal(), temporal: cfg.Temporal.Address}
	if running, err := readInstance(cfg.Data.Dir); err == nil && !errors.Is(syscall.Kill(running.PID, 0), syscall.ESRCH) {
		if on.dsn == "" {
			on.dsn = running.Database
		}
		if on.temporal == "" {
			on.temporal, on.inTheOpen = running.Temporal, true
		}
	}
	return on
}

// countKeyUse asks the servers that are known, if there are any.
func countKeyUse(ctx context.Context, cfg *config.Config, keys worker.Keyring) (keyUse, error) {
	var use keyUse
	on := knownServers(cfg)
	if on.dsn == "" || on.temporal == "" {
		return use, nil
	}
	pool, err := postgres.Open(ctx, on.dsn)
	if err != nil {
		return use, err
	}
	defer pool.Close()
	store := postgres.NewStore(pool)
	if use.processes, err = store.Processes(ctx); err != nil {
		return use, err
	}
	if use.stored, err = store.SealedWith(ctx); err != nil {
		return use, err
	}
	codec, err := worker.NewCodec(keys)
	if err != nil {
		return use, err
	}
	a := assembly{cfg: cfg, codec: codec, log: zerolog.Nop()}
	client, err := worker.Dial(ctx, a.connection(on))
	if err != nil {
		return use, err
	}
	defer client.Close()
	use.runs, err = worker.CountKeyUse(ctx, client, cfg.Temporal.Namespace, keyUseLimit)
	use.counted = err == nil
	return use, err
}
