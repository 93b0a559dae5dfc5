#!/usr/bin/env bash
# Handovers on the real clients: a Claude Code and a Codex seat that hold a fact are handed over from each source. Every successor
# must answer from what it was given (a copied conversation, the packet in its opening prompt, the seat's recap), the seat stays
# what it is, the incumbent stands still inside its undo window, and one handover is undone. What rig says is compared with tmux,
# with the processes and with what the clients keep in their own files.
#
#   testdata/realcli/handover.sh                                    the real clients, from npm
#   CLAUDE="bin/rig agentsim claude" CODEX="bin/rig agentsim codex" testdata/realcli/handover.sh
#                                                                   the stand-ins
#
# Last line and exit status: as facts.sh.
set -u # no pipefail: the first program of some pipelines here is cut off on purpose
# shellcheck source=testdata/realcli/lib.sh
. "$(dirname "$0")/lib.sh"
product

# said ID FACT: how often the agent of a conversation has said the fact, by its client's own file.
said() { local file; file=$(filed "$1"); [ -n "$file" ] && grep '"role":"assistant"' "$file" | grep -cF -- "$2"; }
# tell ADDRESS VALUE: gives the occupant a fact as the operator's latest request.
tell() {
  current=$1
  does "$1: is told $2" send "$1" "The codeword is $2." --verify
  settled "$1"
  current=''
}
# asks ADDRESS ID VALUE [NAME]: asks for the fact of that name (default codeword); the conversation ID must answer with the value
# once more than it has. A client that forks may write its file only when somebody speaks.
asks() {
  local before name=${4:-codeword}
  current=$1
  before=$(said "$2" "$3")
  does "$1: is asked for the fact" send "$1" "what is the $name?" --verify
  fact "$1: its id is the file that its client keeps" "[ -n \"\$(filed $2)\" ]"
  fact "$1: answers $3" "[ \$(said $2 $3) -gt ${before:-0} ]"
  settled "$1"
  current=''
}
in_tmux() { tmux -S "$work/s" "$@" 2>/dev/null; }
# below PID: the processes below a pane's own one, so the client and what it started.
below() {
  local child
  for child in $(ps -o pid= --ppid "$1"); do
    echo "$child"
    below "$child"
  done
}
# states PANE_PID: the states of those processes, one letter each; empty when none is left.
states() { local list; list=$(below "$1" | paste -sd, -); [ -n "$list" ] && ps -o state= -p "$list" | tr -d ' \n'; }
stopped() { states "$1" | grep -qx 'Z*T[TZ]*'; } # a child that had ended already stays a zombie: its parent stands still
# running_kept: whether a pane on the server has a process below it that is not stopped.
running_kept() {
  local p
  for p in $(in_tmux list-panes -a -F '#{pane_pid}'); do stopped "$p" || return 0; done
  return 1
}
running() { states "$1" | grep -qx '[^TZ]\+'; }

team ho . >spec.yaml
must 'the rig comes up' up spec.yaml --json
claude=dev-impl@ho codex=dev-qa@ho
for seat in "$claude" "$codex"; do settled "$seat"; done

# handed ADDRESS SOURCE OUTCOME: hands a seat over and checks all that a handover promises. It leaves the operation in $op, the
# predecessor's and the successor's native ids in $before_id and $after_id, and its pane in $pane and $pane_pid.
ids=() op='' before_id='' after_id='' pane='' pane_pid=''
handed() {
  local seat=$1 source=$2 outcome=$3 was generation name="$1 $2" began
  was=$(status "$seat" '"\(.seat_id // .id) \(.session_name // .session)"')
  generation=$(status "$seat" .generation)
  pane=$(in_tmux list-panes -s -t "=$seat:" -F '#{pane_id}') pane_pid=$(in_tmux list-panes -s -t "=$seat:" -F '#{pane_pid}')
  before_id=$(recorded "$seat" token "$generation")
  current=$seat
  began=$EPOCHREALTIME
  does "$name: handed over" handover "$seat" --source "$source" --reason 'context wall' --json
  echo "#    took $(((${EPOCHREALTIME/./} - ${began/./}) / 1000)) ms"
  op=$(jq -r .operation.id <<<"$answer")
  at_once "$name: the receipt says $outcome, handed_over" '[ "$(jq -r ".seats[0] | .outcome + .binding" <<<"$answer")" = "$outcome"handed_over ]'
  at_once "$name: the seat says $outcome, handed_over" '[ "$(status $seat ".continuity_outcome + .binding_outcome")" = "$outcome"handed_over ]'
  at_once "$name: one generation on" '[ "$(status $seat .generation)" = $((generation + 1)) ]'
  at_once "$name: the same seat and session name" '[ "$(status $seat "\"\\(.seat_id // .id) \\(.session_name // .session)\"")" = "$was" ]'
  fact "$name: the successor has an id of its own" '[[ $(recorded '"$seat token $((generation + 1))"') =~ ^[0-9a-f-]{36}$ ]]'
  after_id=$(recorded "$seat" token $((generation + 1)))
  at_once "$name: not the predecessor's" '[ -n "$before_id" ] && [ "$after_id" != "$before_id" ] && [ -n "$(filed $before_id)" ]'
  at_once "$name: one pane in the seat's session, another one" \
    '[ "$(in_tmux list-panes -s -t "=$seat:" | wc -l)" = 1 ] && [ "$(in_tmux list-panes -s -t "=$seat:" -F "#{pane_id}")" != "$pane" ]'
  at_once "$name: the incumbent stands still" 'stopped $pane_pid'
  ids+=("$before_id" "$after_id")
  settled "$seat"
  current=''
}
# recap VALUE: what an earlier occupant left for the next one. The fact has a name of its own, because a rebuild names the seat's
# packets too, and they tell of codewords.
recap() {
  mkdir -p "$work/r/rigs/ho/seats/dev-impl"
  printf '# State\n\nThe landmark is %s.\n' "$1" >"$work/r/rigs/ho/seats/dev-impl/RECAP.md"
}

