package agent_test

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agent"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

var waitLogged = regexp.MustCompile(`again_in=(\S+)`)

// waits gives for how long the agent said that it waits before it connects again, each time.
func (l *logbook) waits(t *testing.T) (list []time.Duration) {
	t.Helper()
	for _, found := range waitLogged.FindAllStringSubmatch(l.String(), -1) {
		wait, err := time.ParseDuration(found[1])
		if err != nil {
			t.Error(err)
		}
		list = append(list, wait)
	}
	return list
}

func TestGarbageOfTheServerEndsNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.execute("c1", once(d, "c1"))
	s.started("c1", 1)
	for _, text := range []string{
		"data: {\n\n", "data: []\n\n", "data: null\n\n", "data: 7\n\n", "data: {\"type\":7}\n\n", "data: \xff\xfe\n\n",
		"data: {\"type\":\"execute\"}\n\n", "data: {\"type\":\"cancel\"}\n\n", "data: {\"type\":\"registered\"}\n\n",
		"data: {\"type\":\"registered\",\"agent_token\":\"no\\ntoken\"}\n\n",
		"data: {\"type\":\"open_shell\",\"session_id\":\"../../x\"}\n\n", "data: {\"type\":\"open_tunnel\"}\n\n",
		"data: {\"type\":\"run_terraform\",\"request_id\":\"x\"}\n\n", "data: {\"type\":\"from the future\",\"a\":{\"b\":[1]}}\n\n",
		"data: {\"type\":\"execute\",\"request_id\":\"x\",\"timeout_secs\":\"soon\"}\n\n",
		"event: strange\nid: 7\nretry: -1\n\n", ":\n\n\n\n\x00\n", "no colon\n\n",
		"data: {\"type\":\"hello_ack\"}\r\rdata: {\"type\":\"error\",\"message\":\"told\"}\r\n\r\n",
	} {
		s.raw(text)
	}
	s.send(agentwire.Message{Type: agentwire.Execute, RequestID: "huge", Command: "echo " + strings.Repeat(" ", 100<<10) + "huge", TimeoutSecs: 1 << 40})
	if result := s.result("huge"); string(result.StdoutHead) != "huge\n" || result.Outcome != agentwire.Exited {
		t.Errorf("after the garbage it ended %+v", result)
	}
	d.log.says(t, "told")
	s.raw("data: " + strings.Repeat("x", 5<<20) + "\n\n") // too long: the connection is made anew
	s.until("a second connection", func() bool { return len(s.hellos) == 2 })
	d.release()
	expectDone(t, d, s.result("c1"))
}

func TestRefusedTokenIsExplainedAndNotHammered(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.execute("c1", once(d, "c1"))
	s.started("c1", 1)
	s.mu.Lock()
	s.token = "hva_another"
	s.mu.Unlock()
	s.drop()
	d.log.says(t, `"the server does not take agent_token: the token is not known"`) // what to do about it is the server's to say, once
	d.release()
	if waits := d.log.waits(t); len(waits) != 2 || waits[1] < 15*time.Second {
		t.Errorf("it waits %s", waits)
	}
	s.mu.Lock()
	attempts := len(s.hellos)
	s.token = permanentToken
	s.mu.Unlock()
	if attempts != 2 {
		t.Errorf("it tried %d times", attempts)
	}
	// The token is right again, and a result needs no stream.
	expectDone(t, d, s.result("c1"))
}

// Behind a connection that has lasted the waits begin anew; here each has.
func TestConnectsAgainByJitteredWaitsThatBeginAnew(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l := newLocal(t, s, func(c *agent.Config) { c.GoodAfter = 1 })
	const times = 3
	for i := range times {
		s.connection(i + 1)
		s.drop()
		s.connection(i + 2)
	}
	waits := l.log.waits(t)
	for _, wait := range waits {
		if wait < 500*time.Millisecond || wait > time.Second {
			t.Errorf("after a good connection it waited %s", wait)
		}
	}
	if len(waits) != times {
		t.Errorf("it lost a connection %d times", len(waits))
	}
}

// A server that greets and drops is asked again less and less often: what has not lasted is no
// good connection.
func TestAConnectionThatDoesNotLastIsNoGoodOne(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l := newLocal(t, s, nil)
	const times = 3
	for i := range times {
		s.connection(i + 1)
		s.drop()
	}
	s.connection(times + 1)
	waits := l.log.waits(t)
	for i, wait := range waits {
		if most := time.Second << i; wait < most/2 || wait > most {
			t.Errorf("wait %d is %s", i, wait)
		}
	}
	if len(waits) != times {
		t.Errorf("it waited %s", waits)
	}
}

func TestPagesOfOthersAreNoServer(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html>\ndata: {\"type\":\"execute\",\"request_id\":\"x\",\"command\":\"true\"}\n\n")
	}))
	t.Cleanup(page.Close)
	s := newServer(t)
	d := newDaemon(t, s)
	rewrite(t, d.config, s.URL, page.URL)
	d.start()
	d.log.says(t, "the answer is not of a Harvest server")
	d.log.says(t, "text/html")
}

