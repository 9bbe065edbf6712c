#!/usr/bin/env python3
"""A prompt that names a ticket gets the ticket's text as context."""
import json
import re
import sys
from pathlib import Path

prompt = json.load(sys.stdin)["prompt"]
texts = []
for ticket in dict.fromkeys(re.findall(r"\b[A-Z]+-\d+\b", prompt)):
    path = Path("tickets", f"{ticket}.md")  # a hook runs in the folder of its configuration
    texts.append(path.read_text().strip() if path.exists() else f"There is no ticket {ticket}.")
if texts:
    output = {"hookEventName": "UserPromptSubmit", "additionalContext": "\n".join(texts)}
    print(json.dumps({"hookSpecificOutput": output}))
