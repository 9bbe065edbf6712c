"""The edges of the interface: signatures, defaults, what is refused and how, what is garbage."""

import asyncio
import collections
import copy
import datetime
import decimal
import enum
import gc
import inspect
import math
import pickle
import sys
import threading
import time
import weakref

import pytest

import crosier
from crosier import Deny, Engine, deny

LS = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def signature(function):
    return {p.name: (p.kind.name, p.default) for p in inspect.signature(function).parameters.values() if p.name != "self"}


# --- Signatures ---


def test_signatures_are_those_of_the_interface():
    none, keyword = inspect.Parameter.empty, "KEYWORD_ONLY"
    options = {"folder": (keyword, "."), "env": (keyword, None), "timing": (keyword, False)}
    assert signature(Engine) == {"config": ("POSITIONAL_OR_KEYWORD", None), **options}
    assert signature(Engine.load) == {"paths": ("VAR_POSITIONAL", none), **options}
    hook = {
        "event": ("POSITIONAL_OR_KEYWORD", none), "matcher": (keyword, None), "name": (keyword, None),
        "priority": (keyword, 100), "timeout": (keyword, 30.0), "on_error": (keyword, None), "parallel": (keyword, False),
        "observe": (keyword, False), "guard": (keyword, False), "agent_id": (keyword, None), "inline": (keyword, False),
    }  # fmt: skip
    assert signature(Engine.hook) == hook
    assert {**signature(crosier.Scope.hook), "agent_id": (keyword, None)} == hook
    fire = {
        "event": ("POSITIONAL_ONLY", none), "payload": ("POSITIONAL_ONLY", None), "agent_id": (keyword, None),
        "deadline": (keyword, None), "fields": ("VAR_KEYWORD", none),
    }  # fmt: skip
    for name in ("fire", "fire_sync", "recheck", "recheck_sync"):
        assert signature(getattr(Engine, name)) == fire, name
    assert signature(Engine.scope) == {"agent_id": ("POSITIONAL_OR_KEYWORD", none), "hooks": ("POSITIONAL_OR_KEYWORD", None)}
    assert signature(Engine.messages) == {"maxsize": (keyword, 1024)}
    explain = {"event": ("POSITIONAL_OR_KEYWORD", none), "tool": (keyword, None), "agent_id": (keyword, None)}
    assert signature(Engine.explain) == explain
    for name in ("enable", "disable", "is_enabled"):
        assert signature(getattr(Engine, name)) == {"name": ("POSITIONAL_OR_KEYWORD", none)}
    assert signature(Engine.close) == {}


def test_everything_has_a_docstring():
    for name in crosier.__all__:
        value = getattr(crosier, name)
        assert name == "Gate" or value.__doc__, name
    for owner in (Engine, crosier.Scope, crosier.Messages, crosier.Outcome):
        for name, member in inspect.getmembers(owner):
            if not name.startswith("_") and (callable(member) or inspect.isdatadescriptor(member)):
                assert member.__doc__, f"{owner.__name__}.{name}"


def test_exceptions_are_what_python_has_for_it():
    for name, bases in {
        "ConfigError": ("Error", ValueError), "RegisterError": ("Error", ValueError), "EventError": ("Error", ValueError),
        "Untrusted": ("ConfigError",), "DeadlineExceeded": ("Error", TimeoutError), "Denied": ("Error", PermissionError),
    }.items():  # fmt: skip
        found = getattr(crosier, name)
        for base in bases:
            assert issubclass(found, getattr(crosier, base) if isinstance(base, str) else base)
        assert found.__module__ == "crosier" and found.__qualname__ == name
    assert crosier.Cancelled is asyncio.CancelledError
    assert crosier.ConfigError("x").problems[0]["message"] == "x" and crosier.EventError("x").field is None


def test_an_engine_can_be_subclassed():
    class Mine(Engine):
        def __init__(self, word):
            super().__init__({"hooks": {}})
            self.word = word

    class Half(Engine):
        def __init__(self):
            pass

    engine = Mine("x")
    engine.hook("PreToolUse", name="h")(lambda event: deny(engine.word))
    assert engine.fire_sync("PreToolUse", LS).reason == "x"
    with pytest.raises(crosier.Error):
        Half().fire_sync("PreToolUse", LS)


