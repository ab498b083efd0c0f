package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// typing gives a terminal at which somebody has typed this already.
func typing(t *testing.T, keys string) *os.File {
	t.Helper()
	hand, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hand.Close() })
	var locked, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, fault := syscall.Syscall(syscall.SYS_IOCTL, hand.Fd(), request, uintptr(unsafe.Pointer(value))); fault != 0 {
			t.Fatal(fault)
		}
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	if _, err := hand.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	return screen
}

// What does not show while it is typed is typed twice.
func TestASecretIsTypedTwice(t *testing.T) {
	t.Parallel()
	for keys, fault := range map[string]string{
		"a value of this test\na value of this test\n": "",
		"a value of this test\na value of thid test\n": "differ",
	} {
		errs, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer errs.Close()
		p := &program{in: typing(t, keys), errs: errs}
		value, err := p.secretValue("")
		if fault == "" && (err != nil || value.Reveal() != "a value of this test") {
			t.Errorf("%q: %v", keys, err)
		}
		if fault != "" && (err == nil || !strings.Contains(err.Error(), fault)) {
			t.Errorf("%q: %v", keys, err)
		}
		said, err := os.ReadFile(errs.Name())
		if err != nil || string(said) != "Value: \nValue again: \n" {
			t.Errorf("%q: said %q, %v", keys, said, err)
		}
	}
}
