#!/usr/bin/env bash
# Compaction on the real clients: the context of a Claude Code seat is filled, the gauge and the compact plan follow, and `rig compact`
# takes it through preparation, /compact, restore and audit. What happened is read from the client's own transcript, in its order and
# once each. Then a person compacts in the pane, the seat stands as not audited until `rig compact --audit` has asked, a cancel stops
# one that has typed nothing yet, and one that the model refuses ends in its own words with nothing typed after it.
#
#   testdata/realcli/compact.sh                                     the real clients, from npm
#   CLAUDE="bin/rig agentsim claude" CODEX="bin/rig agentsim codex" testdata/realcli/compact.sh
#                                                                   the stand-ins
#
# Last line and exit status: as facts.sh.
set -u # no pipefail: the first program of some pipelines here is cut off on purpose
# shellcheck source=testdata/realcli/lib.sh
. "$(dirname "$0")/lib.sh"
product
# The seat writes its restore map with its own edit tool, as its owner allowed it to.
extra_env+=("RIG_CLAUDE_COMMAND=$(as_json "$CLAUDE --permission-mode acceptEdits")")
standin=''
case "$CLAUDE" in *agentsim*) standin=yes ;; esac

{
  team co .
  cat <<YAML
policies:
  claude_compaction:
    enabled: false
    compact_instruction: "Keep the codeword."
    pre_compact_instruction: "[[map]]"
    message_inline: "[[tokens:30000]] [[say:restored from packet at .rig; resumed at step 2]]"
    post_restore_audit_instruction: "[[say:Current work: the checkout test. Next owner: dev-qa@co.]]"
YAML
} >spec.yaml
must 'the rig comes up' up spec.yaml --json
seat=dev-impl@co
settled "$seat"
current=$seat
does 'it is told what must survive' send "$seat" 'The codeword is heron-71.' --verify
settled "$seat"
id=$(recorded "$seat" token)
hold 10 '[ -s "$(filed "$id")" ]' # the client writes it a moment after the turn
file=$(filed "$id")
[ -s "$file" ] || { not_ok 'its transcript is there' "$id"; verdict; exit 1; }

# ---- the gauge follows
# gauge: the share that the seat shows. entry FILTER: its entry in the compact plan.
gauge() { R ps --seats --json; jq -r --arg s "$seat" '[.. | objects | select(.address? == $s and .context?)][0].context.percent // 0 | round' <<<"$answer"; }
entry() { R compact-plan --json; jq -r --arg s "$seat" "[.candidates[], .blocked[], .skipped[] | select(.seat == \$s)][0] | $1" <<<"$answer"; }
fill() {
  does "it is filled to $1 tokens" send "$seat" "[[tokens:$1]] go on" --verify
  settled "$seat"
  fact "the gauge says so: $2 % of the window" "[ \"\$(gauge)\" = $2 ]"
  at_once 'the compact plan has the same number' "[ \"\$(entry '.used_percentage | round')\" = $2 ]"
}
fill 200000 20
at_once 'at 20 % it is below the threshold' '[ "$(entry .reason)" = below_threshold ]'
fill 500000 50
at_once 'at 500,000 tokens it is a candidate by its tokens' '[ "$(entry ".status + \" \" + .threshold_reason")" = "candidate_with_caveats above_token_threshold" ]'
fill 850000 85
at_once 'at 85 % it is one by the share of its real window' '[ "$(entry .threshold_reason)" = above_percent_threshold ]'
at_once 'the sample is fresh, and of its status line' '[ "$(entry ".context_freshness + \" \" + .sample_source")" = "fresh statusline" ]'
R compact-plan --json
at_once 'the Codex seat is not of this plan' '[ "$(jq -r ".skipped[] | select(.seat == \"dev-qa@co\").reason" <<<"$answer")" = codex_not_managed_by_claude_compact_in_place ]'
at_once 'nothing was compacted by looking' '! grep -q compact_boundary "$file"'

