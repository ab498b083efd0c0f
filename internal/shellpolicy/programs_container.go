package shellpolicy

// containerPrograms tell of containers, clusters and models. Options that name another daemon,
// a folder of settings or a file are left out: such may name programs that are run.
var containerPrograms = map[string]program{
	"docker":  {subs: dockerQuestions},
	"kubectl": {judge: kubectl},
	"helm": {subs: map[string]program{
		"list": lists("-aAqd -n: -o: -f: --all --all-namespaces --namespace: --output:"), "ls": lists("-aAqd -n: -o: --all --all-namespaces --namespace: --output:"),
		"status":  lists("-n: --namespace: --revision:"), // as YAML it shows values, and the secrets that it made
		"history": lists("-n: -o: --namespace: --output: --max:"), "version": bare("--short"),
	}},
	"lxc": {subs: map[string]program{
		"list": lists("-c: -f: --columns: --format: --fast --all-projects --project:"), "ls": lists("-c: -f: --columns: --format: --project:"),
		"info":    lists("--resources --show-log --project:"),
		"version": bare(""),
		"config":  {subs: map[string]program{"show": lists("-e --expanded --project:"), "get": lists("--project:")}},
		"network": {subs: map[string]program{"list": lists("-f: --format: --project:"), "show": lists("--project:"), "info": lists("--project:")}},
		"profile": {subs: map[string]program{"list": lists("-f: --format: --project:"), "show": lists("--project:")}},
		"image":   {subs: map[string]program{"list": lists("-c: -f: --columns: --format: --project:"), "info": lists("--project:"), "show": lists("--project:")}},
		"storage": {subs: map[string]program{"list": lists("-f: --format:"), "show": lists(""), "info": lists("--bytes")}},
		"project": {subs: map[string]program{"list": lists("-f: --format:"), "show": lists("")}},
		"cluster": {subs: map[string]program{"list": lists("-f: --format:"), "show": lists("")}},
	}},
	"juju": {subs: map[string]program{
		"status": lists(jujuOptions + " --relations --storage --integrations"), "models": lists(jujuOptions + " -c: --controller: --all"), "machines": lists(jujuOptions),
		"controllers": lists(jujuOptions), "version": bare("--all"), "show-model": lists(jujuOptions), "show-machine": lists(jujuOptions),
		"show-application": lists(jujuOptions), "show-unit": lists(jujuOptions + " --app"), "show-controller": lists(jujuOptions), "spaces": lists(jujuOptions),
		"storage": lists(jujuOptions), "offers": lists(jujuOptions), "clouds": lists(jujuOptions + " --all --client"), "whoami": lists(jujuOptions),
	}},
}

const jujuOptions = "-m: --model: --format: --color --no-color --utc"

var dockerQuestions = map[string]program{
	"--version": bare(""),
	"ps":        lists("-aqls -f: -n: --all --quiet --latest --size --no-trunc --format: --filter: --last:"),
	"images":    lists("-aq -f: --all --quiet --digests --no-trunc --format: --filter:"),
	"inspect":   lists("-s -f: --format: --size --type:"),
	"logs":      lists("-ft -n: --follow --timestamps --details --tail: --since: --until:"),
	"stats":     lists("-a --all --no-stream --no-trunc --format:"),
	"port":      lists(""),
	"top":       {judge: dockerTop},
	"diff":      lists(""),
	"history":   lists("-Hq --human --no-trunc --quiet --format:"),
	"version":   bare("-f: --format:"),
	"info":      bare("-f: --format:"),
	"container": {subs: map[string]program{
		"ls": lists("-aqls -f: -n: --all --quiet --no-trunc --format: --filter:"), "list": lists("-aqls -f: -n: --all --quiet --format: --filter:"), "inspect": lists("-s -f: --format:"), "logs": lists("-ft -n: --tail: --since:"),
	}},
	"image":   {subs: map[string]program{"ls": lists("-aq -f: --all --format: --filter: --quiet"), "inspect": lists("-f: --format:"), "history": lists("-Hq --no-trunc")}},
	"network": {subs: map[string]program{"ls": lists("-q -f: --format: --filter: --quiet --no-trunc"), "inspect": lists("-v -f: --format: --verbose")}},
	"volume":  {subs: map[string]program{"ls": lists("-q -f: --format: --filter: --quiet"), "inspect": lists("-f: --format:")}},
	"system":  {subs: map[string]program{"df": lists("-v --verbose --format:"), "info": lists("-f: --format:")}},
	"service": {subs: map[string]program{"ls": lists("-q -f: --format: --filter:"), "ps": lists("-q -f: --no-trunc --format:"), "inspect": lists("-f: --format: --pretty")}},
	"node":    {subs: map[string]program{"ls": lists("-q -f: --format: --filter:"), "ps": lists("-q -f: --no-trunc"), "inspect": lists("-f: --format: --pretty")}},
	"context": {subs: map[string]program{"ls": lists("-q --format:"), "show": bare("")}},
}

// dockerTop judges docker top NAME: what is behind the name goes to ps.
func dockerTop(words []word) string {
	if len(words) == 1 && words[0].begun() && !words[0].option() && !words[0].glob {
		return ""
	}
	return "it is known as top NAME"
}
