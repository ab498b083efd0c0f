package main

import (
	"os"
	"slices"
	"testing"
)

const smaps = `00400000-02b58000 r-xp 00000000 fe:00 1  /opt/harvest
Rss:               40084 kB
Anonymous:             0 kB
02b58000-07781000 r--p 02758000 fe:00 1  /opt/harvest
Rss:               68248 kB
Anonymous:             4 kB
07790000-0787f000 rw-p 07380000 fe:00 1  /opt/harvest
Anonymous:             0 kB
7f30435e2000-7f3043608000 r--p 00000000 fe:00 2  /usr/lib/libc.so.6
Anonymous:             0 kB
7f3043735000-7f304388b000 r--p 00026000 fe:00 1  /opt/harvest
Anonymous:             0 kB
`

func TestOnlyUnchangedPagesOfTheProgramAreDropped(t *testing.T) {
	t.Parallel()
	got := unchangedPages([]byte(smaps), "/opt/harvest")
	want := []mapping{{0x400000, 0x2b58000}, {0x7f3043735000, 0x7f304388b000}}
	if !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// The program goes on after its pages were dropped, and uses less memory.
func TestProgramPagesAreDropped(t *testing.T) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	if found := unchangedPages(text, program); len(found) == 0 {
		t.Errorf("the program has no pages to drop:\n%.2000s", text)
	}
	before := residentBytes()
	dropProgramPages()
	if after := residentBytes(); before == 0 || after > before {
		t.Errorf("%d bytes are resident after dropping, %d before", after, before)
	}
}
