#!/usr/bin/env bash
# Restores after a crash: a Claude Code, a Codex and a terminal seat lose their machine, each agent holding a fact. Server and clients
# are killed with -9, so that registry and lock files stay behind. rig restore-check tells beforehand what comes back, rig up brings
# it back, and the agents answer from memory. A seat whose conversation was removed says so and is not started anew, and comes back
# as itself once its file is there again.
#
#   testdata/realcli/restore.sh                                     the real clients, from npm
#   CLAUDE="bin/rig agentsim claude" CODEX="bin/rig agentsim codex" testdata/realcli/restore.sh
#                                                                   the stand-ins
#
# Last line and exit status: as facts.sh.
set -u # no pipefail: the first program of some pipelines here is cut off on purpose
# shellcheck source=testdata/realcli/lib.sh
. "$(dirname "$0")/lib.sh"
product

# said ID FACT: how often the agent of a conversation has said the fact, by its client's own file.
said() { local file; file=$(filed "$1"); [ -n "$file" ] && grep '"role":"assistant"' "$file" | grep -cF -- "$2"; }
# asks ADDRESS ID FACT: asks for the fact; the conversation ID must answer with it once more than it has.
asks() {
  local before
  current=$1
  before=$(said "$2" "$3")
  does "$1: is asked for the fact" send "$1" 'what is the codeword?' --verify
  fact "$1: answers $3 in the conversation it had" "[ \$(said $2 $3) -gt ${before:-0} ]"
  settled "$1"
  current=''
}
# below PID: a process and all below it.
below() {
  local child
  echo "$1"
  for child in $(ps -o pid= --ppid "$1"); do below "$child"; done
}
# crash: the machine loses its power, as far as one can do that to a few processes.
crash() {
  local pids='' p
  for p in $(T list-panes -a -F '#{pane_pid}'); do pids+=" $(below "$p" | tac)"; done # children first: nobody is told of a death and tidies up
  pids+=" $(T display-message -p '#{pid}')"
  # shellcheck disable=SC2086 # one word each
  kill -9 $pids 2>/dev/null
  fact "$1: the server is gone" '! T list-sessions >/dev/null'
  # shellcheck disable=SC2086
  fact "$1: no client is left" "! ps -o pid= -p '$(echo $pids | tr ' ' ,)' | grep -q ."
}
# outcome ADDRESS: what the receipt in $answer says of a seat. result: of the rig.
outcome() { jq -r --arg a "$1" '.seats[] | select(.seat == $a) | .outcome' <<<"$answer"; }
result() { jq -r '.extra.restore[0].result' <<<"$answer"; }
# judged ADDRESS: what restore-check in $answer says would become of a seat.
judged() { jq -r --arg a "$1" '.rigs[].seats[] | select(.seat == $a) | .action' <<<"$answer"; }
# back ADDRESS ID GENERATION: the seat runs with the conversation it had, one generation on.
back() {
  at_once "$1: resumed, by the receipt" '[ "$(outcome '"$1"')" = resumed ]'
  at_once "$1: the record has the conversation it had" "[ \"\$(recorded $1 token)\" = $2 ] && [ \"\$(recorded $1 generation)\" = $3 ]"
  settled "$1"
}
# left ADDRESS ID WORDS: the seat awaits a decision, nothing was started in it, and its token is kept.
left() {
  at_once "$1: awaits a decision, by the receipt" '[ "$(outcome '"$1"')" = awaiting-decision ]'
  at_once "$1: the receipt says why, and what to do" \
    "jq -e '.seats[] | select(.seat == \"$1\") | .error | (.message | length > 0) and (.hint | contains(\"--fresh\"))' <<<\"\$answer\" >/dev/null"
  at_once "$1: no session was started" "! T list-panes -a -F '#{session_name}' | grep -qx $1"
  at_once "$1: its token is kept" "[ \"\$(recorded $1 token)\" = $2 ]"
  R ps --attention --json
  at_once "$1: it waits for a person, with its remedy" "grep -q '$1' <<<\"\$answer\" && grep -q 'awaits a decision' <<<\"\$answer\" && grep -q -- '--fresh' <<<\"\$answer\""
}

