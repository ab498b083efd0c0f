package api

import (
	"context"
	"encoding/json"

	"github.com/harvest-engine/harvest/internal/domain"
)

type toolRequest struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

func (t *toolRequest) validate() error {
	if t.Name == "" {
		return domain.Invalid("name", "must not be empty")
	}
	if err := validName("name", t.Name); err != nil {
		return err
	}
	switch {
	case len(t.Input) == 0 || string(t.Input) == "null":
		t.Input = json.RawMessage("{}")
	case t.Input[0] != '{':
		return domain.Invalid("input", "must be an object")
	}
	return nil
}

type toolDescription struct {
	Description string `json:"description"`
}

// describeTool answers POST /tool-description.
func (s *Server) describeTool(_ context.Context, r request[toolRequest]) (toolDescription, error) {
	return toolDescription{s.Describer.Describe(r.body.Name, r.body.Input)}, nil
}
