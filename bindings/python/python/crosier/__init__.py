"""Crosier: hooks for AI agents.

What a hook needs (`deny`, `ask`, `allow`, `inject`, `HookEvent`, `HookResult`) is plain Python and there at once. The
engine is native, and is loaded when it is first used.
"""

from __future__ import annotations

from ._errors import (
    ConfigError,
    DeadlineExceeded,
    Denied,
    Error,
    EventError,
    RegisterError,
    Untrusted,
)
from ._gates import Allow, Ask, Deny, Gate, Halt, Proceed, Resume
from ._hook import HookContext, HookEvent, HookResult, allow, ask, deny, inject

__version__ = "0.1.0"
__all__ = [
    "Allow", "Ask", "Cancelled", "ConfigError", "DeadlineExceeded", "Denied", "Deny", "Engine", "Error", "Event",
    "EventError", "Gate", "Halt", "HookContext", "HookEvent", "HookResult", "Messages", "Outcome", "Proceed",
    "RegisterError", "Resume", "Scope", "Untrusted", "allow", "ask", "deny", "inject",
]  # fmt: skip

for _item in (HookContext, HookEvent, HookResult, allow, ask, deny, inject):
    _item.__module__ = "crosier"
del _item

Event = HookEvent


def __getattr__(name: str) -> object:
    if name in ("Engine", "Scope", "Messages", "Outcome"):
        from . import _engine

        value = globals()[name] = getattr(_engine, name)
        return value
    if name == "Cancelled":  # asyncio is slow to import, and most hooks do not need it
        from asyncio import CancelledError

        return CancelledError
    raise AttributeError(f"module 'crosier' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
