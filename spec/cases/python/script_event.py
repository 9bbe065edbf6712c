"""A command hook: the event on stdin, the reply on stdout."""

import json
import sys

event = json.load(sys.stdin)
names = "hook_event_name hook_type session_id agent_id tool_name tool_input".split()
print(json.dumps({"decision": "deny", "reason": json.dumps([event[name] for name in names])}))
