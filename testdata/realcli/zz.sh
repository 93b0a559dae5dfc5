#!/usr/bin/env bash
set -u
. "$(dirname "$0")/lib.sh"
product
rig=sig claude=dev-impl@sig codex=dev-qa@sig
{ team "$rig" . '{id: sh, runtime: terminal, agent_ref: "builtin:terminal", profile: none, cwd: .}'
  echo '    edges: []'
  echo 'edges: []'
} >spec.yaml
must up up spec.yaml --json
R wait $claude --until idle --timeout 30s; R wait $codex --until idle --timeout 30s
mkdir -p src; echo hello > src/main.go
shot() { echo "=== $1"; T capture-pane -p -t "=$2:" | grep -v '^ *$' | tail -${3:-22}; }
i=0
for seat in $claude $codex; do
for m in ' !touch pwned2-'$seat $'\n!touch pwned3-'$seat $'\t!touch pwned4-'$seat 'look at @src/main.go ' 'see @main' 'see @main ' 'use $foo' 'ends with backslash \' '/src/main.go is broken' 'a :smi' $'see @main\nand more' 'a /comp' 'mail me@host.org' $'!\ntouch pwned5-'$seat; do
  i=$((i+1))
  echo "##### $seat <- $m"
  R send $seat "$m" --verify; echo "rc $? $answer"
  sleep 2.5
  shot "after" $seat 11 | cut -c1-110
  ls -la | grep pwned
  R ps --json; echo "$answer" | jq -r ".rigs[].seats[] | select(.address == \"$seat\") | .activity | [.state,.code,.why,.draft] | @tsv"
  T send-keys -t "=$seat:" C-u C-u; sleep 0.5; if T capture-pane -p -t "=$seat:" | grep -q "Esc to cancel\|esc to"; then T send-keys -t "=$seat:" Escape; sleep 1; fi; R wait $seat --until idle --timeout 8s; 
done
done
