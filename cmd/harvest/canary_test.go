package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// The values of the canary test.
const (
	plainValue = "kW9s8Qv2Lr7TzX4bN1mP6cJd"
	oddValue   = `Zq"7\t/+&=%é <w>Kp#94 xV!`
	keyValue   = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG9w0BAQEF\nAASCAT8wggE7AgEAAkEAq7BFUpkG\n-----END KEY-----"
	givenValue = "gV3nF0rS4v1ngByTheM0del77"
	looseValue = "l00seInTheWr0ngF1eld99xx"
	typedValue = "tYp3dByAP3rsonOnTheP4use"
)

// planted are the secrets that the project has from the beginning.
var planted = map[string]string{"PLAIN": plainValue, "ODD": oddValue, "KEY": keyValue}

// canaries are all values, by what they are.
var canaries = map[string]string{
	"PLAIN": plainValue, "ODD": oddValue, "the key's line": "MIIBVgIBADANBgkqhkiG9w0BAQEF", "what the model gave": givenValue,
	"what it put in a wrong place": looseValue, "what a person gave": typedValue,
}

func quote(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// greedy is a model that tries to get at values in every way.
func greedy(h prompted) reply {
	script := map[string][]reply{
		"get them": {
			{calls: []puppetCall{{"list_secrets", "{}"}, {"get_secret", `{"name":"plain"}`}, {"get_secret", `{"name":"ODD","value":` + quote(looseValue) + `}`}}},
			{calls: []puppetCall{{"run_env", `{"env":{"A":"secret://PLAIN","B":"secret://ODD@1","C":"secret://KEY"}}`}}},
			{text: strings.Join(h.told, "\n")},
		},
		"cut it": {{calls: []puppetCall{{"run_env", `{"pad":24200,"env":{"A":"secret://PLAIN"}}`}}}, {text: h.told[len(h.told)-1]}},
		"fault":  {{calls: []puppetCall{{"run_env", `{"fail":"fault","env":{"A":"secret://ODD"}}`}}}, {text: h.told[len(h.told)-1]}},
		"refuse": {{calls: []puppetCall{{"run_env", `{"fail":"refusal","env":{"A":"secret://PLAIN"}}`}}}, {text: h.told[len(h.told)-1]}},
		"panic":  {{calls: []puppetCall{{"run_env", `{"fail":"panic","env":{"A":"secret://KEY"}}`}}}, {text: h.told[len(h.told)-1]}},
		"save it": {
			{thinking: "I was given " + givenValue + ", hm.", text: "I keep " + givenValue + " for you.", calls: []puppetCall{
				{"save_secret", `{"name":"given","value":` + quote(givenValue) + `}`},
				{"remember", `{"title":"the password","content":"It is ` + givenValue + `"}`},
			}},
			{text: h.told[len(h.told)-2] + "\n" + h.told[len(h.told)-1]},
		},
		"wrong place": {
			{text: "Is it " + looseValue + "?", calls: []puppetCall{
				{"save_secret", `{"name":"nested","value":{"of":` + quote(looseValue) + `}}`},
				{"save_secret", `{"name":"misnamed","secret":` + quote(looseValue) + `}`},
				{"save_secret", `{"name":"twice","value":"x","value":` + quote(looseValue) + `}`},
				{"save_secret", `{"name":"broken","value":` + quote(looseValue)},
				{"save_secret", `{"` + looseValue + `":"DB_PASSWORD"}`},
				{"save_secret", `{"name":` + quote("my "+looseValue) + `}`},
				{"store_password", `{"password":` + quote(looseValue) + `}`},
			}},
			{text: "They were not kept."},
		},
		"ask for it": {{calls: []puppetCall{{"save_secret", `{"name":"typed"}`}}}, {text: "Done."}},
		"repeat it":  {{text: strings.Join(h.told, "\n"), calls: []puppetCall{{"remember", `{"title":` + quote(h.question) + `,"content":` + quote(strings.Join(h.told, " ")[:min(3000, len(strings.Join(h.told, " ")))]) + `}`}}}, {text: h.question}},
	}
	if !h.tools { // a title, a summary, what to ask next
		return reply{text: "Title: " + h.question + "\nNext: " + h.question}
	}
	for key, rounds := range script {
		if strings.Contains(h.question, key) && h.round < len(rounds) {
			return rounds[h.round]
		}
	}
	return reply{text: "I know nothing of it."}
}

// No value is found anywhere in what turns leave behind, whatever a model does to get at it.
func TestNoValueLeaks(t *testing.T) {
	t.Parallel()
	r := newVaultRig(t, "", greedy, runEnv{})
	for name, value := range planted {
		r.keep(t, name, value)
	}
	done := func(turn domain.Turn) {
		t.Helper()
		if turn.Status != domain.TurnDone {
			t.Errorf("turn %q ended %s: %s", turn.Query, turn.Status, turn.Error)
		}
	}
	got := r.decide(t, r.query(t, "Please get them."), true, "", nil)
	done(got)
	for _, want := range []string{"[secret PLAIN]", "[secret ODD]", "[secret KEY]", "secret://PLAIN@1"} {
		if !strings.Contains(got.Answer, want) {
			t.Errorf("the tool ran without %s: %s", want, got.Answer)
		}
	}
	for _, question := range []string{"Please cut it.", "Please fault.", "Please refuse.", "Please panic."} {
		done(r.decide(t, r.query(t, question), true, "", nil))
	}
	done(r.decide(t, r.query(t, "Please refuse it."), false, "since it is "+plainValue, nil))
	saved := r.query(t, "Please save it.")
	if done(saved); !strings.Contains(saved.Answer, "Its handle is secret://GIVEN@1") {
		t.Errorf("the value was not saved: %s", saved.Answer)
	}
	done(r.query(t, "Is it in the wrong place?"))
	done(r.query(t, "Please repeat it: "+plainValue+" and "+oddValue, domain.Attachment{Name: plainValue + ".txt", MimeType: "text/plain", Data: []byte("It is " + oddValue + ".")}))
	done(r.decide(t, r.query(t, "Please ask for it."), true, "", map[string]any{"value": typedValue}))
	done(r.decide(t, r.query(t, "Please ask for it again."), false, "not "+typedValue, nil))
	r.errors(t)
	r.canceled(t)
	done(r.expired(t, r.query(t, "Please ask for it, in vain.")))
	for name, value := range map[string]string{"GIVEN": givenValue, "TYPED": typedValue} {
		secret, err := r.secrets.Get(t.Context(), r.project, name)
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := r.secrets.Open(t.Context(), r.project, secret.Ref()); err != nil || kept.Reveal() != value {
			t.Errorf("%s was not kept as it was given: %v", name, err)
		}
	}
	if list, err := r.secrets.List(t.Context(), r.project); err != nil || len(list) != len(planted)+2 {
		t.Errorf("the project has the secrets %+v, %v", list, err)
	}
	places := r.places(t)
	if !strings.Contains(places["streams"], `"reason":"redacted"`) {
		t.Error("readers are not told to drop what had a value in it")
	}
	clean(t, places, canaries)
	t.Run("but one that does is found", func(t *testing.T) { r.plant(t) })
}

// errors makes requests that are refused, with values in them.
func (r *vaultRig) errors(t *testing.T) {
	t.Helper()
	for _, bad := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPost, "/projects/" + r.project + "/secrets", map[string]any{"name": "no name", "value": plainValue}},
		{http.MethodPost, "/projects/" + r.project + "/secrets", map[string]any{"name": "SHORT", "value": []string{plainValue}}},
		{http.MethodPost, "/projects/" + r.project + "/secrets", map[string]any{"name": "NULL", "value": plainValue + "\x00"}},
		{http.MethodPost, "/projects/" + r.project + "/secrets", plainValue},
		{http.MethodPost, "/actions/none/decide", map[string]any{"approved": true, "value": plainValue}},
	} {
		if status, _, text := r.send(t, bad.method, bad.path, bad.body); status < 400 {
			t.Errorf("%s %s gives %d %s", bad.method, bad.path, status, text)
		}
	}
}

