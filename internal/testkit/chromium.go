package testkit

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const requireChromium = "HARVEST_REQUIRE_CHROMIUM"

// chromiumLimit bounds each thing that is asked of Chromium.
const chromiumLimit = time.Minute

// Browser is a tab of a Chromium without a screen, driven by the DevTools protocol.
type Browser struct {
	conn    *websocket.Conn
	session string // of the tab
	tab     string // its id

	mu     sync.Mutex
	last   int
	waits  map[int]chan reply
	loaded chan struct{} // a page has been loaded
}

// command and reply are messages of the protocol; events are replies without an id.
type command struct {
	ID      int    `json:"id"`
	Session string `json:"sessionId,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

type reply struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Chromium starts a Chromium for the test, which finds the host names (or patterns of such) at an
// address, host:port, whatever their port. Where it is not installed the test is skipped, or
// fails if HARVEST_REQUIRE_CHROMIUM is 1.
func Chromium(t *testing.T, at string, hosts ...string) *Browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv(requireChromium) == "1" {
			t.Fatalf("chromium is needed: %v", err)
		}
		t.Skip("chromium is not installed")
	}
	b := &Browser{waits: map[int]chan reply{}, loaded: make(chan struct{}, 64)}
	b.connect(t, startChromium(t, path, at, hosts))
	var tab struct{ TargetID, SessionID string }
	b.ask(t, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &tab)
	b.tab = tab.TargetID
	b.ask(t, "", "Target.attachToTarget", map[string]any{"targetId": b.tab, "flatten": true}, &tab)
	b.session = tab.SessionID
	b.ask(t, b.session, "Page.enable", nil, nil)
	return b
}

// startChromium gives the address at which a new Chromium is driven.
func startChromium(t *testing.T, path, at string, hosts []string) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "harvest-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, host := range hosts {
		rules = append(rules, "MAP "+host+" "+at)
	}
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad",
		"--host-resolver-rules="+strings.Join(rules, ","), "--user-data-dir="+folder, "--remote-debugging-port=0", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+folder, "TMPDIR="+folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	address, over := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(over)
		tellAddress(said, address) // up to the end of the last of its processes
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-over
		_ = os.RemoveAll(folder)
	})
	select {
	case at := <-address:
		return at
	case <-over:
		t.Fatal("chromium has ended as it started")
	case <-time.After(chromiumLimit):
		t.Fatal("chromium does not start")
	}
	return ""
}

// tellAddress finds the address in what a Chromium says, and reads on so that it may say more.
func tellAddress(said io.Reader, address chan<- string) {
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if at, ok := strings.CutPrefix(lines.Text(), "DevTools listening on "); ok {
			address <- at
			break
		}
	}
	_, _ = io.Copy(io.Discard, said)
}

func (b *Browser) connect(t *testing.T, address string) {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), address, nil)
	if err != nil {
		t.Fatalf("drive chromium: %v", err)
	}
	conn.SetReadLimit(-1)
	b.conn = conn
	read := make(chan struct{})
	go func() {
		defer close(read)
		b.listen()
	}()
	t.Cleanup(func() {
		_ = conn.CloseNow()
		<-read
	})
}

// listen hands on replies and loads of pages until the connection ends.
func (b *Browser) listen() {
	for {
		_, data, err := b.conn.Read(context.Background())
		if err != nil {
			return
		}
		var r reply
		if json.Unmarshal(data, &r) != nil {
			continue
		}
		if r.Method == "Page.loadEventFired" {
			select {
			case b.loaded <- struct{}{}:
			default: // nobody waits for that many
			}
		}
		b.mu.Lock()
		wait := b.waits[r.ID]
		delete(b.waits, r.ID)
		b.mu.Unlock()
		if wait != nil {
			wait <- r
		}
	}
}

// ask sends a command and reads its result into a value, nil for none.
func (b *Browser) ask(t *testing.T, session, method string, params, into any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), chromiumLimit)
	defer cancel()
	wait := make(chan reply, 1)
	b.mu.Lock()
	b.last++
	c := command{ID: b.last, Session: session, Method: method, Params: params}
	b.waits[c.ID] = wait
	b.mu.Unlock()
	text, err := json.Marshal(c)
	if err == nil {
		err = b.conn.Write(ctx, websocket.MessageText, text)
	}
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	select {
	case r := <-wait:
		if r.Error != nil {
			t.Fatalf("%s: %s", method, r.Error.Message)
		}
		if into != nil {
			if err := json.Unmarshal(r.Result, into); err != nil {
				t.Fatalf("%s: %v", method, err)
			}
		}
	case <-ctx.Done():
		t.Fatalf("%s: chromium does not answer", method)
	}
}

// Open goes to an address, and waits until the page is loaded to which that leads.
func (b *Browser) Open(t *testing.T, address string) {
	t.Helper()
	b.Load(t, func() {
		var went struct{ ErrorText string }
		b.ask(t, b.session, "Page.navigate", map[string]any{"url": address}, &went)
		if went.ErrorText != "" {
			t.Fatalf("open %s: %s", address, went.ErrorText)
		}
	})
}

// Load does what leads to another page, and waits until that is loaded.
func (b *Browser) Load(t *testing.T, do func()) {
	t.Helper()
	for len(b.loaded) > 0 {
		<-b.loaded
	}
	do()
	select {
	case <-b.loaded:
	case <-time.After(chromiumLimit):
		t.Fatal("no page is loaded")
	}
}

// Eval runs JavaScript in the page and gives what it comes to, promises too, as a string; what
// it throws is "threw NAME".
func (b *Browser) Eval(t *testing.T, script string) string {
	t.Helper()
	var out struct{ Result struct{ Value string } }
	b.ask(t, b.session, "Runtime.evaluate", map[string]any{
		"expression":   "(async () => { try { return String(await (async () => { " + script + " })()) } catch (e) { return 'threw ' + e.name } })()",
		"awaitPromise": true, "userGesture": true,
	}, &out)
	return out.Result.Value
}
