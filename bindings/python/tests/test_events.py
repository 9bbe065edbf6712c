"""The types of events."""

import json
from pathlib import Path

import pytest

import crosier
from crosier import events

SCHEMA = Path(__file__).resolve().parents[3] / "schema/event.json"
EVENTS = json.loads(SCHEMA.read_text())["$defs"]


def value(field):
    kinds = field.get("type", "object")
    example = {"string": "text", "boolean": True, "object": {}}[kinds if isinstance(kinds, str) else kinds[0]]
    return field.get("examples", [example])[0]


@pytest.mark.parametrize("name", EVENTS)
def test_a_hook_gets_an_event_of_its_type(name):
    engine, seen = crosier.Engine(), []
    engine.hook(name, observe=True, name="look", inline=True)(seen.append)
    properties = EVENTS[name]["properties"]
    needed = {field: value(properties[field]) for field in EVENTS[name]["required"]}
    engine.fire_sync(name, needed)
    (event,) = seen
    assert isinstance(event, getattr(events, name))
    assert [other for other in EVENTS if isinstance(event, getattr(events, other))] == [name]
    for field in properties:  # what is optional and absent is None, and never an AttributeError
        assert getattr(event, field) == event.get(field)


def test_an_event_is_made_for_a_test_of_a_hook():
    event = events.PreToolUse(tool_name="Bash", tool_input={"command": "ls"})
    assert (event.hook_event_name, event.args, event.tool_use_id) == ("PreToolUse", {"command": "ls"}, None)
    assert isinstance(event, crosier.HookEvent)
    assert not isinstance(event, events.PostToolUse)
    assert not isinstance({"hook_event_name": "PreToolUse"}, events.PreToolUse)
    assert events.Stop.from_dict({"stop_hook_active": True}).hook_event_name == "Stop"