# --- Payloads ---


class Word(enum.Enum):
    PRE = "PreToolUse"


def test_payload_and_fields_are_one_event(engine):
    seen = []
    engine.hook("PreToolUse", inline=True)(lambda event: seen.append(event))
    engine.fire_sync("PreToolUse", {"tool_name": "A", "tool_input": {}}, tool_name="B", extra=1, event=2, payload=3)
    assert (seen[0].tool_name, seen[0]["extra"], seen[0]["event"], seen[0]["payload"]) == ("B", 1, 2, 3)
    engine.fire_sync(Word.PRE, collections.UserDict(LS))
    assert seen[1].tool_name == "Bash"
    engine.fire_sync("PreToolUse", LS, agent_id="me", session_id="s", cwd="/x")
    assert (seen[2].agent_id, seen[2].session_id, seen[2].cwd) == ("me", "s", "/x")
    engine.fire_sync("PreToolUse", {**LS, "agent_id": "theirs"})
    assert seen[3].agent_id == "theirs"
    with pytest.raises(TypeError):
        engine.fire_sync(event="PreToolUse", payload=LS)


@pytest.mark.parametrize("value", [
    b"x", bytearray(b"x"), math.nan, -math.inf, datetime.datetime(2020, 1, 1), datetime.date(2020, 1, 1), {1, 2},
    frozenset(), decimal.Decimal("1"), 1j, Word.PRE, range(3), lambda: None, {b"x": 1}, {None: 1}, {(1, 2): 1}, Ellipsis,
])  # fmt: skip
@pytest.mark.parametrize("how", ["inline", "def", "async", "command"])
def test_what_json_cannot_say_is_refused_wherever_it_is(value, how):
    async def later(event):
        return None

    config = {"hooks": {"PreToolUse": [{"name": "c", "type": "command", "command": "true"}]}} if how == "command" else None
    with Engine(config) as engine:
        if how != "command":
            engine.hook("PreToolUse", inline=how == "inline")(later if how == "async" else lambda event: None)
        for act in (engine.fire_sync, lambda *given, **fields: asyncio.run(engine.fire(*given, **fields))):
            with pytest.raises(crosier.EventError) as caught:
                act("PreToolUse", {"tool_name": "x", "tool_input": {"a": value}})
            assert caught.value.field.startswith("tool_input") and "tool_input" in str(caught.value)
            with pytest.raises(crosier.EventError) as caught:
                act("PreToolUse", LS, odd=value)
            assert caught.value.field.startswith("odd")
            with pytest.raises(crosier.EventError):
                act("PreToolUse", {**LS, 3: "x"})


def test_integers_keep_their_digits_everywhere(tmp_path):
    number, sign = 10**400 + 7, -(2**63) - 1
    script = tmp_path / "say.py"
    script.write_text("import json,sys; e=json.load(sys.stdin); print(json.dumps({'reason': str(e['tool_input']['n']), 'decision': 'deny'}))")
    config = {"hooks": {"PreToolUse": [{"name": "c", "type": "command", "argv": [sys.executable, str(script)]}]}}
    with Engine(config) as engine:
        assert engine.fire_sync("PreToolUse", tool_name="x", tool_input={"n": number}).reason == str(number)
        assert engine.fire_sync("PreToolUse", tool_name="x", tool_input={"n": sign}).reason == str(sign)
        engine.disable("c")
        engine.hook("PreToolUse", name="w", priority=1)(lambda event: {"updated_input": {"n": event.tool_input["n"] + 1}})
        assert engine.fire_sync("PreToolUse", tool_name="x", tool_input={"n": number}).updated_input == {"n": number + 1}
        assert engine.fire_sync("PreToolUse", tool_name="x", tool_input={"n": True, "f": 1e300}).updated_input["n"] == 2


