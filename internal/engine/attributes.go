package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/temporal"
)

// The search attributes by which the Temporal UI finds runs. They are in clear.
var (
	attributeKind         = temporal.NewSearchAttributeKeyKeyword("HarvestKind")
	attributeUser         = temporal.NewSearchAttributeKeyKeyword("HarvestUser")
	attributeProject      = temporal.NewSearchAttributeKeyKeyword("HarvestProject")
	attributeConversation = temporal.NewSearchAttributeKeyKeyword("HarvestConversation")
	attributeSubject      = temporal.NewSearchAttributeKeyKeyword("HarvestSubject")
	attributeRepositories = temporal.NewSearchAttributeKeyKeywordList("HarvestRepositories")
)

const (
	attributeLength = 255  // characters that a visibility store keeps of a keyword
	attributeItems  = 50   // of a list
	attributeBytes  = 1900 // of a list as JSON; Temporal refuses a workflow with more than 2,048
)

// SearchAttributes gives the names and types of the search attributes, for whoever
// registers them with a namespace.
func SearchAttributes() map[string]enumspb.IndexedValueType {
	types := map[string]enumspb.IndexedValueType{attributeRepositories.GetName(): attributeRepositories.GetValueType()}
	for _, key := range []temporal.SearchAttributeKeyKeyword{attributeKind, attributeUser, attributeProject, attributeConversation, attributeSubject} {
		types[key.GetName()] = key.GetValueType()
	}
	return types
}

// labels are the values of the search attributes of one workflow; empty ones are left out.
type labels struct {
	kind, user, project, conversation, subject string
	repositories                               []string
}

// registered knows which search attributes the namespace has; the others are dropped,
// because a start that names an unknown one is refused.
type registered map[string]bool

// detect asks the namespace which of our search attributes it has, with the right type.
func detect(ctx context.Context, client Temporal, namespace string) (registered, error) {
	response, err := client.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return registered{}, fmt.Errorf("list search attributes: %w", err)
	}
	found := registered{}
	for name, want := range SearchAttributes() {
		if response.GetCustomAttributes()[name] == want {
			found[name] = true
		}
	}
	return found, nil
}

// missing lists the search attributes that the namespace lacks.
func (r registered) missing() []string {
	var names []string
	for name := range SearchAttributes() {
		if !r[name] {
			names = append(names, name)
		}
	}
	return names
}

func (r registered) set(l labels) temporal.SearchAttributes {
	var updates []temporal.SearchAttributeUpdate
	for _, field := range []struct {
		key   temporal.SearchAttributeKeyKeyword
		value string
	}{
		{attributeKind, l.kind}, {attributeUser, l.user}, {attributeProject, l.project},
		{attributeConversation, l.conversation}, {attributeSubject, l.subject},
	} {
		if field.value != "" && r[field.key.GetName()] {
			updates = append(updates, field.key.ValueSet(cut(field.value, attributeLength)))
		}
	}
	if len(l.repositories) > 0 && r[attributeRepositories.GetName()] {
		updates = append(updates, attributeRepositories.ValueSet(fitting(l.repositories)))
	}
	return temporal.NewSearchAttributes(updates...)
}

// fitting gives as many of the names as a list may hold.
func fitting(all []string) []string {
	names, size := make([]string, 0, attributeItems), 0
	for _, name := range all {
		name = cut(name, attributeLength)
		text, _ := json.Marshal(name) // a string always marshals
		if size += len(text) + 1; size > attributeBytes || len(names) == attributeItems {
			break
		}
		names = append(names, name)
	}
	return names
}

// cut shortens text to a number of characters.
func cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