team back . '{id: sh, runtime: terminal, agent_ref: "builtin:terminal", profile: none, cwd: .}' >spec.yaml
claude=dev-impl@back codex=dev-qa@back shell=dev-sh@back
must 'the rig comes up' up spec.yaml --json
for pair in "$claude=owl-71" "$codex=crane-72"; do
  settled "${pair%=*}"
  does "${pair%=*}: is told the fact" send "${pair%=*}" "The codeword is ${pair#*=}." --verify
  settled "${pair%=*}"
done
claude_id=$(recorded "$claude" token) codex_id=$(recorded "$codex" token)
fact 'both clients keep what was said' '[ -n "$(filed $claude_id)" ] && [ -n "$(filed $codex_id)" ]'
does 'a snapshot' snapshot create back --json
snapshot=$(jq -r .extra.snapshot.id <<<"$answer")

# ---- everything comes back
does 'restore-check while it runs: exit 0' restore-check --rig back --json
crash 'first crash'
at_once 'stale registry files of Claude Code stay behind' '[ -n "$(ls "$home"/.claude/sessions/*.json)" ]'
does 'restore-check after the crash: exit 0' restore-check --rig back --json
at_once 'it says that both agents resume and the shell starts primed' \
  '[ "$(judged $claude)$(judged $codex)$(judged $shell)" = resume-originalresume-originalfresh-primed ]'
does 'rig up brings the rig back: exit 0' up back --json
first=$answer
at_once 'fully restored, from the snapshot' \
  '[ "$(result)" = fully_restored ] && [ "$(jq -r ".extra.restore[0].selection.id" <<<"$answer")" = "$snapshot" ]'
at_once "$shell: fresh-primed" '[ "$(outcome $shell)" = fresh-primed ]'
back "$claude" "$claude_id" 2
answer=$first
back "$codex" "$codex_id" 2
asks "$claude" "$claude_id" owl-71
asks "$codex" "$codex_id" crane-72
does 'restore status' restore status "$(jq -r .operation.id <<<"$first")" --rig back --json
at_once 'the verdict stands' '[ "$(jq -r ".original_verdict + .current_verdict" <<<"$answer")" = fully_restoredfully_restored ]'

# ---- a conversation that is gone: Claude's, then Codex's; the other one comes back each time
lose() { # ADDRESS ID OTHER OTHER_ID FACT GENERATION
  local file saved=$work/log/kept.jsonl
  file=$(filed "$2")
  crash "$1 loses its file"
  mv "$file" "$saved"
  R restore-check --rig back --json
  at_once "$1: restore-check exits with 1" '[ "'$?'" = 1 ]'
  at_once "$1: it says that the conversation is not there" "[ \"\$(judged $1)\" = awaiting-decision ] && [ \"\$(jq -r '.rigs[].seats[] | select(.seat == \"$1\") | .code' <<<\"\$answer\")\" = conversation_gone ]"
  at_once "$3: it says that this one resumes" "[ \"\$(judged $3)\" = resume-original ]"
  R up back --json --fresh-unprompted
  at_once "$1: rig up exits with 1, partially restored" '[ "'$?'" = 1 ] && [ "$(result)" = partially_restored ]'
  local receipt=$answer
  back "$3" "$4" "$6"
  answer=$receipt
  left "$1" "$2"
  asks "$3" "$4" "$5"
  mv "$saved" "$file"
  does "$1: with its file back, rig up brings it back" up back --json
  at_once "$1: resumed, the others ran already" '[ "$(outcome '"$1"')" = resumed ]'
}
lose "$claude" "$claude_id" "$codex" "$codex_id" crane-72 3
asks "$claude" "$claude_id" owl-71
lose "$codex" "$codex_id" "$claude" "$claude_id" owl-71 4
asks "$codex" "$codex_id" crane-72