# ---- what must not be touched: the conversation only ever grows, and logins and settings stay as they are
size=$(stat -c %s "$file") inode=$(stat -c %i "$file")
begins() { head -c "$size" "$file" | sha256sum; }
kept_still() { find "$home/.claude" "$home/.codex" \( -name 'settings*.json' -o -name '*credentials*' -o -name 'auth.json' -o -name config.toml \) -type f -exec sha256sum {} + | sort; }
old_begin=$(begins) old_kept=$(kept_still)
for other in $(find "$home/.codex/sessions" -name '*.jsonl' 2>/dev/null); do sha256sum "$other"; done >"$work/log/rollouts"

# count TEXT: how many records of the transcript hold it. place TEXT: the line of the first one.
count() { grep -cF -- "$1" "$file"; }
place() { grep -nF -m 1 -- "$1" "$file" | cut -d: -f1; }
# typed TEXT: how many user turns hold it, as typed; a transcript may repeat a prompt in records of other kinds.
typed() { jq -r --arg t "$1" 'select(.type == "user" and (.isMeta | not) and (.isCompactSummary | not)) | .message.content | if type == "string" then . else ([.[] | .text? // ""] | join(" ")) end | select(contains($t)) | 1' "$file" 2>/dev/null | wc -l; }

does 'the plan of the compaction changes nothing' compact "$seat" --dry-run --json
at_once 'and nothing was typed by it' '[ "$(typed "Write your restore map")" = 0 ] && [ ! -e .rig/compaction ]'
began=$EPOCHREALTIME
does 'it is compacted, restored and audited' compact "$seat" --json
echo "#    took $(((${EPOCHREALTIME/./} - ${began/./}) / 1000)) ms"
at_once 'the audit names work and next owner' '[ "$(jq -r ".seats[0].evidence | \"\(.passed) \(.current_work) \(.next_owner)\"" <<<"$answer")" = "true the checkout test dev-qa@co" ]'
at_once 'the directive was delivered, the restore acknowledged' '[ "$(jq -r ".seats[0].evidence | \"\(.directive) \(.acknowledged)\"" <<<"$answer")" = "delivered true" ]'
for once in 'Write your restore map' ' restore: restore now' ' audit: before any other work'; do
  fact "typed once: $once" "[ \$(typed '$once') = 1 ]"
