#!/usr/bin/env bash
# What the product relies on in Claude Code and Codex, asserted on the clients themselves: which files they write and when, what
# the screens say, which hooks run, how they end. They talk to the mock model API on loopback and run in a tmux server of this
# script's own. A fact that no longer holds after an update of a client is found here first.
#
#   testdata/realcli/facts.sh                                        the real clients, from npm
#   CLAUDE="bin/rig agentsim claude" CODEX="bin/rig agentsim codex" testdata/realcli/facts.sh
#                                                                    the stand-ins: the same facts must hold for them
#
# Lines that start with # are measurements. The last line is "N passed, N failed"; exit status 75: nothing was tested, because
# the registry cannot be reached. The other settings: lib.sh.
set -u # no pipefail: the first program of most pipelines here is expected to fail or to be cut off
# shellcheck source=testdata/realcli/lib.sh
. "$(dirname "$0")/lib.sh"
clients
workspace
mock
dialogs "$project"
cd "$project" || exit 1

# ---- tmux
screen() { T capture-pane -p -t "=$1:"; }
current=''
evidence() { [ -n "$current" ] && screen "$current" 2>/dev/null | grep -v '^ *$' | tail -n 12; }
# begin SESSION COMMAND: starts it in a session of its own and shows its exit status once it has ended.
begin() {
  current=$1
  T new-session -d -s "$1" -x 120 -y 40 -c "$project" "$2; echo EXIT=\$?; exec bash --norc"
}
finish() { T kill-session -t "=$1" && hold 10 "! T has-session -t '=$1'"; current=''; }
shows() { screen "$1" | grep -qF -- "$2"; }
# type SESSION TEXT: the Enter comes in a second call and later, or the clients swallow it.
type_text() { T send-keys -t "=$1:" -l "$2"; sleep 0.4; T send-keys -t "=$1:" Enter; }
escape() { T send-keys -t "=$1:" Escape; }
ms() { echo $((($(date +%s%N) - $1) / 1000000)); }

# ---- hooks: each event is one line of hooks.jsonl, each status line run one line of status.jsonl
cat >"$home/bin/hook" <<'S'
#!/bin/bash
{ cat; echo; } >>"$HOME/hooks.jsonl"
S
cat >"$home/bin/status" <<'S'
#!/bin/bash
{ cat; echo; } >>"$HOME/status.jsonl"
echo status
S
chmod +x "$home/bin/hook" "$home/bin/status"
# hook_block EVENT...: the hooks object for these events.
hook_block() {
  local event out=''
  for event in "$@"; do out+="${out:+,}\"$event\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"$home/bin/hook\"}]}]"; done
  echo "{$out}"
}
settings=$home/settings.json
jq -n --argjson hooks "$(hook_block SessionStart SessionEnd UserPromptSubmit PreCompact Stop)" --arg status "$home/bin/status" \
  '{hooks: $hooks, statusLine: {type: "command", command: $status}, idleCompaction: false}' >"$settings"
jq -n --argjson hooks "$(hook_block SessionStart UserPromptSubmit PreCompact PostCompact Stop PermissionRequest)" '{hooks: $hooks}' >"$home/.codex/hooks.json"
# events FILTER: the hook events so far, through jq.
events() { jq -rc "$1" "$home/hooks.jsonl" 2>/dev/null; }
forget_events() { : >"$home/hooks.jsonl"; }

new_id() { cat /proc/sys/kernel/random/uuid 2>/dev/null || uuidgen | tr '[:upper:]' '[:lower:]'; }
T new-session -d -s holder 'sleep 3600' # the server must outlive the seats
# shellcheck disable=SC2086 # a client command is words
echo "# $(clean_env $CLAUDE --version) | $(clean_env $CODEX --version) | $(tmux -V)"

