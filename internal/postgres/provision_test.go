package postgres_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// provision makes a provision of a project.
func (h house) provision(projectID, id, key string) domain.Provision {
	h.Helper()
	p, err := h.store.CreateProvision(context.Background(), containerOrder(projectID, id, key))
	if err != nil {
		h.Fatalf("create provision %s: %v", id, err)
	}
	return p
}

func containerOrder(projectID, id, key string) domain.ProvisionOrder {
	return domain.ProvisionOrder{
		ID: id, ProjectID: projectID, UserID: "ada", Name: "web", Flavor: "tiny", Instance: "web-" + id, Description: "the web server",
		Key: key, Hash: []byte("what was asked"),
	}
}

// told gives the types of a provision's events, with the phase or the attempt.
func (h house) told(id string) (list []string) {
	h.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	for e, err := range h.store.Follow(ctx, id, domain.Cursor{}) {
		if err != nil {
			h.Fatalf("follow %s: %v", id, err)
		}
		list = append(list, string(e.Type)+" "+string(e.Payload))
	}
	return list
}

func TestProvisionIsMadeOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	_, other, _ := shared(t, h.store)
	first := h.provision(project.ID, "p1", "key")
	if first.Status != domain.ProvisionQueued || first.Instance != "web-p1" || first.Launched {
		t.Errorf("made %+v", first)
	}
	for _, again := range []domain.ProvisionOrder{containerOrder(project.ID, "p1", ""), containerOrder(project.ID, "p2", "key")} {
		if p, err := h.store.CreateProvision(ctx, again); err != nil || p.ID != "p1" {
			t.Errorf("%+v again gives %s, %v", again, p.ID, err)
		}
	}
	another := containerOrder(project.ID, "p3", "key")
	another.Hash = []byte("something else")
	if _, err := h.store.CreateProvision(ctx, another); domain.CodeOf(err) != domain.CodeUnprocessable {
		t.Errorf("the key with another request: %v", err)
	}
	if _, err := h.store.CreateProvision(ctx, containerOrder(other.ID, "p1", "")); domain.CodeOf(err) != domain.CodeUnprocessable {
		t.Errorf("another project's id: %v", err)
	}
	if _, err := h.store.CreateProvision(ctx, containerOrder("nowhere", "p4", "")); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("no project: %v", err)
	}
	if p := h.provision(other.ID, "p5", "key"); p.ID != "p5" {
		t.Errorf("the same key in another project gives %s", p.ID)
	}
}

func TestProvisionTellsItsPhasesOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	h.provision(project.ID, "p1", "")
	if p, err := h.store.BeginProvision(ctx, "p1"); err != nil || p.Status != domain.ProvisionRunning || !p.Launched {
		t.Fatalf("begun: %+v, %v", p, err)
	}
	for range 2 { // a worker that died amid a phase is followed by another
		for _, err := range []error{
			h.store.NotePhase(ctx, "p1", domain.PhaseNetwork), h.store.NotePhase(ctx, "p1", domain.PhaseInstall),
			h.store.NotePhase(ctx, "p1", domain.PhaseCreate), h.store.NoteTry(ctx, "p1", 2, 4, "no network"),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if p, err := h.store.EndProvision(ctx, "p1", "", ""); err != nil || p.Status != domain.ProvisionDone || p.Phase != domain.PhaseInstall || p.EndedAt == nil {
		t.Errorf("ended: %+v, %v", p, err)
	}
	if p, err := h.store.EndProvision(ctx, "p1", domain.CodeUpstream, "too late"); err != nil || p.Status != domain.ProvisionDone {
		t.Errorf("ended again: %+v, %v", p, err)
	}
	want := []string{
		`phase_start {"phase":"ensure_network"}`, `phase_start {"phase":"install_agent"}`, `install_retry {"attempt":2,"attempts":4,"message":"no network"}`,
		`done {"instance":"web-p1","provision_id":"p1"}`,
	}
	if diff := cmp.Diff(want, h.told("p1")); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if err := h.store.NotePhase(ctx, "p1", domain.PhaseInstall); domain.CodeOf(err) != domain.CodeCanceled {
		t.Errorf("a phase after the end: %v", err)
	}
	if err := h.store.NotePhase(ctx, "gone", domain.PhaseInstall); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("a phase of nothing: %v", err)
	}
}

