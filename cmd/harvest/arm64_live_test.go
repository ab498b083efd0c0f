package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// onARM64 runs an install command, and from then on starts the agent wherever it is gone, as a
// service manager does.
const onARM64 = `hostname arm
%s
while :; do
	if [ -s /run/harvest-agent.pid ] && ! kill -0 $(cat /run/harvest-agent.pid) 2>/dev/null; then
		/usr/local/bin/harvest-agent </dev/null >>/var/log/harvest-agent.log 2>&1 &
		echo $! >/run/harvest-agent.pid
	fi
	sleep 1
done
`

// The script and the agent on a machine of ARM64, with a kernel of its own.
func TestMachineOfARM64(t *testing.T) {
	t.Parallel()
	outside := newRelay(t)
	r := newRig(t, upgradeScript, scriptedModel+fmt.Sprintf("\n[agents]\nbinary_path = %q\npublic_url = \"http://%s:%d\"\n",
		buildAgent(t, "arm64"), testkit.ARM64Host, outside.port))
	target := strings.TrimPrefix(r.base, "http://")
	outside.target.Store(&target)
	chief := crewOf(t, r, r.token)
	chief.run(exitOK, "", "projects", "create", "engine")
	var order domain.InstallCommand
	out, _ := chief.run(exitOK, "", in("agents", "install", "--json")...)
	if err := json.Unmarshal([]byte(out), &order); err != nil {
		t.Fatal(err)
	}
	testkit.ARM64(t, fmt.Sprintf(onARM64, strings.Replace(order.Wget, "sudo ", "", 1)))
	projects, err := r.api.Projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.onlineAgent(t, projects[0].ID)

	if out, errs := chief.run(7, "", "run", "arm", "--timeout", "5m", "--", "uname -m; echo oops >&2; exit 7"); out != "aarch64\n" || errs != "oops\n" {
		t.Errorf("%q, %q", out, errs)
	}
	id := chief.says(exitOK, "", nil, "run", "arm", "--timeout", "5m", "--detach", "--", "echo begun; until [ -e /tmp/go ]; do sleep 0.1; done; echo over; exit 7")
	shows, _ := chief.watching("agents", "logs", id)
	shows("begun")
	chief.run(exitOK, "", "run", "arm", "--timeout", "5m", "--", "kill -9 $(cat /run/harvest-agent.pid)")
	chief.run(exitOK, "", "run", "arm", "--timeout", "5m", "--", "touch /tmp/go")
	chief.says(7, "", []string{"begun\nover\n"}, "agents", "logs", id)

	// What leaves its parent, its session and its environment is found as well.
	chief.run(exitTimedOut, "", "run", "arm", "--timeout", "2s", "--", "(setsid env -i /bin/busybox sleep 4321 &); sleep 4321")
	if out, _ := chief.run(exitOK, "", "run", "arm", "--timeout", "5m", "--", "pgrep -f '[s]leep 4321' | wc -l"); strings.TrimSpace(out) != "0" {
		t.Errorf("%s processes are left", strings.TrimSpace(out))
	}
}