// canceled leaves a turn that waits for a value, and cancels it.
func (r *vaultRig) canceled(t *testing.T) {
	t.Helper()
	turn := r.query(t, "Please ask for it, the last time.")
	if status, _, text := r.send(t, http.MethodPost, "/turns/"+turn.ID+"/cancel", nil); status != http.StatusAccepted {
		t.Fatalf("the cancel gives %d %s", status, text)
	}
	if turn = r.end(t, turn.ID); turn.Status != domain.TurnCanceled {
		t.Errorf("the turn is %s", turn.Status)
	}
	var offers int
	if err := r.pool.QueryRow(t.Context(), "select count(*) from secret_offers").Scan(&offers); err != nil || offers > 0 {
		t.Errorf("%d values are left that were given to calls, %v", offers, err)
	}
}

// expired lets the time of what a turn waits for pass.
func (r *vaultRig) expired(t *testing.T, turn domain.Turn) domain.Turn {
	t.Helper()
	actions, err := r.store.WaitingActions(t.Context(), turn.ID)
	if err != nil || len(actions) != 1 {
		t.Fatalf("the turn waits for %+v, %v", actions, err)
	}
	if _, err := r.pool.Exec(t.Context(), "update actions set expires_at = now() where turn_id = $1", turn.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.temporal.SignalWorkflow(t.Context(), workflows.TurnWorkflowID(turn.ID), "", workflows.ActionDecided.Name, workflows.DecidedCall{CallID: actions[0].CallID}); err != nil {
		t.Fatal(err)
	}
	return r.end(t, turn.ID)
}

// plant leaks a value in each place behind the back of all that takes values out, and checks
// that it is found there.
func (r *vaultRig) plant(t *testing.T) {
	value := "pL4ntedL3akOf1tsOwnXyZ0"
	turn, _, err := r.store.CreateTurn(t.Context(), domain.TurnRequest{
		UserID: domain.OwnerID, ProjectID: r.project, ConversationID: domain.NewID(), Query: value,
		Attachments: []domain.Attachment{{Name: "a.txt", MimeType: "text/plain", Data: []byte(value)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.turns = append(r.turns, turn.ID)
	r.end(t, turn.ID) // the sweeper starts it, with the question in its details
	log := r.log.With().Str("planted", quote(value)).Logger()
	log.WithLevel(zerolog.InfoLevel).Send()
	r.send(t, http.MethodGet, "/turns/"+turn.ID, nil)
	places := r.places(t)
	for _, place := range []string{"histories", "blobs", "streams", "tables", "logs", "requests", "answers"} {
		if found := leaks(places[place], map[string]string{"planted": value}); !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, "raw") }) {
			t.Errorf("a leak in the %s is not found", place)
		}
	}
	for form, text := range disguises(oddValue) {
		if found := leaks("before "+text+" after", map[string]string{"odd": oddValue}); len(found) == 0 {
			t.Errorf("a leak in the form %s is not found", form)
		}
	}
}
