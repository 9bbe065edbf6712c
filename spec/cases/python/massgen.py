"""Hooks as they are written for MassGen: they know nothing of Crosier, and return objects of their own."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Optional


class Decision(Enum):
    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


@dataclass
class HookResult:
    allowed: bool = True
    decision: str = "allow"
    reason: Optional[str] = None
    updated_input: Optional[Dict[str, Any]] = None
    inject: Optional[Dict[str, Any]] = None
    modified_args: Optional[str] = None
    metadata: Dict[str, Any] = field(default_factory=dict)
    hook_errors: List[str] = field(default_factory=list)


class Verdict:
    """No dataclass, and only some of the fields."""

    def __init__(self, allowed):
        self.allowed = allowed


def audit(event):
    return HookResult(metadata={"seen": event.tool_name})


def denies(event):
    return HookResult(allowed=False, decision="deny", reason=f"{event.hook_type} denies {event.tool_name}")


def denies_by_enum(event):
    return HookResult(decision=Decision.DENY, reason="by an Enum")


def asks_by_enum(event):
    return HookResult(decision=Decision.ASK, reason="are you sure?")


def allows(event):
    return HookResult(reason="looked at, and fine")


def allows_by_enum(event):
    return HookResult(decision=Decision.ALLOW)


def rewrites(event):
    return HookResult(updated_input={**event.tool_input, "safe": True})


def rewrites_as_text(event):
    return HookResult(updated_input={"loses": True}, modified_args='{"wins": true}')


def injects(event):
    return HookResult(inject={"content": f"{event.tool_name} said {event.tool_output}", "strategy": "tool_result"})


def not_allowed(event):
    return Verdict(False)


def merely_allowed(event):
    return Verdict(True)


async def denies_later(event):
    return denies(event)


class Permission:
    """As MassGen's own hooks: an object whose `__call__` is async."""

    async def __call__(self, event):
        return HookResult(allowed=False, decision="deny", reason="from an async __call__")


permission = Permission()


def unknown_word(event):
    return HookResult(decision="perhaps")
