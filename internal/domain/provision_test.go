package domain_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestInstanceName(t *testing.T) {
	t.Parallel()
	const id = "01a22de0-e952-7eec-8fcd-6807b1f61ef4"
	for name, want := range map[string]string{
		"web":                                  "web-b1f61ef4",
		"Web Server!":                          "web-server-b1f61ef4",
		"  --9 lives_of.a CAT--":               "lives-of-a-cat-b1f61ef4",
		"Größe":                                "gr-e-b1f61ef4",
		"数据库":                                  "agent-b1f61ef4",
		"42":                                   "agent-b1f61ef4",
		"":                                     "agent-b1f61ef4",
		"a-" + strings.Repeat("very-long", 20): "a-very-longvery-longvery-longvery-longve-b1f61ef4",
	} {
		if got := domain.InstanceName(name, id); got != want {
			t.Errorf("%q gives %q, want %q", name, got, want)
		}
	}
}

// Whatever a person writes is a name that LXD and DNS take, and another provision has another.
func FuzzInstanceName(f *testing.F) {
	f.Add("web", "01a22de0-e952-7eec-8fcd-6807b1f61ef4")
	valid := regexp.MustCompile(`^[a-z][a-z0-9-]*[a-z0-9]$`)
	f.Fuzz(func(t *testing.T, name, _ string) {
		one, other := domain.NewID(), domain.NewID()
		a, b := domain.InstanceName(name, one), domain.InstanceName(name, other)
		if !valid.MatchString(a) || len(a) > 63 || strings.Contains(a, "--") || a == b {
			t.Errorf("%q gives %q and %q", name, a, b)
		}
	})
}

func TestFlavors(t *testing.T) {
	t.Parallel()
	var ids []string
	for _, f := range domain.Flavors() {
		ids = append(ids, f.ID)
		if found, err := domain.FindFlavor(f.ID); err != nil || found != f {
			t.Errorf("%s is %+v, %v", f.ID, found, err)
		}
	}
	if got := strings.Join(ids, " "); got != "tiny small medium large extra-large" {
		t.Errorf("flavors %s", got)
	}
	if _, err := domain.FindFlavor("huge"); domain.CodeOf(err) != domain.CodeInvalid || !strings.Contains(err.Error(), "extra-large") {
		t.Errorf("no such flavor: %v", err)
	}
}
