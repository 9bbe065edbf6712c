"""The engine, as Python hosts use it."""

from __future__ import annotations

import asyncio
import atexit
import dataclasses
import inspect
import json
import os
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from . import _bridge, _hook, _native
from ._errors import ConfigError, RegisterError
from ._native import NativeEngine, Outcome

if TYPE_CHECKING:
    from .events import EventName

__all__ = ["Engine", "Messages", "Outcome", "Scope"]

Function = TypeVar("Function", bound=Callable[..., Any])
_DEFAULT = float("30")  # an object of its own: who names the same number has named one
_ENGINES: weakref.WeakSet[Engine] = weakref.WeakSet()


def _is_async(function: Any) -> bool:
    while hasattr(function, "func") and hasattr(function, "keywords"):  # functools.partial
        function = function.func
    call = getattr(type(function), "__call__", None)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _options(event: Any, function: Any, *, timeout: Any = _DEFAULT, inline: bool = False, **given: Any) -> dict[str, Any]:
    """The options of a hook, for the native part."""
    target = function
    if isinstance(target, (staticmethod, classmethod)):
        target = target.__func__
    if isinstance(target, type):
        if not any("__call__" in vars(base) for base in target.__mro__):
            raise RegisterError(f"{target.__qualname__} is a class without __call__; give a function or a callable")
        target = target()
    if not callable(target):
        raise RegisterError(f"a hook must be callable, and this is a {type(target).__name__}")
    for option in ("matcher", "name", "on_error", "agent_id"):
        if not isinstance(given.get(option), (str, type(None))):
            raise RegisterError(f"`{option}` is {given[option]!r}; it must be text")
    priority = given["priority"]
    if not isinstance(priority, int) or isinstance(priority, bool) or abs(priority) >= 2**31:
        raise RegisterError(f"`priority` is {priority!r}; it must be an integer below 2147483648")
    if given.get("agent_id") == "":
        raise RegisterError("`agent_id` is empty; name an agent, or leave it out")
    name = given.pop("name") or getattr(function, "__qualname__", None) or type(function).__qualname__
    is_async = _is_async(target)
    if inline and timeout is not _DEFAULT and timeout is not None:
        raise RegisterError(
            f"the hook `{name}` has a timeout, but inline code cannot be stopped; leave `inline` or `timeout` out"
        )
    if inline and is_async:
        raise RegisterError(f"the hook `{name}` is `async def`, which runs on the caller's loop; leave `inline` out")
    try:
        takes_context = _hook.takes_context(target)
    except TypeError as error:
        raise RegisterError(f"the hook `{name}` cannot be called with an event: {error}") from None
    event = getattr(event, "value", event)
    if not isinstance(event, str):
        raise RegisterError("the event must be named by text")
    try:
        return {
            **given, "event": event, "function": target, "name": str(name), "inline": inline, "is_async": is_async,
            "takes_context": takes_context,
            "timeout": None if inline else 30.0 if timeout is _DEFAULT or timeout is None else float(timeout),
        }  # fmt: skip
    except (TypeError, ValueError):
        raise RegisterError(f"the timeout of `{name}` must be a number of seconds") from None


class _Hooks:
    """The decorator `hook` of engines and scopes."""

    def _add(self, options: dict[str, Any]) -> None:
        raise NotImplementedError

    def _hook(self, event: Any, options: dict[str, Any]) -> Callable[[Function], Function]:
        def decorate(function: Function) -> Function:
            self._add(_options(event, function, **options))
            return function

        return decorate


