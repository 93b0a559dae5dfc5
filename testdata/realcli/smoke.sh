#!/usr/bin/env bash
# The product on the real clients: a rig with a Claude Code seat, a Codex seat and a shell is brought up, watched, spoken to and
# taken down with rig's own verbs. What rig says is compared with what the clients themselves keep in their files, and what the
# model was sent is read from the log of the mock.
#
#   testdata/realcli/smoke.sh                                        the real clients, from npm
#   CLAUDE="bin/rig agentsim claude" CODEX="bin/rig agentsim codex" testdata/realcli/smoke.sh
#                                                                    the stand-ins
#
# Last line and exit status: as facts.sh.
set -u # no pipefail: the first program of some pipelines here is cut off on purpose
# shellcheck source=testdata/realcli/lib.sh
. "$(dirname "$0")/lib.sh"
product
# What Claude Code writes into its empty input box for its user to take over is on for many, and off without a word of its server.
extra_env+=("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=true")

# seat ADDRESS FILTER: a value of the seat as rig ps shows it.
seat() { R ps --json; jq -r --arg a "$1" ".rigs[].seats[] | select(.address == \$a) | $2" <<<"$answer"; }
# doing ADDRESS STATE: what rig says that the seat does.
doing() { [ "$(seat "$1" .activity.state)" = "$2" ]; }
registry() { cat "$home"/.claude/sessions/*.json 2>/dev/null | jq -r "$1" | head -n 1; }
rollout() { find "$home/.codex/sessions" -name 'rollout-*.jsonl' 2>/dev/null | head -n 1; }
# escape SESSION: what a person presses; rig itself never answers a prompt.
escape() { T send-keys -t "=$1:" Escape; }

# as_it_stands ADDRESS: a text of which the client's input box would make a command for the shell, a completion, an emoji or a line
# break arrives as the message that it is.
as_it_stands() {
  local text
  for text in '!touch made-by-a-message' 'look at @spec.yaml' 'use $skill' 'it is :smi' 'a path\'; do
    does "$1: sent as it stands: $text" send "$1" "$text" --verify
    fact "$1: and shown so: $text" 'on_screen $current "$text"'
    does "$1: and idle again" wait "$1" --until idle --timeout 15s
  done
  at_once "$1: no shell ran a message" '[ ! -e made-by-a-message ]'
}

rig=smoke claude=dev-impl@smoke codex=dev-qa@smoke shell=dev-sh@smoke
{
  team "$rig" . '{id: sh, runtime: terminal, agent_ref: "builtin:terminal", profile: none, cwd: .}'
  echo '    edges: [{kind: delegates_to, from: impl, to: qa}]'
  echo 'edges: []'
} >spec.yaml

# ---- up
must 'the spec is valid' spec validate spec.yaml
does 'up --plan shows a plan' up spec.yaml --plan --json
at_once 'a plan leaves nothing behind' '[ ! -e "$work/r" ] && ! T list-sessions'
began=$(date +%s%N)
must 'up brings the rig up' up spec.yaml --json
echo "# up took $((($(date +%s%N) - began) / 1000000)) ms"
at_once 'the receipt names three seats, none failed' '[ "$(jq "[.seats[] | select(.error == null)] | length" <<<"$answer")" = 3 ]'
for address in "$claude" "$codex"; do
  current=$address
  does "$address: becomes idle" wait "$address" --until idle --timeout 30s
done
current=''
at_once 'ps: three seats run' 'R ps --json; [ "$(jq "[.rigs[].seats[] | select(.lifecycle == \"running\")] | length" <<<"$answer")" = 3 ]'
fact 'ps: both agents are idle, by evidence' 'doing $claude idle && doing $codex idle && [ -n "$(seat $claude .activity.source)" ] && [ "$(seat $claude .activity.source)" != null ]'
fact 'ps: a fresh start is called fresh' '[ "$(seat $claude .continuity_outcome)" = fresh ] && [ "$(seat $codex .continuity_outcome)" = fresh ]'

# ---- Claude Code
current=$claude
fact 'claude: the id on record is the one in the registry of the client' '[ -n "$(recorded $claude token)" ] && [ "$(recorded $claude token)" = "$(registry .sessionId)" ]'
does 'claude: a message is sent and verified' send "$claude" 'The codeword is heron-41.' --verify --json
does 'claude: and answered' wait "$claude" --until idle --timeout 15s
transcript=$(find "$home/.claude/projects" -name "$(registry .sessionId).jsonl" 2>/dev/null)
# typed FILE: how often the message stands in it as something that the user typed.
typed() { jq -s '[.[] | select(.type == "user" and (.message.content | tostring | contains("heron-41")))] | length' "$1"; }
fact 'claude: the message is in the transcript of the recorded id, once' '[ "$(typed "$transcript")" = 1 ]'
# A stand-in asks no model; the real client must have.
if grep -q /v1/messages "$work/log/requests.jsonl"; then
  asked() { jq -s "[.[] | select(.path | test(\"/v1/messages\"))] | last | [.body.messages[] | select(.role == \"user\") | .content | if type == \"string\" then . else .[].text end | select(. == \"The codeword is heron-41.\")] | length" "$work/log/requests.jsonl"; }
  fact 'claude: the model got the message as it was sent, once' '[ "$(asked)" = 1 ]'
fi
does 'claude: a question is sent' send "$claude" 'what is the codeword?' --verify
fact 'claude: the conversation holds' 'on_screen $claude "The codeword is heron-41."'
does 'claude: idle again' wait "$claude" --until idle --timeout 15s
as_it_stands "$claude"
does 'claude: a long turn starts' send "$claude" '[[wait:5]] think' --verify
fact 'claude: ps says busy while the client says busy' '[ "$(registry .status)" = busy ] && doing $claude busy'
does 'claude: idle after the turn' wait "$claude" --until idle --timeout 20s
does 'claude: a command is asked for' send "$claude" '[[sh:mkdir made]] run' --verify
does 'claude: wait sees that a person is needed' wait "$claude" --until attention --timeout 15s
fact 'claude: ps says waiting, and for what' 'doing $claude waiting && [ "$(seat $claude .activity.code)" = permission_prompt ]'
at_once 'claude: nobody answered the prompt' '[ "$(registry .status)" = waiting ] && [ ! -e made ]'
R send "$claude" 'typed into a prompt'
at_once 'claude: nothing is typed into a prompt' '[ "$(registry .status)" = waiting ] && ! on_screen $claude "typed into a prompt"'
escape "$claude"
does 'claude: idle after a person refused' wait "$claude" --until idle --timeout 15s
does 'claude: a large context' send "$claude" '[[tokens:450000]] big' --verify
fact 'claude: ps shows the context in tokens and percent' '[ "$(seat $claude .context.tokens)" -ge 450000 ] && [ "$(seat $claude ".context.percent | floor")" = 45 ]'

# The mock reports that size to everyone from now on, and a Codex with it would compact.
does 'claude: a small one again' send "$claude" '[[tokens:1200]] small' --verify
does 'claude: idle at the end' wait "$claude" --until idle --timeout 15s

# ---- Codex
current=$codex
does 'codex: a message is sent and verified' send "$codex" 'The codeword is otter-7.' --verify --json
does 'codex: and answered' wait "$codex" --until idle --timeout 15s
thread=$(jq -r 'select(.type == "session_meta") | .payload.id' "$(rollout)" | head -n 1)
fact 'codex: the id on record is the one in the rollout of the client' '[ -n "$thread" ] && [ "$(recorded $codex token)" = "$thread" ]'
does 'codex: a question is sent' send "$codex" 'what is the codeword?' --verify
fact 'codex: the conversation holds' 'on_screen $codex "The codeword is otter-7."'
does 'codex: idle again' wait "$codex" --until idle --timeout 15s
as_it_stands "$codex"
does 'codex: a long turn starts' send "$codex" '[[wait:5]] think' --verify
fact 'codex: ps says busy' 'doing $codex busy'
does 'codex: idle after the turn' wait "$codex" --until idle --timeout 20s
does 'codex: a command outside of the sandbox is asked for' send "$codex" "[[esc:touch $home/outside]] x" --verify
does 'codex: wait sees that a person is needed' wait "$codex" --until attention --timeout 15s
fact 'codex: ps says waiting, and for what' 'doing $codex waiting && [ "$(seat $codex .activity.code)" = permission_prompt ]'
at_once 'codex: nobody answered the prompt' '[ ! -e "$home/outside" ]'
escape "$codex"
does 'codex: idle after a person refused' wait "$codex" --until idle --timeout 15s
fact 'codex: ps shows the context' '[ "$(seat $codex .context.tokens)" -gt 0 ] && [ "$(seat $codex .context.window)" = 258400 ]'
at_once 'codex: no background server was left' '[ ! -e "$home/.codex/app-server-daemon/daemon.pid" ]'

# ---- what Claude Code suggests: after some turns, when it likes to
current=$claude
for n in 1 2 3 4 5 6; do
  does "claude: hello $n" send "$claude" "say hello number $n" --verify
  does "claude: idle after hello $n" wait "$claude" --until idle --timeout 15s
  hold 3 'on_screen $claude "run the tests"' && break
done
if on_screen "$claude" "run the tests"; then
  fact 'claude: what is suggested in its input box is no draft' '[ "$(seat $claude .activity.draft)" = null ] && doing $claude idle'
  does 'claude: and stands in no way' send "$claude" 'one more' --verify
  does 'claude: idle after it' wait "$claude" --until idle --timeout 15s
else
  echo '# no prompt was suggested this time'
fi

# ---- the shell, and the view from inside a seat
current=$shell
does 'shell: a line is sent' send "$shell" "'$RIG' whoami --json >'$work/who.json'; echo said-\$((40 + 2))"
fact 'shell: it ran' 'on_screen $shell said-42'
fact 'whoami: the seat knows who it is' 'grep -qF "$shell" "$work/who.json"'
current=''

# ---- taken back: what a person withdraws (Escape twice) is not handed on. The stand-ins do not know these keys.
# takes_back ADDRESS MENU KEYS...: withdraws the last prompt, and goes on.
takes_back() {
  local seat=$1 menu=$2 press
  shift 2
  current=$seat
  does "$seat: is told what holds" send "$seat" "the heron stays" --verify
  does "$seat: idle" wait "$seat" --until idle --timeout 15s
  does "$seat: is told what is withdrawn" send "$seat" "the crow goes" --verify
  does "$seat: idle after that" wait "$seat" --until idle --timeout 15s
  for press in Escape Escape; do
    T send-keys -t "=$seat:" "$press"
    sleep 0.5 # the client tells two presses from one by time
  done
  fact "$seat: it asks how far back" 'on_screen $current "$menu"'
  for press in "$@"; do
    T send-keys -t "=$seat:" "$press"
    sleep 1
  done
  fact "$seat: what was withdrawn stands in its box" 'R seat status $current --json; [ "$(jq -r .activity.draft <<<"$answer")" = "the crow goes" ]'
  T send-keys -t "=$seat:" C-u
  fact "$seat: its box is empty" 'R seat status $current --json; [ "$(jq -r ".activity.draft // empty" <<<"$answer")" = "" ]'
  does "$seat: goes on" send "$seat" "the wren comes" --verify
  does "$seat: idle once more" wait "$seat" --until idle --timeout 15s
  fact "$seat: its context is known" '[ "$(seat $current .context.known)" = true ]'
  does "$seat: its packet is written" restore-packet write --source-session "$seat" --target "$work/back-$seat"
  at_once "$seat: the packet hands on what holds, and that alone" \
    'f="$work/back-$current/transcript-latest.md"; grep -q heron "$f" && grep -q wren "$f" && ! grep -q crow "$f" && grep -q "taken back to an earlier prompt 1 time" "$work/back-$current/restore-instructions.md"'
  current=''
}
case "$CLAUDE $CODEX" in
*agentsim*) ;;
*)
  takes_back "$claude" 'Rewind' Up Enter Enter
  takes_back "$codex" 'rewind' Enter
  ;;
esac

# ---- privacy
R events --json
R explain "$claude" --json
R seat status dev.qa@smoke --json
leaks() { grep -rlF -e "$(recorded $claude token)" -e "$thread" "$work/log/rig.txt" "$work/who.json"; }
at_once 'no native id in anything that rig printed' '[ -n "$thread" ] && [ -z "$(leaks)" ]'

# ---- down
does 'down takes the rig down' down "$rig" --json
fact 'the clients are gone' '[ -z "$(registry .sessionId)" ] && ! T list-panes -a -F "#{session_name}" | grep -q "@smoke"'
fact 'ps: no seat runs any more' 'R ps --json; [ "$(jq "[.rigs[].seats[] | select(.lifecycle == \"running\")] | length" <<<"$answer")" = 0 ]'
verdict
