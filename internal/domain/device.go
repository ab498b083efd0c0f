package domain

import "time"

// DeviceStatus is the state of a device that asks for an API key.
type DeviceStatus string

// The states of a device.
const (
	DeviceWaiting DeviceStatus = "waiting"
	DeviceGranted DeviceStatus = "granted"
	DeviceRefused DeviceStatus = "refused"
)

// Device is a terminal that asks for an API key: somebody who is signed in in a browser, where
// they type the code that it shows, grants or refuses it.
type Device struct {
	UserCode  string // "BCDF-GHJK"
	Name      string // of the key
	Scopes    []KeyScope
	KeyDays   int    // how long the key will be good; 0: for ever
	Address   string // the IP address it asks from
	Status    DeviceStatus
	ExpiresAt time.Time
}

// NewDevice is what a device asks for.
type NewDevice struct {
	Name    string
	Scopes  []KeyScope
	KeyDays int // 0: for ever
	Address string
}

// DeviceCodes are the two codes of a device: one that it keeps and that fetches the key, and
// one that it shows.
type DeviceCodes struct {
	DeviceCode string
	UserCode   string
	Life       time.Duration // of both
	Interval   time.Duration // between two looks for the key
}

// DeviceDecision is what a person decides about a device.
type DeviceDecision struct {
	UserCode string
	UserID   string
	Granted  bool
}
