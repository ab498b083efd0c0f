package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/harvest-engine/harvest/internal/domain"
)

// owned is one thing of each kind, all of one project and of the people in it.
type owned struct {
	key          string // of a member, good for all scopes but admin
	user         string
	project      string
	group        string
	conversation string
	message      string // in the conversation
	personal     string // the member's own conversation
	personalSaid string // a message in it
	turn         string
	action       string // of the project
	personalAct  string
	provision    string
	skill        string
	memory       string
	artifact     string
	apiKey       string
	secret       string // its name
	agent        string
	forward      string // of the agent
	command      string // on the agent
}

// placeholder gives what a parameter of a path stands for; "" for what belongs to no project.
// A route with a parameter that is not known here fails the test: say what it is of.
func (o owned) placeholder(t *testing.T, path, param string) string {
	t.Helper()
	inProject := strings.HasPrefix(path, "/projects/{pid}")
	switch param {
	case "pid":
		return o.project
	case "cid":
		return either(inProject, o.conversation, o.personal)
	case "sid":
		return o.skill
	case "mid":
		return either(strings.Contains(path, "/memories/"), o.memory, either(inProject, o.message, o.personalSaid))
	case "id":
		for prefix, id := range map[string]string{
			"/turns/": o.turn, "/actions/": o.personalAct, "/projects/{pid}/actions/": o.action, "/artifacts/": o.artifact, "/auth/keys/": o.apiKey, "/skills/": "",
			"/commands/": o.command, "/projects/{pid}/agents/": o.command,
		} {
			if strings.HasPrefix(path, prefix) {
				return id
			}
		}
	case "name":
		if strings.HasPrefix(path, "/projects/{pid}/secrets/") {
			return o.secret
		}
		return ""
	case "aid", "agent_id":
		return o.agent
	case "fid":
		return o.forward
	case "provision_id":
		return o.provision
	case "n", "version", "repo", "route_name":
		return ""
	}
	t.Fatalf("what is {%s} of %s? Say so here, and make one in each project", param, path)
	return ""
}

func either(first bool, one, other string) string {
	if first {
		return one
	}
	return other
}

// bearer calls by a key.
func (r *rig) bearer(t *testing.T, key, method, path, body string) (int, string) {
	t.Helper()
	header := []string{"Authorization: Bearer " + key}
	return newVisitor(t, r.base).call(method, r.base+path, body, header...)
}

// makes calls by a key and gives the id of what it made.
func (r *rig) makes(t *testing.T, key, path, body string) string {
	t.Helper()
	status, text := r.bearer(t, key, http.MethodPost, path, body)
	var made struct {
		ID      string `json:"id"`
		TurnID  string `json:"turn_id"`
		Command string `json:"command_id"`
	}
	if err := json.Unmarshal([]byte(text), &made); err != nil || status >= 300 {
		t.Fatalf("POST %s: %d %s", path, status, text)
	}
	return made.ID + made.TurnID + made.Command
}

