# Shared by the scripts of this folder: the two clients, a mock model API, a home folder with every first-run dialog answered, the
# product under test with its verbs, and the counting of what holds. To be sourced by bash.
#
# Environment, all optional:
#   CLAUDE, CODEX              the clients' commands (words; default: installed from npm into the cache folder)
#   CLAUDE_VERSION, CODEX_VERSION
#   RIG_REALCLI_CACHE          where the clients are kept between runs (default: the user's cache folder)
#   RIG                        the program under test (default: bin/rig)
#   RIG_REALCLI_WORK           where this run works (default: a new folder, removed at the end unless something failed)
#
# Exit status 75 means that the clients are not here and the package registry cannot be reached: nothing was tested.
# shellcheck shell=bash

CLAUDE_VERSION=${CLAUDE_VERSION:-2.1.332}
CODEX_VERSION=${CODEX_VERSION:-0.171.0}
readonly unreachable=75
passed=0 failed=0 mock_pid='' server_used=''

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
export PATH="$repo/bin/_go/bin:$PATH:/usr/local/go/bin"

# ---------------------------------------------------------------------------------------------------------------- clients

# cache: the folder that keeps the clients. Never inside the checkout.
cache() { echo "${RIG_REALCLI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rig-realcli}"; }

# client PACKAGE VERSION PATTERN NAME: installs PACKAGE unless it is there, and prints the path of its program. The packages wrap
# one native program a platform; it is found by its path, since the wrapper would need a newer Node than many machines have.
client() {
  local package=$1 version=$2 pattern=$3 name=$4 dir log program
  dir="$(cache)/${package##*/}-$version"
  log="$dir.log"
  program=$(find "$dir" -path "$pattern" -name "$name" -type f 2>/dev/null | head -n 1)
  if [ -z "$program" ]; then
    mkdir -p "$dir"
    if ! npm install --no-audit --no-fund --prefix "$dir" "$package@$version" >"$log" 2>&1 </dev/null; then
      # Only a line that cannot be had counts as unreachable; a version that is gone or a full disk is a failure.
      if grep -qE 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|E50[234]' "$log"; then
        echo "npm cannot reach its registry ($(grep -oE -m1 'E[A-Z_]{4,}[0-9]*' "$log" | head -n 1)) and $package $version is not cached" >&2
        return $unreachable
      fi
      echo "npm install $package@$version failed:" >&2
      tail -n 15 "$log" >&2
      return 1
    fi
    program=$(find "$dir" -path "$pattern" -name "$name" -type f | head -n 1)
  fi
  [ -n "$program" ] || { echo "$package $version has no program named $name" >&2; return 1; }
  chmod +x "$program"
  echo "$program"
}

# absolute COMMAND: the command with a program given by a relative path found from the checkout.
absolute() { case "$1" in /*) echo "$1" ;; */*) echo "$repo/$1" ;; *) echo "$1" ;; esac; }

# clients: sets CLAUDE and CODEX to commands that work from any folder.
clients() {
  if [ -z "${CLAUDE:-}" ]; then
    CLAUDE=$(client @anthropic-ai/claude-code "$CLAUDE_VERSION" '*claude-code-[ld]*' claude) || exit $?
  fi
  if [ -z "${CODEX:-}" ]; then
    CODEX=$(client @openai/codex "$CODEX_VERSION" '*/bin/codex' codex) || exit $?
  fi
  CLAUDE=$(absolute "$CLAUDE") CODEX=$(absolute "$CODEX")
}

# ------------------------------------------------------------------------------------------------------------- work folder

# workspace: makes the folder of this run and everything in it that does not depend on the clients.
workspace() {
  # Not under /tmp: Codex leaves out its helper links there and says so on every start. Short: a socket goes into it.
  work=${RIG_REALCLI_WORK:-$(mktemp -d -p /var/tmp 2>/dev/null || mktemp -d)}
  mkdir -p "$work"
  work=$(cd "$work" && pwd -P)
  home=$work/h project=$work/h/project
  mkdir -p "$home/bin" "$home/.codex" "$project" "$work/log"
  trap cleanup EXIT
}

