package shellpolicy

import (
	"regexp"
	"slices"
	"strings"
)

// systemPrograms tell of the machine, its processes, devices and packages.
var systemPrograms = map[string]program{
	"uname":       bare("-asnrvmpio --all --kernel-name --kernel-release --machine --nodename --operating-system"),
	"uptime":      bare("-ps --pretty --since"),
	"whoami":      bare(""),
	"id":          lists("-agGnruz --user --group --groups --name --real"),
	"groups":      lists(""),
	"who":         bare("-abdHlmpqrstTu --all --boot --heading --users"),
	"w":           some(1, "-hsfoi --no-header --short"),
	"last":        some(2, "-aFiRwx -# -n: -s: -t: -p: --limit: --since: --until: --fulltimes --hostlast"),
	"lastlog":     bare("-b: -t: -u:"),
	"hostname":    bare("-fiIsdAy --fqdn --short --domain --ip-address --all-ip-addresses --long"),
	"date":        {judge: date},
	"cal":         some(2, "-3my1j"),
	"arch":        bare(""),
	"nproc":       bare("--all --ignore:"),
	"locale":      bare("-a"),
	"tty":         bare("-s"),
	"getconf":     some(2, "-a"),
	"getent":      {judge: getent},
	"ulimit":      exactly("-a", "-n", "-u"),
	"free":        bare("-bkmghtlwv -s: -c: --human --mega --giga --kilo --bytes --total --wide --si --count: --seconds:"),
	"vmstat":      some(2, "-adDmnstwy -S: --active --stats --disk --wide --timestamp --unit:"),
	"iostat":      some(3, "-cdhkmNtxyz --human"),
	"mpstat":      some(2, "-Au -P:"),
	"ps":          {judge: ps},
	"pstree":      some(1, "-aAcghlnpstuU --arguments --show-pids --long --numeric-sort --show-parents"),
	"pgrep":       some(1, "-aciflnovxw -u: -U: -P: -t: -g: -d: --list-name --list-full --full --exact --count --newest --oldest --ignore-case --parent: --euid: --uid:"),
	"pidof":       lists("-sx"),
	"lsof":        {judge: lsof, names: true},
	"fuser":       lists("-vnau"),
	"dmesg":       bare("-deHkLPrTtuwxSJ -l: -f: --ctime --human --kernel --level: --facility: --decode --follow --reltime --time-format: --since: --until: --nopager --raw --show-delta --notime --color? --userspace"),
	"lscpu":       bare("-aebcJxpy --all --extended? --json --parse?"),
	"lsblk":       lists("-abdDfilmnOpPrsStTJzA -o: -e: -I: -x: --all --bytes --fs --json --list --noheadings --nodeps --output: --output-all --paths --perms --pairs --raw --topology --sort: --tree?"),
	"lsmem":       bare("-abJnPr -o: --all --bytes --json --output: --summary?"),
	"lspci":       bare("-vktnDbPm -s: -d:"),
	"lsusb":       bare("-vt -s: -d:"),
	"lsmod":       bare(""),
	"modinfo":     lists("-adln0p -F: -k: --field:"),
	"lsns":        bare("-Jlnruy -o: -p: -t:"),
	"lsipc":       bare("-mqsJlnpg"),
	"ipcs":        bare("-amqsctplu"),
	"findmnt":     lists("-aAbcDefiJklmnoPrRsuvy -o: -t: -T: -S: -M: --all --df --json --list --noheadings --output: --raw --real --target: --types: --source:"),
	"mount":       exactly("", "-l"),
	"swapon":      exactly("-s", "--show", "--summary"),
	"sysctl":      {judge: sysctl},
	"crontab":     exactly("-l"),
	"sensors":     bare("-uAj"),
	"nvidia-smi":  exactly("", "-L", "-q"),
	"lsb_release": bare("-acdirsv --all --description --codename --release --short --id"),
	"dpkg":        {judge: dpkg},
	"dpkg-query":  {options: known("-lLsWS -f: --list --listfiles --status --show --search --showformat:")},
	"rpm":         {judge: rpm},
	"openssl":     {subs: map[string]program{"version": bare("-a"), "x509": {judge: certificate}}},
}

var lsofOptions = known("-aFlnNPRtUVw -u: -p: -i? -c: -d: -g? -s?")

// lsof judges a call of lsof: it asks the network for the name of another machine, behind an @.
func lsof(words []word) string {
	_, reason := lsofOptions.scan("", words, false)
	for _, w := range words {
		if reason == "" && strings.Contains(w.text, "@") {
			reason = "it may ask the network for " + w.text
		}
	}
	return reason
}

