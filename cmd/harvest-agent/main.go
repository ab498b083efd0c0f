// Command harvest-agent runs commands on its machine for a Harvest server, and opens
// consoles and tunnels there.
package main

import (
	"fmt"
	"os"

	"github.com/harvest-engine/harvest/internal/agent/shim"
)

func main() {
	// A shim stands between a command and its start: it does nothing that it needs not.
	if len(os.Args) > 1 && (os.Args[1] == shim.Verb || os.Args[1] == shim.ConsoleVerb) {
		work := shim.Main
		if os.Args[1] == shim.ConsoleVerb {
			work = shim.ConsoleMain
		}
		if err := work(); err != nil {
			fmt.Fprintln(os.Stderr, "harvest-agent", os.Args[1]+":", err)
			os.Exit(1)
		}
		return
	}
	p := program{out: os.Stdout, errs: os.Stderr, env: os.Environ()}
	os.Exit(p.run(os.Args[1:]))
}
