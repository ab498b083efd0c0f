// Package scripted plays recorded model answers: for tests, demonstrations and benchmarks
// that need a model whose every word, pause and fault is known beforehand.
//
// A script is stateless: which round to play follows from the conversation alone, so a
// call that is made again after a crash, in another process, hears the same answer.
package scripted

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Script is what the model says. Its JSON form is the file that a configuration names.
type Script struct {
	Model string `json:"model,omitempty"` // the model's name; "scripted" by default
	// Scenes are tried in order, the first that matches plays; Rounds play where none does.
	Scenes []Scene `json:"scenes,omitempty"`
	Rounds []Round `json:"rounds,omitempty"`
}

// Scene is a part of a script for some requests only.
type Scene struct {
	Question string  `json:"question,omitempty"` // a part of the person's last message
	System   string  `json:"system,omitempty"`   // a part of the system prompt
	NoTools  bool    `json:"no_tools,omitempty"` // only requests that offer no tools: titles, classification, synthesis
	Rounds   []Round `json:"rounds"`
}

// Round is one answer. Round n answers the request in which n model answers follow the
// person's last message.
type Round struct {
	Thinking   string            `json:"thinking,omitempty"`
	Text       string            `json:"text,omitempty"`
	Calls      []Call            `json:"calls,omitempty"`
	Stop       domain.StopReason `json:"stop,omitempty"` // by default what the calls imply
	Usage      Usage             `json:"usage,omitzero"`
	Chunk      int               `json:"chunk,omitempty"`      // bytes a delta, cut between characters; 0: a text is one delta
	FirstDelay Duration          `json:"first_delay,omitzero"` // before the first delta
	Delay      Duration          `json:"delay,omitzero"`       // before each further delta
	Faults     []Fault           `json:"faults,omitempty"`     // what earlier attempts meet, in order
}

// Call is a tool call of a round.
type Call struct {
	ID    string          `json:"id,omitempty"` // by default "call-ROUND-INDEX"
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input,omitempty"` // an object; {} by default
}

// Usage is what a round reports to have taken, in tokens. Where all is 0 it is estimated
// from the length of the texts.
type Usage struct {
	Input   int `json:"input,omitempty"`
	Output  int `json:"output,omitempty"`
	Cached  int `json:"cached,omitempty"`
	Written int `json:"written,omitempty"`
}

// Fault is an error in place of the round's answer.
type Fault struct {
	// Code is rate_limited, overloaded, timeout, unavailable (a dropped connection) or any
	// other domain code.
	Code    domain.Code `json:"code"`
	Message string      `json:"message,omitempty"`
	Wait    Duration    `json:"wait,omitzero"`   // what retry-after would say
	After   int         `json:"after,omitempty"` // deltas that come through before it
	Times   int         `json:"times,omitempty"` // attempts that meet it: 1 by default, -1 for ever
	Hang    bool        `json:"hang,omitempty"`  // instead of failing, say nothing more until the call is canceled
}

// Duration is a time.Duration with the text form of Go: "150ms".
type Duration time.Duration

// MarshalText gives the text form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the text form.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Load reads a script file. Unknown keys are errors.
func Load(path string) (Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Script{}, domain.Wrap(domain.CodeInvalid, err, "the script %s can't be read", path)
	}
	script, err := Parse(data)
	if err != nil {
		return Script{}, domain.Wrap(domain.CodeInvalid, err, "the script %s is not valid: %v", path, err)
	}
	return script, nil
}

// Parse reads a script in its JSON form. Unknown keys are errors.
func Parse(data []byte) (Script, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var script Script
	err := decoder.Decode(&script)
	return script, err
}

// pick finds the rounds that play for req.
func (s Script) pick(req domain.ModelRequest, question string) []Round {
	for _, scene := range s.Scenes {
		if strings.Contains(question, scene.Question) &&
			strings.Contains(req.System, scene.System) &&
			(!scene.NoTools || len(req.Tools) == 0) {
			return scene.Rounds
		}
	}
	return s.Rounds
}
