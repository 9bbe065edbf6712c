"""Crosier: hooks for AI agents."""

from asyncio import CancelledError as Cancelled

from ._engine import Engine as Engine
from ._engine import Messages as Messages
from ._engine import Outcome as Outcome
from ._engine import Scope as Scope
from ._errors import ConfigError as ConfigError
from ._errors import DeadlineExceeded as DeadlineExceeded
from ._errors import Denied as Denied
from ._errors import Error as Error
from ._errors import EventError as EventError
from ._errors import RegisterError as RegisterError
from ._errors import Untrusted as Untrusted
from ._gates import Allow as Allow
from ._gates import Ask as Ask
from ._gates import Deny as Deny
from ._gates import Gate as Gate
from ._gates import Halt as Halt
from ._gates import Proceed as Proceed
from ._gates import Resume as Resume
from ._hook import HookContext as HookContext
from ._hook import HookEvent as HookEvent
from ._hook import HookResult as HookResult
from ._hook import allow as allow
from ._hook import ask as ask
from ._hook import deny as deny
from ._hook import inject as inject

__version__: str
__all__ = [
    "Allow", "Ask", "Cancelled", "ConfigError", "DeadlineExceeded", "Denied", "Deny", "Engine", "Error", "Event",
    "EventError", "Gate", "Halt", "HookContext", "HookEvent", "HookResult", "Messages", "Outcome", "Proceed",
    "RegisterError", "Resume", "Scope", "Untrusted", "allow", "ask", "deny", "inject",
]  # fmt: skip

Event = HookEvent