# ---- one process a seat, and no id of theirs in what rig says
at_once 'one pane a seat' '[ "$(T list-panes -a -F "#{session_name}" | grep -c "^dev-")" = 3 ]'
R events --json
R op list --json
R snapshot show "$snapshot" --json
leaks() { grep -lF -e "$claude_id" -e "$codex_id" "$work/log/rig.txt"; grep -rlF -e "$claude_id" -e "$codex_id" "$work/r/logs" 2>/dev/null; }
at_once 'no native id in anything that rig printed or logged' '[ -z "$(leaks)" ]'
does 'down' down back --json

# reason ADDRESS: the code of what restore-check in $answer says of a seat.
reason() { jq -r --arg a "$1" '.rigs[].seats[] | select(.seat == $a) | .code' <<<"$answer"; }

# ---- agents that nobody ever prompted have no conversation, and that is known, not guessed
team mute . >mute.yaml
does 'two agents that nobody prompts' up mute.yaml --json
settled dev-impl@mute
settled dev-qa@mute
R restore-check --rig mute --json
at_once 'while they run, the check exits with 1: neither would come back without a word' '[ "'$?'" = 1 ]'
# Claude Code says at its start that it began; on a loaded machine that comes after it is at rest.
unprompted() { R restore-check --rig mute --json; [ "$(reason dev-impl@mute)$(reason dev-qa@mute)" = never_promptednever_prompted ]; }
fact 'and both are known as never prompted while they run' unprompted
does 'they go down' down mute --json
R restore-check --rig mute --json
at_once 'the check exits with 1' '[ "'$?'" = 1 ]'
at_once 'both are known as never prompted' '[ "$(reason dev-impl@mute)$(reason dev-qa@mute)" = never_promptednever_prompted ]'
R up mute --json
at_once 'neither is started without a word' '[ "$(outcome dev-impl@mute)$(outcome dev-qa@mute)" = awaiting-decisionawaiting-decision ]'
R up mute --fresh-unprompted --json
at_once 'one word starts both, and they are called fresh' '[ "$(outcome dev-impl@mute)$(outcome dev-qa@mute)" = fresh-primedfresh-primed ]'
settled dev-impl@mute
settled dev-qa@mute
does 'mute goes down' down mute --json

# ---- a folder that nobody trusted: the clients ask when they start, and name their conversation after the answer
mkdir -p "$project/strange" && git -C "$project/strange" init -q
team gate strange >gate.yaml
R up gate.yaml --json
at_once 'both ask whether the folder is trusted' '[ "$(jq -r "[.seats[] | select(.outcome == \"attention_required\" and .error.code == \"trust_gate\")] | length" <<<"$answer")" = 2 ]'
at_once 'no conversation is on record' '[ -z "$(recorded dev-impl@gate token)$(recorded dev-qa@gate token)" ]'
T send-keys -t '=dev-impl@gate:' Down Enter
T send-keys -t '=dev-qa@gate:' Enter
for pair in dev-impl@gate=heron-73 dev-qa@gate=otter-74; do
  settled "${pair%=*}"
  does "${pair%=*}: is told the fact" send "${pair%=*}" "The codeword is ${pair#*=}." --verify
  settled "${pair%=*}"
done
does 'gate goes down' down gate --json
gate_claude=$(recorded dev-impl@gate token) gate_codex=$(recorded dev-qa@gate token)
fact 'down put both conversations onto the record' '[ -n "$(filed $gate_claude)" ] && [ -n "$(filed $gate_codex)" ]'
does 'gate comes back' up gate --json
at_once 'both resumed' '[ "$(outcome dev-impl@gate)$(outcome dev-qa@gate)" = resumedresumed ]'
settled dev-impl@gate
settled dev-qa@gate
asks dev-impl@gate "$gate_claude" heron-73
asks dev-qa@gate "$gate_codex" otter-74
does 'the end' down gate --json
verdict
