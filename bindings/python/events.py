"""Writes the package's `crosier/events.py`, a type per event, from the schema of events.

    python bindings/python/events.py [--check]
"""

from __future__ import annotations

import json
import keyword
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODULE = HERE / "python/crosier/events.py"
SCHEMA = HERE.parents[1] / "schema/event.json"
KINDS = {"string": "str", "boolean": "bool", "null": "None"}
HEAD = '''"""A type for each event, so that editors and type checkers know its fields.

At run time hooks get a `HookEvent`; these types check its name, so `isinstance` and `match` tell events apart.
A field whose name is a Python keyword, and fields that a host adds, are only in the dict: `event["from"]`.

Written by bindings/python/events.py from schema/event.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ._hook import HookEvent

if TYPE_CHECKING:
    from ._hook import BaseEvent
else:

    class _Named(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, HookEvent) and value.get("hook_event_name") == cls.__name__

    class BaseEvent(HookEvent, metaclass=_Named):
        __slots__ = ()

        def __init__(self, *values: object, **fields: object) -> None:
            HookEvent.__init__(self, *values, **fields)
            for name in ("hook_event_name", "hook_type"):
                self.setdefault(name, type(self).__name__)
'''


def kind(name: str, field: dict[str, Any], required: bool) -> str:
    if name == "tool_input":
        return "dict[str, Any]"
    kinds = field.get("type")
    if kinds is None:
        return "Any"
    names = [KINDS[word] for word in ([kinds] if isinstance(kinds, str) else kinds)]
    if not required and "None" not in names:
        names.append("None")
    return " | ".join(names)


def event(name: str, definition: dict[str, Any]) -> list[str]:
    lines = ["", "", f"class {name}(BaseEvent):", f'    """When {definition["description"]}."""', ""]
    fields = {field: kind(field, about, field in definition["required"]) for field, about in definition["properties"].items()}
    fields = {"hook_event_name": f'Literal["{name}"]', "agent_id": "str | None", **fields}
    if "tool_name" in fields:
        fields.update(tool="str", args="dict[str, Any]")
    return lines + [f"    {field}: {said}" for field, said in fields.items() if not keyword.iskeyword(field)]


def module() -> str:
    events = json.loads(SCHEMA.read_text())["$defs"]
    lines = HEAD.splitlines()
    for name, definition in events.items():
        lines += event(name, definition)
    names = [f'    "{name}",' for name in events]
    lines += ["", "", "EventName = Literal[", *names, "]", "", "__all__ = [", '    "EventName",', *names, "]"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        MODULE.write_text(module())
    elif MODULE.read_text() != module():
        sys.exit("crosier/events.py is out of date: run bindings/python/events.py")
