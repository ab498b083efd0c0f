#!/usr/bin/env bash
# Deploys the shop.
#
# Usage: deploy.sh ENVIRONMENT
set -euo pipefail

# Where the script stands.
readonly SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "${SCRIPT_DIR}/lib/common.sh"
. ./env.sh
[[ -f /etc/shop.conf ]] && source /etc/shop.conf

declare -A REGIONS=([eu]="eu-west-1" [us]="us-east-1")
declare -r MAX_RETRIES=3
export DEPLOY_ENV="${1:-staging}"
typeset -i counter=0
TARGETS=(api worker web)
LOG_FILE=/var/log/deploy.log
IMAGE_TAG="$(current_tag)"
alias k='kubectl --namespace shop'

# Writes a line to the log.
#
# $1: level, the rest: message
log() {
  local level="$1"
  shift
  printf '%s [%s] %s\n' "$(date +%FT%T)" "$level" "$*" | tee -a "$LOG_FILE" >&2
}

die() { log error "$@"; exit 1; }

function require_tool {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null 2>&1 || die "missing $tool"
  done
}

# Tries a command again and again.
function retry() {
  local attempt=1 max="$1"
  shift
  until "$@"; do
    if (( attempt >= max )); then
      log warn "giving up after $attempt attempts"
      return 1
    fi
    sleep $((2 ** attempt))
    ((attempt++))
  done
}

cleanup() {
  local status=$?
  rm -rf "$WORK_DIR"
  if [[ $status -ne 0 ]]; then
    notify_failure "$DEPLOY_ENV" "$status"
  fi
  exit "$status"
}

build_image() {
  local name="$1" tag
  tag="$(image_tag "$name")"
  docker build \
    --tag "registry.example.com/$name:$tag" \
    --file "docker/$name.Dockerfile" .
  docker push "registry.example.com/$name:$tag" || retry "$MAX_RETRIES" docker push "$name"
  BUILT="$tag"
  echo "$tag"
}

_private_helper() {
  jq -r '.version' package.json
}

image_tag() {
  local name=$1
  git describe --always | sed 's/^v//'
}

render() {
  local template="$1"
  while IFS= read -r line; do
    expand "$line"
  done < "$template"
  cat <<YAML
image: $(image_tag "$1")
replicas: ${REPLICAS:-2}
YAML
  cat <<'RAW'
not $(executed here)
RAW
}

rollout() {
  case "$DEPLOY_ENV" in
    production)
      confirm "Really?" || die "aborted"
      scale_up api 4
      ;;
    staging | dev)
      scale_up api 1
      ;;
    *)
      usage
      ;;
  esac
  kubectl rollout status deployment/api --timeout 5m &
  wait
}

usage() {
  cat >&2 <<USAGE
usage: $(basename "$0") ENVIRONMENT
USAGE
}

scale_up() {
  local deployment=$1 replicas=${2:-1}
  k scale "deployment/$deployment" --replicas "$replicas"
}

health_check() {
  local url="$1"
  local code
  code=$(curl -s -o /dev/null -w '%{http_code}' "$url")
  [ "$code" -eq 200 ] && return 0
  test "$code" = 204
}

outer() {
  inner() {
    log debug "inner $1"
  }
  inner "$@"
  log debug outer
}

main() {
  require_tool docker kubectl jq
  WORK_DIR="$(mktemp -d)"
  trap cleanup EXIT
  trap 'die "interrupted"' INT TERM

  local target
  for target in "${TARGETS[@]}"; do
    build_image "$target" &
  done
  wait

  render templates/api.yaml > "$WORK_DIR/api.yaml"
  rollout
  if ! health_check "https://shop.example.com/health"; then
    log error "unhealthy"
    rollback && notify_failure "$DEPLOY_ENV" 1
  elif [[ "$DEPLOY_ENV" == production ]]; then
    log info "deployed $IMAGE_TAG"
  else
    diff <(render a) <(render b)
  fi
  "$SCRIPT_DIR/after.sh" --quiet
  LC_ALL=C sort_targets "${!REGIONS[@]}"
  result=$(outer "x" | transform)
  echo "$result" "${result:-$(default_result)}"
}

if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then
  main "$@"
fi