def test_a_payload_that_changes_during_the_fire_does_not_change_the_event(engine):
    given, seen = {"tool_name": "Bash", "tool_input": {"command": "ls", "list": [1]}}, []

    @engine.hook("PreToolUse", name="a", inline=True, priority=1)
    def first(event):
        given["tool_input"]["command"] = "rm -rf /"
        given["tool_input"]["list"].append(2)
        event.tool_input["command"] = "mine"
        event["tool_name"] = "Other"

    for name, inline in (("b", True), ("c", False)):
        engine.hook("PreToolUse", name=name, inline=inline)(lambda event: seen.append((event.tool_name, event.tool_input)))
    engine.fire_sync("PreToolUse", given)
    assert seen == [("Bash", {"command": "ls", "list": [1]})] * 2


def test_a_rewrite_belongs_to_the_outcome_alone(engine):
    kept = {"command": "rewritten", "deep": {"a": [1]}}
    engine.hook("PreToolUse", name="w", inline=True)(lambda event: {"updated_input": kept})
    outcome = engine.fire_sync("PreToolUse", LS)
    kept["deep"]["a"].append(2)
    outcome.updated_input["deep"]["a"].append(3)
    assert outcome.updated_input == {"command": "rewritten", "deep": {"a": [1]}}


# --- Outcomes and gates ---


def test_outcomes_are_made_copied_and_told_apart(engine):
    engine.hook("PreToolUse", name="h", inline=True)(lambda event: deny("r", updated_input={"x": 1}))
    outcome = engine.fire_sync("PreToolUse", LS)
    assert copy.copy(outcome) == outcome == copy.deepcopy(outcome) == pickle.loads(pickle.dumps(outcome))
    assert "reason='r'" in repr(outcome)
    made = crosier.Outcome("PreToolUse", "deny", "because", "me")
    assert (made.decision, made.reason, made.by, made.denied, made.gate) == ("deny", "because", "me", True, Deny("because", "me"))
    assert made.reports == [] and made.context == [] and made.by_failure is False
    with pytest.raises(TypeError):
        crosier.Outcome("PreToolUse", nonsense=1)
    with pytest.raises(TypeError):
        crosier.Outcome("PreToolUse", "deny", decision="deny")
    match outcome:
        case crosier.Outcome(event="PreToolUse", decision="deny", reason=reason):
            assert reason == "r"
        case _:
            raise AssertionError


def test_every_gate_is_told_by_match(engine):
    def told(outcome):
        match outcome.gate:
            case crosier.Deny(reason, by):
                return "deny", reason, by
            case crosier.Ask():
                return ("ask",)
            case crosier.Halt(reason):
                return "halt", reason
            case crosier.Resume(reason):
                return "resume", reason
            case crosier.Allow():
                return ("allow",)
            case crosier.Proceed(input):
                return "proceed", input

    def said(reply, event="PreToolUse", **fields):
        with Engine() as made:
            made.hook(event, name="h", inline=True)(lambda event: reply)
            return told(made.fire_sync(event, fields or LS))

    assert said(deny("x")) == ("deny", "x", "h")
    assert said(crosier.ask("x")) == ("ask",)
    assert said(crosier.allow()) == ("allow",)
    assert said(None) == ("proceed", None)
    assert said({"updated_input": {"a": 1}}) == ("proceed", {"a": 1})
    assert said({"continue": False, "stopReason": "s"}) == ("halt", "s")
    assert said({"decision": "block", "reason": "more"}, "Stop", stop_hook_active=False) == ("resume", "more")


def test_raise_for_denial_keeps_everything(engine):
    engine.hook("PreToolUse", name="h", inline=True)(lambda event: deny())
    with pytest.raises(crosier.Denied) as caught:
        engine.fire_sync("PreToolUse", LS).raise_for_denial()
    error = caught.value
    assert str(error) and error.by == "h" and error.outcome.denied
    again = pickle.loads(pickle.dumps(error))
    assert (again.by, again.reason, str(again)) == (error.by, error.reason, str(error)) and again.outcome == error.outcome


# --- Registering ---


def test_a_name_is_the_qualified_name(engine):
    @engine.hook("PreToolUse")
    def mine(event):
        return deny("x")

    assert engine.is_enabled(mine.__qualname__)
    with pytest.raises(crosier.RegisterError, match="mine"):
        engine.hook("PreToolUse")(mine)
    with pytest.raises(crosier.RegisterError):
        engine.hook("PostToolUse", name=mine.__qualname__)(lambda event: None)
    engine.hook("PreToolUse", agent_id="a")(mine)  # another scope
    assert not engine.is_enabled("nobody")


