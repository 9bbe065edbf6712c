#!/bin/sh
# Lets the agent stop when the tests pass. Exit code 2 resumes it, with what is on stderr as the reason.
cd "$PROJECT" || exit 1
if ! report=$(python3 -B -m unittest -q 2>&1); then
  echo "Do not stop yet, tests fail:" >&2
  printf '%s\n' "$report" | grep -E '^(FAIL|ERROR|AssertionError)' >&2
  exit 2
fi
