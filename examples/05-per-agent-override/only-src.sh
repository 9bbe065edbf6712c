#!/bin/sh
# The builder writes below src/ without asking, and nowhere else.
path=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["tool_input"]["file_path"])') || exit 1
case "$path" in
  *..*) ;;
  src/*) echo '{"decision": "allow", "reason": "below src/"}'; exit 0 ;;
esac
echo "the builder writes below src/ only, not $path" >&2
exit 2
