package lxd

import (
	"context"
	"io"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	outputHead = 1 << 10 // bytes of a script's output that are told of, from its beginning
	outputTail = 2 << 10 // and from its end
)

// shell runs the script that comes by its standard input: nothing of that stands in the list of
// processes, or in what LXD shows of the operation.
const shell = `if command -v bash >/dev/null 2>&1; then exec bash -s; fi; exec sh -s`

// RunScript runs a shell script in a container, with these variables set in it. What it wrote
// is in the error that it ends with.
func (c *Containers) RunScript(ctx context.Context, name, script string, env map[string]string) error {
	server, err := c.door.Server()
	if err != nil {
		return err
	}
	if _, err := c.find(ctx, server, name); err != nil {
		return err
	}
	said := &outline{}
	code, err := server.ExecInstance(ctx, name, Exec{
		Command: []string{"/bin/sh", "-c", shell},
		Environment: map[string]string{
			"HOME": "/root", "USER": "root", "LANG": "C.UTF-8",
			"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		},
		Stdin: io.Reader(strings.NewReader(exports(env) + script)), Stdout: said, Stderr: said,
	})
	if err != nil {
		return err
	}
	if code != 0 {
		return failedExec("the install script", code, said.String())
	}
	return nil
}

// exports sets variables at the head of a script.
func exports(env map[string]string) string {
	var head strings.Builder
	for name, value := range env {
		head.WriteString("export " + name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'\n")
	}
	return head.String()
}

// outline keeps the beginning and the end of what is written to it.
type outline struct {
	head, tail []byte
	cut        bool
}

func (o *outline) Write(p []byte) (int, error) {
	n := len(p)
	if room := outputHead - len(o.head); room > 0 {
		take := min(room, len(p))
		o.head, p = append(o.head, p[:take]...), p[take:]
	}
	o.tail = append(o.tail, p...)
	if over := len(o.tail) - outputTail; over > 0 {
		o.tail, o.cut = append([]byte(nil), o.tail[over:]...), true
	}
	return n, nil
}

func (o *outline) String() string {
	between := ""
	if o.cut {
		between = "\n…\n"
	}
	return domain.CleanText(strings.TrimSpace(string(o.head) + between + string(o.tail)))
}
