"""The native part. Hosts use `crosier.Engine`; these are the names beneath it."""

import os
from collections.abc import Coroutine, Mapping
from typing import Any, Literal

from typing_extensions import Self

from ._bridge import Record
from ._gates import Gate
from .events import EventName

__version__: str

class Outcome:
    """The one answer to one event: a frozen dataclass."""

    def __init__(self, event: str, **fields: Any) -> None: ...
    @property
    def event(self) -> str:
        """The event's name."""
    @property
    def decision(self) -> Literal["allow", "ask", "deny"] | None:
        """The strictest decision of all hooks; none when no hook had one."""
    @property
    def reason(self) -> str | None:
        """Why, in the words of the first hook with that decision."""
    @property
    def by(self) -> str | None:
        """The first hook with that decision."""
    @property
    def by_failure(self) -> bool:
        """Whether the engine decided so because a hook failed."""
    @property
    def updated_input(self) -> Any:
        """The rewritten field of a *pre* event; none when nobody rewrote it."""
    @property
    def updated_output(self) -> Any:
        """The rewritten field of a *post* event; none when nobody rewrote it."""
    @property
    def suppress_output(self) -> bool:
        """Whether to hide the output."""
    @property
    def context(self) -> list[str]:
        """Text for the next model call."""
    @property
    def inject(self) -> list[Record]:
        """Text for the tool result or messages after it: `strategy`, `content`, `hook`."""
    @property
    def resume(self) -> Record | None:
        """Set when the loop must go on although it wants to stop: `reason`, `by`."""
    @property
    def halt(self) -> Record | None:
        """Set when the host must stop its loop: `reason`, `by`."""
    @property
    def notices(self) -> list[Record]:
        """Things to log or to tell a person: `kind`, `level`, `text`, `hook`."""
    @property
    def updated_permissions(self) -> Any:
        """Permission updates for the host."""
    @property
    def reports(self) -> list[Record]:
        """What each hook did: `hook`, `status`, `decision`, `failure`, `ignored`, …"""
    @property
    def would(self) -> Literal["allow", "ask", "deny"] | None:
        """What hooks that only warn would have decided."""
    @property
    def denied(self) -> bool:
        """Whether the action must not happen."""
    @property
    def gate(self) -> Gate:
        """What to do, as one value to `match` on."""
    def to_dict(self) -> dict[str, Any]:
        """Every field, as plain dicts and lists."""
    def raise_for_denial(self) -> None:
        """Raises `Denied` when the outcome denies."""

class NativeScope:
    def close(self) -> None: ...

class NativeMessages:
    @property
    def missed(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    def poll(self) -> dict[str, Any] | None: ...
    def wait(self) -> dict[str, Any] | None: ...
    def arm(self) -> dict[str, Any] | None: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...

class NativeEngine:
    def __new__(cls, *arguments: Any, **options: Any) -> Self: ...
    def fire(
        self,
        event: EventName | str,
        payload: Mapping[str, Any] | None = None,
        /,
        *,
        agent_id: str | None = None,
        deadline: float | None = None,
        **fields: Any,
    ) -> Coroutine[Any, Any, Outcome]:
        """Runs the hooks of an event; `fields` are payload fields, `deadline` is in seconds. Awaited."""
    def fire_sync(
        self,
        event: EventName | str,
        payload: Mapping[str, Any] | None = None,
        /,
        *,
        agent_id: str | None = None,
        deadline: float | None = None,
        **fields: Any,
    ) -> Outcome:
        """Like `fire`, but waits on this thread."""
    def recheck(
        self,
        event: EventName | str,
        payload: Mapping[str, Any] | None = None,
        /,
        *,
        agent_id: str | None = None,
        deadline: float | None = None,
        **fields: Any,
    ) -> Coroutine[Any, Any, Outcome]:
        """Runs only the guards, for an event that was changed after its fire. Awaited."""
    def recheck_sync(
        self,
        event: EventName | str,
        payload: Mapping[str, Any] | None = None,
        /,
        *,
        agent_id: str | None = None,
        deadline: float | None = None,
        **fields: Any,
    ) -> Outcome:
        """Like `recheck`, but waits on this thread."""
    def explain(self, event: EventName | str, *, tool: str | None = None, agent_id: str | None = None) -> dict[str, Any]:
        """What would run for an event (`plan`), and what would not, and why (`out`)."""
    def enable(self, name: str) -> None:
        """Switches a hook on."""
    def disable(self, name: str) -> None:
        """Switches a hook off without removing it."""
    def is_enabled(self, name: str) -> bool:
        """Whether a hook of this name exists and is on."""
    def unregister(self, name: str) -> bool:
        """Removes a hook. Returns false when no hook has this name."""
    @property
    def closed(self) -> bool:
        """Whether the engine was closed."""
    def _open(self, request: dict[str, Any]) -> None: ...
    def _register(self, options: dict[str, Any]) -> None: ...
    def _register_in(self, scope: NativeScope, options: dict[str, Any]) -> None: ...
    def _scope(self, agent_id: str, config: str | None, folder: str | os.PathLike[str]) -> NativeScope: ...
    def _messages(self, maxsize: int) -> NativeMessages: ...
    def _close(self) -> None: ...

def forked() -> None: ...
def end_all() -> None: ...
def catalog() -> list[dict[str, Any]]: ...
def case_names(path: str, text: str) -> list[tuple[str, int]]: ...
