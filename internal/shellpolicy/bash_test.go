package shellpolicy_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/shellpolicy"
)

// runLimit ends lines that go on by themselves.
const runLimit = 20 * time.Second

// sandbox makes a folder with the files that the corpus speaks of.
func sandbox(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"file.txt": "alpha 1\nbeta 2\n\nalpha beta 3\n", "other.txt": "alpha 1\ngamma\n", "größe.txt": "ä\n", "-x.txt": "option\n",
		"data.json": `{"name":"n","items":[{"id":1}]}`, "sub/inner.txt": "alpha\n", "a.log": "log\n", "cert.pem": "none\n", "in": "1\n", "out": "kept\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// picture gives all that can be seen of a folder, contents and times of change too.
func picture(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s %s %d %d\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, "%q\n", text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// bash runs a line as an agent does, in a folder that is its home.
func bash(t *testing.T, dir, line string, env ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append([]string{"PATH=" + systemPath, "HOME=" + dir, "LANG=C.UTF-8"}, env...)
	var out bytes.Buffer
	cmd.Stdout = &out
	_ = cmd.Run() // many lines ask for what this machine does not have
	return out.Bytes()
}

const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// clients are programs that keep a folder of their own settings in the home.
var clients = regexp.MustCompile(`^(lxc|juju|kubectl|helm|docker) `)

// What passes is run for real, and changes nothing in its folder, nor in its home but for what
// clients keep there of their own.
func TestDailyLinesChangeNothing(t *testing.T) {
	t.Parallel()
	dir := sandbox(t)
	before := picture(t, dir)
	home := t.TempDir()
	for _, line := range entries(t, "testdata/passes.txt") {
		if clients.MatchString(line) {
			bash(t, dir, line, "HOME="+home)
		} else {
			bash(t, dir, line)
		}
		if after := picture(t, dir); after != before {
			t.Fatalf("%q changes the folder:\n%s\nbefore:\n%s", line, after, before)
		}
	}
}

// The trial itself notices a change.
func TestTrialNoticesChanges(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"touch file.txt", "echo x >> file.txt", "mkdir new", "chmod 600 file.txt", "sort -o file.txt other.txt"} {
		dir := sandbox(t)
		before := picture(t, dir)
		bash(t, dir, line)
		if picture(t, dir) == before {
			t.Errorf("%q was not noticed", line)
		}
	}
}

// Bash reads the words of a line as the policy does: otherwise a line could hide an option from
// it. The programs are replaced by one that tells its words.
func TestBashReadsTheSameWords(t *testing.T) {
	t.Parallel()
	dir, compared := t.TempDir(), 0
	for _, line := range entries(t, "testdata/passes.txt") {
		if sameWords(t, dir, line) {
			compared++
		}
	}
	if compared < 150 {
		t.Errorf("only %d lines were compared", compared)
	}
}

// sameWords compares the words of a line that passes; false where they can't be compared: names
// of files take a word's place, or no function can have a command's name.
func sameWords(t *testing.T, dir, line string) bool {
	t.Helper()
	want, whole := shellpolicy.Words(line)
	tell := `tell() { local all; builtin printf -v all '%s\037' "$@"; builtin printf '%s\n' "$all" >> "$TOLD"; }; `
	for _, words := range want {
		whole = whole && !strings.ContainsAny(words[0], "/[")
		tell += words[0] + `() { tell ` + words[0] + ` "$@"; }; `
	}
	if !whole {
		return false
	}
	told := filepath.Join(dir, "told")
	if err := os.WriteFile(told, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	bash(t, dir, tell+line, "TOLD="+told)
	text, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	some := strings.Contains(line, "||") || strings.Contains(line, "&&") // of which not all are run
	var missing int
	for _, words := range want {
		if !slices.Contains(got, strings.Join(words, "\x1f")+"\x1f") {
			missing++
		}
	}
	if missing == len(want) || missing > 0 && !some || len(got) > len(want) {
		t.Errorf("%q: the policy reads %q, bash %q", line, want, text)
	}
	return true
}

var seed = flag.Int64("seed", 1, "of the changes that are made to lines")

// The same holds for lines that were changed by marks that mean something to the shell, where
// they still pass.
func TestBashReadsTheSameWordsOfChangedLines(t *testing.T) {
	t.Parallel()
	random, dir := rand.New(rand.NewPCG(uint64(*seed), 0)), t.TempDir()
	marks := []string{
		"'", `"`, `\`, "#", " ", "\t", "!", "^", "=", "~", "-", "1", "2>&1", ">/dev/null", "|", ";", "%", "@", ",", ":", `\ `, `\'`, `\"`, "''", `""`, "$",
		"(", ")", "<", "&", "ä", `\#`, " #", "+", "[", "]", "*", "?", `\\`,
	}
	lines := entries(t, "testdata/passes.txt")
	for compared, tries := 0, 0; compared < 400; tries++ {
		if tries > 100_000 {
			t.Fatalf("of %d changed lines only %d could be compared", tries, compared)
		}
		line := lines[random.IntN(len(lines))]
		for range 1 + random.IntN(4) {
			at := random.IntN(len(line) + 1)
			if random.IntN(4) == 0 && at < len(line) {
				line = line[:at] + line[at+1:]
			} else {
				line = line[:at] + marks[random.IntN(len(marks))] + line[at:]
			}
		}
		if shellpolicy.Judge(line).Passes && sameWords(t, dir, line) {
			compared++
		}
	}
}
