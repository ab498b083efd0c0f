// Package pipe runs stages.
package pipe

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/example/metrics"

	"example.com/ledger/internal/clock"
	"example.com/ledger/store"
)

// Stage changes an entry.
type Stage interface {
	Name() string
	Run(ctx context.Context, e *store.Entry) error
}

// Func is a Stage that is a function.
type Func struct {
	name string
	run  func(context.Context, *store.Entry) error
}

// New makes a Func.
func New(name string, run func(context.Context, *store.Entry) error) *Func {
	return &Func{name, run}
}

func (f *Func) Name() string { return f.name }

func (f *Func) Run(ctx context.Context, e *store.Entry) error { return f.run(ctx, e) }

// Chain is stages in a row.
type Chain []Stage

func (c Chain) Name() string {
	name := ""
	for _, s := range c {
		name += s.Name()
	}
	return name
}

func (c Chain) Run(ctx context.Context, e *store.Entry) error {
	for _, s := range c {
		if err := s.Run(ctx, e); err != nil {
			return failed(s, err)
		}
	}
	return nil
}

// Then adds a stage.
func (c Chain) Then(s Stage) Chain { return append(c, s) }

func failed(s Stage, err error) error { return fmt.Errorf("%s: %w", s.Name(), err) }

// Pipeline reads, changes and writes.
type Pipeline struct {
	from   store.Reader
	to     store.Writer
	chain  Chain
	watch  *clock.Stopwatch
	events chan event
	once   sync.Once
}

type event struct {
	stage Stage
	entry *store.Entry
}

func (e event) text() string { return e.stage.Name() + e.entry.Label() }

// Build makes a Pipeline.
func Build(from store.Reader, to store.Writer, stages ...Stage) *Pipeline {
	p := &Pipeline{from: from, to: to, watch: clock.Start(clock.Default), events: make(chan event)}
	p.chain = p.chain.Then(New("first", p.first))
	for _, s := range stages {
		p.chain = p.chain.Then(s)
	}
	p.watch.OnStop(p.report)
	return p
}

func (p *Pipeline) first(ctx context.Context, e *store.Entry) error {
	p.emit(event{entry: e.Root()})
	return ctx.Err()
}

func (p *Pipeline) report(d time.Duration) { metrics.Observe("run", d) }

func (p *Pipeline) emit(e event) {
	select {
	case p.events <- e:
	default:
		fmt.Println(e.text())
	}
}

// Run runs all.
func (p *Pipeline) Run(ctx context.Context) error {
	defer p.watch.Stop()
	p.once.Do(p.start)
	step := func(e *store.Entry) error {
		if err := p.chain.Run(ctx, e); err != nil {
			return err
		}
		return p.to.Put(ctx, e)
	}
	return p.from.Each(ctx, step)
}

func (p *Pipeline) start() {
	go p.listen()
	metrics.Count("start")
}

func (p *Pipeline) listen() {
	for e := range p.events {
		handle(e, func(s string) { fmt.Print(s) })
	}
}

func handle(e event, print func(string)) {
	print(e.text())
	for _, s := range []Stage{e.stage, New("x", nil), Chain{}} {
		_ = s.Name()
	}
	switch s := e.stage.(type) {
	case *Func:
		_ = s.run(context.Background(), e.entry)
		s.Name()
	case Chain:
		s.Then(nil).Name()
	case interface{ Close() error }:
		s.Close()
	}
}
