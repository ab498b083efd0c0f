package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// residentBytes is the memory of this process that is in use by the kernel's count; 0 where
// it can't be read.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

// dropProgramPages unmaps the pages of the program's own file. The kernel maps them in large
// pieces around each one that is touched, so that after the start nearly the whole file
// counts as memory in use. What is needed comes back from the file's cache at a touch.
func dropProgramPages() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range unchangedPages(text, program) {
		// A refusal changes nothing.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
	}
}

// mapping is a range of addresses.
type mapping struct{ from, to uintptr }

// unchangedPages finds the read-only mappings of a file of which no page was ever written:
// their content is in the file. smaps has the form of /proc/PID/smaps.
func unchangedPages(smaps []byte, file string) []mapping {
	var found []mapping
	var current mapping
	wanted := false
	lines := bufio.NewScanner(bytes.NewReader(smaps))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 5 && strings.Contains(fields[0], "-") {
			_, err := fmt.Sscanf(fields[0], "%x-%x", &current.from, &current.to)
			wanted = err == nil && fields[1][1] == '-' && strings.HasSuffix(lines.Text(), " "+file)
			continue
		}
		// Pages that were copied on a write before the mapping was closed to writing.
		if wanted && len(fields) > 1 && fields[0] == "Anonymous:" {
			if fields[1] == "0" {
				found = append(found, current)
			}
			wanted = false
		}
	}
	return found
}
