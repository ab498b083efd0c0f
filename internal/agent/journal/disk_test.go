package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// smallDisk gives a folder on a disk of 400 KiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := unix.Mount("none", folder, "tmpfs", 0, "size=400k"); err != nil {
		t.Fatalf("a small disk can be mounted by root alone: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
	return folder
}

// fill leaves no room on a disk, and gives the file that takes it.
func fill(t *testing.T, folder string) string {
	t.Helper()
	ballast := filepath.Join(folder, "ballast")
	for size := 64 << 10; size > 0; size /= 2 {
		for {
			file, err := os.OpenFile(ballast, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			_, err = file.Write(make([]byte, size))
			_ = file.Close()
			if err != nil {
				break
			}
		}
	}
	return ballast
}

func TestOutputComesBackOnceTheDiskHasRoom(t *testing.T) {
	t.Parallel()
	folder := smallDisk(t)
	j := openJournal(t, filepath.Join(folder, "state"))
	record := begin(t, j, "c1", 1)
	out := journal.NewOutput(record, journal.State{})
	ballast := fill(t, folder)
	wrote := bytes.Repeat([]byte("0123456789"), 30_000) // more than is written at once
	out.Add(0, wrote)
	if err := record.SetEnding(journal.Ending{Outcome: agentwire.Exited}); err != nil {
		t.Errorf("on a full disk an ending can't be written: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	out.Add(0, []byte("end"))
	written, err := out.Close()
	if err != nil {
		t.Errorf("with room again it says %v", err)
	}
	result := record.Result("c1", journal.Ending{Written: written})
	if string(result.StdoutHead) != string(wrote)+"end" {
		t.Errorf("of %d bytes %d are kept", len(wrote)+3, len(result.StdoutHead))
	}
}

// On a full disk the output of a command that is over makes room for what remembers it.
func TestCommandsAreBuriedOnAFullDisk(t *testing.T) {
	t.Parallel()
	folder := smallDisk(t)
	j := openJournal(t, filepath.Join(folder, "state"))
	record := begin(t, j, "c1", 1)
	write(t, filepath.Join(folder, "state", "commands", "c1.head"), frame(0, 50_000))
	fill(t, folder)
	if err := j.Bury("c1", journal.Ending{Outcome: agentwire.Exited}, record); err != nil {
		t.Fatalf("a command can't be buried: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, known := openJournal(t, filepath.Join(folder, "state")).Buried("c1"); !known {
		t.Error("a command that is over is forgotten")
	}
}