def test_inline_refuses_a_timeout_even_the_usual_one(engine):
    with pytest.raises(crosier.RegisterError, match="timeout"):
        engine.hook("PreToolUse", inline=True, timeout=30.0)(lambda event: None)


@pytest.mark.parametrize("options", [
    {"priority": "x"}, {"priority": 2**40}, {"priority": 1.5}, {"timeout": float("nan")}, {"timeout": -1}, {"matcher": 3},
    {"name": 3}, {"on_error": 3}, {"agent_id": 3}, {"agent_id": ""}, {"priority": True},
])  # fmt: skip
def test_an_option_of_the_wrong_kind_is_a_register_error(engine, options):
    with pytest.raises(crosier.RegisterError):
        engine.hook("PreToolUse", **options)(lambda event: None)


def test_hooks_may_register_and_take_out_hooks(engine):
    @engine.hook("PreToolUse", name="first", inline=True)
    def first(event):
        engine.hook("PreToolUse", name="second")(lambda event: deny("second"))
        engine.unregister("first")

    assert not engine.fire_sync("PreToolUse", LS).denied
    assert engine.fire_sync("PreToolUse", LS).by == "second"


# --- Deadlines ---


@pytest.mark.parametrize("kind", ["def", "async", "command"])
@pytest.mark.parametrize("how", ["sync", "await", "sync inside a loop"])
def test_a_deadline_tells_what_was_decided(kind, how):
    release = threading.Event()

    async def later(event):
        await asyncio.sleep(30)

    config = {"hooks": {"PreToolUse": [{"name": "late", "type": "command", "command": "sleep 64"}]}} if kind == "command" else None
    with Engine(config) as engine:
        engine.hook("PreToolUse", name="w", priority=1, inline=True)(
            lambda event: crosier.ask("sure?", updated_input={"command": "new"})
        )
        if kind != "command":
            engine.hook("PreToolUse", name="late")(later if kind == "async" else lambda event: (release.wait(30), None)[1])

        async def inside():
            return engine.fire_sync("PreToolUse", LS, deadline=0.2)

        act = {
            "sync": lambda: engine.fire_sync("PreToolUse", LS, deadline=0.2),
            "await": lambda: asyncio.run(engine.fire("PreToolUse", LS, deadline=0.2)),
            "sync inside a loop": lambda: asyncio.run(inside()),
        }[how]
        started = time.monotonic()
        with pytest.raises(crosier.DeadlineExceeded) as caught:
            act()
        assert time.monotonic() - started < 10
        outcome = caught.value.outcome
        assert (outcome.decision, outcome.updated_input) == ("ask", {"command": "new"})
        release.set()
        with pytest.raises(crosier.EventError):
            engine.fire_sync("PreToolUse", LS, deadline=float("nan"))


def test_a_deadline_that_is_kept_changes_nothing(engine):
    engine.hook("PreToolUse", name="h")(lambda event: deny("x"))
    assert engine.fire_sync("PreToolUse", LS, deadline=20).denied
    assert asyncio.run(engine.fire("PreToolUse", LS, deadline=20)).denied


# --- Cancelling ---


async def test_wait_for_and_timeouts_cancel_a_fire(engine):
    seen = []

    @engine.hook("PreToolUse")
    async def hook(event):
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(engine.fire("PreToolUse", LS), 0.05)
    assert seen == ["cancelled"]


async def test_a_hook_that_swallows_its_cancellation_does_not_hide_it(engine):
    @engine.hook("PreToolUse")
    async def hook(event):
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return crosier.allow()

    task = asyncio.create_task(engine.fire("PreToolUse", LS))
    await asyncio.sleep(0.02)
    task.cancel()
    try:
        outcome = await task
    except asyncio.CancelledError:
        return
    assert outcome.decision == "allow"  # as `await hook(event)` itself would end


# --- Messages ---


