package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/workflows"
)

const oneRound = `{"rounds": [{"text": "Hello."}]}`

const scriptedModel = "[[llm]]\nprovider = \"scripted\"\nscript = SCRIPT\n"

// visitor is a browser: it keeps cookies, and says which page its requests come from.
type visitor struct {
	t    *testing.T
	base string // by the name that the person typed
	http *http.Client
}

func newVisitor(t *testing.T, base string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	// A connection that is kept would outlive the test, and count as a leak.
	return &visitor{t, base, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Jar: jar, Timeout: time.Minute}}
}

func (v *visitor) call(method, address, body string, header ...string) (int, string) {
	v.t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	answer, err := v.http.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// codec gives where the UI's pages have payloads decoded, resolved as a browser does it.
func (v *visitor) codec() string {
	v.t.Helper()
	status, text := v.call("GET", v.base+"/temporal/api/v1/settings", "")
	var settings struct {
		Codec struct {
			Endpoint           string
			IncludeCredentials bool
		}
	}
	if err := json.Unmarshal([]byte(text), &settings); err != nil || status != http.StatusOK || !settings.Codec.IncludeCredentials {
		v.t.Fatalf("the UI's settings: %d %s (%v)", status, text, err)
	}
	page, err := url.Parse(v.base + "/temporal/namespaces/default/workflows")
	if err != nil {
		v.t.Fatal(err)
	}
	endpoint, err := page.Parse(settings.Codec.Endpoint)
	if err != nil {
		v.t.Fatal(err)
	}
	return endpoint.String() + "/decode?preserveStorageRefs=true"
}

// input gives the payload with which a workflow was started, as its page shows it.
func (v *visitor) input(workflowID string) string {
	v.t.Helper()
	path := fmt.Sprintf("%s/temporal/api/v1/namespaces/default/workflows/%s/history?maximumPageSize=1", v.base, url.PathEscape(workflowID))
	status, text := v.call("GET", path, "")
	var history struct {
		History struct {
			Events []struct {
				Attributes struct {
					Input json.RawMessage
				} `json:"workflowExecutionStartedEventAttributes"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &history); err != nil || len(history.History.Events) == 0 {
		v.t.Fatalf("the history: %d %s (%v)", status, text, err)
	}
	return string(history.History.Events[0].Attributes.Input)
}

// opened gives what the codec's answer holds in clear.
func opened(t *testing.T, answer string) string {
	t.Helper()
	var payloads struct{ Payloads []struct{ Data string } }
	if err := json.Unmarshal([]byte(answer), &payloads); err != nil || len(payloads.Payloads) != 1 {
		t.Fatalf("the codec answers %s (%v)", answer, err)
	}
	clear, err := base64.StdEncoding.DecodeString(payloads.Payloads[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	return string(clear)
}

// The owner's browser opens payloads by whatever name it reached the UI; any other page or
// caller is refused.
func TestPayloadsOpenInTheTemporalUI(t *testing.T) {
	t.Parallel()
	r := newRig(t, oneRound, scriptedModel)
	_, turn := r.ask(t, client.Query{Query: "hello"})
	workflowID := workflows.TurnWorkflowID(turn.ID)
	var sealed string
	for _, base := range []string{r.base, strings.Replace(r.base, "127.0.0.1", "localhost", 1)} {
		owner := newVisitor(t, base)
		if status, page := owner.call("GET", api.SignInURL(base, r.token, time.Now()), "", "Accept: text/html"); status != 200 || !strings.Contains(page, "<html") {
			t.Fatalf("signed in at %s: %d %s", base, status, page)
		}
		sealed = owner.input(workflowID)
		if strings.Contains(sealed, turn.ID) || strings.Contains(sealed, base64.StdEncoding.EncodeToString([]byte(turn.ID))[:20]) {
			t.Errorf("the payload is in clear: %s", sealed)
		}
		status, answer := owner.call("POST", owner.codec(), sealed, "Origin: "+base, "Sec-Fetch-Site: same-origin", "Content-Type: application/json")
		if status != 200 || !strings.Contains(opened(t, answer), turn.ID) {
			t.Errorf("decoding at %s: %d %s", base, status, answer)
		}
		for name, header := range map[string][]string{
			"another site":           {"Origin: https://evil.example.com"},
			"another port's page":    {"Origin: http://127.0.0.1:9999", "Sec-Fetch-Site: same-site"},
			"a page without origin":  {"Origin: null"},
			"a name that was turned": {"Origin: http://evil.example.com", "Host: evil.example.com"},
		} {
			if status, answer := owner.call("POST", base+api.CodecPath+"/decode", sealed, header...); status != 403 || strings.Contains(answer, "payloads") {
				t.Errorf("%s with the owner's cookie at %s: %d %s", name, base, status, answer)
			}
		}
		if status, _ := owner.call("GET", base+"/repositories", ""); status != 401 {
			t.Errorf("the cookie opens the API: %d", status)
		}
	}
	stranger := newVisitor(t, r.base)
	for name, header := range map[string][]string{"nobody": nil, "a wrong token": {"Authorization: Bearer " + r.token + "x"}} {
		if status, answer := stranger.call("POST", r.base+api.CodecPath+"/decode", sealed, header...); status != 401 || strings.Contains(answer, "payloads") {
			t.Errorf("%s: %d %s", name, status, answer)
		}
		if status, _ := stranger.call("GET", r.base+"/temporal/api/v1/namespaces", "", header...); status != 401 {
			t.Errorf("%s reads the UI: %d", name, status)
		}
	}
}