# =============================================================================================================== Claude Code
id=$(new_id)
transcripts=$home/.claude/projects/$(printf %s "$project" | sed 's/[^a-zA-Z0-9]/-/g')
registry() { cat "$home"/.claude/sessions/*.json 2>/dev/null | jq -r "$1" | head -n 1; }
forget_events
started=$(date +%s%N)
begin c1 "$CLAUDE --session-id $id --settings $settings --permission-mode manual"
fact 'claude: the ready screen names the permission mode' 'shows c1 "manual mode on"'
echo "# claude ready after $(ms "$started") ms"
fact 'claude: the registry file names the session at launch' '[ "$(registry .sessionId)" = "$id" ]'
at_once 'claude: no transcript before the first prompt' '[ ! -e "$transcripts/$id.jsonl" ]'
fact 'claude: the registry says idle at the prompt' '[ "$(registry .status)" = idle ]'
type_text c1 hello
fact 'claude: the transcript is at the slug path after the first prompt' '[ -s "$transcripts/$id.jsonl" ]'
fact 'claude: the Stop hook ends the turn' 'events "select(.hook_event_name==\"Stop\")|.session_id" | grep -q "$id"'
type_text c1 '[[wait:4]] think'
fact 'claude: busy shows "esc to interrupt" and the registry says busy' 'shows c1 "esc to interrupt" && [ "$(registry .status)" = busy ]'
fact 'claude: idle again after the turn' '! shows c1 "esc to interrupt" && [ "$(registry .status)" = idle ]'
type_text c1 '[[sh:mkdir made]] run'
fact 'claude: a permission prompt is on screen and the registry says waiting' 'shows c1 "Do you want to proceed?" && [ "$(registry .status)" = waiting ]'
fact 'claude: the registry says what it waits for' '[ "$(registry .waitingFor)" = "permission prompt" ]'
escape c1
fact 'claude: refusing the permission ends the wait' '[ "$(registry .status)" = idle ]'
type_text c1 '[[tokens:450000]] big'
fact 'claude: the status line input carries the context window' '[ "$(jq -s "map(.context_window.used_percentage // 0) | max" "$home/status.jsonl")" = 45 ]'
hold 5 '[ "$(registry .status)" = idle ]'
type_text c1 '[[tokens:1200]] small'
hold 10 'tail -n 1 "$transcripts/$id.jsonl" | grep -q . && [ "$(registry .status)" = idle ]'
type_text c1 /compact
fact 'claude: /compact keeps the id and fires PreCompact, then SessionStart(compact)' \
  'events "select(.hook_event_name==\"PreCompact\" or .source==\"compact\")|[.hook_event_name,.session_id]|join(\" \")" | tr "\n" ";" | grep -q "PreCompact $id;SessionStart $id;"'
fact 'claude: the transcript has a compact_boundary' 'grep -q "\"subtype\":\"compact_boundary\"" "$transcripts/$id.jsonl"'
finish c1
fact 'claude: SessionEnd runs when the tmux session is killed' 'events "select(.hook_event_name==\"SessionEnd\")|.reason" | grep -q .'
fact 'claude: the registry file goes with the process' '[ -z "$(registry .sessionId)" ]'

forget_events
begin c2 "$CLAUDE --resume $id --settings $settings --permission-mode manual"
fact 'claude: --resume keeps the id (SessionStart source resume)' '[ "$(events "select(.hook_event_name==\"SessionStart\")|[.source,.session_id]|join(\" \")")" = "resume $id" ]'
hold 10 'shows c2 "manual mode on"'
finish c2
hold 10 '[ -z "$(registry .sessionId)" ]'

forget_events
fork=$(new_id)
begin c3 "$CLAUDE --resume $id --fork-session --session-id $fork --settings $settings --permission-mode manual"
fact 'claude: a fork has the id that was chosen for it, in the registry at launch' '[ "$(registry .sessionId)" = "$fork" ]'
hold 10 'shows c3 "manual mode on"'
at_once 'claude: the file of the fork is not written before its first prompt' '[ ! -e "$transcripts/$fork.jsonl" ]'
type_text c3 'in the fork'
fact 'claude: the file of the fork is written at its first prompt' '[ -s "$transcripts/$fork.jsonl" ]'
finish c3

begin c4 "$CLAUDE --resume 99999999-9999-4999-8999-999999999999"
fact 'claude: an unknown id ends with a message and status 1' 'shows c4 "No conversation found with session ID" && shows c4 EXIT=1'
finish c4
# shellcheck disable=SC2086
fact 'claude: --session-id of a used id is refused' 'clean_env $CLAUDE -p --session-id "$id" hi 2>&1 </dev/null | grep -q "already in use"'

# ===================================================================================================================== Codex
rollouts=$home/.codex/sessions
rollout() { find "$rollouts" -name 'rollout-*.jsonl' "$@" 2>/dev/null | head -n 1; }
flags='--no-daemon --dangerously-bypass-hook-trust'
forget_events
started=$(date +%s%N)
begin x1 "$CODEX $flags -a on-request -s workspace-write"
fact 'codex: the ready screen asks for a task' 'shows x1 "Ask Codex to do anything"'
echo "# codex ready after $(ms "$started") ms"
at_once 'codex: no rollout before the first prompt' '[ -z "$(rollout)" ]'
# Beside the locks of the sessions there is a .coordination.lock.
lock() { find "$home/.codex/thread-writer-locks" -name '[0-9a-f]*-*.lock' -exec basename {} .lock \; 2>/dev/null | head -n 1; }
fact 'codex: a writer lock names the session at launch' '[ -n "$(lock)" ]'
locked=$(lock)
type_text x1 hello
fact 'codex: the rollout comes with the first prompt' '[ -s "$(rollout)" ]'
first=$(rollout)
thread() { jq -r 'select(.type=="session_meta")|.payload.id' "$1" | head -n 1; }
fact 'codex: the rollout name ends in the session id, which is that of the lock' 'own=$(thread "$first"); [ -n "$own" ] && [ "${first%"$own.jsonl"}" != "$first" ] && [ "$own" = "$locked" ]'
own=$(thread "$first")
fact 'codex: token_count carries the context window' 'jq -c "select(.payload.type==\"token_count\")|.payload.info.model_context_window" "$first" | grep -q 258400'
fact 'codex: the turn is closed by task_complete' 'grep -q "\"task_complete\"" "$first"'
type_text x1 '[[wait:4]] think'
fact 'codex: busy shows "esc to interrupt"' 'shows x1 "esc to interrupt"'
hold 10 '! shows x1 "esc to interrupt"'
type_text x1 "[[esc:touch $home/outside]] x"
fact 'codex: an approval prompt is on screen' 'shows x1 "Would you like to run the following command?"'
escape x1
hold 5 '! shows x1 "Would you like to run"'
at_once 'codex: what was not approved was not run' '[ ! -e "$home/outside" ]'
type_text x1 /compact
fact 'codex: /compact writes a compacted record into the same rollout' 'grep -q "\"type\":\"compacted\"" "$first"'
begin x2 "$CODEX resume $own $flags"
fact 'codex: a second resume of a live session is locked out' 'shows x2 "open in another app"'
finish x2
finish x1
begin x3 "$CODEX fork $own $flags"
fact 'codex: a fork writes its rollout at launch, with forked_from_id' \
  'child=$(rollout -newer "$first"); [ "$(jq -r "select(.type==\"session_meta\")|.payload.forked_from_id" "$child" | head -n 1)" = "$own" ]'
finish x3
begin x4 "$CODEX resume 01990000-0000-7000-8000-000000000000 --no-daemon"
fact 'codex: an unknown id ends with a message and status 1' 'shows x4 "No saved session found" && shows x4 EXIT=1'
finish x4
at_once 'codex: no background server was left' '[ ! -e "$home/.codex/app-server-daemon/daemon.pid" ]'
verdict