async def test_messages_of_several_loops_and_limits(engine):
    engine.hook("PreToolUse", name="h", inline=True)(lambda event: None)
    for size in (0, -1, "x", 1.5, None):
        with pytest.raises((ValueError, TypeError)):
            engine.messages(maxsize=size)
    async with engine.messages() as messages:
        await engine.fire("PreToolUse", LS)
        first = await asyncio.wait_for(anext(messages), 5)
        assert first["subtype"] == "hook_started" and first["hook_event"] == "PreToolUse"
        assert messages.missed == 0
        waiting = asyncio.create_task(anext(messages))
        assert (await asyncio.wait_for(waiting, 5))["subtype"] == "hook_response"
        waiting = asyncio.create_task(anext(messages))
        await asyncio.sleep(0.02)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await engine.fire("PreToolUse", LS)
        assert (await asyncio.wait_for(anext(messages), 5))["subtype"] == "hook_started"
    with pytest.raises(StopAsyncIteration):
        await anext(messages)


def test_closing_from_another_thread_ends_a_for(engine):
    messages, got = engine.messages(), []
    thread = threading.Thread(target=lambda: got.extend(messages))
    thread.start()
    time.sleep(0.05)
    engine.close()
    thread.join(5)
    assert not thread.is_alive()


# --- Scopes ---


def test_a_scope_ends_when_it_is_left_and_says_whose_it_is(engine):
    with pytest.raises(ZeroDivisionError):
        with engine.scope("a") as scope:
            assert scope.agent_id == "a"
            scope.hook("PreToolUse", name="x", inline=True)(lambda event: deny(event.agent_id))
            assert scope.fire_sync("PreToolUse", LS).reason == "a"
            assert scope.recheck_sync("PreToolUse", LS).decision is None
            assert engine.explain("PreToolUse", tool="Bash", agent_id="a")["plan"][0]["scope"] == "a"
            with pytest.raises(TypeError):
                scope.fire_sync("PreToolUse", LS, agent_id="b")
            1 / 0
    assert not engine.fire_sync("PreToolUse", LS, agent_id="a").denied
    with pytest.raises(crosier.ConfigError):
        engine.scope("a", {"PreTolUse": []})
    with pytest.raises(crosier.ConfigError):
        engine.scope("a", {"PreToolUse": [{"command": b"x"}]})
    for wrong in (3, None, ""):
        with pytest.raises((crosier.RegisterError, TypeError)):
            engine.scope(wrong)


# --- Garbage ---


def collected(reference):
    for _ in range(3):
        gc.collect()
    return reference() is None


@pytest.mark.parametrize("kind", ["def", "inline", "async", "scope", "method", "agent"])
def test_an_engine_whose_hooks_refer_to_it_is_garbage(kind):
    class Big:
        pass

    def make():
        engine, big = Engine(), Big()

        def hook(event):
            return deny(str(big and engine is not None))

        async def later(event):
            return hook(event)

        class Owner:
            def __init__(self):
                self.engine, self.big = engine, big

            def guard(self, event):
                return deny("x")

        if kind == "scope":
            scope = engine.scope("a")
            scope.hook("PreToolUse")(lambda event: hook(event) if scope else None)
        elif kind == "method":
            owner = Owner()
            engine.hook("PreToolUse")(owner.guard)
        else:
            function = later if kind == "async" else hook
            engine.hook("PreToolUse", inline=kind == "inline", agent_id="a" if kind == "agent" else None)(function)
        assert engine.fire_sync("PreToolUse", LS, agent_id="a").denied
        assert asyncio.run(engine.fire("PreToolUse", LS, agent_id="a")).denied
        return weakref.ref(engine), weakref.ref(big)

    engine, big = make()
    assert collected(engine) and collected(big)


def test_an_outcome_kept_by_a_hook_does_not_keep_the_engine():
    def make():
        engine, outcomes = Engine(), []
        engine.hook("PreToolUse", name="w", inline=True)(lambda event: {"updated_input": {"n": len(outcomes)}})
        engine.hook("PreToolUse", name="k", inline=True)(lambda event: outcomes.append(engine) if False else None)
        outcomes.append(engine.fire_sync("PreToolUse", LS))
        return weakref.ref(engine), outcomes[0]

    engine, outcome = make()
    assert collected(engine) and outcome.updated_input == {"n": 0}


