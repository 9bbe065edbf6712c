"""A command hook in MassGen's words: it writes a HookResult."""

import json
import sys

event = json.load(sys.stdin)
result = {"allowed": True, "decision": "allow", "reason": "checked", "updated_input": {**event["tool_input"], "by": "script"}}
json.dump(result, sys.stdout)