# cleanup: ends what this run started, and removes its folder if everything passed and nobody asked to keep it.
cleanup() {
  local status=$? pids
  # A handover's process would stay for as long as its undo window is open.
  pids=$(pgrep -f -- "op-exec $work/r/run/")
  # shellcheck disable=SC2086 # one word each
  [ -n "$pids" ] && kill $pids && hold 5 '! pgrep -f -- "op-exec $work/r/run/"' >/dev/null
  [ -n "$server_used" ] && tmux -S "$work/s" kill-server 2>/dev/null
  [ -n "$mock_pid" ] && kill "$mock_pid" 2>/dev/null
  if [ "$status" = 0 ] && [ -z "${RIG_REALCLI_WORK:-}" ]; then rm -rf "$work"; else echo "# work folder kept: $work"; fi
  return "$status"
}

# mock: builds and starts the model API; sets url.
mock() {
  (cd "$repo" && go build -o "$work/mock" ./testdata/realcli/mock)
  "$work/mock" -log "$work/log/requests.jsonl" >"$work/log/mock.txt" 2>&1 &
  mock_pid=$!
  hold 10 'grep -q ^http "$work/log/mock.txt"' || { cat "$work/log/mock.txt" >&2; exit 1; }
  url=$(head -n 1 "$work/log/mock.txt")
}

readonly key=dummy-key-for-the-mock-0123456789abcdef

# dialogs FOLDER...: answers every first-run dialog beforehand, trusting the given folders.
dialogs() {
  local claude='' codex='' folder
  for folder in "$@"; do
    claude+="${claude:+,}\"$folder\":{\"hasTrustDialogAccepted\":true}"
    codex+=$'\n'"[projects.\"$folder\"]"$'\n''trust_level = "trusted"'
  done
  cat >"$home/.claude.json" <<JSON
{"hasCompletedOnboarding":true,"projects":{$claude},"customApiKeyResponses":{"approved":["${key: -20}"],"rejected":[]}}
JSON
  cat >"$home/.codex/config.toml" <<TOML
model = "gpt-5.5-codex"
model_provider = "mock"
check_for_update_on_startup = false
${codex_extra:-}
[features]
daemon_auto_start = false
[model_providers.mock]
name = "mock"
base_url = "$url/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
$codex
TOML
}

# clean_env COMMAND...: runs it with nothing of the caller's environment but the search path.
clean_env() {
  env -i PATH="$home/bin:$PATH" HOME="$home" TERM=xterm-256color LANG=C.UTF-8 SHELL=/bin/bash \
    ANTHROPIC_BASE_URL="$url" ANTHROPIC_API_KEY="$key" MOCK_KEY=dummy DISABLE_AUTOUPDATER=1 \
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_TELEMETRY=1 DISABLE_ERROR_REPORTING=1 \
    ${extra_env[@]+"${extra_env[@]}"} "$@"
}

# ------------------------------------------------------------------------------------------------------- the program under test

# What the last call of rig printed, the seat that evidence shows, and the log that a call is kept in.
answer='' current='' kept=rig

# product: everything above, and the program under test in a home, a configuration and a tmux server of this run. Both agents are
# made to ask before a command runs, as their owner could have chosen: Claude by a flag, since a mode in its settings makes it
# offer another one in a dialog.
product() {
  RIG=$(absolute "${RIG:-bin/rig}")
  [ -x "$RIG" ] || { echo "no program at $RIG: run make build" >&2; exit 1; }
  clients
  workspace
  mock
  codex_extra='approval_policy = "on-request"
sandbox_mode = "workspace-write"'
  dialogs "$project"
  (cd "$repo" && go build -o "$work/record" ./testdata/realcli/record) || exit 1
  cd "$project" || exit 1
  extra_env=(
    "RIG_HOME=$work/r" "RIG_CONFIG=$work/rig.yaml" "RIG_TMUX_SOCKET=$work/s"
    "RIG_CLAUDE_COMMAND=$(as_json "$CLAUDE --permission-mode manual")" "RIG_CODEX_COMMAND=$(as_json "$CODEX")"
  )
  server_used=yes
  # shellcheck disable=SC2086 # a client command is words
  echo "# $(clean_env "$RIG" --version) | $(clean_env $CLAUDE --version) | $(clean_env $CODEX --version) | $(tmux -V)"
}

