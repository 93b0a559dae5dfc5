#!/usr/bin/env bash
# Recovery without a briefing: what a seat's next occupant has of its identity, its work, the next owner, the files and the constraints.
# A Claude Code and a Codex seat with work in flight are restarted, handed over afresh, rebuilt, and the Claude one is compacted; and the
# packet of each is given to an occupant of the other runtime.
# Nobody tells the successor anything. Each fact is looked for where the successor has it: in its own conversation, as its client
# keeps it (an opening prompt, a hook's context, what it resumed), or in the packet that this conversation names. A table at the end
# says which was found where; a fact that is nowhere fails the run.
#
#   testdata/realcli/recovery.sh                                    the real clients, from npm
#   CLAUDE="bin/rig agentsim claude" CODEX="bin/rig agentsim codex" testdata/realcli/recovery.sh
#                                                                   the stand-ins
#
# Last line and exit status: as facts.sh.
set -u # no pipefail: the first program of some pipelines here is cut off on purpose
# shellcheck source=testdata/realcli/lib.sh
. "$(dirname "$0")/lib.sh"
product

# What the occupants know, each in words that stand nowhere else.
readonly workflow='rename the cart to basket' owner='dev-lead@rc' file='src/cart/basket_table.go' constraint='billing stays untouched'

team rc . '{id: heir, runtime: codex, agent_ref: "builtin:agent", profile: default, cwd: .}' \
  '{id: heiress, runtime: claude-code, agent_ref: "builtin:agent", profile: default, cwd: .}' \
  '{id: lead, runtime: terminal, agent_ref: "builtin:terminal", profile: none, cwd: .}' >spec.yaml
must 'the rig comes up' up spec.yaml --json
claude=dev-impl@rc codex=dev-qa@rc
for seat in "$claude" "$codex"; do settled "$seat"; done

# ---- work in flight: an operator's words, a claimed piece of work, and a recap
for seat in "$claude" "$codex"; do
  current=$seat
  does "$seat: is given the task" send "$seat" "Please $workflow in $file. When it is done, $owner goes on. Mind: $constraint." --verify
  settled "$seat"
  must "$seat: the work is on record" work add "$seat" "$workflow" --note "in $file" --json
  must "$seat: claims it" work claim "$(jq -r .item.id <<<"$answer")" --json
  printf '# Recap\n\n## Decisions\n\nWe %s in %s.\n\n## Next\n\n%s goes on.\n\n## Constraints\n\n%s.\n' "$workflow" "$file" "$owner" "$constraint" >"$work/recap.md"
  must "$seat: writes its recap" context recap-write --seat "$seat" --file "$work/recap.md" --json
  current=''
done

