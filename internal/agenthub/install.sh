#!/usr/bin/env bash
# Installs harvest-agent on this machine, for a project of the Harvest at the address below.
# Running it again brings the program up to date, and leaves a machine that has joined as it is.
#
#   HARVEST_INSTALL_TOKEN=hvi_... bash install.sh     or: bash install.sh --token hvi_...
#   bash install.sh --uninstall                       removes all of it
#
# HARVEST_PREFIX puts everything under another folder than /.
set -euo pipefail
umask 077

server=@{quote .Server}@
project=@{quote .Project}@
sha256_amd64=@{quote .AMD64}@
sha256_arm64=@{quote .ARM64}@

prefix=${HARVEST_PREFIX:-}
binary=$prefix/usr/local/bin/harvest-agent
folder=$prefix/etc/harvest-agent
config=$folder/config.toml
state=$prefix/var/lib/harvest-agent
log=$prefix/var/log/harvest-agent.log
pidfile=$prefix/run/harvest-agent.pid
unit=$prefix/etc/systemd/system/harvest-agent.service
scratch=

say() { printf 'harvest-agent: %s\n' "$*"; }

die() {
	printf 'harvest-agent: %s\n' "$*" >&2
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# systemd rules this machine, and not only a program of its name lies about.
has_systemd() { have systemctl && [ -d "$prefix/run/systemd/system" ]; }

usage() {
	cat <<EOF
usage: HARVEST_INSTALL_TOKEN=TOKEN bash install.sh
       bash install.sh --token TOKEN
       bash install.sh --uninstall
EOF
}

no_token() {
	die "no install token. Whoever sees the project gets a command that has one:
  harvest agents install --project $project
  GET $server/projects/$project/agents/install-command"
}

# fetch ADDRESS FILE
fetch() {
	if have curl; then
		curl -fsSL --retry 3 --connect-timeout 20 -o "$2" "$1"
	elif have wget; then
		# Its quiet way says nothing of a failure either.
		wget -nv -O "$2" "$1" 2>"$scratch/said" || { cat "$scratch/said" >&2; return 1; }
	else
		die "neither curl nor wget is installed; install one of them and run this again"
	fi
}

# joined TOKEN MACHINE: whether the server knows this permanent token as this machine's. The token
# is in no argument, which other people of this machine could read.
joined() {
	local status ping="$server/agent/ping?machine=$2"
	[ -n "$2" ] || return 1 # of another machine, of which this disk is a copy
	if have curl; then
		printf 'header = "Authorization: Bearer %s"\n' "$1" >"$scratch/request"
		status=$(curl -sS -o /dev/null -w '%{http_code}' --connect-timeout 20 -X POST -K "$scratch/request" "$ping") ||
			die "the server $server can't be reached"
		case $status in
		2*) return 0 ;;
		401) return 1 ;;
		esac
		die "the server $server answers with $status; try again later"
	fi
	if wget --help 2>&1 | grep -qi busybox; then
		wget -q -O /dev/null --header "Authorization: Bearer $1" --post-data '' "$ping" 2>/dev/null
		return
	fi
	printf 'header = Authorization: Bearer %s\n' "$1" >"$scratch/request"
	status=0
	WGETRC=$scratch/request wget -q -O /dev/null --post-data '' "$ping" || status=$?
	case $status in
	0) return 0 ;;
	6) return 1 ;; # the credentials were refused
	esac
	die "the server $server can't be asked whether this machine has joined; try again later"
}

checksum() {
	if have sha256sum; then
		sha256sum "$1" | cut -d ' ' -f 1
	elif have shasum; then
		shasum -a 256 "$1" | cut -d ' ' -f 1
	elif have openssl; then
		openssl dgst -sha256 "$1" | sed 's/^.* //'
	else
		die "there is no sha256sum, shasum or openssl to check the download with; install one of them"
	fi
}

architecture() {
	case $(uname -m) in
	x86_64 | amd64) echo amd64 ;;
	aarch64 | arm64) echo arm64 ;;
	*) die "there is no harvest-agent for $(uname -m); it runs on x86_64 and aarch64" ;;
	esac
}

# setting NAME: a text of the configuration.
setting() {
	[ -f "$config" ] || return 0
	sed -n "s/^$1[[:space:]]*=[[:space:]]*[\"']\(.*\)[\"'][[:space:]]*$/\1/p" "$config"
}

# machine: the id of this machine; nothing where it has none, or the agent's files are those of
# another one.
machine() { "$binary" machine --config "$config" 2>/dev/null || true; }

