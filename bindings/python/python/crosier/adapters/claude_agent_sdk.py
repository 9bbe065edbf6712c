"""Crosier in the Claude Agent SDK.

    from crosier.adapters.claude_agent_sdk import hooks
    options = ClaudeAgentOptions(hooks=hooks(engine))
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

try:
    from claude_agent_sdk import HookMatcher
except ImportError as error:
    raise ImportError("crosier.adapters.claude_agent_sdk needs the package claude-agent-sdk: pip install 'crosier[claude-agent-sdk]'") from error

from .._engine import Engine, Outcome
from .._errors import DeadlineExceeded, Error
from ._call import WITHHELD

__all__ = ["hooks"]

# The events that the SDK calls hooks for.
EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact",
          "Notification", "SubagentStart", "PermissionRequest")  # fmt: skip
# After its timeout, the SDK gives up on a hook and lets the call through: answer before that.
SDK_SECONDS, OUR_SECONDS = 60.0, 55.0


def hooks(engine: Engine, *, agent_id: str | None = None) -> dict[Any, list[HookMatcher]]:
    """The hooks of an engine, for `ClaudeAgentOptions(hooks=…)`. If the hooks cannot be run, actions are denied."""
    return {name: [HookMatcher(hooks=[_callback(engine, name, agent_id)], timeout=SDK_SECONDS)] for name in EVENTS}


def _callback(engine: Engine, name: str, agent_id: str | None) -> Callable[..., Coroutine[Any, Any, Any]]:
    async def crosier(event: Any, tool_use_id: str | None, context: Any) -> Any:
        try:
            payload = {key: value for key, value in dict(event).items() if key != "hook_event_name"}
            if tool_use_id and name in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
                payload.setdefault("tool_use_id", tool_use_id)
            if agent_id is not None:
                payload.setdefault("agent_id", agent_id)
            outcome = await engine.fire(name, payload, deadline=OUR_SECONDS)
            return say(outcome, payload)
        except DeadlineExceeded:
            return closed(name, f"the hooks did not finish within {OUR_SECONDS:.0f} s")
        except Error as error:
            return closed(name, f"the hooks could not be run: {error}")
        except Exception as error:
            return closed(name, f"the hooks could not be run: {type(error).__name__}: {error}")

    return crosier


def closed(name: str, why: str) -> dict[str, Any]:
    """Denies actions."""
    if name == "PreToolUse":
        return {"hookSpecificOutput": {
            "hookEventName": name, "permissionDecision": "deny", "permissionDecisionReason": why}}  # fmt: skip
    if name == "PermissionRequest":
        return {"hookSpecificOutput": {"hookEventName": name, "decision": {"behavior": "deny", "message": why}}}
    return {"systemMessage": why}


def say(outcome: Outcome, payload: dict[str, Any]) -> dict[str, Any]:
    """An outcome in the SDK's format."""
    name = outcome.event
    said: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    notices = [notice.text for notice in outcome.notices if notice.kind == "notify"]
    if outcome.halt is not None:
        said |= {"continue_": False, "stopReason": outcome.halt.reason or "a hook stopped the agent"}
    if name == "PreToolUse":
        decision = "deny" if outcome.halt is not None else outcome.decision
        if decision is not None:
            specific["permissionDecision"] = decision
            specific["permissionDecisionReason"] = outcome.reason or said.get("stopReason") or ""
        if outcome.updated_input is not None and decision != "deny":
            # Without a hook's decision, none is sent: a rewrite alone must not skip the permission prompt.
            specific["updatedInput"] = outcome.updated_input
    elif name == "PermissionRequest":
        if outcome.denied or outcome.halt is not None:
            specific["decision"] = {"behavior": "deny", "message": outcome.reason or said.get("stopReason") or "denied"}
            if outcome.halt is not None:
                specific["decision"]["interrupt"] = True
        elif outcome.decision == "allow":
            specific["decision"] = {"behavior": "allow"}
            if outcome.updated_input is not None:
                specific["decision"]["updatedInput"] = outcome.updated_input
            if outcome.updated_permissions is not None:
                specific["decision"]["updatedPermissions"] = outcome.updated_permissions
    elif name == "PostToolUse":
        if outcome.suppress_output:
            specific["updatedToolOutput"] = withheld(payload.get("tool_response"))
        elif outcome.updated_output is not None:
            specific["updatedToolOutput"] = outcome.updated_output
    elif outcome.denied:
        said |= {"decision": "block", "reason": outcome.reason or "denied"}
    elif outcome.resume is not None and outcome.halt is None:
        said |= {"decision": "block", "reason": outcome.resume.reason or "go on"}
    context = [*outcome.context, *(inject.content for inject in outcome.inject)]
    if context and name in ("Stop", "SubagentStop", "PreCompact", "PermissionRequest"):
        notices.extend(context)
    elif context:
        specific["additionalContext"] = "\n\n".join(context)
    if notices:
        said["systemMessage"] = "\n".join(notices)
    if specific:
        said["hookSpecificOutput"] = {"hookEventName": name, **specific}
    return said


def withheld(response: Any) -> Any:
    """The result with the same structure and without its text: the SDK rejects another structure and shows the text."""
    if isinstance(response, dict):
        kept = ("type",)
        return {key: value if key in kept else withheld(value) for key, value in response.items()}
    if isinstance(response, list):
        return [withheld(item) for item in response]
    return WITHHELD if isinstance(response, str) and response else response
