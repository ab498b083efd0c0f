package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker in a release.
var version = ""

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Tell which version this is",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.out, "harvest %s %s/%s %s\n", versionName(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		},
	}
}

// versionName is the release's, or else what the build tells of the commit.
func versionName() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	name, commit, dirty := info.Main.Version, "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) > 12:
			commit = " " + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " with changes"
		}
	}
	if name == "" || name == "(devel)" {
		name = "built from source"
	}
	return name + commit + dirty
}