var dateOptions = known("-uR -I? -d: -r: --date: --utc --universal --iso-8601? --rfc-3339: --rfc-email --reference:")

// date judges a call of date: shown, in a form, for a moment; never set.
func date(words []word) string {
	rest, reason := dateOptions.scan("", words, false)
	if reason != "" {
		return reason
	}
	for _, w := range rest {
		if !strings.HasPrefix(w.text, "+") {
			return "it sets the clock when it is given " + w.text
		}
	}
	return ""
}

// databases of getent that are files of the machine: others ask the network.
var databases = []string{"passwd", "group", "services", "protocols"}

func getent(words []word) string {
	rest, reason := options{}.scan("", words, false)
	if reason != "" {
		return reason
	}
	if len(rest) == 0 || !rest[0].fixed || !slices.Contains(databases, rest[0].text) {
		return "it may ask the network"
	}
	return ""
}

var (
	psLetters = regexp.MustCompile(`^[aAcfghjlLmrSTuvwxX]+$`)
	// psMixed are options that some ps read again without the dash, where e shows environments.
	psMixed   = regexp.MustCompile(`^-[A-Za-z]*(?:u[A-Za-z]*e|e[A-Za-z]*u)`)
	psOptions = known("-AacdefFHjlLmMNTVwyZ -o: -O: -C: -G: -g: -p: -q: -s: -t: -u: -U: --cols: --columns: --forest --headers --no-headers --pid: --ppid: --sort: --user: --User: --width:")
)

// ps judges a call of ps. Its letters without a dash are those that do not show the environment
// of processes, where passwords are.
func ps(words []word) string {
	for _, w := range words {
		if strings.Contains(w.text, "envir") || psMixed.MatchString(w.text) {
			return "it may show the environments of processes when it is given " + w.text
		}
	}
	rest, reason := psOptions.scan("", words, false)
	if reason != "" {
		return reason
	}
	for i, w := range rest {
		if !w.fixed || !number(w.text) && !(i == 0 && psLetters.MatchString(w.text)) {
			return "it may show the environments of processes when it is given " + w.text
		}
	}
	return ""
}

var setting = regexp.MustCompile(`^[a-zA-Z0-9_.*/-]+$`)

var sysctlOptions = known("-abdenNqA --all --names --values --ignore --quiet --binary")

// sysctl judges a call of sysctl: settings are read, not given a value.
func sysctl(words []word) string {
	rest, reason := sysctlOptions.scan("", words, false)
	if reason != "" {
		return reason
	}
	for _, w := range rest {
		if !w.fixed || !setting.MatchString(w.text) {
			return "it may change a setting when it is given " + w.text
		}
	}
	return ""
}

// dpkg judges a call of dpkg: one question, and names behind it.
func dpkg(words []word) string {
	questions := []string{"-l", "-L", "-s", "-S", "--list", "--listfiles", "--status", "--search", "--print-architecture", "--version"}
	if len(words) == 0 || !words[0].fixed || !slices.Contains(questions, words[0].text) {
		return "it is known to only read when it is asked for packages, such as dpkg -l"
	}
	_, reason := options{}.scan("", words[1:], false)
	return reason
}

var rpmOptions = known("-qailcdRsf --query --all --info --list --changelog --last --whatprovides --requires --provides")

// rpm judges a call of rpm: questions of what is installed.
func rpm(words []word) string {
	rest, reason := rpmOptions.scan("", words, false)
	if reason != "" {
		return reason
	}
	if len(words) == 0 || !words[0].fixed || !strings.HasPrefix(words[0].text, "-q") && words[0].text != "--query" {
		return "it is known to only read when it begins with -q"
	}
	for _, w := range append(rest, words...) {
		if strings.ContainsAny(w.text, ":%") {
			return "it may reach another machine, or run a macro, when it is given " + w.text
		}
	}
	return ""
}

var certificateOptions = []string{"-noout", "-text", "-dates", "-enddate", "-startdate", "-subject", "-issuer", "-fingerprint", "-serial", "-email", "-purpose", "-sha256"}

// certificate judges openssl x509: a certificate is shown.
func certificate(words []word) string {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case !w.fixed:
			return "it can't be told what " + w.text + " is"
		case (w.text == "-in" || w.text == "-checkend") && i+1 < len(words) && words[i+1].begun() && !words[i+1].option() && !words[i+1].glob:
			i++
		case !slices.Contains(certificateOptions, w.text):
			return "its option " + w.text + " is not known to only read"
		}
	}
	return ""
}
