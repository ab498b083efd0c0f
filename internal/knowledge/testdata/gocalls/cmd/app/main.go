package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"example.com/ledger/internal/clock"
	"example.com/ledger/pipe"
	"example.com/ledger/store"
	"example.com/ledger/web"
)

type command struct {
	name string
	run  func(ctx context.Context, args []string) error
}

var commands = []command{
	{"serve", serve},
	{"total", total},
}

func main() {
	flag.Parse()
	if err := dispatch(context.Background(), flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func dispatch(ctx context.Context, args []string) error {
	watch := clock.Start(clock.System{})
	defer func() { fmt.Fprintln(os.Stderr, watch.Stop()) }()
	for _, c := range commands {
		if len(args) > 0 && c.name == args[0] {
			return c.run(ctx, args[1:])
		}
	}
	return usage()
}

func usage() error {
	for i, c := range commands {
		fmt.Println(i, c.name)
	}
	return flag.ErrHelp
}

func serve(ctx context.Context, args []string) error {
	s, err := store.Open("cached")
	if err != nil {
		return err
	}
	defer s.Close()
	srv := web.NewServer(s)
	srv.HandleFunc("/health", nil)
	if cached, ok := s.(*store.Cached); ok {
		if err := cached.Reload(ctx); err != nil {
			return err
		}
		cached.Drain(ctx, store.NewMemory())
	}
	return seed(ctx, s)
}

func seed(ctx context.Context, w store.Writer) error {
	put := func(id string) error { return w.Put(ctx, &store.Entry{ID: id}) }
	for _, id := range []string{"a", "b"} {
		if err := put(id); err != nil {
			return err
		}
	}
	return nil
}

func total(ctx context.Context, _ []string) error {
	m := store.NewMemory(store.WithHook(trace), store.WithClock(clock.At(clock.Default.Now())))
	var entries []*store.Entry
	collect := func(e *store.Entry) error {
		entries = append(entries, e)
		return nil
	}
	if err := m.Each(ctx, collect); err != nil {
		return err
	}
	fmt.Println(store.Total(entries).String(), clock.Since(clock.Default.Now()))
	stage := pipe.Chain{}.Then(pipe.New("noop", noop))
	return stage.Run(ctx, first(entries))
}

func first[T any](list []T) (x T) {
	if len(list) > 0 {
		x = list[0]
	}
	return x
}

func trace(e *store.Entry) error {
	print := fmt.Println
	_, err := print(e.Label(), e.Root().Label())
	return err
}

func noop(context.Context, *store.Entry) error { return nil }