# ours PID: whether a process is this program, also where its file was replaced.
ours() {
	local exe
	exe=$(readlink "/proc/$1/exe" 2>/dev/null) || return 1
	[ "${exe% (deleted)}" = "$(readlink -m "$binary" 2>/dev/null || echo "$binary")" ]
}

# stop_pid PID
stop_pid() {
	local waited=0
	kill "$1" 2>/dev/null || return 0
	while ours "$1"; do
		if [ "$waited" -ge 100 ]; then
			kill -KILL "$1" 2>/dev/null || true
			return 0
		fi
		sleep 0.1
		waited=$((waited + 1))
	done
}

# stop_agent ends the agent. Commands go on under their shims.
stop_agent() {
	local pid
	if has_systemd; then
		systemctl stop harvest-agent.service >/dev/null 2>&1 || true
	fi
	pid=$(cat "$pidfile" 2>/dev/null || true)
	case $pid in
	'' | *[!0-9]*) ;;
	*) if ours "$pid"; then stop_pid "$pid"; fi ;;
	esac
	rm -f "$pidfile"
}

# stop_all ends every process of the program, the shims of running commands too.
stop_all() {
	local entry
	for entry in /proc/[0-9]*; do
		if ours "${entry#/proc/}"; then stop_pid "${entry#/proc/}"; fi
	done
}

# leave SERVER TOKEN MACHINE takes this machine out of its project. It is asked for again while
# the server still sees the connection of the agent that has just ended.
leave() {
	local tries=0 status
	case $2 in hva_*) ;; *) return 1 ;; esac
	[ -n "$3" ] && have curl || return 1
	while [ "$tries" -lt 10 ]; do
		status=$(printf 'header = "Authorization: Bearer %s"\n' "$2" |
			curl -sS -o /dev/null -w '%{http_code}' --connect-timeout 5 --max-time 20 -X POST -K - "$1/agent/leave?machine=$3" 2>/dev/null) || return 1
		case $status in
		200) return 0 ;;
		409) sleep 0.5 ;;
		*) return 1 ;;
		esac
		tries=$((tries + 1))
	done
	return 1
}

# What can't be removed does not keep the rest, nor does a full or read-only disk.
uninstall() {
	local kept= server token id
	server=$(setting server_url)
	token=$(setting agent_token)
	id=$(machine)
	if has_systemd; then
		systemctl disable --now harvest-agent.service >/dev/null 2>&1 || true
	fi
	stop_agent
	stop_all
	rm -f "$unit" "$binary" "$log" || kept=yes
	rm -rf "$folder" "$state" || kept=yes
	if has_systemd; then systemctl daemon-reload || true; fi
	[ -z "$kept" ] || die "the agent is stopped, but not all of it could be removed: see above, and remove the rest by hand"
	if leave "$server" "$token" "$id"; then
		say "removed, from its project too"
	else
		say "removed; take the machine out of its project too, where it is still listed: harvest agents delete NAME"
	fi
}

download() {
	local arch want got
	arch=$(architecture)
	case $arch in
	amd64) want=$sha256_amd64 ;;
	arm64) want=$sha256_arm64 ;;
	esac
	[ -n "$want" ] || die "this server has no harvest-agent for $arch; whoever runs it sets binary_path under [agents]"
	if [ -f "$binary" ] && [ "$(checksum "$binary")" = "$want" ]; then
		return 0
	fi
	fetch "$server/agents/binary/harvest-agent?arch=$arch" "$scratch/harvest-agent" ||
		die "harvest-agent can't be downloaded from $server"
	got=$(checksum "$scratch/harvest-agent")
	[ "$got" = "$want" ] ||
		die "the download is not what the server announced (SHA-256 $got, not $want); nothing was installed. Run this again"
	put "$binary" 0755 <"$scratch/harvest-agent" || die "the agent can't be stored as $binary; nothing was installed"
}

# put FILE MODE makes a file of its input, whole or not at all.
put() {
	(umask 022 && mkdir -p "$(dirname "$1")") && { cat >"$1.new"; } && chmod "$2" "$1.new" && mv -f "$1.new" "$1"
}

# keeps_token: whether this machine has joined this server, and is known there. A permanent token
# without the id of the machine beside it was copied from another one, and is good there alone.
keeps_token() {
	local known place
	known=$(setting agent_token)
	[ "$(setting server_url)" = "$server" ] && [ "${known#hva_}" != "$known" ] || return 1
	place=$(setting state_dir)
	[ -s "${place:-$state}/machine" ] && joined "$known" "$(machine)"
}