# ---- Each successor gets a fact of its own, so that no answer comes from an earlier one.
tell "$claude" heron-11
handed "$claude" fresh fresh
first_op=$op
asks "$claude" "$after_id" heron-11
tell "$claude" heron-12
handed "$claude" "fork:$claude" forked
asks "$claude" "$after_id" heron-12
at_once 'the fork says from whom, by name' 'status $claude .forked_from | grep -q "^dev-impl@ho (generation 2)"'
recap heron-13
handed "$claude" rebuild rebuilt
asks "$claude" "$after_id" heron-13 landmark
tell "$codex" heron-21
handed "$codex" fresh fresh
asks "$codex" "$after_id" heron-21
tell "$codex" heron-22
handed "$codex" "fork:$codex" forked
asks "$codex" "$after_id" heron-22

# ---- undo: the incumbent goes on where it was stopped
for seat in "$claude" "$codex"; do
  tell "$seat" heron-31
  generation=$(status "$seat" .generation)
  handed "$seat" fresh fresh
  successor_pane=$(in_tmux list-panes -s -t "=$seat:" -F '#{pane_id}')
  does "$seat: the handover is undone" op undo "$op" --json
  at_once "$seat: the generation is the incumbent's" '[ "$(status $seat .generation)" = $generation ]'
  at_once "$seat: its pane is back, alone" '[ "$(in_tmux list-panes -s -t "=$seat:" -F "#{pane_id}")" = "$pane" ]'
  fact "$seat: its processes run" 'running $pane_pid'
  fact "$seat: the successor is gone" '! in_tmux list-panes -a -F "#{pane_id}" | grep -qx "$successor_pane"'
  at_once "$seat: the record has the incumbent's id" '[ "$(recorded $seat token $generation)" = "$before_id" ] && [ "$(recorded $seat status $generation)" = running ]'
  asks "$seat" "$before_id" heron-31
done

# ---- privacy
R events --json
R op list --json
for o in $(jq -r '.operations[].id' <<<"$answer"); do R op show "$o" --json; done
for seat in "$claude" "$codex"; do
  R seat status "$seat" --full --json
  R explain "$seat" identity --json
done
R ps --seats --json
printf '%s\n' "${ids[@]}" | grep . | sort -u >"$work/log/ids"
leaks() { grep -lFf "$work/log/ids" "$work/log/rig.txt"; grep -rlFf "$work/log/ids" "$work/r/logs" 2>/dev/null; }
at_once "no native id ($(grep -c . "$work/log/ids") looked for) in anything that rig printed or logged" '[ "$(grep -c . "$work/log/ids")" -ge 9 ] && [ -z "$(leaks)" ]'
does 'down' down ho --json
R op undo "$first_op" --json
at_once 'no undo on a seat that was stopped' '[ "$(jq -r .code <<<"$answer")" = undo_impossible ]'
# A down ends the incumbents inside their undo window too: nothing could bring them back any more.
fact 'no pane is left, kept ones included' '! in_tmux list-panes -a -F "#{session_name}" | grep -q .'
at_once 'nothing that was kept runs on' '! running_kept'
verdict
