"""A hook's event is its own, whatever the hooks before it did with theirs."""

import asyncio
import gc
import threading
import weakref

import pytest

from crosier import Engine, HookEvent, deny

CALL = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls", "deep": [{"a": [1]}]}}
KINDS = pytest.mark.parametrize("inline", [True, False], ids=["inline", "def"])


def nothing(event):
    pass


def replaces_a_deep_item(event):
    event["tool_input"]["deep"][0]["a"][0] = 2


def replaces_by_an_equal_item(event):
    event["tool_input"]["deep"][0]["a"][0] = True


def adds_a_deep_item(event):
    event.args["deep"].append(9)


def changes_the_order(event):
    event["tool_name"] = event.pop("tool_name")


def exchanges_values(event):
    event["cwd"], event["session_id"] = event["session_id"], event["cwd"]


def empties_it(event):
    event.clear()


def adds_a_field(event):
    event["more"] = 1


def removes_a_field(event):
    del event["cwd"]


def replaces_the_input(event):
    event["tool_input"] = {}


def replaces_a_container_by_its_copy(event):
    event["tool_input"]["deep"] = list(event["tool_input"]["deep"])


def changes_its_class(event):
    class Other(HookEvent):
        __slots__ = ()

    try:
        event.__class__ = Other
    except TypeError:
        pass


def changes_it_and_raises(event):
    event["tool_input"].clear()
    raise ValueError("afterwards")


CHANGES = [
    replaces_a_deep_item, replaces_by_an_equal_item, adds_a_deep_item, changes_the_order, exchanges_values, empties_it,
    adds_a_field, removes_a_field, replaces_the_input, replaces_a_container_by_its_copy, changes_its_class,
    changes_it_and_raises,
]  # fmt: skip


def second_sees(first, inline):
    """The event of the second hook, without its time."""
    seen = []

    def look(event):
        leaf = event["tool_input"]["deep"][0]["a"][0]
        seen.append((type(event), leaf is True, [(name, value) for name, value in event.items() if name != "timestamp"]))

    with Engine() as engine:
        engine.hook("PreToolUse", name="first", priority=1, inline=inline)(first)
        engine.hook("PreToolUse", name="second", priority=2, inline=inline)(look)
        engine.fire_sync("PreToolUse", CALL)
    return [(kind, is_true, [(name, "" if name == "cwd" else value) for name, value in items]) for kind, is_true, items in seen]


@KINDS
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_is_not_seen_by_the_next_hook(change, inline):
    assert second_sees(change, inline) == second_sees(nothing, inline)


@pytest.mark.parametrize(
    "part",
    [
        lambda event: event,
        lambda event: event["tool_input"],
        lambda event: event["tool_input"]["deep"],
        lambda event: event["tool_input"]["deep"][0]["a"],
        lambda event: event["tool_input"].items(),
        lambda event: iter(event["tool_input"]["deep"]),
        lambda event: event["tool_input"].update,
    ],
    ids=["event", "input", "list", "deep list", "view", "iterator", "method"],
)
@KINDS
def test_what_a_hook_keeps_is_not_given_to_the_next_one(engine, part, inline):
    kept, seen = [], []

    def keep(event):
        kept.append((part(event), id(event["tool_input"]["deep"][0]["a"])))

    engine.hook("PreToolUse", priority=1, inline=inline)(keep)
    engine.hook("PreToolUse", priority=2, inline=inline)(lambda event: seen.append(id(event["tool_input"]["deep"][0]["a"])))
    engine.fire_sync("PreToolUse", CALL)
    assert kept[0][1] != seen[0]


def test_a_thread_that_a_hook_started_changes_only_its_event(engine):
    go, done, seen = threading.Event(), threading.Event(), []

    def later(event):
        def change():
            go.wait(10)
            event["tool_input"].clear()
            done.set()

        threading.Thread(target=change).start()

    def look(event):
        go.set()
        done.wait(10)
        seen.append(dict(event["tool_input"]))

    engine.hook("PreToolUse", priority=1, inline=True)(later)
    engine.hook("PreToolUse", priority=2, inline=True)(look)
    engine.fire_sync("PreToolUse", CALL)
    assert seen == [CALL["tool_input"]]


async def test_a_coroutine_that_goes_on_keeps_its_event(engine):
    seen, tasks = [], []

    async def first(event):
        async def later():
            await asyncio.sleep(0)
            event["tool_input"].clear()

        tasks.append(asyncio.ensure_future(later()))

    async def second(event):
        await tasks[0]
        seen.append(dict(event["tool_input"]))

    engine.hook("PreToolUse")(first)
    engine.hook("PreToolUse")(second)
    await engine.fire("PreToolUse", CALL)
    assert seen == [CALL["tool_input"]]


def test_the_caller_s_payload_is_never_changed(engine):
    payload = {"tool_name": "Bash", "tool_input": {"deep": [{"a": [1]}]}}
    for number in range(3):
        engine.hook("PreToolUse", name=f"h{number}", inline=True)(lambda event: event["tool_input"]["deep"][0]["a"].append(2))
    engine.fire_sync("PreToolUse", payload)
    assert payload == {"tool_name": "Bash", "tool_input": {"deep": [{"a": [1]}]}}


def test_what_a_hook_put_into_its_event_does_not_outlive_the_fire(engine):
    class Thing:
        pass

    left = []

    def put(event):
        event["thing"] = Thing()
        left.append(weakref.ref(event["thing"]))

    engine.hook("PreToolUse", name="a", inline=True)(put)
    engine.hook("PreToolUse", name="b", inline=True)(put)
    engine.fire_sync("PreToolUse", CALL)
    gc.collect()
    assert [thing() for thing in left] == [None, None]


def test_a_hook_that_takes_a_context_and_one_that_does_not(engine):
    seen = []

    def with_context(event, context):
        event["tool_input"].clear()
        seen.append(context.hook)

    engine.hook("PreToolUse", name="a", inline=True)(with_context)
    engine.hook("PreToolUse", name="b", inline=True)(lambda event: seen.append(dict(event.args)))
    engine.hook("PreToolUse", name="c", inline=True)(lambda event: deny(event.args["command"]))
    assert engine.fire_sync("PreToolUse", CALL).reason == "ls"
    assert seen == ["a", CALL["tool_input"]]


def test_base_fields_are_those_of_each_event(engine):
    seen = []
    engine.hook("PreToolUse", inline=True)(lambda event: seen.append(event))
    for more in ({"session_id": "one"}, {"session_id": "two"}, {"permission_mode": "plan"}, {}, {"agent_id": "a"}, {"cwd": "/x"}):
        engine.fire_sync("PreToolUse", {"tool_name": "Bash", "tool_input": {}, **more})
        assert all(seen[-1][name] == value for name, value in more.items())
        assert ("permission_mode" in seen[-1]) == ("permission_mode" in more)
        assert seen[-1]["hook_event_name"] == "PreToolUse" and seen[-1].timestamp.year > 2000
