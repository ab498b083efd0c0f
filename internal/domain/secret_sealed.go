package domain

// SealedSecret is a value as it is stored.
type SealedSecret struct {
	ProjectID string
	Slot      string // what it is bound to: a secret's name, or the call that it was given to, as Author.Key
	Version   int    // of the secret; 0 for a value given to a call
	Key       string // id of the encryption key
	Body      []byte
}

// Resealed is what became of the values that were sealed with old keys.
type Resealed struct {
	Key      string   `json:"key"`      // id of the active key, with which all is sealed now
	Resealed int      `json:"resealed"` // values that were sealed with another one before
	Failed   []string `json:"failed"`   // why some could not be opened, at most MaxResealFaults of them
}

// MaxResealFaults bounds what is told of values that could not be opened.
const MaxResealFaults = 100

// KeptSecret is a stored version, and whether models may see it.
type KeptSecret struct {
	SealedSecret
	Revealable bool
}

// SecretWrite is a new version of a secret that is to be stored.
type SecretWrite struct {
	ProjectID string
	Name      string // as SecretName gives it
	By        Author
	Offered   bool // the value is the one that was given to the author's call
	New       bool // a conflict where the secret is there already
}

// CallSecret is what a tool call saves.
type CallSecret struct {
	Name     string // in any case
	By       Author // the call
	Generate bool   // make a value where none was given to the call
	New      bool   // nobody has approved that a secret of the name is overwritten
}

// SecretSeal seals the value that a write stores. offered is what was given to the call, nil
// where the write takes nothing of a call; at is the place of the new version.
type SecretSeal func(offered *SealedSecret, at SealedSecret) (SealedSecret, error)
