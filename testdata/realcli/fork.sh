#!/usr/bin/env bash
# Forks on the real clients: a Claude Code and a Codex seat that hold a fact are forked by `rig fork`, by a spec and by an agent
# image, and two seats are rebuilt from a file. The children know the fact, the parents go on untouched, and after down and up each
# child comes back as itself. What rig says is compared with what the clients keep in their own files.
#
#   testdata/realcli/fork.sh                                        the real clients, from npm
#   CLAUDE="bin/rig agentsim claude" CODEX="bin/rig agentsim codex" testdata/realcli/fork.sh
#                                                                   the stand-ins
#
# Last line and exit status: as facts.sh.
set -u # no pipefail: the first program of some pipelines here is cut off on purpose
# shellcheck source=testdata/realcli/lib.sh
. "$(dirname "$0")/lib.sh"
product

# asks ADDRESS FACT: asks for the codeword and looks for the answer.
asks() {
  current=$1
  does "$1: is asked for the fact" send "$1" 'what is the codeword?' --verify
  fact "$1: knows it" "[ \$(R capture $1 --lines 60; grep -cF '$2' <<<\"\$answer\") -ge 2 ]"
  settled "$1"
  current=''
}

team src . >spec.yaml
must 'the parents come up' up spec.yaml --json
parents=(dev-impl@src dev-qa@src)
for p in "${parents[@]}"; do
  settled "$p"
  does "$p: is told the fact" send "$p" "The codeword is heron-41." --verify
  settled "$p"
done
claude_parent=$(recorded dev-impl@src token) codex_parent=$(recorded dev-qa@src token)
# A client goes on noting things about a turn after it has ended, so the old bytes count, and how often somebody spoke.
claude_file=$(filed "$claude_parent") codex_file=$(filed "$codex_parent")
claude_size=$(stat -c %s "$claude_file") codex_size=$(stat -c %s "$codex_file")
# begins FILE SIZE: digest of the first SIZE bytes. spoken FILE: records of what a user said.
begins() { head -c "$2" "$1" | sha256sum; }
spoken() { grep -cE '"type":"(user|user_message)"' "$1"; }
claude_before="$(begins "$claude_file" "$claude_size") $(spoken "$claude_file")"
claude_then=$(begins "$claude_file" "$claude_size") codex_then=$(begins "$codex_file" "$codex_size")
codex_before="$(begins "$codex_file" "$codex_size") $(spoken "$codex_file")"

# ---- fork of a seat, of a spec, of an image
must 'rig fork of the Claude seat' fork dev-impl@src --pod dev --member impl2 --keep-image --image-name kept --json
must 'rig fork of the Codex seat' fork dev-qa@src --pod dev --member qa2 --json
cat >kids.yaml <<YAML
version: "0.2"
name: kids
pods:
  - id: kid
    label: Kids
    members:
      - {id: c, runtime: claude-code, agent_ref: "builtin:agent", profile: default, cwd: ., session_source: {mode: fork, ref: {kind: native_id, value: "$claude_parent"}}}
      - {id: x, runtime: codex, agent_ref: "builtin:agent", profile: default, cwd: ., session_source: {mode: fork, ref: {kind: native_id, value: "$codex_parent"}}}
YAML
must 'a spec with both forks' up kids.yaml --json
R agent-image preview kept
echo "$answer" >kept.yaml
must 'the starter snippet of an image, as printed' up kept.yaml --json
must 'an image of the Codex seat' agent-image create dev-qa@src --name kept-x --json
R agent-image preview kept-x
echo "$answer" >kept-x.yaml
must 'the starter snippet of that image' up kept-x.yaml --json
must 'rig fork of an image into a rig that runs' fork agent-image:kept-x:1 --rig src --pod dev --member qa3 --json
R agent-image show kept-x --json
at_once 'both forks of the image are counted' '[ "$(jq -r .image.stats.fork_count <<<"$answer")" = 2 ]'
children=(dev-impl2@src dev-qa2@src dev-qa3@src kid-c@kids kid-x@kids dev-kept@kept dev-kept-x@kept-x)
for c in "${children[@]}"; do
  at_once "$c: is forked" "[ \$(status $c .continuity_outcome) = forked ]"
  at_once "$c: says from whom, by name" "status $c .forked_from | grep -q '^dev-.*@src (generation 1)'"
  id=$(recorded "$c" token)
  at_once "$c: has an id of its own" '[ -n "$id" ] && [ "$id" != null ] && [ "$id" != "$claude_parent" ] && [ "$id" != "$codex_parent" ]'
