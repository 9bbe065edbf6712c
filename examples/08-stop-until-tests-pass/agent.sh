#!/bin/sh
# Plays the agent, in a copy of this folder: it wants to stop, and repairs one bug each time the hook sends it back to
# work. A real loop does the same: it says so in `stop_hook_active`, and gives up after 8 resumes in a row.
work=$(mktemp -d) && cp -R . "$work" && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
active=false
for turn in 1 2 3 4 5 6 7 8; do
  outcome=$(echo "{\"stop_hook_active\": $active}" | crosier fire Stop -c hooks.yaml) || exit 1
  reason=$(printf '%s' "$outcome" | python3 -c '
import json, sys
print((json.load(sys.stdin)["resume"] or {}).get("reason", ""))')
  if [ -z "$reason" ]; then
    echo "turn $turn: the agent may stop"
    exit 0
  fi
  active=true
  echo "turn $turn: $reason"
  case "$reason" in
    *test_discount*) sed 's|percent / 100|(100 - percent) / 100|' project/shop.py > new ;;
    *test_total*) sed 's| + 1||' project/shop.py > new ;;
  esac
  mv new project/shop.py
done
echo "8 turns and no end"
exit 1
