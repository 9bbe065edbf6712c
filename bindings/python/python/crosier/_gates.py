"""What to do with an event, as values to `match` on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union


@dataclass(frozen=True)
class Deny:
    """Do not do it; the reason is for the model."""

    reason: str
    by: str = ""


@dataclass(frozen=True)
class Ask:
    """Have a person decide; if they agree, do it with this input (none: the one it had)."""

    reason: str | None = None
    input: Any = None


@dataclass(frozen=True)
class Allow:
    """Do it without asking a person, with this input (none: the one it had)."""

    input: Any = None


@dataclass(frozen=True)
class Proceed:
    """No hook minds: go on as the host would, with this input or output (none: the one it had)."""

    input: Any = None


@dataclass(frozen=True)
class Halt:
    """Do not do it, and stop the loop."""

    reason: str
    by: str = ""


@dataclass(frozen=True)
class Resume:
    """The loop wants to stop: go on; the reason is for the model."""

    reason: str
    by: str = ""


Gate = Union[Deny, Ask, Allow, Proceed, Halt, Resume]

for _item in (Deny, Ask, Allow, Proceed, Halt, Resume):
    _item.__module__ = "crosier"
del _item
