"""A command hook that tells what its environment says of the event."""

import json
import os

names = "HOOK_TYPE TOOL_NAME SESSION_ID AGENT_ID ORCHESTRATOR_ID".split()
print(json.dumps({"decision": "deny", "reason": " ".join(os.environ["MASSGEN_" + name] for name in names)}))
