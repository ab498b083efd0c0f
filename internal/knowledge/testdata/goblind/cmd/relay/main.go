// Relay passes lines on.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"example.org/relay/filter"
	"example.org/relay/plugin"
	"example.org/relay/queue"
	"example.org/relay/report"
)

type command struct {
	name string
	run  func(a *app, args []string) error
}

var commands []command

func init() {
	commands = []command{
		{name: "send", run: (*app).send},
		{name: "help", run: help},
	}
}

type app struct {
	jobs  *queue.Queue[int]
	sinks map[string]report.Sink
	tick  func() <-chan time.Time
	fail  func(error)
}

func newApp() *app {
	a := &app{jobs: queue.New(queue.Descending[int]())}                                                     //~ New queue.go:New; Descending queue.go:Descending
	a.sinks = map[string]report.Sink{"upper": plugin.NewUpper(os.Stdout), "len": report.Lengths(os.Stdout)} //~ NewUpper plugin.go:NewUpper; Lengths report.go:Lengths
	a.fail = a.report
	a.tick = func() <-chan time.Time { return time.After(time.Second) } //~ After -
	return a
}

func (a *app) report(err error) { fmt.Fprintln(os.Stderr, err) } //~ Fprintln -

func (a *app) send(args []string) error {
	var lines []string
	filter.Each(args, filter.Parse("long:"), func(line string) { lines = append(lines, line) }) //~ Each filter.go:Each; Parse filter.go:Parse
	for i, sink := range a.sinks {
		write := report.Write
		job := a.jobs.Push(len(i), func(context.Context) error { return write(sink, lines...) }) //~ Push queue.go:Queue.Push; write report.go:Write
		job.OnDone(a.fail).OnDone(func(err error) { a.fail(err) })                               //~ OnDone queue.go:Job.OnDone; fail main.go:app.report
	}
	return a.drain() //~ drain main.go:app.drain
}

func (a *app) drain() error {
	done := make(chan error, 1)
	go a.loop(done) //~ loop main.go:app.loop
	select {
	case err := <-done:
		return err
	case <-a.tick(): //~ tick -
		return context.DeadlineExceeded
	}
}

func (a *app) loop(done chan<- error) {
	run := a.jobs.Run
	for {
		if err := run(context.Background()); err != nil { //~ run queue.go:Queue.Run; Background -
			done <- err
			return
		}
	}
}

func help(*app, []string) error {
	for _, c := range commands {
		fmt.Println(c.name) //~ Println -
	}
	return nil
}

func main() {
	a := newApp() //~ newApp main.go:newApp
	for _, c := range commands {
		if len(os.Args) > 1 && c.name == os.Args[1] {
			if err := c.run(a, os.Args[2:]); err != nil { //~ run main.go:app.send, main.go:help
				a.fail(err) //~ fail main.go:app.report
			}
		}
	}
	counting := plugin.Count(plugin.NewUpper(os.Stdout)) //~ Count plugin.go:Count; NewUpper plugin.go:NewUpper
	send := (*plugin.Counting).Send
	if err := send(counting, "bye"); err != nil { //~ send plugin.go:Counting.Send
		defer os.Exit(max(1, code(err))) //~ Exit -; code main.go:code
	}
	var s interface{ Send(string) error } = counting
	_ = s.Send("x") //~ Send -
	if u, ok := s.(*plugin.Upper); ok {
		u.Base.Say(u.Name()) //~ Say plugin.go:Base.Say; Name plugin.go:Base.Name
	}
	first[report.Sink](report.Lengths(os.Stdout), plugin.NewUpper(os.Stdout)).Name() //~ first main.go:first; Lengths report.go:Lengths; NewUpper plugin.go:NewUpper; Name report.go:Sink.Name
}

func code(err error) int { return len(err.Error()) } //~ Error -

func first[T interface{ Name() string }](all ...T) T {
	if len(all) > 1 && longer(all[0].Name(), all[1].Name()) { //~ longer main.go:longer; Name -
		return all[1]
	}
	return all[0]
}

var longer = func(a, b string) bool { return len(a) > len(b) }