# has FILES... : which of the given files hold $needle.
needle=''
has() { [ $# -gt 0 ] && grep -lF -- "$needle" "$@" >/dev/null 2>&1; }
# packet FILE: the packet that a conversation names last, if it is still there.
packet() { grep -oE '/[^" \\]*/\.rig/packets/[A-Za-z0-9._-]*[A-Za-z0-9]' "$1" | tail -n 1; }
# below PID: the processes below a pane's own one.
below() { local child; for child in $(ps -o pid= --ppid "$1"); do echo "$child"; below "$child"; done; }
# knows_itself ADDRESS: whether a process of the seat's pane answers `rig whoami` with that seat, by its environment.
knows_itself() {
  local pid
  for pid in $(below "$(T list-panes -s -t "=$1:" -F '#{pane_pid}' 2>/dev/null | head -n 1)"); do
    tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "RIG_SEAT=$1" && return 0
  done
  return 1
}

rows=()
# measure EVENT ADDRESS [AFTER]: looks for every fact and adds a row to the table. With AFTER only what the conversation file holds
# from that line on counts: what a compaction left.
measure() {
  local event=$1 seat=$2 after=${3:-1} id talk dir cell row name part=$work/log/part
  current=$seat
  id=$(recorded "$seat" token)
  hold 10 '[ -n "$(filed "$id")" ]' || true
  talk=$(filed "$id")
  tail -n "+$after" "$talk" >"$part" 2>/dev/null
  dir=$(packet "$part")
  row="| $event | ${seat%%@*} |"
  for name in identity workflow owner file constraint; do
    cell=lost
    case $name in identity) needle=$seat ;; workflow) needle=$workflow ;; owner) needle=$owner ;; file) needle=$file ;; constraint) needle=$constraint ;; esac
    if [ $name = identity ] && knows_itself "$seat"; then cell=whoami
    elif has "$part"; then cell=conversation
    elif [ -n "$dir" ] && has "$dir"/*.md; then cell=packet; fi
    row+=" $cell |"
    at_once "$event, $seat: $name is recovered" "[ $cell != lost ]"
  done
  rows+=("$row")
  current=''
}

# across FROM TO RUNTIME: the packet of a seat goes, as an ordinary message, to an occupant of another runtime to whom nobody spoke. What
# counts is its own request to the model; the stand-ins make none, so there it is the turn in its conversation. Identity is whose work
# it takes up.
across() {
  local from=$1 to=$2 dir=$work/across-${1%%@*} seen=0 mark=0 log=$work/log/requests.jsonl part=$work/log/part row cell
  current=$to
  settled "$to"
  does "$from: its packet is written for $3" restore-packet write --source-session "$from" --target "$dir" --target-runtime "$3" --json
  does "$from: its packet is read" restore-packet read "$dir"
  [ -e "$log" ] && mark=$(wc -l <"$log")
  seen=$(cat "$(filed "$(recorded "$to" token)")" 2>/dev/null | wc -l)
  R send "$to" "You take up the work of another seat. Its restore packet is in $dir: $answer" # that it arrives is measured
  hold 10 '[ -n "$(filed "$(recorded "$to" token)")" ]' || true
  settled "$to"
  tail -n "+$((mark + 1))" "$log" 2>/dev/null | grep -F -- "$dir" >"$part"
  cell=request
  [ -s "$part" ] || { cell=turn; tail -n "+$((seen + 1))" "$(filed "$(recorded "$to" token)")" >"$part"; }
  row="| packet of ${from%%@*} across runtimes | ${to%%@*} |"
  for name in identity workflow owner file constraint; do
    case $name in identity) needle=$from ;; workflow) needle=$workflow ;; owner) needle=$owner ;; file) needle=$file ;; constraint) needle=$constraint ;; esac
    found=lost
    if has "$part"; then found=$cell; elif has "$dir"/*.md; then found=packet; fi
    row+=" $found |"
    at_once "across, $to: $name is recovered" "[ $found != lost ]"
  done
  rows+=("$row")
  current=''
}
across "$claude" dev-heir@rc codex
across "$codex" dev-heiress@rc claude-code

# ---- a restart: everything stops and comes back
does 'the rig goes down' down rc --json
does 'and comes back' up rc --json
for seat in "$claude" "$codex"; do
  at_once "$seat: it is its own conversation" '[ "$(status $seat .continuity_outcome)" = resumed ]'
  measure restart "$seat"
done
# ---- handovers
for seat in "$claude" "$codex"; do
  settled "$seat"
  does "$seat: is handed over afresh" handover "$seat" --reason 'the context is full' --json
  settled "$seat"
  measure 'fresh handover' "$seat"
  does "$seat: is rebuilt" handover "$seat" --source rebuild --reason 'the context is full' --json
  settled "$seat"
  measure rebuild "$seat"
  # A handover from an occupant to whom nobody spoke: what it was given goes on.
  does "$seat: is handed over again" handover "$seat" --reason 'once more' --json
  settled "$seat"
  measure 'handover of the rebuilt one' "$seat"
done
# ---- a compaction
does "$claude: is told what to go on with" send "$claude" "Go on: $workflow in $file; then $owner; $constraint." --verify
settled "$claude"
lines=$(wc -l <"$(filed "$(recorded "$claude" token)")")
R compact "$claude" --skip-map --json # no model answers the audit here, so it may end as compacted, not audited
fact "$claude: it was compacted" 'tail -n "+$((lines + 1))" "$(filed "$(recorded "$claude" token)")" | grep -q compact_boundary'
measure compaction "$claude" $((lines + 1))

printf '\n| after | seat | identity | workflow | next owner | files | constraints |\n|---|---|---|---|---|---|---|\n'
printf '%s\n' "${rows[@]}" ''
does 'down' down rc --json
verdict
