"""A command hook that denies by its exit code."""

import sys

print("the branch is protected", file=sys.stderr)
sys.exit(2)
