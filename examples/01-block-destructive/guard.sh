#!/bin/sh
# Denies a tool call whose JSON speaks of `rm -rf`: exit 2, with the reason on stderr.
if grep -q 'rm -rf'; then
  echo "rm -rf is not allowed here; delete files one by one" >&2
  exit 2
fi
