package testkit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// requireARM64 makes a missing emulator a failure: continuous integration sets it.
const requireARM64 = "HARVEST_REQUIRE_ARM64"

// ARM64Host is where a machine of ARM64 finds what listens on the loopback interface here.
const ARM64Host = "10.0.2.2"

// arm64Parts are what a machine is made of: a kernel, bash, and busybox for the rest.
var arm64Parts = debian{arch: "arm64", variant: "extract", packages: []string{"linux-image-cloud-arm64", "bash-static", "busybox-static"}}

// arm64Boot brings a machine up, and runs the script of the test.
const arm64Boot = `#!/bin/bash
export PATH=/usr/local/bin:/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs dev /dev
mkdir -p /dev/pts && mount -t devpts devpts /dev/pts
for module in virtio virtio_ring virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci failover net_failover virtio_net; do
	[ ! -f /modules/$module.ko ] || insmod /modules/$module.ko
done
ip link set lo up
ip link set eth0 up
ip addr add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
echo "root:x:0:0:root:/root:/bin/bash" >/etc/passwd
exec bash /script
`

// arm64Guard runs the machine until its input ends, as it does when the test binary dies too.
const arm64Guard = `"$@" </dev/null &
read -r _
kill -KILL $!
wait`

// ARM64 starts a machine of that architecture, which is emulated, and runs a script of bash on it as
// its first process, with busybox beside it. What it writes is shown where the test fails. It
// needs Debian's packages qemu-system-arm, mmdebstrap and busybox-static; where these are
// missing the test is skipped, or fails if HARVEST_REQUIRE_ARM64 is 1.
func ARM64(t testing.TB, script string) {
	t.Helper()
	if _, err := exec.LookPath("qemu-system-aarch64"); err != nil {
		skipWithout(t, errors.New("there is no qemu-system-aarch64; install qemu-system-arm"), requireARM64)
	}
	archive, err := arm64Parts.archive()
	if errors.Is(err, errNoDebian) {
		skipWithout(t, err, requireARM64)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	kernel, err := packARM64(archive, dir, script)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	machine := exec.Command("bash", "-c", arm64Guard, "guard", "qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57", "-m", "256", "-smp", "2", "-nographic", "-no-reboot",
		"-kernel", kernel, "-initrd", filepath.Join(dir, "initrd"), "-append", "console=ttyAMA0 quiet panic=-1",
		"-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile=")
	machine.Stdout, machine.Stderr = log, log
	leash, err := machine.StdinPipe()
	if err == nil {
		err = machine.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = leash.Close()
		_ = machine.Wait() // killed
		log.Close()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("the machine said:\n%s", text)
		}
	})
}

// packARM64 takes the kernel out of the archive, and packs the rest with the script as the
// machine's root.
func packARM64(archive, dir, script string) (kernel string, err error) {
	parts, root := filepath.Join(dir, "parts"), filepath.Join(dir, "root")
	for _, folder := range []string{parts, "bin", "proc", "sys", "dev", "tmp", "root", "run", "etc", "modules", "var/log", "usr/local/bin"} {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(root, folder)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return "", err
		}
	}
	out, err := exec.Command("tar", "-C", parts, "-xf", archive, "--wildcards",
		"./boot/vmlinuz*", "*/bash-static", "*/busybox", "*/failover.ko", "*/net_failover.ko", "*/virtio*.ko").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("unpack the parts: %w: %s", err, out)
	}
	for name, text := range map[string]string{"init": arm64Boot, "script": script} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o755); err != nil {
			return "", err
		}
	}
	const pack = `set -e -o pipefail
cp "$1"/bin/busybox "$2"/bin/ || cp "$1"/usr/bin/busybox "$2"/bin/
cp "$1"/bin/bash-static "$2"/bin/bash || cp "$1"/usr/bin/bash-static "$2"/bin/bash
find "$1" -name '*.ko' -exec cp {} "$2"/modules/ \;
cd "$2"
find . | busybox cpio -o -H newc >"$3"`
	out, err = exec.Command("bash", "-c", pack, "pack", parts, root, filepath.Join(dir, "initrd")).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pack the machine: %w: %s", err, out)
	}
	kernels, err := filepath.Glob(filepath.Join(parts, "boot", "vmlinuz*"))
	if err != nil || len(kernels) == 0 {
		return "", fmt.Errorf("there is no kernel in %s", archive)
	}
	return kernels[0], nil
}