async def test_a_fire_under_way_keeps_its_engine():
    def begin():
        engine = Engine()
        started = asyncio.Event()

        @engine.hook("PreToolUse")
        async def hook(event):
            started.set()
            await asyncio.sleep(0.1)
            return deny(str(engine.closed))

        return asyncio.create_task(engine.fire("PreToolUse", LS)), started, weakref.ref(engine)

    task, started, engine = begin()
    await started.wait()
    for _ in range(3):
        gc.collect()
    assert (await task).reason == "False"
    del task
    assert collected(engine)


def test_hooks_that_were_taken_out_are_garbage(engine):
    class Guard:
        def __call__(self, event):
            return None

    references = []
    for number in range(100):
        guard = Guard()
        references.append(weakref.ref(guard))
        engine.hook("PreToolUse", name=f"h{number}", inline=True)(guard)
        engine.fire_sync("PreToolUse", LS)
        engine.unregister(f"h{number}")
    del guard
    engine.fire_sync("PreToolUse", LS)
    gc.collect()
    assert sum(reference() is not None for reference in references) <= 1


def test_collecting_while_threads_fire():
    """The collector runs at any moment, on any thread."""
    engine, stop, wrong = Engine(), threading.Event(), []
    engine.hook("PreToolUse", name="i", inline=True)(lambda event: None if engine else None)
    engine.hook("PreToolUse", name="d")(lambda event: deny("x") if engine else None)

    def work():
        while not stop.is_set():
            if not engine.fire_sync("PreToolUse", LS).denied:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    for number in range(200):
        gc.collect()
        made = Engine()
        made.hook("Stop")(lambda event, made=made: None)
        del made
    stop.set()
    [thread.join(20) for thread in threads]
    assert not wrong


# --- The only hook of a fire gets the copy itself ---


@pytest.mark.parametrize("kind", ["inline", "def", "async"])
def test_a_hook_that_is_called_twice_has_its_event_both_times(engine, kind):
    seen = []

    def hook(event, context):
        seen.append((context.phase, event.tool_input["command"], event.hook_event_name))
        return {"async": True} if context.phase == 1 else deny("second")

    async def later(event, context):
        return hook(event, context)

    engine.hook("PreToolUse", name="h", inline=kind == "inline")(later if kind == "async" else hook)
    assert engine.fire_sync("PreToolUse", LS).reason == "second"
    assert seen == [(1, "ls", "PreToolUse"), (2, "ls", "PreToolUse")]


def test_the_callers_dict_is_never_the_hooks(engine):
    given, kept = {"tool_name": "Bash", "tool_input": {"list": [{"a": 1}], "tuple": (1, [2])}, "tool_response": [1]}, []

    @engine.hook("PostToolUse", inline=True)
    def hook(event):
        kept.append(event)
        event.tool_input["list"][0]["a"] = 2
        event.tool_input["tuple"][1].append(3)
        event.tool_response.append(2)

    for _ in range(2):
        engine.fire_sync("PostToolUse", given)
    assert given == {"tool_name": "Bash", "tool_input": {"list": [{"a": 1}], "tuple": (1, [2])}, "tool_response": [1]}
    assert kept[0] == {**kept[1], "timestamp": kept[0]["timestamp"]} and kept[0].tool_input["tuple"] == [1, [2, 3]]
    assert kept[0].tool_output == "[1]"


@pytest.mark.parametrize("reply", [
    deny("x"), deny(), crosier.ask("x"), crosier.ask(), crosier.HookResult(False), crosier.HookResult.deny("x"),
    deny("x", system_message="m"), deny("x", updated_input={"a": 1}), crosier.ask("x", updated_input={"a": 1}),
    crosier.HookResult(metadata={"reason": "m"}, allowed=False), crosier.allow(), crosier.allow("x"), crosier.HookResult(),
    crosier.inject("x"), deny("\ud800"), {"updated_input": {"a": "\ud800", "b": 10**30}}, {"updated_input": {}},
])  # fmt: skip
def test_quick_ways_give_what_the_grammar_gives(reply):
    """What is read without the reply grammar is what the grammar reads: a subclass has no quick way."""

    class Slow(crosier.HookResult):
        pass

    def outcome(answer):
        with Engine() as engine:
            engine.hook("PreToolUse", name="h", inline=True)(lambda event: answer)
            return engine.fire_sync("PreToolUse", LS)

    slow = {**reply, "suppressOutput": None} if isinstance(reply, dict) else copy.copy(reply)
    if not isinstance(reply, dict):
        slow.__class__ = Slow
    assert outcome(reply) == outcome(slow)