// What goes on in a phase is told once as long as it stays the same, also of one that is to stop,
// and holds until the next phase.
func TestProvisionTellsWhatGoesOn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	h.provision(project.ID, "p1", "")
	note := func(phase domain.ProvisionPhase, message string, waiting bool) {
		t.Helper()
		for range 2 {
			if err := h.store.NoteProvision(ctx, "p1", domain.ProvisionNote{Phase: phase, Message: message, Waiting: waiting}); err != nil {
				t.Error(err)
			}
		}
	}
	is := func(want string) {
		t.Helper()
		if p, err := h.store.Provision(ctx, "p1"); err != nil || p.Note != want {
			t.Errorf("the note is %q, %v, not %q", p.Note, err, want)
		}
	}
	note(domain.PhaseCreate, "rootfs: 12%", false)
	is("rootfs: 12%")
	if err := h.store.NotePhase(ctx, "p1", domain.PhaseStart); err != nil {
		t.Fatal(err)
	}
	is("")
	if _, err := h.store.RequestProvisionCancel(ctx, "p1"); err != nil {
		t.Fatal(err)
	}
	note(domain.PhaseRemoving, "LXD is away", true)
	is("LXD is away")
	if _, err := h.store.EndProvision(ctx, "p1", domain.CodeCanceled, "stopped"); err != nil {
		t.Fatal(err)
	}
	is("")
	note(domain.PhaseRemoving, "after the end", true)
	want := []string{
		`phase_note {"message":"rootfs: 12%","phase":"create_container"}`, `phase_start {"phase":"start_container"}`,
		`phase_note {"message":"LXD is away","phase":"removing","waiting":true}`,
		`canceled {"instance":"web-p1","message":"stopped","phase":"start_container","provision_id":"p1"}`,
	}
	if diff := cmp.Diff(want, h.told("p1")); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Whoever asked to stop in time is not told that it is done.
func TestProvisionIsCanceled(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	h.provision(project.ID, "p1", "")
	if p, err := h.store.RequestProvisionCancel(ctx, "p1"); err != nil || !p.CancelRequested {
		t.Fatalf("cancel: %+v, %v", p, err)
	}
	if p, err := h.store.BeginProvision(ctx, "p1"); err != nil || p.Status != domain.ProvisionQueued {
		t.Errorf("begun after all: %+v, %v", p, err)
	}
	if err := h.store.NotePhase(ctx, "p1", domain.PhaseNetwork); domain.CodeOf(err) != domain.CodeCanceled {
		t.Errorf("a phase: %v", err)
	}
	if p, err := h.store.EndProvision(ctx, "p1", "", ""); err != nil || p.Status.Final() {
		t.Errorf("done after all: %+v, %v", p, err)
	}
	if p, err := h.store.EndProvision(ctx, "p1", domain.CodeCanceled, "stopped"); err != nil || p.Status != domain.ProvisionCanceled || p.Error != "stopped" {
		t.Errorf("ended: %+v, %v", p, err)
	}
	if _, err := h.store.RequestProvisionCancel(ctx, "p1"); domain.CodeOf(err) != domain.CodeConflict {
		t.Errorf("canceled again: %v", err)
	}
	if _, err := h.store.RequestProvisionCancel(ctx, "none"); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("nothing canceled: %v", err)
	}
	if last := h.told("p1"); len(last) != 1 || !strings.HasPrefix(last[0], `canceled {"instance":"web-p1","message":"stopped"`) {
		t.Errorf("told %v", last)
	}
}

