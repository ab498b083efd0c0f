package crashtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/lxd"
	"github.com/harvest-engine/harvest/internal/lxd/lxdtest"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/workflows"
)

func (n *node) containers() *lxd.Containers {
	return lxd.NewContainers(n.door, lxd.Image{Alias: "tiny", Profile: "default"})
}

// provisioning are the activities that make agents in containers.
func (n *node) provisioning() *activities.Provision {
	vault, err := n.vault()
	if err != nil {
		panic(err) // its key is a constant
	}
	p := &activities.Provision{Store: n.store, Installer: plainScript{}, Secrets: vault}
	if n.door != nil {
		p.Containers = n.containers()
	}
	return p
}

// plainScript is what the containers of these tests are installed by.
type plainScript struct{}

func (plainScript) InstallScript(context.Context, string) (script, tokenVariable string, err error) {
	return "install the agent\n", "TOKEN", nil
}

// yard is a site with an LXD server that does as it is told, and a project.
type yard struct {
	*site
	lxd     *lxdtest.Server
	project domain.Project
	notes   []string // of the provision that was over last
}

func newYard(t *testing.T) *yard {
	t.Helper()
	servers := testkit.Stack(t)
	fake := lxdtest.New(t)
	s := openSite(t, nodeOrder{
		DSN: servers.DSN, Temporal: servers.TemporalAddress, Namespace: servers.TemporalNamespace, LXD: fake.Endpoint, LXDToken: fake.Token(),
	})
	project, err := s.store.CreateProject(t.Context(), domain.Project{Name: domain.NewID(), GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{site: s, lxd: fake, project: project}
	y.comes("the LXD server is joined", s.door.Open)
	return y
}

// comes waits for what must come.
func (y *yard) comes(what string, is func() bool) {
	y.t.Helper()
	limit := time.After(patience)
	for !is() {
		select {
		case <-limit:
			y.t.Fatalf("it did not come to this: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (y *yard) provision() domain.Provision {
	y.t.Helper()
	p, err := y.StartProvision(context.Background(), domain.ProvisionOrder{ProjectID: y.project.ID, UserID: domain.OwnerID, Name: "Web", Flavor: "tiny"})
	if err != nil {
		y.t.Fatalf("start a provision: %v", err)
	}
	return p
}

// over waits for the end of a provision, and gives it with what was told.
func (y *yard) over(id string) (p domain.Provision, told []string) {
	y.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	for e, err := range y.store.Follow(ctx, id, domain.Cursor{}) {
		if err != nil {
			y.t.Fatalf("follow %s: %v", id, err)
		}
		var fields struct {
			Phase   string
			Message string
			Attempt int
			Waiting bool
		}
		if err := json.Unmarshal(e.Payload, &fields); err != nil {
			y.t.Fatal(err)
		}
		if e.Type == domain.EventPhaseNote {
			y.notes = append(y.notes, fmt.Sprint(fields.Phase, " ", fields.Waiting, " ", fields.Message))
			continue
		}
		text := strings.TrimSpace(string(e.Type) + " " + fields.Phase)
		if fields.Attempt > 0 {
			text += fmt.Sprint(fields.Attempt)
		}
		told = append(told, text)
	}
	p, err := y.store.Provision(ctx, id)
	if err != nil {
		y.t.Fatal(err)
	}
	return p, told
}

// closed keeps the history of a provision once its workflow has closed.
func (y *yard) closed(id, name string) {
	y.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	workflowID := workflows.ProvisionWorkflowID(id)
	_ = y.client.GetWorkflow(ctx, workflowID, "").Get(ctx, nil) // it fails where the provision did
	y.keep(ctx, workflows.ProvisionAgent.Name, workflowID, name)
}

// tokens counts the install tokens of the project.
func (y *yard) tokens() (n int) {
	y.t.Helper()
	if err := y.pool.QueryRow(context.Background(), "select count(*) from install_tokens where project_id = $1", y.project.ID).Scan(&n); err != nil {
		y.t.Fatal(err)
	}
	return n
}

// clean checks that nothing is left of a provision.
func (y *yard) clean() {
	y.t.Helper()
	if left := y.lxd.Containers(); len(left) != 0 {
		y.t.Errorf("left are %+v", left)
	}
	if n := y.tokens(); n != 0 {
		y.t.Errorf("%d install tokens are left", n)
	}
}

// wholeProvision is what is told of a provision that goes well.
var wholeProvision = []string{
	"phase_start ensure_network", "phase_start install_token", "phase_start create_container", "phase_start start_container",
	"phase_start wait_running", "phase_start install_agent", "done",
}

// made checks that a provision has made exactly its container.
func (y *yard) made(id string) {
	y.t.Helper()
	p, told := y.over(id)
	if diff := cmp.Diff(wholeProvision, told); diff != "" || p.Status != domain.ProvisionDone {
		y.t.Errorf("%s (%s), told (-want +got):\n%s", p.Status, p.Error, diff)
	}
	left := y.lxd.Containers()
	if len(left) != 1 || left[0].Name != p.Instance || left[0].Status != "Running" || left[0].Config["user.harvest.provision"] != id || left[0].Config["limits.memory"] != "512MiB" {
		y.t.Errorf("containers %+v of %s", left, p.Instance)
	}
	if n := y.tokens(); n != 1 {
		y.t.Errorf("%d install tokens", n)
	}
}

func TestProvisionUndisturbed(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	var lock sync.Mutex
	scripts := map[string]bool{}
	y.lxd.Script = func(script string) (int, string) {
		lock.Lock()
		defer lock.Unlock()
		scripts[script] = true
		return 0, ""
	}
	y.worker()
	p := y.provision()
	y.made(p.ID)
	for script := range scripts {
		if !strings.HasPrefix(script, "export TOKEN='hvi_") || !strings.HasSuffix(script, "'\ninstall the agent\n") {
			t.Errorf("the container ran %q", script)
		}
	}
	y.closed(p.ID, "undisturbed")
	if names := y.lxd.Networks(); len(names) != 1 || names[0] != lxd.NetworkName(y.project.ID) || len(names[0]) > 15 {
		t.Errorf("networks %v", names)
	}
}

// What can't be stored, or is no size, is refused before anything is begun.
func TestProvisionIsRefused(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	for field, order := range map[string]domain.ProvisionOrder{
		"name": {Name: " ", Flavor: "tiny"}, "name of NUL": {Name: "a\x00b", Flavor: "tiny"}, "name of noise": {Name: "a\xff", Flavor: "tiny"},
		"name that is long": {Name: strings.Repeat("ü", 101), Flavor: "tiny"}, "description": {Name: "a", Description: "\x00", Flavor: "tiny"},
		"description that is long": {Name: "a", Description: strings.Repeat("ü", 501), Flavor: "tiny"}, "flavor": {Name: "a", Flavor: "huge"},
	} {
		order.ProjectID, order.UserID = y.project.ID, domain.OwnerID
		want, _, _ := strings.Cut(field, " ")
		var refused *domain.Error
		if _, err := y.StartProvision(t.Context(), order); !errors.As(err, &refused) || refused.Code != domain.CodeInvalid || refused.Field != want {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A worker that is killed at any step is replaced, and one container is made.
func TestKilledWorkerAmidProvision(t *testing.T) {
	t.Parallel()
	for _, step := range []lxdtest.Step{lxdtest.Network, lxdtest.Create, lxdtest.Start, lxdtest.Look, lxdtest.Exec} {
		t.Run(string(step), func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			fault, asked := lxdtest.Fault{Blocks: true}, 1
			if step == lxdtest.Look { // it is waited for
				fault, asked = lxdtest.Fault{Lies: "Starting"}, 6
			}
			y.lxd.Set(step, fault)
			doomed := y.worker()
			p := y.provision()
			y.lxd.Await(t, step, asked)
			doomed.kill()
			y.lxd.Clear(step) // what was asked for is done, and nobody hears of it
			y.worker()
			y.made(p.ID)
			y.closed(p.ID, "killed at "+string(step))
		})
	}
}

// A worker that is killed as it cleans up is replaced, and nothing is left.
func TestKilledWorkerAmidCleanup(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.lxd.Set(lxdtest.Start, lxdtest.Fault{Fails: true, Text: "no such cgroup"})
	y.lxd.Set(lxdtest.Delete, lxdtest.Fault{Blocks: true})
	doomed := y.worker()
	p := y.provision()
	y.lxd.Await(t, lxdtest.Delete, 1)
	doomed.kill()
	y.lxd.Clear(lxdtest.Delete)
	y.worker()
	if p, _ := y.over(p.ID); p.Status != domain.ProvisionFailed || !strings.Contains(p.Error, "no such cgroup") || p.Phase != domain.PhaseStart {
		t.Errorf("it is %s in %s: %s", p.Status, p.Phase, p.Error)
	}
	y.clean()
	y.closed(p.ID, "killed at the clean-up")
}

// What LXD says at any step is told, without secrets, and nothing is left.
func TestProvisionFailsAtAnyStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step  lxdtest.Step
		fault lxdtest.Fault
		phase domain.ProvisionPhase
	}{
		{lxdtest.Network, lxdtest.Fault{Status: 500, Text: "no address is free, not even s3cret-of-all"}, domain.PhaseNetwork},
		{lxdtest.Create, lxdtest.Fault{Status: 400, Text: "no space left on s3cret-of-all"}, domain.PhaseCreate},
		{lxdtest.Create, lxdtest.Fault{Fails: true, Text: "no such image as s3cret-of-all"}, domain.PhaseCreate},
		{lxdtest.Start, lxdtest.Fault{Fails: true, Text: "no cgroup for s3cret-of-all"}, domain.PhaseStart},
	} {
		t.Run(string(c.step), func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			vault, err := y.vault()
			if err == nil {
				_, err = vault.Save(t.Context(), y.project.ID, "PASSWORD", domain.NewSecretValue("s3cret-of-all"), domain.Author{UserID: domain.OwnerID})
			}
			if err != nil {
				t.Fatal(err)
			}
			y.lxd.Set(c.step, c.fault)
			y.worker()
			p, told := y.over(y.provision().ID)
			text, _, _ := strings.Cut(c.fault.Text, " s3cret")
			if p.Status != domain.ProvisionFailed || p.Phase != c.phase || !strings.Contains(p.Error, text) || strings.Contains(p.Error, "s3cret") {
				t.Errorf("it is %s in %s: %s", p.Status, p.Phase, p.Error)
			}
			if last := told[len(told)-1]; last != "error "+string(c.phase) {
				t.Errorf("told %v", told)
			}
			if diff := cmp.Diff([]string{"removing false what was made of it is being removed"}, y.notes); diff != "" {
				t.Errorf("noted (-want +got):\n%s", diff)
			}
			y.clean()
		})
	}
}

// The script is tried four times; what it said last is told, without its token.
func TestInstallationFails(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.lxd.Script = func(script string) (int, string) { return 3, "not found, said\n" + script }
	y.worker()
	id := y.provision().ID
	p, told := y.over(id)
	want := append(append([]string{}, wholeProvision[:6]...), "install_retry2", "install_retry3", "install_retry4", "error install_agent")
	for i, text := range told {
		told[i] = strings.ReplaceAll(text, "install_retry ", "install_retry")
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if !strings.Contains(p.Error, "exit code 3: not found, said") || !strings.Contains(p.Error, "[install token]") || strings.Contains(p.Error, "hvi_") {
		t.Errorf("the error is %q", p.Error)
	}
	if n := y.lxd.Asked(lxdtest.Exec); n != 4 {
		t.Errorf("the script was run %d times", n)
	}
	y.clean()
	y.closed(id, "four tries")
}

// Whoever stops it at any step, however LXD hangs there, leaves nothing behind.
func TestProvisionIsCanceledAtAnyStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step  lxdtest.Step
		fault lxdtest.Fault
	}{
		{lxdtest.Network, lxdtest.Fault{Blocks: true}},
		{lxdtest.Create, lxdtest.Fault{Hangs: true}},
		{lxdtest.Start, lxdtest.Fault{Hangs: true}},
		{lxdtest.Look, lxdtest.Fault{Lies: "Starting"}},
		{lxdtest.Exec, lxdtest.Fault{Hangs: true}},
	} {
		t.Run(string(c.step), func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			y.lxd.Set(c.step, c.fault)
			y.worker()
			id := y.provision().ID
			asked := 1
			if c.step == lxdtest.Look {
				asked = 6
			}
			y.lxd.Await(t, c.step, asked)
			if _, err := y.CancelProvision(t.Context(), y.project.ID, id); err != nil {
				t.Fatal(err)
			}
			p, told := y.over(id)
			if p.Status != domain.ProvisionCanceled || !strings.HasPrefix(told[len(told)-1], "canceled ") {
				t.Errorf("it is %s (%s), told %v", p.Status, p.Error, told)
			}
			y.clean()
			y.closed(id, "canceled at "+string(c.step))
		})
	}
}

// One that was canceled before any worker took it makes nothing, and so does one whose project
// is deleted.
func TestProvisionIsCanceledBeforeItBegins(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.provision().ID
	if _, err := y.CancelProvision(t.Context(), y.project.ID, id); err != nil {
		t.Fatal(err)
	}
	y.worker()
	if p, told := y.over(id); p.Status != domain.ProvisionCanceled || len(told) != 1 {
		t.Errorf("it is %s, told %v", p.Status, told)
	}
	if n := y.lxd.Asked(lxdtest.Create); n != 0 {
		t.Errorf("a container was asked for")
	}
	y.lxd.Set(lxdtest.Create, lxdtest.Fault{Hangs: true})
	id = y.provision().ID
	y.lxd.Await(t, lxdtest.Create, 1)
	if _, err := y.DeleteProject(t.Context(), y.project.ID); err != nil {
		t.Fatal(err)
	}
	y.comes("the container of the project is gone", func() bool { return len(y.lxd.Containers()) == 0 })
	y.closed(id, "deleted project")
}

// A server that cuts connections for a while is waited for.
func TestServerIsAwayAmidProvision(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.lxd.Set(lxdtest.Create, lxdtest.Fault{Drops: true})
	y.worker()
	id := y.provision().ID
	y.lxd.Await(t, lxdtest.Create, 3)
	y.lxd.Clear(lxdtest.Create)
	y.made(id)
	if len(y.notes) == 0 || !strings.HasPrefix(y.notes[0], "create_container true LXD could not create the container ") {
		t.Errorf("noted %q", y.notes)
	}
}

// Whoever stops it while the server is away hears that it is waited for, and nothing is left once
// it is back.
func TestProvisionIsCanceledWhileServerIsAway(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.lxd.Set(lxdtest.Exec, lxdtest.Fault{Hangs: true})
	y.worker()
	id := y.provision().ID
	y.lxd.Await(t, lxdtest.Exec, 1)
	y.lxd.Set(lxdtest.Delete, lxdtest.Fault{Drops: true})
	if _, err := y.CancelProvision(t.Context(), y.project.ID, id); err != nil {
		t.Fatal(err)
	}
	y.comes("it is told what is waited for", func() bool {
		p, err := y.store.Provision(t.Context(), id)
		return err == nil && strings.HasPrefix(p.Note, "LXD could not delete the container ")
	})
	y.lxd.Clear(lxdtest.Delete)
	if p, _ := y.over(id); p.Status != domain.ProvisionCanceled || p.Note != "" {
		t.Errorf("it is %s, with the note %q", p.Status, p.Note)
	}
	if len(y.notes) < 2 || !strings.HasPrefix(y.notes[0], "removing false ") || !strings.HasPrefix(y.notes[1], "removing true LXD could not delete ") {
		t.Errorf("noted %q", y.notes)
	}
	y.clean()
}

// What a terminated workflow leaves behind is found on the server, and nothing else is touched.
func TestOrphansAreReaped(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	y := newYard(t)
	y.lxd.Put(lxdtest.Container{Name: "theirs", Status: "Running", Config: map[string]string{"user.harvest.installation": "another", "user.harvest.project": "gone"}})
	y.lxd.Put(lxdtest.Container{Name: "plain", Status: "Running"})
	y.lxd.Put(lxdtest.Container{Name: "lost", Status: "Running", Config: map[string]string{
		"user.harvest.installation": y.door.Installation(), "user.harvest.project": y.project.ID, "user.harvest.provision": "forgotten",
	}})
	y.lxd.Set(lxdtest.Exec, lxdtest.Fault{Hangs: true})
	y.worker()
	id := y.provision().ID
	y.lxd.Await(t, lxdtest.Exec, 1)
	if err := y.Reap(ctx); err != nil {
		t.Fatal(err)
	}
	if n := len(y.lxd.Containers()); n != 3 { // the one under way stays
		t.Errorf("%d containers", n)
	}
	if err := y.client.TerminateWorkflow(ctx, workflows.ProvisionWorkflowID(id), "", "a test"); err != nil {
		t.Fatal(err)
	}
	y.exec("update provisions set created_at = created_at - interval '1 minute', launched_at = now()")
	y.comes("the row ends", func() bool {
		_ = y.Reconcile(ctx) // turns of other tests are none of ours
		p, err := y.store.Provision(ctx, id)
		return err == nil && p.Status == domain.ProvisionCanceled
	})
	y.comes("its container is gone", func() bool {
		if err := y.Reap(ctx); err != nil {
			return false
		}
		left := y.lxd.Containers()
		return len(left) == 2 && left[0].Name == "plain" && left[1].Name == "theirs"
	})
}

func (y *yard) exec(sql string) {
	y.t.Helper()
	if _, err := y.pool.Exec(context.Background(), sql); err != nil {
		y.t.Fatal(err)
	}
}