# configure TOKEN keeps the permanent token of a machine that has joined this server, and what
# else people have set.
configure() {
	local kept= place
	if keeps_token; then
		chmod 0600 "$config"
		return 0
	fi
	place=$(setting state_dir)
	place=${place:-${prefix:+$state}}
	mkdir -p "$folder" "${place:-$state}" || die "the agent's folders can't be made: $folder and ${place:-$state}"
	if [ -f "$config" ]; then
		kept=$(grep -Ev '^[[:space:]]*(server_url|agent_token|state_dir)[[:space:]]*=' "$config" || true)
	fi
	{
		printf 'server_url = "%s"\n' "$server"
		printf 'agent_token = "%s"\n' "$1"
		if [ -n "$place" ]; then printf 'state_dir = "%s"\n' "$place"; fi
		if [ -n "$kept" ]; then printf '%s\n' "$kept"; fi
	} | put "$config" 0600 || die "the agent's configuration can't be stored as $config"
}

# Restarts end the agent alone (KillMode): commands and their shims live on.
start_systemd() {
	put "$unit" 0644 <<EOF || die "the agent's unit can't be stored as $unit"
[Unit]
Description=Harvest agent
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=$binary --config $config
Restart=always
RestartSec=5
KillMode=process
OOMPolicy=continue
TasksMax=infinity

[Install]
WantedBy=multi-user.target
EOF
	systemctl daemon-reload
	systemctl enable --quiet harvest-agent.service
	systemctl restart harvest-agent.service
	say "installed; systemd runs it as harvest-agent.service"
}

start_alone() {
	mkdir -p "$(dirname "$pidfile")" "$(dirname "$log")"
	if have setsid; then
		setsid "$binary" --config "$config" </dev/null >>"$log" 2>&1 &
	else
		nohup "$binary" --config "$config" </dev/null >>"$log" 2>&1 &
	fi
	echo $! >"$pidfile"
	say "installed and started; its log is $log"
	say "this machine has no systemd: to have it started at each boot, add this line to what runs then (/etc/rc.local, for instance):"
	say "  $binary --config $config </dev/null >>$log 2>&1 &"
}

# logged SIZE TIME: what the agent has logged since its log had this many bytes, or since then.
logged() {
	if has_systemd; then
		if have journalctl; then journalctl -u harvest-agent.service --since="@$2" -n 20 -o cat 2>/dev/null || true; fi
	elif [ -f "$log" ]; then
		tail -c "+$(($1 + 1))" "$log"
	fi
}

# await_join SIZE TIME waits for the permanent token, which the agent stores as it joins: a token
# that the server does not take is said here, and not in a log alone.
await_join() {
	local waited=0 known why=
	while [ "$waited" -lt 75 ]; do
		known=$(setting agent_token)
		if [ "${known#hva_}" != "$known" ]; then return 0; fi
		why=$(logged "$1" "$2" | grep 'not connected' | tail -n 1 || true)
		case $why in *'does not take agent_token'*) break ;; esac
		sleep 0.2
		waited=$((waited + 1))
	done
	if [ -z "$why" ]; then why=$(logged "$1" "$2" | tail -n 1); fi
	die "installed, but this machine has not joined the project; the agent goes on trying. It says:
  ${why:-nothing yet; see systemctl status harvest-agent, or $log}"
}

install_agent() {
	local size=0 since name
	[ -n "$1" ] || no_token
	case $1 in
	*[!A-Za-z0-9_]*) die "that is no install token" ;;
	hvi_*) ;;
	*) die "that is no install token; it begins with hvi_" ;;
	esac
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch" "$binary.new" "$config.new"' EXIT
	download
	configure "$1"
	stop_agent
	if [ -f "$log" ]; then size=$(wc -c <"$log"); fi
	since=$(date +%s)
	if has_systemd; then start_systemd; else start_alone; fi
	await_join "$size" "$since"
	name=$(setting hostname)
	say "this machine is in the project as ${name:-$(uname -n)}"
}

main() {
	local token=${HARVEST_INSTALL_TOKEN:-} remove=
	unset HARVEST_INSTALL_TOKEN # the agent and its commands do not inherit it
	while [ $# -gt 0 ]; do
		case $1 in
		--token)
			[ $# -ge 2 ] || die "--token needs a token behind it"
			token=$2
			shift
			;;
		--token=*) token=${1#--token=} ;;
		--uninstall) remove=yes ;;
		-h | --help)
			usage
			return 0
			;;
		*)
			usage >&2
			die "there is no option $1"
			;;
		esac
		shift
	done
	[ "$(uname -s)" = Linux ] || die "harvest-agent runs on Linux alone"
	[ "$(id -u)" = 0 ] || [ -n "$prefix" ] || die "run this as root: put sudo before it"
	if [ -n "$remove" ]; then
		uninstall
	else
		install_agent "$token"
	fi
}

# All is read before anything is done: half a script does nothing.
main "$@"
