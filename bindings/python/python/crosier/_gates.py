"""What a host does with an event, as values to `match` on."""

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
    """Have a person decide; if they agree, do it with this input (None: the original one)."""

    reason: str | None = None
    input: Any = None


@dataclass(frozen=True)
class Allow:
    """Do it without asking a person, with this input (None: the original one)."""

    input: Any = None


@dataclass(frozen=True)
class Proceed:
    """No hook decided: continue as the host would, with this input or output (None: the original one)."""

    input: Any = None


@dataclass(frozen=True)
class Halt:
    """Do not do it, and stop the loop."""

    reason: str
    by: str = ""


@dataclass(frozen=True)
class Resume:
    """The loop wants to stop: continue; the reason is for the model."""

    reason: str
    by: str = ""


Gate = Union[Deny, Ask, Allow, Proceed, Halt, Resume]

for _item in (Deny, Ask, Allow, Proceed, Halt, Resume):
    _item.__module__ = "crosier"
del _item
