#!/usr/bin/env bash
# Every script of this folder, one after the other, and at the end one table of what was proven on which versions.
#
#   testdata/realcli/all.sh [NAME...]                                the real clients, from npm (default: all names)
#   CLAUDE="bin/rig agentsim claude" CODEX="bin/rig agentsim codex" testdata/realcli/all.sh
#                                                                    the stand-ins
#
# The table goes to bin/realcli.md too, or bin/standins.md. The last line is the sum, "N passed, N failed". Exit status 75: nothing
# was tested, because the registry cannot be reached.
set -uo pipefail
# shellcheck source=testdata/realcli/lib.sh
. "$(dirname "$0")/lib.sh"

# The scripts in their order: the clients alone, then the product, from what everything stands on to what stands on it.
names=(facts smoke fork handover restore compact recovery)
[ $# -gt 0 ] && names=("$@")
out=$repo/bin/realcli.md
[ -n "${CLAUDE:-}${CODEX:-}" ] && out=$repo/bin/standins.md
clients
export CLAUDE CODEX
mkdir -p "$repo/bin"
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# what NAME: what a script proves, from the first line of its head, up to the first full stop or colon.
what() { sed -n '2s/^# *//p' "$here/$1.sh" | sed 's/[.:].*//'; }

rows=() good=0 bad=0 versions=''
for name in "${names[@]}"; do
  [ -e "$here/$name.sh" ] || continue
  printf '\n--> %s: %s\n' "$name" "$(what "$name")"
  began=$SECONDS status=0
  "$here/$name.sh" 2>&1 | tee "$logs/$name" | grep --line-buffered -vE '^[0-9]+ passed, [0-9]+ failed$'
  status=${PIPESTATUS[0]}
  read -r yes _ no _ < <(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$logs/$name" | tail -n 1)
  # A script that ended without its last line has failed, whatever it counted before.
  [ "$status" != 0 ] && [ "${no:-0}" = 0 ] && no=1
  good=$((good + ${yes:-0})) bad=$((bad + ${no:-0}))
  rows+=("| \`$name\` | $(what "$name") | ${yes:-0} | ${no:-0} | $((SECONDS - began)) s |")
  line=$(grep -m 1 '^# .*|' "$logs/$name" | sed 's/^# //')
  [ "${#line}" -gt "${#versions}" ] && versions=$line
  unset yes no
done
{
  echo "$versions | $(uname -sm)"
  echo
  echo "| script | what it proves | passed | failed | took |"
  echo "|---|---|---|---|---|"
  printf '%s\n' "${rows[@]}"
} >"$out"
printf '\n'
cat "$out"
printf '\n%s passed, %s failed\n' "$good" "$bad"
[ "$bad" = 0 ]