class Engine(_Hooks, NativeEngine):
    """Runs the hooks of events."""

    _folder: str
    _messages_open: weakref.WeakSet[Messages]

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        *,
        folder: str | os.PathLike[str] = ".",
        env: Mapping[str, str] | None = None,
        timing: bool = False,
    ) -> None:
        self._begin(folder, env, timing, config=None if config is None else _config_text(config))

    def _begin(
        self,
        folder: str | os.PathLike[str],
        env: Mapping[str, str] | None,
        timing: bool,
        *,
        config: str | None = None,
        files: Sequence[str | os.PathLike[str]] | None = None,
    ) -> None:
        """Opens it with a configuration, with files (if the list is empty: the layers in force), or without hooks."""
        environment = os.environ if env is None else env
        self._folder = os.path.abspath(os.fspath(folder))
        self._messages_open = weakref.WeakSet()
        self._open({
            "config": config, "folder": self._folder, "timing": bool(timing),
            "files": None if files is None else [os.path.abspath(file) for file in files],
            "environment": [(str(name), str(value)) for name, value in environment.items()],
            "homes": _homes(environment), "trust": environment.get("CROSIER_TRUST") or None,
        })  # fmt: skip
        _ENGINES.add(self)

    @classmethod
    def load(
        cls,
        *paths: str | os.PathLike[str],
        folder: str | os.PathLike[str] = ".",
        env: Mapping[str, str] | None = None,
        timing: bool = False,
    ) -> Engine:
        """An engine with the hooks of these files; without files, of the layers that are in force in this folder."""
        engine = cls.__new__(cls)
        engine._begin(folder, env, timing, files=paths)
        return engine

    def _add(self, options: dict[str, Any]) -> None:
        self._register(options)

    def hook(
        self,
        event: EventName | str,
        *,
        matcher: str | None = None,
        name: str | None = None,
        priority: int = 100,
        timeout: float | None = _DEFAULT,
        on_error: str | None = None,
        parallel: bool = False,
        observe: bool = False,
        guard: bool = False,
        agent_id: str | None = None,
        inline: bool = False,
    ) -> Callable[[Function], Function]:
        """A decorator that registers a function as a hook, and returns it unchanged."""
        options = {
            "matcher": matcher, "name": name, "priority": priority, "timeout": timeout, "on_error": on_error,
            "parallel": parallel, "observe": observe, "guard": guard, "agent_id": agent_id, "inline": inline,
        }  # fmt: skip
        return self._hook(event, options)

    def scope(self, agent_id: str, hooks: Mapping[str, Any] | None = None) -> Scope:
        """The hooks of one agent, until the scope is closed."""
        return Scope(self, agent_id, hooks)

    def messages(self, *, maxsize: int = 1024) -> Messages:
        """An iterator over messages about running hooks, from now on."""
        if maxsize < 1:
            raise ValueError(f"maxsize is {maxsize}; it must be 1 or more")
        messages = Messages(self._messages(maxsize))
        self._messages_open.add(messages)
        return messages

    def close(self) -> None:
        """Stops running hooks. The engine cannot be used any more."""
        for messages in list(self._messages_open):
            messages.close()
        self._close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Engine:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class Scope(_Hooks):
    """The hooks of one agent. They are registered until `close`, or until the end of a `with` block."""

    def __init__(self, engine: Engine, agent_id: str, hooks: Mapping[str, Any] | None = None) -> None:
        if not isinstance(agent_id, str) or not agent_id:
            raise RegisterError(f"the agent's id is {agent_id!r}; it must be text that is not empty")
        config = None if hooks is None else _config_text({"agents": [{"id": agent_id, "hooks": hooks}]})
        self.engine, self.agent_id = engine, agent_id
        self._native = engine._scope(agent_id, config, engine._folder)

    def _add(self, options: dict[str, Any]) -> None:
        self.engine._register_in(self._native, {**options, "agent_id": self.agent_id})

    def hook(
        self,
        event: EventName | str,
        *,
        matcher: str | None = None,
        name: str | None = None,
        priority: int = 100,
        timeout: float | None = _DEFAULT,
        on_error: str | None = None,
        parallel: bool = False,
        observe: bool = False,
        guard: bool = False,
        inline: bool = False,
    ) -> Callable[[Function], Function]:
        """A decorator that registers a function as a hook of this agent."""
        options = {
            "matcher": matcher, "name": name, "priority": priority, "timeout": timeout, "on_error": on_error,
            "parallel": parallel, "observe": observe, "guard": guard, "inline": inline,
        }  # fmt: skip
        return self._hook(event, options)

    def fire(self, event: EventName | str, payload: Mapping[str, Any] | None = None, /, **fields: Any) -> Coroutine[Any, Any, Outcome]:
        """`Engine.fire` of an event that happens in this agent; `deadline` is in seconds."""
        return self.engine.fire(event, payload, agent_id=self.agent_id, **fields)

    def fire_sync(self, event: EventName | str, payload: Mapping[str, Any] | None = None, /, **fields: Any) -> Outcome:
        """Like `fire`, but waits on this thread."""
        return self.engine.fire_sync(event, payload, agent_id=self.agent_id, **fields)

    def recheck(self, event: EventName | str, payload: Mapping[str, Any] | None = None, /, **fields: Any) -> Coroutine[Any, Any, Outcome]:
        """`Engine.recheck` of an event that happens in this agent."""
        return self.engine.recheck(event, payload, agent_id=self.agent_id, **fields)

    def recheck_sync(self, event: EventName | str, payload: Mapping[str, Any] | None = None, /, **fields: Any) -> Outcome:
        """Like `recheck`, but waits on this thread."""
        return self.engine.recheck_sync(event, payload, agent_id=self.agent_id, **fields)

    def close(self) -> None:
        """Removes the hooks."""
        self._native.close()

    def __enter__(self) -> Scope:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Scope:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class Messages:
    """Messages about running hooks, as dicts, in order. It ends when it or the engine is closed."""

    def __init__(self, native: _native.NativeMessages) -> None:
        self._native = native
        self._asleep: set[asyncio.Future[None]] = set()

    @property
    def missed(self) -> int:
        """How many messages were dropped because the queue was full: up to the last one read; once closed, in all."""
        return self._native.missed

    def poll(self) -> dict[str, Any] | None:
        """The next message if one has arrived, else None."""
        return self._native.poll()

    def close(self) -> None:
        """Closes it: no more messages arrive."""
        self._native.close()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self

    def __next__(self) -> dict[str, Any]:
        message = self._native.wait()
        if message is None:
            raise StopIteration
        return message

    def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        return self

    async def __anext__(self) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        while not self._native.closed:
            if (message := self._native.arm()) is not None:
                return message
            if self._native.closed:
                break
            rung, bell = loop.create_future(), self._native.fileno()
            self._asleep.add(rung)
            loop.add_reader(bell, self._wake)
            try:
                await rung
            finally:
                self._asleep.discard(rung)
                if not self._asleep:
                    loop.remove_reader(bell)
            try:
                os.read(bell, 4096)
            except BlockingIOError:
                pass
        raise StopAsyncIteration

    def _wake(self) -> None:
        """Something has arrived: each waiting task checks whether it is the one to get it."""
        for rung in self._asleep:
            _bridge.resolve(rung)

    def __enter__(self) -> Messages:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Messages:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


