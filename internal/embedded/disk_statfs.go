//go:build linux || darwin

package embedded

import "syscall"

func freeSpace(dir string) (int64, bool) {
	var at syscall.Statfs_t
	if err := syscall.Statfs(dir, &at); err != nil || at.Blocks == 0 { // such as /proc, which has no room to fill
		return 0, false
	}
	return int64(at.Bavail) * int64(at.Bsize), true
}
