package shellpolicy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/shellpolicy"
)

func TestPatterns(t *testing.T) {
	t.Parallel()
	list, err := shellpolicy.Compile([]string{
		"git status", "systemctl restart nginx", "docker restart *", "make -C /srv/app **", "cat /var/log/*.log", "echo 'a b'", "tail -n * /srv/*/log", "printf **",
		"head /srv/*", "zcat /srv/a*b*.gz",
	})
	if err != nil {
		t.Fatal(err)
	}
	for line, passes := range map[string]bool{
		"git status":                                 true,
		"printf '%s[1]\\n' x":                        true,
		"printf -v 'a[$(rm x)]' y":                   false,
		"printf -v 'a[`rm x`]' y":                    false,
		`git "status"`:                               true,
		"git status # now":                           true,
		"git status -s":                              false,
		"git":                                        false,
		"git status; git status":                     true,
		"git status && rm x":                         false,
		"git status | sh":                            false,
		"git status > out":                           false,
		"git status 2>&1":                            true,
		"GIT_DIR=/tmp/x git status":                  false,
		"git $(echo status)":                         false,
		"systemctl restart nginx":                    true,
		"systemctl restart nginx ssh":                false,
		"systemctl restart 'nginx'":                  true,
		"docker restart web":                         true,
		"docker restart web db":                      false,
		"docker restart -t":                          false,
		"docker restart '-t'":                        false,
		"docker restart *":                           false,
		`docker restart "$HOME"`:                     false,
		"docker restart {web,db}":                    false,
		"make -C /srv/app":                           true,
		"make -C /srv/app deploy -j4":                true,
		"make -C /srv/app $X":                        false,
		"make -C /srv/other":                         false,
		"cat /var/log/syslog.log":                    true,
		"cat /var/log/nginx/access.log":              false,
		"cat /var/log/../../etc/x.log":               false,
		"cat /var/log/*.log":                         false,
		"echo 'a b'":                                 true,
		"echo a b":                                   false,
		`echo a\ b`:                                  true,
		"tail -n 5 /srv/a/log":                       true,
		"tail -n 5 /srv/../log":                      false,
		"tail -n -f /srv/a/log":                      false,
		"ls":                                         false,
		"sudo git status":                            false,
		"git status\nrm x":                           false,
		"git status &":                               false,
		"(git status)":                               false,
		"git  \t status":                             true,
		"/usr/bin/git status":                        false,
		"docker restart web; docker restart ../../x": true,
		"cat /var/log/syslog.log.gz":                 false,
		"cat /var/log/syslog.txt":                    false,
		"cat /var/log/.log":                          true,
		"cat /var/log":                               false,
		"head /srv/x":                                true,
		"head /srv/x/y":                              false,
		"head /srv/":                                 true,
		"zcat /srv/a1b2.gz":                          true,
		"zcat /srv/a1b2b3.gz":                        true,
		"zcat /srv/ab.gz":                            true,
		"zcat /srv/ab.gz.old":                        false,
		"zcat /srv/a1c2.gz":                          false,
	} {
		if v := list.Judge(line); v.Passes != passes {
			t.Errorf("%q: %+v", line, v)
		}
	}
}

func TestPatternsWithReadOnly(t *testing.T) {
	t.Parallel()
	list, err := shellpolicy.Compile([]string{shellpolicy.ReadOnly, "git log **"})
	if err != nil {
		t.Fatal(err)
	}
	for line, passes := range map[string]bool{
		"ls -la": true, "git log --oneline | head -5": true, "cd /srv && git log": true, "rm x": false, "git log | tee out": false, "git -c a=b log": false,
	} {
		if v := list.Judge(line); v.Passes != passes {
			t.Errorf("%q: %+v", line, v)
		}
	}
	none, err := shellpolicy.Compile(nil)
	if err != nil || none.Judge("ls").Passes {
		t.Errorf("an empty list allows something: %v", err)
	}
}

func TestPatternsThatCantBe(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		"", " ", "# x", "*", "**", "* status", "git* status", "git ** status", "ls; rm x", "ls | cat", "ls > out", "ls 2>&1", "X=1 ls", "LC_ALL=C ls", "$X", "ls $HOME",
		"ls $(id)", "ls `id`", "ls\nrm", "ls &", "(ls)", "ls {a,b}", "ls ?", "ls [ab]", "ls ~/x", `ls a\ b`, "'ls' x", "ls 'a",
	} {
		_, err := shellpolicy.Compile([]string{"git status", pattern})
		var fault *shellpolicy.PatternFault
		if !errors.As(err, &fault) || fault.Index != 1 || fault.Error() == "" {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

// A list, and each pattern of it, has room for so much, and no more.
func TestPatternsHaveBounds(t *testing.T) {
	t.Parallel()
	fits := "ls " + strings.Repeat("x", shellpolicy.MaxPatternBytes-len("ls "))
	list := slices.Repeat([]string{"ls"}, shellpolicy.MaxPatterns-1)
	if _, err := shellpolicy.Compile(append(list, fits)); err != nil {
		t.Errorf("a list that fits: %v", err)
	}
	for index, list := range map[int][]string{
		shellpolicy.MaxPatterns:     slices.Repeat([]string{"ls"}, shellpolicy.MaxPatterns+1),
		shellpolicy.MaxPatterns - 1: append(list, fits+"x"),
	} {
		_, err := shellpolicy.Compile(list)
		var fault *shellpolicy.PatternFault
		if !errors.As(err, &fault) || fault.Index != index {
			t.Errorf("a list that does not fit: %v, want the fault at %d", err, index)
		}
	}
}
