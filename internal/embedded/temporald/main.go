// Command temporald is the Temporal server and its web UI as one small program: one node
// on PostgreSQL, on the loopback interface only.
//
// It reads its Settings as one line of JSON from standard input, prepares its databases,
// starts, and then writes one line {"ready":true} to standard output. It stops in order on
// SIGTERM, on SIGINT, and when standard input ends: that is how it notices the death of the
// program that started it. Logs go to standard error, one JSON object a line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
	"go.temporal.io/server/temporal"
)

// Settings are what the program that starts temporald decides.
type Settings struct {
	DatabaseURL      string        `json:"database_url"` // of a server, with the right to make databases
	Database         string        `json:"database"`     // for histories
	Visibility       string        `json:"visibility"`   // for searching; a database of its own
	Port             int           `json:"port"`         // of the gRPC frontend
	UIPort           int           `json:"ui_port"`
	UIPath           string        `json:"ui_path"` // the UI's public path, such as "/temporal"
	CodecEndpoint    string        `json:"codec_endpoint"`
	Namespace        string        `json:"namespace"`
	Retention        time.Duration `json:"retention"` // of closed workflows, in nanoseconds
	Shards           int32         `json:"shards"`    // can't be changed later
	Keywords         []string      `json:"keywords"`  // search attributes
	KeywordLists     []string      `json:"keyword_lists"`
	LogLevel         string        `json:"log_level"` // debug, info, warn, error
	StoreConnections int           `json:"store_connections"`
}

func main() {
	answers := os.Stdout
	os.Stdout = os.Stderr // what libraries print belongs to the log
	if err := run(os.Stdin, answers); err != nil {
		fmt.Fprintln(os.Stderr, "temporald:", err)
		os.Exit(1)
	}
}

func run(input io.Reader, answers io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	lines := bufio.NewReader(input)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read settings from standard input: %w", err)
	}
	var s Settings
	if err := json.Unmarshal(line, &s); err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines) // its end is the news, with or without an error
		stop()
	}()
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Level: s.LogLevel, Format: "json"}))
	return serve(ctx, s, logger, answers)
}

func serve(ctx context.Context, s Settings, logger log.Logger, answers io.Writer) error {
	store, err := storesOf(s)
	if err != nil {
		return err
	}
	if err := prepare(s, store, logger); err != nil {
		return err
	}
	server, err := newServer(s, store, logger)
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	ui := newUI(s)
	uiEnd := make(chan error, 1)
	go func() { uiEnd <- ui.Start() }()
	if err := awaitReady(ctx, s, uiEnd); err != nil {
		return errors.Join(err, stopWithin(server, 5*time.Second))
	}
	if _, err := fmt.Fprintln(answers, `{"ready":true}`); err != nil {
		logger.Warn("nobody reads the ready line", tag.Error(err))
	}
	select {
	case <-ctx.Done():
	case err = <-uiEnd:
		err = fmt.Errorf("the web UI ended: %w", err)
	}
	ui.Stop()
	return errors.Join(err, stopWithin(server, 10*time.Second))
}

// stopWithin stops the server, and stops waiting for that when the limit has passed: the
// state is in the database, and every step of it is a transaction.
func stopWithin(server temporal.Server, limit time.Duration) error {
	done := make(chan error, 1)
	go func() { done <- server.Stop() }()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return fmt.Errorf("the server took longer than %s to stop", limit)
	}
}
