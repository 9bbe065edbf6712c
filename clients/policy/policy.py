#!/usr/bin/env python3
"""The policy of the shared scenarios: a word `case:NAME` in what a tool is called with says what to answer."""

import json
import re
import sys

event = json.load(sys.stdin)
name = event["hook_event_name"]
tool_input = event.get("tool_input") or {}
match = re.search(r"case:([a-z-]+)", json.dumps(tool_input))
case = match.group(1) if match else ""


def changed(old, new):
    return json.loads(json.dumps(tool_input).replace(old, new))


BEFORE = {
    "deny": lambda: {"decision": "deny", "reason": "REASON-DENY: the policy says no"},
    "ask": lambda: {"decision": "ask", "reason": "REASON-ASK: a person decides"},
    "allow": lambda: {"decision": "allow", "reason": "it is fine"},
    "rewrite": lambda: {"updated_input": changed("old-input", "new-input")},
    "partial": lambda: {"updated_input": {"unheard_of": 1}},
    "context": lambda: {"systemMessage": "CONTEXT-PRE: said before the tool"},
    "both": lambda: {"updated_input": changed("old-both", "new-both"), "systemMessage": "CONTEXT-BOTH"},
    "halt": lambda: {"continue": False, "stopReason": "REASON-HALT: the policy ends this"},
    "exit": lambda: sys.exit("policy broke: no rules were found"),
    "text": lambda: sys.exit(print("this is no JSON")),
}
AFTER = {
    "replace": lambda: {"modify": {"result": "REPLACED-OUTPUT"}},
    "hide": lambda: {"suppressOutput": True},
    "after": lambda: {"systemMessage": "CONTEXT-POST: said after the tool"},
    "inject": lambda: {"inject": {"content": "INJECTED-RESULT", "strategy": "tool_result"}},
    "message": lambda: {"inject": {"content": "INJECTED-MESSAGE", "strategy": "user_message"}},
    "end": lambda: {"continue": False, "stopReason": "REASON-END: enough after this tool"},
}
FAILED = {"failed": lambda: {"systemMessage": "CONTEXT-FAILURE: said after it failed"}}

answers = {"PreToolUse": BEFORE, "PostToolUse": AFTER, "PostToolUseFailure": FAILED}.get(name, {})
if case in answers:
    print(json.dumps(answers[case]()))
