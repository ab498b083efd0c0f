package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/worker"
)

// keyring gives the encryption keys, the active one last: those of the configuration, after
// those of the data folder, which then only decrypt; without a configuration those of the
// data folder alone, which are made where there are none.
func keyring(cfg *config.Config) (worker.Keyring, error) {
	path := filepath.Join(cfg.Data.Dir, keyFile)
	configured, err := configuredKeys(cfg.Temporal.Codec)
	if err != nil {
		return nil, err
	}
	if len(configured) == 0 {
		if err := os.MkdirAll(cfg.Data.Dir, 0o711); err != nil {
			return nil, fmt.Errorf("make the data folder: %w", err)
		}
		return worker.OpenKeyFile(path)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return configured, nil
	}
	old, err := worker.OpenKeyFile(path)
	if err != nil {
		return nil, err
	}
	old = slices.DeleteFunc(old, func(k worker.Key) bool {
		return slices.ContainsFunc(configured, func(c worker.Key) bool { return c.ID == k.ID })
	})
	return append(old, configured...), nil
}

// configuredKeys gives the keys of the configuration, the active one last.
func configuredKeys(codec config.Codec) (worker.Keyring, error) {
	ids := slices.Sorted(maps.Keys(codec.Keys))
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == codec.Active })
	if codec.Active != "" { // the configuration is checked: only without keys there is none
		ids = append(ids, codec.Active)
	}
	var keys worker.Keyring
	for _, id := range ids {
		secret, err := base64.StdEncoding.DecodeString(codec.Keys[id].Reveal())
		if err != nil {
			return nil, domain.Invalid("temporal.codec.keys."+id, "is not base64")
		}
		keys = append(keys, worker.Key{ID: id, Secret: secret})
	}
	return keys, nil
}

// keySource says where the active key comes from.
func keySource(cfg *config.Config) string {
	if len(cfg.Temporal.Codec.Keys) > 0 {
		return "[temporal.codec]"
	}
	return filepath.Join(cfg.Data.Dir, keyFile)
}

// self describes this process to the others.
func self(kind string, keys worker.Keyring) domain.Process {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return domain.Process{ID: domain.NewID(), Kind: kind, Host: host, PID: os.Getpid(), ActiveKey: keys.Active(), Keys: keys.Fingerprints()}
}

func nameOf(p domain.Process) string {
	return fmt.Sprintf("harvest %s on %s (process %d)", p.Kind, p.Host, p.PID)
}

// keyFaults says what keeps this process and another from reading what the other encrypts.
func keyFaults(own, other domain.Process) (faults []string) {
	name := nameOf(other)
	for _, id := range slices.Sorted(maps.Keys(own.Keys)) {
		if theirs, both := other.Keys[id]; both && theirs != own.Keys[id] {
			faults = append(faults, fmt.Sprintf("%s has another key under the id %q", name, id))
		}
	}
	if _, ok := own.Keys[other.ActiveKey]; !ok {
		faults = append(faults, fmt.Sprintf("%s encrypts with the key %q, which is not here", name, other.ActiveKey))
	}
	if _, ok := other.Keys[own.ActiveKey]; !ok {
		faults = append(faults, fmt.Sprintf("%s does not have the key %q, with which this one encrypts", name, own.ActiveKey))
	}
	return faults
}

// sameKeys is what to do about keyFaults.
func sameKeys(cfg *config.Config) string {
	return fmt.Sprintf("give all processes the same keys under [temporal.codec], or the same file %s in their data folders; this one has those of %s", keyFile, keySource(cfg))
}

// register makes this process known, or says which running process it could not work with:
// what one encrypts the other could not read, and turns would hang half done.
func (a *assembly) register(ctx context.Context, p domain.Process) error {
	err := a.store.RegisterProcess(ctx, p, func(others []domain.Process) error {
		for _, other := range others {
			if faults := keyFaults(p, other); len(faults) > 0 {
				return domain.Errorf(domain.CodeConflict, "the encryption keys differ: %s; %s", faults[0], sameKeys(a.cfg))
			}
		}
		return nil
	})
	if err != nil && domain.CodeOf(err) != domain.CodeConflict {
		return fmt.Errorf("register this process: %w", err)
	}
	return err
}

// staySeen keeps this process known until ctx ends.
func (a *assembly) staySeen(ctx context.Context, p domain.Process) {
	tick := time.NewTicker(postgres.ProcessLife / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := a.store.SeeProcess(ctx, p); err != nil && ctx.Err() == nil {
				a.log.Warn().Err(err).Msg("process_unseen") // the next tick tries again
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = a.store.ForgetProcess(last, p.ID) // it is forgotten after a while anyway
			return
		}
	}
}