# team NAME FOLDER MEMBER...: prints the spec of a rig with a Claude Code and a Codex seat in the folder, and more members as they
# stand in a spec. Their pod is the last thing in it.
team() {
  local name=$1 cwd=$2
  shift 2
  cat <<YAML
version: "0.2"
name: $name
pods:
  - id: dev
    label: Development
    members:
      - {id: impl, runtime: claude-code, agent_ref: "builtin:agent", profile: default, cwd: $cwd}
      - {id: qa, runtime: codex, agent_ref: "builtin:agent", profile: default, cwd: $cwd}
YAML
  [ $# = 0 ] || printf '      - %s\n' "$@"
}

# as_json COMMAND: its words as a JSON array.
as_json() { local words; read -ra words <<<"$1"; jq -nc '$ARGS.positional' --args -- "${words[@]}"; }

# T ARGUMENT...: tmux, on the server of this run.
T() { server_used=yes; clean_env tmux -S "$work/s" "$@"; }

# R VERB...: runs rig; its answer is in $answer, its exit status is R's. All of it is kept for the search for leaked ids.
R() {
  local status
  clean_env "$RIG" "$@" >"$work/log/answer" 2>"$work/log/remarks" </dev/null
  status=$?
  answer=$(cat "$work/log/answer")
  { printf '$ rig %s\n' "$1${2:+ $2}"; cat "$work/log/answer" "$work/log/remarks"; echo "-> $status"; } >>"$work/log/$kept.txt"
  return $status
}

# evidence: the end of the conversation with rig, and the screen of the seat in question.
evidence() {
  [ -e "$work/log/$kept.txt" ] && tail -n 12 "$work/log/$kept.txt" | cut -c 1-600
  [ -n "$current" ] && T capture-pane -p -t "=$current:" 2>/dev/null | grep -v '^ *$' | tail -n 20
}

# does NAME VERB...: the verb must end with status 0. must: without it the rest means nothing.
does() {
  local name=$1
  shift
  if R "$@"; then ok "$name"; else not_ok "$name" "rig $*"; fi
}
must() {
  does "$@"
  [ "$failed" = 0 ] || { verdict; exit 1; }
}

# settled ADDRESS: the seat comes to rest.
settled() { does "$1: at rest" wait "$1" --until idle --timeout 30s; }
# status ADDRESS FILTER: a value of the seat, by rig seat status.
status() { R seat status "$1" --json; jq -r "$2" <<<"$answer"; }
# on_screen ADDRESS TEXT: whether the seat's screen shows it.
on_screen() { R capture "$1" --lines 60 && grep -qF -- "$2" <<<"$answer"; }
# recorded ADDRESS FIELD [GENERATION]: what the record holds of an occupant, the newest one by default.
recorded() { "$work/record" -home "$work/r" | jq -r --arg a "$1" --arg g "${3:-}" "[.[] | select(.seat == \$a and (\$g == \"\" or (.generation | tostring) == \$g))] | last | .$2"; }
# filed ID: the file in which a client keeps a conversation.
filed() { find "$home/.claude/projects" "$home/.codex/sessions" -name "*$1.jsonl" 2>/dev/null | head -n 1; }

# ----------------------------------------------------------------------------------------------------------------- checking

# hold SECONDS CONDITION: waits until the condition holds; fails when it did not in time.
hold() {
  local end=$((SECONDS + $1))
  until eval "$2"; do
    [ "$SECONDS" -ge "$end" ] && return 1
    sleep 0.1
  done 2>/dev/null
}

# fact NAME CONDITION: counts and prints whether the condition comes to hold within ten seconds (or FACT_WAIT).
fact() {
  if hold "${FACT_WAIT:-10}" "$2"; then ok "$1"; else not_ok "$1" "$2"; fi
}

# at_once NAME CONDITION: the same, for what must hold already.
at_once() {
  if eval "$2" 2>/dev/null; then ok "$1"; else not_ok "$1" "$2"; fi
}

ok() { passed=$((passed + 1)); echo "ok   $1"; }

not_ok() {
  failed=$((failed + 1))
  echo "FAIL $1"
  echo "     did not hold: $2"
  # Whoever sources this may say what to look at.
  if declare -F evidence >/dev/null; then evidence | sed 's/^/     | /'; fi
}

# verdict: the last line of a run, and its exit status.
verdict() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
