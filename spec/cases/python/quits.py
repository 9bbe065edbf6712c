"""Ends python while it is imported, on purpose."""

import sys

sys.exit(0)
