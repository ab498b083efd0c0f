package machinetest_test

import (
	"flag"
	"os"
	"testing"

	"github.com/harvest-engine/harvest/internal/testkit/built"
)

// together is how many of these tests run at once: they wait most of the time, but their
// processes share the connections of one database server.
const together = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", together) // it is a number
	}
	os.Exit(m.Run())
}

// program gives a program of this module, harvest or harvest-agent.
func program(t *testing.T, name string) string {
	t.Helper()
	build := built.Static
	if name == "harvest" {
		build = built.Native
	}
	path, err := build("cmd/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