// A container's token is one however often it is asked for, lets one machine join as the
// container's, outlives a rotation, and ends with a provision that fails.
func TestProvisionToken(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	token := func(id, text string) string {
		t.Helper()
		hash := sha256.Sum256([]byte(text))
		got, err := h.store.ProvisionToken(ctx, id, text, hash[:], time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	h.provision(project.ID, "p1", "")
	if first, again := token("p1", "hvi_first"), token("p1", "hvi_second"); first != "hvi_first" || again != "hvi_first" {
		t.Errorf("tokens %s and %s", first, again)
	}
	if err := h.store.RevokeInstallTokens(ctx, project.ID); err != nil {
		t.Fatal(err)
	}
	join := func(text, machine string) (domain.Agent, error) {
		hash := sha256.Sum256([]byte(text))
		return h.store.JoinAgent(ctx, hash[:], []byte(domain.NewID()), domain.AgentHello{Hostname: "web", Machine: machine})
	}
	agent, err := join("hvi_first", "m1")
	if err != nil || agent.Provider != domain.ProviderLXD || agent.Instance != "web-p1" || agent.Description != "the web server" {
		t.Errorf("joined as %+v, %v", agent, err)
	}
	if _, err := join("hvi_first", "m2"); domain.CodeOf(err) != domain.CodeUnauthorized {
		t.Errorf("a second machine: %v", err)
	}
	if ids, err := h.store.InstanceAgents(ctx, project.ID, "web-p1"); err != nil || !slices.Equal(ids, []string{agent.ID}) {
		t.Errorf("agents of the container: %v, %v", ids, err)
	}
	if ids, err := h.store.InstanceAgents(ctx, project.ID, ""); err != nil || len(ids) != 0 {
		t.Errorf("agents of no container: %v, %v", ids, err)
	}

	h.provision(project.ID, "p2", "")
	token("p2", "hvi_lost")
	if _, err := h.store.EndProvision(ctx, "p2", domain.CodeUpstream, "broken"); err != nil {
		t.Fatal(err)
	}
	if _, err := join("hvi_lost", "m3"); domain.CodeOf(err) != domain.CodeUnauthorized {
		t.Errorf("the token of what failed: %v", err)
	}
	hash := sha256.Sum256([]byte("x"))
	if _, err := h.store.ProvisionToken(ctx, "p2", "hvi_late", hash[:], time.Hour); domain.CodeOf(err) != domain.CodeCanceled {
		t.Errorf("a token after the end: %v", err)
	}
}

func TestOrphansAreWhatNothingAccountsFor(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	_, other, _ := shared(t, h.store)
	for _, id := range []string{"open", "done", "old", "failed", "agent", "elsewhere"} {
		h.provision(project.ID, id, "")
	}
	for _, id := range []string{"done", "old", "agent"} {
		if _, err := h.store.EndProvision(ctx, id, "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.store.EndProvision(ctx, "failed", domain.CodeUpstream, "x"); err != nil {
		t.Fatal(err)
	}
	h.exec(`update provisions set ended_at = ended_at - interval '3 hours' where id in ('old', 'agent')`)
	h.exec(`insert into agents (id, project_id, hostname, token_hash, provider, instance) values ('a', '` + project.ID + `', 'w', 'a', 'lxd', 'web-agent')`)
	var all []domain.Container
	for _, id := range []string{"open", "done", "old", "failed", "agent", "unknown"} {
		all = append(all, domain.Container{Name: "web-" + id, ProjectID: project.ID})
	}
	all = append(all, domain.Container{Name: "web-elsewhere", ProjectID: other.ID})
	orphans, err := h.store.OrphanContainers(ctx, all, 2*time.Hour)
	slices.Sort(orphans)
	if want := []string{"web-elsewhere", "web-failed", "web-old", "web-unknown"}; err != nil || !slices.Equal(orphans, want) {
		t.Errorf("orphans %v, %v; want %v", orphans, err, want)
	}
	networks, err := h.store.OrphanNetworks(ctx, []domain.ContainerNetwork{{Name: "n1", ProjectID: project.ID}, {Name: "n2", ProjectID: "gone"}})
	if err != nil || !slices.Equal(networks, []string{"n2"}) {
		t.Errorf("networks %v, %v", networks, err)
	}
}

func TestProvisionsToSweepAndReconcile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	for i := range 4 {
		h.provision(project.ID, fmt.Sprint("p", i), "")
	}
	if err := h.store.MarkProvisionLaunched(ctx, "p1"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.store.EndProvision(ctx, "p2", domain.CodeInternal, "x"); err != nil {
		t.Fatal(err)
	}
	h.exec(`update provisions set created_at = created_at - interval '1 minute' where id <> 'p3'`)
	ids := func(list []domain.Provision, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, p := range list {
			ids = append(ids, p.ID)
		}
		return strings.Join(ids, " ")
	}
	if got := ids(h.store.UnstartedProvisions(ctx, 10*time.Second, 10)); got != "p0" {
		t.Errorf("unstarted: %s", got)
	}
	if got := ids(h.store.OpenProvisions(ctx, 10*time.Second, "", 10)); got != "p0 p1" {
		t.Errorf("open: %s", got)
	}
	if got := ids(h.store.OpenProvisions(ctx, 10*time.Second, "p0", 10)); got != "p1" {
		t.Errorf("open after p0: %s", got)
	}
	if got := ids(h.store.ProjectProvisions(ctx, project.ID)); got != "p0 p1 p3" {
		t.Errorf("of the project: %s", got)
	}
}

// reverse is a sealer whose work can be seen.
type reverse struct{}

func (reverse) Seal(plain, place []byte) ([]byte, error) {
	out := slices.Concat(place, []byte{0}, plain)
	slices.Reverse(out)
	return out, nil
}

func (reverse) Open(sealed, place []byte) ([]byte, error) {
	out := slices.Clone(sealed)
	slices.Reverse(out)
	plain, ok := strings.CutPrefix(string(out), string(place)+"\x00")
	if !ok {
		return nil, fmt.Errorf("it was sealed for another place")
	}
	return []byte(plain), nil
}

// Of many processes that begin at once, one makes the identity, and all have that. Its key is
// sealed, and does not open beside another certificate.
func TestIdentityForLXDIsMadeOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pool := testkit.Postgres(t)
	var all sync.WaitGroup
	found := make([]domain.LXDIdentity, 8)
	for i := range found {
		store := postgres.NewStore(pool, postgres.WithSealer(reverse{}))
		all.Go(func() {
			id, err := store.LXDIdentity(ctx, func() (domain.LXDIdentity, error) {
				return domain.LXDIdentity{Installation: fmt.Sprint("i", i), Certificate: fmt.Sprint("c", i), Key: fmt.Sprint("key-", i)}, nil
			})
			if err != nil {
				t.Errorf("identity: %v", err)
			}
			found[i] = id
		})
	}
	all.Wait()
	for _, id := range found {
		if id != found[0] || id.Key != "key-"+id.Installation[1:] {
			t.Errorf("identities %+v and %+v", id, found[0])
		}
	}
	var sealed string
	if err := pool.QueryRow(ctx, `select encode(sealed_key, 'escape') from lxd_identity`).Scan(&sealed); err != nil || strings.Contains(sealed, "key-") {
		t.Errorf("stored %q, %v", sealed, err)
	}
	store := postgres.NewStore(pool, postgres.WithSealer(reverse{}))
	if _, err := pool.Exec(ctx, `update lxd_identity set certificate = 'another'`); err != nil {
		t.Fatal(err)
	}
	if _, err := store.LXDIdentity(ctx, nil); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("the key of another certificate: %v", err)
	}

	if pin, err := store.LXDPin(ctx, "https://a:8443"); err != nil || pin != "" {
		t.Errorf("pin %q, %v", pin, err)
	}
	for _, print := range []string{"aa", "bb"} {
		if err := store.PinLXD(ctx, "https://a:8443", print); err != nil {
			t.Fatal(err)
		}
	}
	if pin, err := store.LXDPin(ctx, "https://a:8443"); err != nil || pin != "bb" {
		t.Errorf("pin %q, %v", pin, err)
	}
}
