// Command harvest answers questions about code, durably.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	program := &program{in: os.Stdin, out: os.Stdout, errs: os.Stderr, env: os.LookupEnv}
	os.Exit(program.run(ctx, os.Args[1:]))
}