# --- Loops, tasks and messages ---


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "async"])
def test_a_hook_may_look_at_the_task_that_fires(engine, inline):
    seen = []

    def look(event):
        task = asyncio.current_task()
        seen.append((repr(task), task.get_coro().cr_running))

    async def look_twice(event):
        look(event)
        await asyncio.sleep(0)
        look(event)

    engine.hook("PreToolUse", inline=inline)(look if inline else look_twice)

    async def main():
        return await asyncio.create_task(engine.fire("PreToolUse", LS))

    outcome = asyncio.run(main(), debug=True)
    assert outcome.reports[0].failure is None
    assert [is_running for _, is_running in seen] == [True] * (1 if inline else 2)


def test_a_fire_that_runs_is_not_awaited_a_second_time(engine):
    fires, raised = [], []

    def again(event):
        with pytest.raises(ValueError, match="already executing") as caught:
            fires[0].send(None)
        raised.append(caught.value)

    engine.hook("PreToolUse", inline=True)(again)

    async def main():
        fires.append(engine.fire("PreToolUse", LS))
        await fires[0]

    asyncio.run(main())
    assert len(raised) == 1


def test_inside_a_loop_only_coroutines_leave_the_calling_thread(engine):
    local, threads = threading.local(), {}
    local.word = "mine"

    def here(event):
        threads["inline"] = (threading.get_ident(), getattr(local, "word", None))

    async def elsewhere(event):
        await asyncio.sleep(0)
        threads["async"] = (threading.get_ident(), asyncio.get_running_loop())
        return deny("by a coroutine")

    engine.hook("PreToolUse", priority=1, inline=True)(here)
    engine.hook("PreToolUse", priority=2)(elsewhere)

    async def main():
        assert engine.fire_sync("PreToolUse", LS).reason == "by a coroutine"
        assert threads["inline"] == (threading.get_ident(), "mine")
        assert threads["async"][0] != threading.get_ident() and threads["async"][1] is not asyncio.get_running_loop()
        assert threads["async"][1].is_closed()

    asyncio.run(main())


def test_inside_a_loop_parallel_coroutines_share_one_and_late_ones_are_cancelled(engine):
    loops, ended = [], []

    async def meet(event):
        loops.append(asyncio.get_running_loop())
        while len(loops) < 2:
            await asyncio.sleep(0)

    async def late(event):
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append(threading.get_ident())

    engine.hook("PreToolUse", name="a", parallel=True)(meet)
    engine.hook("PreToolUse", name="b", parallel=True)(meet)
    engine.hook("PostToolUse", timeout=0.05)(late)
    engine.hook("PostToolUseFailure", name="late too")(late)

    async def main():
        engine.fire_sync("PreToolUse", LS)
        assert loops[0] is loops[1]
        assert engine.fire_sync("PostToolUse", LS, tool_response="").reports[0].failure.kind == "timeout"
        assert len(ended) == 1
        with pytest.raises(crosier.DeadlineExceeded):
            engine.fire_sync("PostToolUseFailure", LS, error="x", deadline=0.05)
        assert len(ended) == 2 and threading.get_ident() not in ended

    asyncio.run(main())


def test_two_tasks_may_wait_for_messages(engine):
    engine.hook("PreToolUse", inline=True)(lambda event: None)

    async def main():
        with engine.messages() as messages:
            tasks = [asyncio.ensure_future(messages.__anext__()) for _ in range(2)]
            await asyncio.sleep(0)
            await engine.fire("PreToolUse", LS)
            told = await asyncio.wait_for(asyncio.gather(*tasks), 10)
            assert {message["subtype"] for message in told} == {"hook_started", "hook_response"}

    asyncio.run(main())


def test_messages_that_nobody_read_count_as_missed_at_the_end(engine):
    engine.hook("PreToolUse", inline=True)(lambda event: None)
    with engine.messages(maxsize=1) as messages:
        for _ in range(5):
            engine.fire_sync("PreToolUse", LS)
    assert messages.missed == 9
