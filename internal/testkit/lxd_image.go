package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const imageMetadata = `architecture: x86_64
creation_date: 1700000000
properties: {description: "busybox and bash, of this machine", os: busybox, release: tiny}
`

// imageBoot brings the network up by DHCP. init runs it once.
const imageBoot = `#!/bin/sh
ip link set lo up
ip link set eth0 up 2>/dev/null
udhcpc -i eth0 -n -q -t 20 -T 1 -s /etc/udhcpc.script
`

const imageLease = `#!/bin/sh
case $1 in
bound|renew)
	ip addr flush dev $interface
	ip addr add $ip/${mask:-24} dev $interface
	[ -n "$router" ] && ip route add default via $router
	;;
esac
`

// makeImage makes an image of LXD of this machine's busybox and bash, in folder, and packs it.
func makeImage(folder, file string) error {
	root := filepath.Join(folder, "rootfs")
	for _, dir := range []string{"bin", "sbin", "etc/init.d", "proc", "sys", "dev", "tmp", "root", "run", "usr/local/bin", "usr/bin", "usr/sbin", "var/log", "var/lib"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	if err := copyPrograms(root); err != nil {
		return err
	}
	for name, content := range map[string]string{
		"metadata.yaml":             imageMetadata,
		"rootfs/etc/inittab":        "::sysinit:/etc/init.d/rcS\n",
		"rootfs/etc/init.d/rcS":     imageBoot,
		"rootfs/etc/udhcpc.script":  imageLease,
		"rootfs/etc/passwd":         "root:x:0:0:root:/root:/bin/sh\n",
		"rootfs/etc/group":          "root:x:0:\n",
		"rootfs/etc/hosts":          "127.0.0.1 localhost\n",
		"rootfs/etc/resolv.conf":    "",
		"rootfs/etc/hostname":       "tiny\n",
		"rootfs/root/.keep-a-place": "",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o755); err != nil {
			return err
		}
	}
	out, err := exec.Command("tar", "-C", folder, "--owner=0", "--group=0", "-czf", file, "metadata.yaml", "rootfs").CombinedOutput()
	if err != nil {
		return fmt.Errorf("pack the image: %w: %s", err, out)
	}
	return nil
}

var library = regexp.MustCompile(`(?:=> )?(/\S+) \(0x`)

// copyPrograms puts busybox under all its names, and bash with its libraries, into a root.
func copyPrograms(root string) error {
	if err := copyBusybox(filepath.Join(root, "bin")); err != nil {
		return err
	}
	if err := os.Symlink("/bin/busybox", filepath.Join(root, "sbin/init")); err != nil {
		return err
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		return err
	}
	if err := copyFile(bash, filepath.Join(root, "bin/bash")); err != nil {
		return err
	}
	needs, err := exec.Command("ldd", bash).Output()
	if err != nil {
		return fmt.Errorf("list the libraries of bash: %w", err)
	}
	for _, found := range library.FindAllStringSubmatch(string(needs), -1) {
		to := filepath.Join(root, found[1])
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := copyFile(found[1], to); err != nil {
			return err
		}
	}
	return os.Symlink("/bin/bash", filepath.Join(root, "usr/bin/bash"))
}

// copyBusybox puts busybox under all its names into a folder.
func copyBusybox(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	if err := copyFile(busybox, filepath.Join(dir, "busybox")); err != nil {
		return err
	}
	list, err := exec.Command(busybox, "--list").Output()
	if err != nil {
		return fmt.Errorf("list what busybox has: %w", err)
	}
	for _, name := range strings.Fields(string(list)) {
		if name == "busybox" {
			continue
		}
		if err := os.Symlink("busybox", filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o755)
}
