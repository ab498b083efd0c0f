package testkit

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// debianMachine is a machine as people have them: systemd rules it, and curl is there. It gets
// its address by busybox.
var debianMachine = debian{
	variant: "essential", packages: []string{"systemd-sysv", "dbus", "bash", "curl"}, enable: []string{"address.service"},
	overlay: map[string]string{
		"etc/udhcpc.script":                  imageLease,
		"etc/systemd/system/address.service": addressUnit,
	},
}

const addressUnit = `[Unit]
Description=Get an address
Before=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
Environment=PATH=/usr/local/busybox:/usr/bin:/bin
ExecStart=/bin/sh -c 'ip link set lo up && ip link set eth0 up && udhcpc -i eth0 -n -q -t 60 -T 1 -s /etc/udhcpc.script'

[Install]
WantedBy=multi-user.target
`

// Debian gives the server an image of a Debian with systemd, in the place of the tiny one, and a
// profile for its containers. It needs Debian's package mmdebstrap too, and takes half a minute
// where it is made for the first time.
func (s *LXDServer) Debian(t testing.TB) {
	t.Helper()
	archive, err := debianMachine.archive()
	if errors.Is(err, errNoDebian) {
		skipWithout(t, err, requireLXD)
	}
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(s.dir, "debian")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "metadata.yaml"), []byte(imageMetadata), 0o644); err != nil {
		t.Fatal(err)
	}
	metadata := filepath.Join(folder, "metadata.tar")
	if out, err := exec.Command("tar", "-C", folder, "-cf", metadata, "metadata.yaml").CombinedOutput(); err != nil {
		t.Fatalf("pack the image: %v: %s", err, out)
	}
	s.Image, s.Profile = "debian", "systemd"
	s.Client(t, "image", "import", metadata, archive, "--alias", s.Image)
	s.Client(t, "profile", "create", s.Profile)
	s.Client(t, "profile", "device", "add", s.Profile, "root", "disk", "path=/", "pool=default")
}
