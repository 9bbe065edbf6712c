"""What a hook imports."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from typing_extensions import Self

class Failure(Exception):
    kind: str
    detail: str
    traceback: str
    deny: str | None

class BaseEvent(dict[str, Any]):
    """The fields of every event. Only for type checkers: the base of `HookEvent` and of the types in `crosier.events`."""

    session_id: str
    transcript_path: str
    cwd: str
    permission_mode: str | None
    hook_type: str
    orchestrator_id: str
    outcome: dict[str, Any]
    """The outcome, for observers."""
    @property
    def timestamp(self) -> datetime | None: ...
    def __init__(self, *values: Any, **fields: Any) -> None: ...
    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...

class HookEvent(BaseEvent):
    """The event: a dict of its JSON, whose fields are attributes too. Optional fields that are absent are None there."""

    # Any: it is text, but differs between the types of `crosier.events`, and `isinstance` must lead to each of them.
    hook_event_name: Any
    agent_id: Any
    # Of tool events.
    tool_name: str
    tool: str
    tool_input: dict[str, Any]
    args: dict[str, Any]
    tool_use_id: str | None
    tool_response: Any
    tool_output: str | None
    error: str
    is_interrupt: bool | None
    permission_suggestions: Any
    # Of sessions, prompts and messages.
    trigger: str
    source: str
    reason: str
    prompt: Any
    output: str
    model: str | None
    custom_instructions: str | None
    stop_hook_active: bool
    # Of agents, teams and phases.
    agent_type: Any
    agent_transcript_path: str | None
    config: Any
    result: Any
    to: str
    teammate_name: Any
    team_name: Any
    task_id: str
    task_subject: str
    task_description: str | None
    # Of files, views and notices.
    path: str
    content: str
    commit: str
    view: Any
    message: Any
    title: str | None
    notification_type: str
    def __getattr__(self, name: str) -> Any: ...

class HookResult:
    """A hook's answer. With only default values it is no opinion."""

    allowed: bool
    metadata: dict[str, Any]
    modified_args: str | None
    decision: str
    reason: str | None
    updated_input: Any
    inject: Any
    hook_errors: list[str]
    executed_hooks: list[Any]
    explicit: bool
    more: dict[str, Any]
    def __init__(
        self,
        allowed: bool = True,
        metadata: dict[str, Any] | str | None = None,
        modified_args: str | None = None,
        decision: str = "allow",
        reason: str | None = None,
        updated_input: Any = None,
        inject: Any = None,
        hook_errors: list[str] | None = None,
        executed_hooks: list[Any] | None = None,
        *,
        explicit: bool = False,
        **more: Any,
    ) -> None: ...
    @classmethod
    def allow(cls, reason: str | None = None, **more: Any) -> HookResult: ...
    @classmethod
    def deny(cls, reason: str | None = None, **more: Any) -> HookResult: ...
    @classmethod
    def ask(cls, reason: str | None = None, **more: Any) -> HookResult: ...
    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> HookResult: ...
    def to_dict(self) -> dict[str, Any]: ...
    def add_error(self, error: str) -> None: ...
    def has_errors(self) -> bool: ...

class HookContext:
    """Information about the call, for a hook that takes a second argument."""

    hook: str
    phase: int
    pass_number: int
    stopped: bool
    def __init__(self, hook: str, phase: int, timeout: float) -> None: ...
    @property
    def remaining(self) -> float:
        """Seconds until the deadline."""
    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the reply any more."""

def allow(reason: str | None = None, **more: Any) -> HookResult:
    """Allow: the user is not asked."""

def deny(reason: str | None = None, **more: Any) -> HookResult:
    """Deny."""

def ask(reason: str | None = None, **more: Any) -> HookResult:
    """Have the user decide."""

def inject(
    content: str, strategy: Literal["tool_result", "user_message"] = "tool_result", **more: Any
) -> HookResult:
    """Append text to the tool result or, as "user_message", add a message after it."""

def takes_context(target: Any) -> bool: ...
def understand(result: Any) -> dict[str, Any]: ...
def explain(exc: BaseException, own: str | None) -> tuple[str, str, list[str]]: ...
