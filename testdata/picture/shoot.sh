#!/usr/bin/env bash
# Runs the demo in an outer tmux of a fixed size, waits for its picture, and saves
# frames as SVG: shoot.sh RIG OUTDIR
set -euo pipefail
rig=$(readlink -f "$1"); out=$(readlink -f "$2"); here=$(dirname "$(readlink -f "$0")")
dir=$(mktemp -d /tmp/rig-shot.XXXXXX)
t() { tmux -u -f /dev/null -S "$dir/s" "$@"; }
trap 't kill-server 2>/dev/null || true; rm -rf "$dir"' EXIT
frame() { t capture-pane -p -e -t shot; }
# has TEXT: waits until the screen shows it.
has() { for _ in $(seq 200); do t capture-pane -p -t shot | grep -qF -- "$1" && return 0; sleep 0.1; done; echo "never saw: $1" >&2; t capture-pane -p -t shot >&2; return 1; }
svg() { frame | (cd "$here/../.." && go run ./testdata/picture -cols 120) >"$out/$1.svg"; }
TERM=tmux-256color COLORTERM=truecolor t new-session -d -s shot -x 120 -y 34 "env COLORTERM=truecolor '$rig' demo; sleep 1"
has "7 seats"; has "waiting"; has "limit"
t send-keys -t shot j; sleep 1.5; svg console
t send-keys -t shot 3; has "USED"; sleep 1; svg pressure
t send-keys -t shot 1; has "last changes"; t send-keys -t shot H; has "Reason"; t send-keys -t shot Tab; t send-keys -t shot -l "context wall"; t send-keys -t shot Enter; has "stays the same"; svg handover
t send-keys -t shot Escape; t send-keys -t shot Escape; t send-keys -t shot q; for _ in $(seq 100); do t has-session -t '=shot' 2>/dev/null || break; sleep 0.1; done