def _config_text(config: Mapping[str, Any]) -> str:
    """A configuration in the form that the native part reads."""
    if not isinstance(config, Mapping):
        raise ConfigError(f"the configuration must be a dict, and this is a {type(config).__name__}")
    try:
        return json.dumps(config, allow_nan=False, default=dict)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"the configuration cannot be read: {error}") from None


def _homes(environment: Mapping[str, str]) -> tuple[str | None, str | None, str | None]:
    """The home folder, and Crosier's folders for configuration and state. Relative paths are ignored."""

    def folder(name: str) -> str | None:
        value = environment.get(name, "")
        return value if os.path.isabs(value) else None

    def own(name: str, usual: str) -> str | None:
        above = folder(name) or (home and os.path.join(home, usual))
        return os.path.join(above, "crosier") if above else None

    home = folder("HOME")
    return home, own("XDG_CONFIG_HOME", ".config"), own("XDG_STATE_HOME", ".local/state")


def _as_dataclass() -> None:
    """Makes outcomes behave like dataclasses: `fields`, `asdict`, `replace`."""
    names = ("event decision reason by by_failure updated_input updated_output suppress_output context inject resume "
             "halt notices updated_permissions reports would").split()  # fmt: skip
    stand_in = dataclasses.make_dataclass("Outcome", names, frozen=True)
    outcome: Any = Outcome
    outcome.__dataclass_fields__ = stand_in.__dataclass_fields__  # type: ignore[attr-defined]
    outcome.__dataclass_params__ = stand_in.__dataclass_params__  # type: ignore[attr-defined]
    setattr(outcome, "__match_args__", tuple(names))


def _forked() -> None:
    _native.forked()
    _bridge.forked()


def _end() -> None:
    """Called when the interpreter exits: stops everything that an engine started."""
    for engine in list(_ENGINES):
        engine.close()
    _native.end_all()
    _bridge.end()


_as_dataclass()
os.register_at_fork(after_in_child=_forked)
atexit.register(_end)