done
at_once 'the parents'"'"' conversations are as they were' \
  '[ "$(begins "$claude_file" "$claude_size") $(spoken "$claude_file")" = "$claude_before" ] && [ "$(begins "$codex_file" "$codex_size") $(spoken "$codex_file")" = "$codex_before" ]'
for c in "${children[@]}"; do asks "$c" heron-41; done
declare -A ids
for c in "${children[@]}"; do
  ids[$c]=$(recorded "$c" token)
  fact "$c: its id is the file that its client keeps" "[ -n \"\$(filed ${ids[$c]})\" ]"
done
asks dev-impl@src heron-41
asks dev-qa@src heron-41
at_once 'the parents sit where they sat' '[ "$(recorded dev-impl@src token)" = "$claude_parent" ] && [ "$(recorded dev-qa@src token)" = "$codex_parent" ]'

# ---- rebuilt from a file: the fact arrives without the conversation, and nobody is named as a parent
echo 'The codeword is osprey-77.' >facts.md
cat >re.yaml <<YAML
version: "0.2"
name: re
pods:
  - id: re
    label: Rebuilt
    members:
      - {id: c, runtime: claude-code, agent_ref: "builtin:agent", profile: default, cwd: ., session_source: {mode: rebuild, ref: {kind: artifact_set, value: [facts.md]}}}
      - {id: x, runtime: codex, agent_ref: "builtin:agent", profile: default, cwd: ., session_source: {mode: rebuild, ref: {kind: artifact_set, value: [facts.md]}}}
YAML
must 'a spec with two seats to rebuild' up re.yaml --json
for c in re-c@re re-x@re; do
  settled "$c"
  at_once "$c: is rebuilt, and forked from nobody" "[ \"\$(status $c '.continuity_outcome + \" \" + (.forked_from // \"\")')\" = 'rebuilt ' ]"
  asks "$c" osprey-77
  ids[$c]=$(recorded "$c" token)
done

# ---- an unknown parent, and a directory that is not the parent's; these refusals may name the id that the spec names
kept=refused
sed "s/$claude_parent/5e550037-0000-4000-8000-00000000a037/; s/name: kids/name: lost/" kids.yaml >lost.yaml
R up lost.yaml --json
at_once 'an unknown parent is refused, by runtime and id' '[ "$(jq -r .code <<<"$answer")" = fork_source_not_found ] && grep -q "claude-code.*5e550037" <<<"$answer"'
mkdir -p "$work/elsewhere"
sed "s|cwd: \\.|cwd: $work/elsewhere|; s/name: kids/name: moved/" kids.yaml >moved.yaml
R up moved.yaml --json
at_once 'another directory is refused, naming both' '[ "$(jq -r .code <<<"$answer")" = fork_cwd_mismatch ] && grep -qF "$work/elsewhere" <<<"$answer" && grep -qF "$project" <<<"$answer"'
rm -f lost.yaml moved.yaml
kept=rig

# ---- down and up: each child is itself
for rig in kids kept kept-x re; do
  must "down $rig" down "$rig" --json
  must "up $rig" up "$rig" --json
done
for c in kid-c@kids kid-x@kids dev-kept@kept dev-kept-x@kept-x re-c@re re-x@re; do
  at_once "$c: came back as itself" "[ \$(status $c .continuity_outcome) = resumed ] && [ \$(recorded $c token) = ${ids[$c]} ]"
  case $c in *@re) asks "$c" osprey-77 ;; *) asks "$c" heron-41 ;; esac
done
for p in "${parents[@]}"; do asks "$p" heron-41; done
at_once 'the parents went on all the while, each in its own conversation' \
  '[ "$(recorded dev-impl@src token)" = "$claude_parent" ] && [ "$(recorded dev-qa@src token)" = "$codex_parent" ] &&
   [ "$(begins "$claude_file" "$claude_size") $(begins "$codex_file" "$codex_size")" = "$claude_then $codex_then" ] &&
   [ "$(status dev-impl@src .generation) $(status dev-qa@src .generation)" = "1 1" ]'

# ---- privacy
R events --json
R op list --json
R agent-image list --json
# Allowed is the operator's own spec, and what the parents' clients and the image's manifest keep themselves.
leaks() { grep -lF -e "$claude_parent" -e "$codex_parent" "$work/log/rig.txt"; grep -rlF -e "$claude_parent" -e "$codex_parent" "$work/r/logs" "$work/r/run" 2>/dev/null; }
at_once 'no id of a parent in anything that rig printed or logged' '[ -z "$(leaks)" ]'
does 'down src' down src --json
does 'down kids' down kids --json
for rig in kept kept-x re; do does "down $rig" down "$rig" --json; done
verdict
