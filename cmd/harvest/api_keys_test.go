package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// A program gets a key that is good for little, and loses it.
func TestKeysByCommands(t *testing.T) {
	t.Parallel()
	r, owner := crew(t, `{"rounds":[]}`)
	owner.says(exitOK, "", []string{"you have no API keys"}, "keys", "list")
	owner.says(exitFailed, "", []string{`there is no scope "all"`, "read, ask"}, "keys", "create", "nightly", "--scope", "all")
	owner.says(exitUsage, "", []string{"name the key"}, "keys", "create")
	key, said := owner.run(exitOK, "", "keys", "create", "nightly", "--scope", "read", "--days", "30")
	if !strings.Contains(said, "it is good for read, until 20") || !strings.Contains(said, "not shown again") {
		t.Errorf("of a new key it says: %s", said)
	}
	nightly := newTeamProgram(t, map[string]string{urlVariable: r.base, tokenVariable: strings.TrimSpace(key)})
	nightly.says(exitOK, "", []string{"engine"}, "projects", "list")
	nightly.says(exitFailed, "", []string{`not good for "write"`}, "projects", "create", "other")
	out := owner.says(exitOK, "", []string{"nightly", "read", key[:8]}, "keys", "list")
	if strings.Contains(out, strings.TrimSpace(key)) {
		t.Errorf("the list shows the key:\n%s", out)
	}
	var list []domain.APIKey
	if out = owner.says(exitOK, "", nil, "keys", "list", "--json"); json.Unmarshal([]byte(out), &list) != nil || len(list) != 1 || list[0].ExpiresAt == nil {
		t.Errorf("as JSON: %s", out)
	}
	owner.says(exitOK, "", []string{`"key": "hvk_`, `"expires_at": null`}, "keys", "create", "for ever", "--days", "0", "--json")
	owner.says(exitFailed, "", []string{`there is no key "weekly"`}, "keys", "delete", "weekly")
	owner.says(exitOK, "", []string{"ended the key nightly"}, "keys", "delete", "nightly")
	nightly.says(exitFailed, "", []string{"a key ends when"}, "projects", "list")
	owner.says(exitOK, "", []string{"for ever", "never"}, "keys", "list")
}

func TestWhoami(t *testing.T) {
	t.Parallel()
	r, owner := crew(t, `{"rounds":[]}`)
	owner.says(exitOK, "", []string{"server       " + r.base, "name         owner", "role         admin"}, "whoami")
	var me struct{ Server, ID string }
	if out := owner.says(exitOK, "", nil, "whoami", "--json"); json.Unmarshal([]byte(out), &me) != nil || me.Server != r.base || me.ID != "owner" {
		t.Errorf("as JSON: %s", out)
	}
}

// Who logs in where commands go on to use something else is told so.
func TestALoginThatDoesNotHoldHere(t *testing.T) {
	t.Parallel()
	_, owner := crew(t, `{"rounds":[]}`)
	other := newRig(t, `{"rounds":[]}`, "[auth]\n"+simpleModel)
	owner.says(exitOK, "a good sentence\n", []string{"as Ada", "the environment", "wins over it"}, "login", other.base, "--register", "--email", "ada@example.com", "--name", "Ada")
	delete(owner.env, urlVariable)
	delete(owner.env, tokenVariable)
	owner.says(exitOK, "", []string{"Ada", "ada@example.com", other.base}, "whoami")
}