// furnish makes a group with a member, a project, and one thing of each kind in it.
func (r *rig) furnish(t *testing.T, name string) (o owned) {
	t.Helper()
	ctx := t.Context()
	group, err := r.store.CreateGroup(ctx, name, "")
	if err != nil {
		t.Fatal(err)
	}
	user, err := r.store.CreateUser(ctx, domain.NewUser{Email: name + "@example.com", Name: name, Provider: "local"})
	if err == nil {
		err = r.store.SetGroups(ctx, user.ID, []string{group.ID})
	}
	if err != nil {
		t.Fatal(err)
	}
	scopes := slices.DeleteFunc(domain.KeyScopes(), func(s domain.KeyScope) bool { return s == domain.ScopeAdmin })
	_, key, err := r.store.CreateKey(ctx, domain.NewAPIKey{UserID: user.ID, Name: "k", Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	o = owned{key: key, user: user.ID, group: group.ID}
	o.project = r.makes(t, key, "/projects", fmt.Sprintf(`{"name":%q,"group_id":%q}`, name, group.ID))
	under := "/projects/" + o.project
	o.skill = r.makes(t, key, under+"/skills", `{"name":"cook","description":"how to cook","content":"# Cook\n\nBoil water."}`)
	o.memory = r.makes(t, key, under+"/memories", `{"title":"note","content":"Salt the water."}`)
	o.artifact = r.makes(t, key, under+"/artifacts", `{"title":"plan","kind":"markdown","content":"# Plan"}`)
	o.secret = strings.ToUpper(name) + "_PASSWORD"
	if status, text := r.bearer(t, key, http.MethodPost, under+"/secrets", fmt.Sprintf(`{"name":%q,"generate":true}`, o.secret)); status >= 300 {
		t.Fatalf("save a secret: %d %s", status, text)
	}
	o.apiKey = r.makes(t, key, "/auth/keys", `{"name":"another","scopes":["read"]}`)
	o.conversation, o.message = r.talk(t, key, under)
	o.personal, o.personalSaid = r.talk(t, key, "")
	if err := r.pool.QueryRow(ctx, "select id from turns where conversation_id = $1", o.personal).Scan(&o.turn); err != nil {
		t.Fatal(err)
	}
	o.agent, o.provision = r.machine(t, o.project), r.provision(t, o.project)
	o.forward = r.makes(t, key, under+"/agents/"+o.agent+"/port-forwards", `{"port":3000,"route_name":"web"}`)
	o.command = r.makes(t, key, under+"/agents/"+o.agent+"/execute", `{"command":"ls","wait_secs":3600,"detach":true}`)
	o.action, o.personalAct = r.wait(t, o.user, o.project, o.conversation), r.wait(t, o.user, "", o.personal)
	return o
}

// talk makes a conversation with a question and its answer, and gives it and its last message.
func (r *rig) talk(t *testing.T, key, under string) (conversation, message string) {
	t.Helper()
	conversation = r.makes(t, key, under+"/conversations", `{"title":"talk"}`)
	if status, text := r.bearer(t, key, http.MethodPost, under+"/query", fmt.Sprintf(`{"query":"Where is Greet?","conversation_id":%q}`, conversation)); status != http.StatusOK {
		t.Fatalf("query: %d %s", status, text)
	}
	if err := r.pool.QueryRow(t.Context(), "select head_id from conversations where id = $1", conversation).Scan(&message); err != nil {
		t.Fatal(err)
	}
	return conversation, message
}

// machine lets a machine join a project.
func (r *rig) machine(t *testing.T, project string) string {
	t.Helper()
	_, install := domain.NewMachineToken(domain.InstallTokenPrefix)
	_, permanent := domain.NewMachineToken(domain.AgentTokenPrefix)
	err := r.store.AddInstallToken(t.Context(), domain.InstallToken{ID: domain.NewID(), ProjectID: project, Hash: install, ExpiresAt: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	agent, err := r.store.JoinAgent(t.Context(), install, permanent, domain.AgentHello{Hostname: "box"})
	if err != nil {
		t.Fatal(err)
	}
	return agent.ID
}

// provision makes something of a machine in a container.
func (r *rig) provision(t *testing.T, project string) string {
	t.Helper()
	id := domain.NewID()
	_, err := r.store.CreateProvision(t.Context(), domain.ProvisionOrder{ID: id, ProjectID: project, Name: "box", Flavor: "tiny", Instance: "box-" + id, Hash: []byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// wait makes an action that waits for a decision.
func (r *rig) wait(t *testing.T, user, project, conversation string) (id string) {
	t.Helper()
	id = domain.NewID()
	_, err := r.pool.Exec(t.Context(), `
insert into actions (id, turn_id, call_id, conversation_id, project_id, requester, tool, input, hash, description, nonce, expires_at)
values ($1, $1, 'c', $2, nullif($3, ''), $4, 'delete_artifact', '{}', 'h', 'd', 'n', now() + interval '1 hour')`, id, conversation, project, user)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// operation is a route of the API's own document.
type operation struct {
	method, path, body string
	params             []string
}

// operations are the routes that people use who are no admins, with a body that is right.
func (r *rig) operations(t *testing.T) (list []operation) {
	t.Helper()
	_, text := r.bearer(t, r.token, http.MethodGet, "/openapi.yaml", "")
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if strings.Contains(op.Summary, "(admins)") || strings.Contains(op.Summary, "(open)") || strings.Contains(op.Summary, "(agents)") || strings.HasPrefix(path, "/admin/") {
				continue
			}
			o := operation{method: method, path: path}
			if op.RequestBody != nil {
				o.body = exampleOf(t, op.RequestBody.Value)
			}
			for part := range strings.SplitSeq(path, "/") {
				if strings.HasPrefix(part, "{") {
					o.params = append(o.params, strings.Trim(part, "{}"))
				}
			}
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return list
}

func exampleOf(t *testing.T, body *openapi3.RequestBody) string {
	t.Helper()
	media := body.Content.Get("application/json")
	if media == nil || media.Example == nil {
		return "{}"
	}
	text, err := json.Marshal(media.Example)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// at fills the parameters of the path from mine, but one of them from theirs; foreign reports
// whether there is another.
func (o operation) at(t *testing.T, mine, theirs owned, one string) (path string, foreign bool) {
	t.Helper()
	path = o.path
	for _, param := range o.params {
		id := mine.placeholder(t, o.path, param)
		if param == one {
			id = theirs.placeholder(t, o.path, param)
			foreign = id != ""
		}
		path = strings.Replace(path, "{"+param+"}", either(id == "", "1", id), 1)
	}
	if strings.HasSuffix(path, "/diff") {
		path += "?from=1&to=1"
	}
	return path, foreign
}

// Nothing of another project, or another person's own, exists for somebody: by its id in each
// parameter of each route the answer is 404, which is noted, and nothing is changed.
func TestIDsOfOtherProjects(t *testing.T) {
	t.Parallel()
	r := newRig(t, upgradeScript, scriptedModel+"\n[agents]\npublic_url = \"https://harvest.example.com\"\n[lxd]\nendpoint = \"https://127.0.0.1:1\"\n")
	if _, err := r.store.CreateUser(t.Context(), domain.NewUser{Email: "first@example.com", Name: "first", Provider: "local"}); err != nil {
		t.Fatal(err) // the first is an admin
	}
	red, blue := r.furnish(t, "red"), r.furnish(t, "blue")
	tried := 0
	for _, o := range r.operations(t) {
		for _, param := range o.params {
			path, foreign := o.at(t, red, blue, param)
			if !foreign {
				continue
			}
			tried++
			if status, text := r.bearer(t, red.key, o.method, path, o.body); status != http.StatusNotFound || strings.Contains(text, blue.user) {
				t.Errorf("%s %s by another's {%s}: %d %s", o.method, o.path, param, status, text)
			}
			if param != "name" { // what a name is of, its project says: another's is one that nothing has
				r.denied(t, red.user, o.method, path)
			}
		}
	}
	if tried < 60 {
		t.Errorf("only %d calls were tried", tried)
	}
	for _, o := range r.operations(t) { // all is there, for who may see it
		if path, _ := o.at(t, blue, blue, ""); o.method == http.MethodGet && len(o.params) > 0 && ofProjects(o) {
			if status, text := r.bearer(t, blue.key, o.method, path, ""); status != http.StatusOK {
				t.Errorf("%s for its own people: %d %s", path, status, text)
			}
		}
	}
	if status, text := r.bearer(t, red.key, http.MethodGet, "/agents", ""); status != http.StatusOK || !strings.Contains(text, red.agent) || strings.Contains(text, blue.agent) || strings.Contains(text, blue.project) {
		t.Errorf("the machines of all projects: %d %s", status, text)
	}
	r.inBodies(t, red, blue)
}

// ofProjects reports whether what a route gives is there without further ado, and ends.
func ofProjects(o operation) bool {
	named := func(p string) bool {
		return p == "n" || p == "repo" || p == "route_name" || p == "name" && !strings.Contains(o.path, "/secrets/")
	}
	return !slices.ContainsFunc(o.params, named) && !strings.HasSuffix(o.path, "/events") && !strings.HasSuffix(o.path, "/console") &&
		!strings.HasSuffix(o.path, "/search") && !strings.HasPrefix(o.path, "/skills/")
}

// denied looks for the entry of a call that was just refused.
func (r *rig) denied(t *testing.T, user, method, path string) {
	t.Helper()
	entries, err := r.store.AuditEntries(t.Context(), domain.AuditFilter{UserID: user, Method: method, Outcome: domain.OutcomeDenied, Limit: 1})
	if err != nil || len(entries) != 1 || entries[0].Path != strings.Split(path, "?")[0] || entries[0].Status < 400 {
		t.Errorf("%s %s is noted as %+v, %v", method, path, entries, err)
	}
}

// inBodies tries another project's ids where a body takes one.
func (r *rig) inBodies(t *testing.T, red, blue owned) {
	t.Helper()
	mine := "/projects/" + red.project
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/query", fmt.Sprintf(`{"query":"q","conversation_id":%q}`, blue.conversation), 404},
		{"/query", fmt.Sprintf(`{"query":"q","conversation_id":%q}`, blue.personal), 404},
		{"/query", fmt.Sprintf(`{"query":"q","conversation_id":%q}`, red.conversation), 404}, // a project's, asked as one's own
		{"/query/stream", fmt.Sprintf(`{"query":"q","conversation_id":%q}`, blue.conversation), 404},
		{mine + "/query", fmt.Sprintf(`{"query":"q","conversation_id":%q}`, blue.conversation), 404},
		{mine + "/query", fmt.Sprintf(`{"query":"q","conversation_id":%q}`, red.personal), 404},
		{mine + "/query/stream", fmt.Sprintf(`{"query":"q","conversation_id":%q}`, blue.conversation), 404},
		{"/projects", fmt.Sprintf(`{"name":"x","group_id":%q}`, blue.group), 403},
		{mine + "/conversations/" + red.conversation + "/branch", fmt.Sprintf(`{"message_id":%q}`, blue.message), 404},
		{"/conversations/" + red.personal + "/branch", fmt.Sprintf(`{"message_id":%q}`, red.message), 404},
		{mine + "/conversations/" + red.conversation + "/confirm-action/resume", fmt.Sprintf(`{"decisions":[{"id":%q,"approved":true,"nonce":"n","hash":"h"}]}`, blue.action), 404},
		{mine + "/conversations/" + red.conversation + "/confirm-action/resume", fmt.Sprintf(`{"decisions":[{"id":%q,"approved":true,"nonce":"n","hash":"h"}]}`, blue.personalAct), 404},
		{mine + "/conversations/" + red.conversation + "/confirm-action/resume", fmt.Sprintf(`{"results":[{"tool_call_id":%q,"status":"done"}]}`, blue.action), 404},
	} {
		if status, text := r.bearer(t, red.key, http.MethodPost, c.path, c.body); status != c.status || strings.Contains(text, blue.user) {
			t.Errorf("POST %s %s: %d %s", c.path, c.body, status, text)
		} else {
			r.denied(t, red.user, http.MethodPost, c.path)
		}
	}
	var waiting int
	if err := r.pool.QueryRow(t.Context(), "select count(*) from actions where status = 'pending'").Scan(&waiting); err != nil || waiting != 4 {
		t.Errorf("%d actions wait, %v", waiting, err)
	}
}
