package main

import (
	"github.com/harvest-engine/harvest/internal/secrets"
	"github.com/harvest-engine/harvest/worker"
)

// openVault opens the secrets of projects with the encryption keys of the configuration.
func (a *assembly) openVault() error {
	sealer, err := secrets.NewSealer(secretKeys(a.keys))
	if err != nil {
		return err
	}
	a.secrets = secrets.New(a.store, sealer, a.store)
	return nil
}

func secretKeys(ring worker.Keyring) []secrets.Key {
	keys := make([]secrets.Key, 0, len(ring))
	for _, key := range ring {
		keys = append(keys, secrets.Key{ID: key.ID, Secret: key.Secret})
	}
	return keys
}
