#!/usr/bin/env python3
"""A failed connection to the database gets the remedy right behind the tool's result."""
import json
import sys

if "connection refused" in json.load(sys.stdin)["tool_output"].lower():
    print(json.dumps({"inject": {"content": "Hint: start the database with `make db`.", "strategy": "tool_result"}}))
