"""A command hook after a tool: it has the tool's output, and appends to it."""

import json
import sys

event = json.load(sys.stdin)
print(json.dumps({"inject": {"content": f"{len(event['tool_output'])} characters", "strategy": "tool_result"}}))