func TestTwoAgentsShareNoState(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.connected()
	second := exec.Command(binary, "--config", d.config)
	out, err := second.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another harvest-agent runs with this state folder") {
		t.Errorf("a second agent said %q, %v", out, err)
	}
}

func TestPrivateAuthorities(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	secure := httptest.NewTLSServer(s.Config.Handler)
	t.Cleanup(func() {
		s.drop()
		secure.CloseClientConnections()
		secure.Close()
	})
	authority := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(authority, text, 0o600); err != nil {
		t.Fatal(err)
	}
	stranger := newDaemon(t, s)
	rewrite(t, stranger.config, s.URL, secure.URL)
	stranger.start()
	stranger.log.says(t, "certificate signed by unknown authority")
	d := newDaemon(t, s, fmt.Sprintf("ca_cert = %q", authority))
	rewrite(t, d.config, s.URL, secure.URL)
	d.start()
	s.execute("c1", "echo secure")
	if result := s.result("c1"); string(result.StdoutHead) != "secure\n" {
		t.Errorf("it ended %+v", result)
	}
}

func rewrite(t *testing.T, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(from), []byte(to)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDeadConnectionIsNoticed(t *testing.T) {
	t.Parallel()
	s := newServer(t) // which says nothing more by itself
	l := newLocal(t, s, func(c *agent.Config) { c.DeadAfter = 500 * time.Millisecond })
	s.until("a second connection", func() bool { return len(s.hellos) == 2 })
	l.log.says(t, "nothing came from the server")
}

func TestLivingConnectionIsKept(t *testing.T) {
	t.Parallel()
	// A busy machine may be silent for as long as a dead one: then it gets more time.
	for dead := 500 * time.Millisecond; ; dead *= 2 {
		s := newServer(t)
		l := newLocal(t, s, func(c *agent.Config) { c.DeadAfter = dead })
		s.connected()
		ticks := time.NewTicker(dead / 10)
		for range 30 { // for three times as long as a dead one is kept
			<-ticks.C
			s.comment()
		}
		ticks.Stop()
		s.mu.Lock()
		hellos := len(s.hellos)
		s.mu.Unlock()
		if hellos == 1 && !strings.Contains(l.log.String(), "nothing came from the server") {
			return
		}
		if dead > 10*time.Second {
			t.Fatalf("it connected %d times:\n%s", hellos, l.log.String())
		}
	}
}

func TestUninstallRemovesAll(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	root := t.TempDir()
	d := newDaemon(t, s)
	own := filepath.Join(root, "usr/local/bin/harvest-agent")
	config := filepath.Join(root, "etc/harvest-agent/config.toml")
	state := filepath.Join(root, "var/lib/harvest-agent")
	unit := filepath.Join(root, "etc/systemd/system/harvest-agent.service")
	log := filepath.Join(root, "var/log/harvest-agent.log")
	for _, path := range []string{own, config, unit, log} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("server_url = %q\nagent_token = %q\nstate_dir = %q\n", s.URL, installToken, state)
	for path, content := range map[string][]byte{own: program, config: []byte(text), unit: nil, log: nil} {
		if err := os.WriteFile(path, content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.cmd = exec.Command(own, "--config", config)
	d.cmd.Env = append(os.Environ(), "DAEMON="+d.folder)
	d.cmd.Stderr = &d.log
	d.cmd.WaitDelay = time.Second
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.gone = make(chan struct{})
	go func() {
		_ = d.cmd.Wait()
		close(d.gone)
	}()
	s.execute("c1", nasty(d, "")+"while :; do sleep 1000; done")
	d.file(filepath.Join(d.folder, "up"))
	s.console("s1")
	s.send(agentwire.Message{Type: agentwire.Uninstall})
	select {
	case <-d.gone:
	case <-time.After(patience):
		t.Fatal("the agent stays")
	}
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	for _, path := range []string{own, filepath.Dir(config), unit, log, state} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s stays", path)
		}
	}
	d.nothingLeft()
}

func TestWorksThroughAProxy(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var proxied atomic.Int64
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		proxied.Add(1)
		r.SetURL(to)
	}}
	proxy := httptest.NewServer(forward)
	t.Cleanup(func() {
		s.drop()
		proxy.CloseClientConnections()
		proxy.Close()
	})
	d := newDaemon(t, s)
	rewrite(t, d.config, s.URL, "http://harvest.example")
	d.start("HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL)
	s.execute("c1", "echo by proxy")
	if result := s.result("c1"); string(result.StdoutHead) != "by proxy\n" || proxied.Load() == 0 {
		t.Errorf("by %d proxied requests it ended %+v", proxied.Load(), result)
	}
}
