"""Exceptions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._engine import Outcome


class Error(Exception):
    """The base class of all exceptions of Crosier."""


class ConfigError(Error, ValueError):
    """A configuration cannot be used. `problems` has each one: severity, message, path, line, column, help."""

    def __init__(self, message: str = "", problems: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(message)
        placeless = {"severity": "error", "message": message, "path": None, "line": None, "column": None, "help": None}
        self.problems: list[dict[str, Any]] = list(problems) or [placeless]


class Untrusted(ConfigError):
    """A project's hooks may not run: they were never trusted, or changed since. The message says what to do."""


class RegisterError(Error, ValueError):
    """A hook cannot be registered, or there is no hook of that name."""


class EventError(Error, ValueError):
    """The payload does not fit the event. `field` is the name of the wrong field, if there is one."""

    def __init__(self, message: str = "", field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class DeadlineExceeded(Error, TimeoutError):
    """A fire was stopped at its deadline. `outcome` is what was decided so far."""

    def __init__(self, message: str = "", outcome: Outcome | None = None) -> None:
        super().__init__(message)
        self.outcome = outcome


class Denied(Error, PermissionError):
    """A hook denied what was about to happen."""

    def __init__(self, reason: str | None = None, by: str | None = None, outcome: Outcome | None = None) -> None:
        super().__init__(reason or "denied")
        self.reason, self.by, self.outcome = reason, by, outcome


for _item in (Error, ConfigError, Untrusted, RegisterError, EventError, DeadlineExceeded, Denied):
    _item.__module__ = "crosier"
del _item