done
at_once 'one boundary' '[ "$(count "\"subtype\":\"compact_boundary\"")" = 1 ]'
given() { jq -r 'select(.attachment.type? == "hook_additional_context") | select(tostring | contains("This is the restore directive, given once")) | 1' "$file" | wc -l; }
at_once 'one restore directive' '[ "$(given)" = 1 ]'
order() { for mark in 'Write your restore map' '"subtype":"compact_boundary"' 'This is the restore directive, given once' ' restore: restore now' ' audit: before any other work'; do place "$mark"; done; }
at_once 'in that order: preparation, /compact, directive, restore, audit' '[ "$(order | wc -l)" = 5 ] && [ "$(order)" = "$(order | sort -n)" ]'
map=$(ls .rig/compaction/*/RESTORE-MAP.md)
at_once 'the map is the one that the seat wrote, and whole' 'tail -n 1 "$map" | grep -q "^<!-- rig-compaction-complete .*dev-impl@co" && [ ! -e "$map.tmp" ]'
at_once 'the directive names the map' '[ "$(count "$(basename "$(dirname "$map")")/RESTORE-MAP.md")" -ge 1 ]'
at_once 'the same conversation goes on in the same file' '[ "$(filed "$(recorded $seat token)")" = "$file" ] && [ "$(stat -c %i "$file")" = "$inode" ]'
at_once 'its old bytes are as they were' '[ "$(begins)" = "$old_begin" ]'
at_once 'logins and settings are as they were' '[ "$(kept_still)" = "$old_kept" ]'
at_once 'the other seat'"'"'s conversation is as it was' '[ ! -s "$work/log/rollouts" ] || sha256sum -c --quiet "$work/log/rollouts"'
fact 'the gauge follows: 3 %' '[ "$(gauge)" = 3 ]'
at_once 'no verdict is left on the seat' 'R compact "$seat" --state --json && [ "$(jq -r ".stage + (.verdict // \"\")" <<<"$answer")" = audited ]'
does 'it is asked for what it was told' send "$seat" 'what is the codeword?' --verify
settled "$seat"
fact 'it knows it from before the compaction' 'grep "\"role\":\"assistant\"" "$file" | tail -n 1 | grep -qF heron-71'

# ---- a person compacts in the pane; less than three seconds apart, two boundaries would count as one compaction
fact 'the first compaction is some seconds old' '[ $(($(date +%s) - $(date +%s -d "$(grep "\"subtype\":\"compact_boundary\"" "$file" | tail -n 1 | jq -r .timestamp)"))) -ge 5 ]'
does 'a person types /compact' send "$seat" '/compact keep the codeword'
fact 'a second boundary' '[ "$(count "\"subtype\":\"compact_boundary\"")" = 2 ]'
fact 'its own hooks gave it a directive of its own, once' '[ "$(given)" = 2 ]'
settled "$seat"
# What nobody of ours drove is seen by whoever watches.
clean_env "$RIG" watch >"$work/log/watch.txt" 2>&1 &
watcher=$!
end_watch() {
  local status=$?
  pkill -TERM -P "$watcher" 2>/dev/null && wait "$watcher" 2>/dev/null
  return "$status"
}
trap 'end_watch; cleanup' EXIT
fact 'rig watch sees it: compacted, not audited' 'grep -q "$seat: compacted, not audited" "$work/log/watch.txt"'
fact 'it waits for a person' 'R ps --attention --json && jq -e "[.. | objects | select(.class? == \"not_audited\" and .seat? == \"$seat\")] | length == 1" <<<"$answer" >/dev/null'
does 'rig compact --audit asks' compact "$seat" --audit --json
at_once 'and it has passed' '[ "$(jq -r ".seats[0].evidence.passed" <<<"$answer")" = true ]'
fact 'rig watch says that it is audited' 'grep -q "$seat: audited" "$work/log/watch.txt"'
end_watch

# ---- one that is refused by the model: the client's own words, and nothing is typed after it
before=$(typed ' restore: restore now')
if [ -n "$standin" ]; then
  does 'the next compaction is to fail' send "$seat" '[[compactfail:Conversation too long. Press esc twice to go up a few messages and try again.]] go on' --verify
  settled "$seat"
else
  curl -s -X POST "$url/_ctl" -d '{"status":400,"body":{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 1000500 tokens > 1000000 maximum"}}}' >/dev/null
fi
R compact "$seat" --skip-map --json
at_once 'it is not called compacted: compaction_failed' '[ "$(jq -r .error.code <<<"$answer")" = compaction_failed ] && [ "$(jq -r .operation.state <<<"$answer")" = failed ]'
at_once 'with the client'"'"'s own words' 'jq -r .error.message <<<"$answer" | grep -qiE "too long|context limit"'
curl -s -X POST "$url/_ctl" -d '{"status":0,"body":null}' >/dev/null
at_once 'no third boundary, and no restore was typed' '[ "$(count "\"subtype\":\"compact_boundary\"")" = 2 ] && [ "$(typed " restore: restore now")" = "$before" ]'
at_once 'its directive was taken back' 'R compact "$seat" --state --json && [ "$(jq -r ".directive // \"\"" <<<"$answer")" = "" ]'
does 'the seat goes on' send "$seat" 'what is the codeword?' --verify
settled "$seat"

# ---- refusals
R compact dev-qa@co --json
at_once 'a Codex seat is refused: runtime_filter' '[ "$(jq -r "(.code // .error.code)" <<<"$answer")" = runtime_filter ]'
R compact "$seat" --cancel --json
at_once 'there is nothing to cancel: no_compaction' '[ "$(jq -r "(.code // .error.code)" <<<"$answer")" = no_compaction ]'
current=''

# ---- privacy
R events --json
R op list --json
for o in $(jq -r '.operations[].id' <<<"$answer"); do R op show "$o" --json; done
R explain "$seat" --json
R ps --seats --json
leaks() { grep -lF -e "$id" "$work/log/rig.txt"; grep -rlF -e "$id" "$work/r/logs" 2>/dev/null; }
at_once 'no native id in anything that rig printed or logged' '[ -z "$(leaks)" ]'
does 'down' down co --json
verdict
