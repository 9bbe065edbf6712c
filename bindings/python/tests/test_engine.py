"""The interface, sentence by sentence."""

import asyncio
import contextvars
import dataclasses
import gc
import pickle
import threading
import time

import pytest

import crosier
from crosier import Allow, Ask, Deny, Engine, Halt, Proceed, Resume, allow, ask, deny

LS = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def fire(engine, **fields):
    return engine.fire_sync("PreToolUse", {**LS, **fields})


# --- Hooks ---


def test_a_decorator_gives_the_function_back(engine):
    def guard(event):
        return deny("no")

    assert engine.hook("PreToolUse")(guard) is guard
    outcome = fire(engine)
    assert outcome.by.endswith("guard") and outcome.by == guard.__qualname__


def test_an_event_is_a_dict_with_attributes_and_the_hooks_own(engine):
    seen = []

    @engine.hook("PreToolUse", inline=True)
    def look(event):
        seen.append((event["tool_name"], event.tool, event.args, event.hook_event_name, event.cwd != "", event.agent_id))
        event.tool_input["command"] = "changed"

    given = {"tool_name": "Bash", "tool_input": {"command": "ls", "deep": [{"a": 1}]}}
    engine.fire_sync("PreToolUse", given)
    assert seen == [("Bash", "Bash", {"command": "changed", "deep": [{"a": 1}]}, "PreToolUse", True, None)]
    assert given["tool_input"]["command"] == "ls"
    assert isinstance(engine.fire_sync("PreToolUse", given).to_dict(), dict)


@pytest.mark.parametrize("kind", ["def", "inline", "async", "method", "class", "instance", "partial"])
def test_every_kind_of_callable(engine, kind):
    import functools

    class Guard:
        def __call__(self, event):
            return deny(kind)

        def method(self, event):
            return deny(kind)

    async def coroutine(event):
        await asyncio.sleep(0)
        return deny(kind)

    function = {
        "def": lambda event: deny(kind), "inline": lambda event: deny(kind), "async": coroutine,
        "method": Guard().method, "class": Guard, "instance": Guard(),
        "partial": functools.partial(lambda word, event: deny(word), kind),
    }[kind]  # fmt: skip
    engine.hook("PreToolUse", name="g", inline=kind == "inline")(function)
    assert (fire(engine).decision, fire(engine).reason) == ("deny", kind)
    assert asyncio.run(engine.fire("PreToolUse", LS)).reason == kind


@pytest.mark.parametrize(
    "reply, decision",
    [
        (None, None), ({}, None), (crosier.HookResult(), None), (allow(), "allow"), (crosier.HookResult.allow(), "allow"),
        (deny(), "deny"), (ask("x"), "ask"), ({"decision": "deny", "reason": "x"}, "deny"), ({"allowed": False}, "deny"),
        ({"hookSpecificOutput": {"permissionDecision": "ask"}}, "ask"),
    ],
)  # fmt: skip
def test_replies(engine, reply, decision):
    engine.hook("PreToolUse")(lambda event: reply)
    assert fire(engine).decision == decision


def test_a_reply_that_means_nothing_is_a_failure(engine):
    engine.hook("PreToolUse", name="x", on_error="abort")(lambda event: 42)
    outcome = fire(engine)
    assert outcome.denied and outcome.by_failure and outcome.reports[0].failure.kind == "bad_output"


def test_a_denial_that_cannot_be_written_still_denies(engine):
    engine.hook("PreToolUse", name="x")(lambda event: {"decision": "deny", "reason": "no", "updated_input": {"a": {1}}})
    outcome = fire(engine)
    assert outcome.denied and outcome.reports[0].failure.kind == "bad_output"


def test_a_context_as_second_parameter(engine):
    seen = []
    engine.hook("PreToolUse", name="x", timeout=5)(lambda event, context: seen.append((context.hook, context.remaining)))
    fire(engine)
    assert seen[0][0] == "x" and 0 < seen[0][1] <= 5


def test_names_are_unique_and_options_are_checked(engine):
    engine.hook("PreToolUse", name="a")(lambda event: None)
    for options in [
        {"name": "a"}, {"inline": True, "timeout": 3}, {"timeout": 0}, {"timeout": "x"}, {"on_error": "explode"},
        {"matcher": "["}, {"parallel": True, "observe": True}, {"guard": True, "observe": True},
    ]:  # fmt: skip
        with pytest.raises(crosier.RegisterError):
            engine.hook("PreToolUse", **options)(lambda event: None)
    for event in ["PreTolUse", 3]:
        with pytest.raises(crosier.RegisterError):
            engine.hook(event)(lambda event: None)
    for function in [3, lambda: None, type("NoCall", (), {})]:
        with pytest.raises(crosier.RegisterError):
            engine.hook("PreToolUse")(function)


def test_matchers_priorities_and_points(engine):
    order = []
    engine.hook("PreToolUse", name="b", priority=50)(lambda event: order.append("b"))
    engine.hook("pre:tool:Bash", name="a", priority=1)(lambda event: order.append("a"))
    engine.hook("PreToolUse", name="c", matcher="Write|Edit")(lambda event: order.append("c"))
    fire(engine)
    assert order == ["a", "b"]


def test_rewrites_chain_and_guards_judge_the_final_input(engine):
    passes = []

    @engine.hook("PreToolUse", name="guard", guard=True, priority=1)
    def guard(event, context):
        passes.append((context.pass_number, event.args["command"]))
        return deny("no rm") if "rm" in event.args["command"] else None

    engine.hook("PreToolUse", name="w")(lambda event: {"updated_input": {"command": event.args["command"] + "; rm x"}})
    outcome = fire(engine)
    assert outcome.denied and passes == [(1, "ls"), (2, "ls; rm x")]
    engine.disable("w")
    assert engine.recheck_sync("PreToolUse", tool_name="Bash", tool_input={"command": "rm"}).denied
    assert asyncio.run(engine.recheck("PreToolUse", tool_name="Bash", tool_input={"command": "rm"})).denied


def test_parallel_hooks_run_together_and_observers_see_the_outcome(engine):
    barrier, seen = threading.Barrier(3, timeout=10), []
    for name in "abc":
        engine.hook("PreToolUse", name=name, parallel=True)(lambda event: (barrier.wait(), None)[1])
    engine.hook("PreToolUse", name="o", observe=True)(lambda event: seen.append(event["outcome"]["decision"]))
    assert [report.status for report in fire(engine).reports] == ["ok"] * 4
    assert seen == [None]


async def test_parallel_coroutines_run_together(engine):
    arrived, all_there = [], asyncio.Event()

    async def hook(event):
        arrived.append(1)
        if len(arrived) == 3:
            all_there.set()
        await asyncio.wait_for(all_there.wait(), 10)

    for name in "abc":
        engine.hook("PreToolUse", name=name, parallel=True)(hook)
    outcome = await engine.fire("PreToolUse", LS)
    assert [report.status for report in outcome.reports] == ["ok"] * 3


# --- Where hooks run ---


async def test_def_runs_off_the_loop_and_async_on_it(engine):
    here, seen = threading.get_ident(), {}
    loop = asyncio.get_running_loop()
    engine.hook("PreToolUse", name="def")(lambda event: seen.update(def_=threading.get_ident()))
    engine.hook("PreToolUse", name="inline", inline=True)(lambda event: seen.update(inline=threading.get_ident()))

    @engine.hook("PreToolUse", name="async")
    async def hook(event):
        await asyncio.sleep(0.001)
        seen.update(loop=asyncio.get_running_loop(), task=asyncio.current_task(), async_=threading.get_ident())

    await engine.fire("PreToolUse", LS)
    assert seen["def_"] != here and seen["inline"] == here and seen["async_"] == here
    assert seen["loop"] is loop and seen["task"] is asyncio.current_task()


async def test_a_blocking_hook_does_not_stop_the_loop(engine):
    engine.hook("PreToolUse")(lambda event: time.sleep(0.3))
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await engine.fire("PreToolUse", LS)
    ticking.cancel()
    assert ticks >= 5


async def test_fire_sync_inside_a_running_loop(engine):
    engine.hook("PreToolUse", name="async")(hook := _deny_later)
    assert fire(engine).reason == "later" and hook is _deny_later


async def _deny_later(event):
    await asyncio.sleep(0.01)
    return deny("later")


def test_contextvars_of_the_caller_are_visible(engine):
    variable = contextvars.ContextVar("v", default="unset")
    seen = []

    async def hook(event):
        seen.append(variable.get())

    engine.hook("PreToolUse", name="def")(lambda event: seen.append(variable.get()))
    engine.hook("PreToolUse", name="async")(hook)
    variable.set("mine")
    fire(engine)

    async def main():
        await engine.fire("PreToolUse", LS)
        fire(engine)  # on another thread

    asyncio.run(main())
    assert seen == ["mine"] * 6


async def test_asyncio_timeout_inside_a_hook(engine):
    @engine.hook("PreToolUse", name="x")
    async def hook(event):
        try:
            await asyncio.wait_for(asyncio.sleep(10), 0.02)
        except asyncio.TimeoutError:
            return deny("timed out inside")

    assert (await engine.fire("PreToolUse", LS)).reason == "timed out inside"


async def test_tasks_and_gather_take_a_fire(engine):
    engine.hook("PreToolUse")(_deny_later)
    outcomes = await asyncio.gather(*(engine.fire("PreToolUse", LS) for _ in range(20)))
    assert all(outcome.denied for outcome in outcomes)
    assert (await asyncio.create_task(engine.fire("PreToolUse", LS))).denied
    assert (await asyncio.wait_for(engine.fire("PreToolUse", LS), 5)).denied


def test_a_fire_that_is_never_awaited_warns(engine):
    with pytest.warns(RuntimeWarning, match="never awaited"):
        engine.fire("PreToolUse", LS)
        gc.collect()


def test_a_hook_fires_the_engine(engine):
    @engine.hook("PreToolUse", matcher="Bash", name="outer")
    def outer(event):
        return engine.fire_sync("PreToolUse", tool_name="Inner", tool_input={}).to_dict() and None

    engine.hook("PreToolUse", matcher="Inner", name="inner")(lambda event: deny("inner"))
    assert fire(engine).decision is None


def test_threads(engine):
    engine.hook("PreToolUse", name="d")(lambda event: deny(event.args["command"]))
    engine.hook("PreToolUse", name="i", inline=True, priority=1)(lambda event: None)
    wrong = []

    def work(number):
        for turn in range(50):
            text = f"{number}-{turn}"
            if fire(engine, tool_input={"command": text}).reason != text:
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    assert not wrong and not any(thread.is_alive() for thread in threads)


# --- What goes wrong ---


@pytest.mark.parametrize("kind", ["def", "inline", "async"])
def test_an_exception_is_a_failure_that_says_where(engine, kind):
    def broken(event):
        raise KeyError("what")

    async def broken_later(event):
        await asyncio.sleep(0)
        raise KeyError("what")

    engine.hook("PreToolUse", name="x", inline=kind == "inline")(broken_later if kind == "async" else broken)
    failure = fire(engine).reports[0].failure
    assert failure.kind == "error" and "KeyError" in failure.detail and "test_engine.py:" in failure.detail
    engine.hook("PreToolUse", name="y", on_error="abort")(broken)
    assert fire(engine).denied


@pytest.mark.parametrize("kind", ["def", "inline", "async"])
@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_interrupts_reach_the_caller(engine, kind, raised):
    def hook(event):
        raise raised

    async def later(event):
        raise raised

    engine.hook("PreToolUse", inline=kind == "inline")(later if kind == "async" else hook)
    with pytest.raises(raised):
        fire(engine)


@pytest.mark.parametrize("kind", ["def", "inline", "async"])
def test_no_base_exception_becomes_an_allow(engine, kind):
    class Odd(BaseException):
        pass

    def hook(event):
        raise Odd("x")

    async def later(event):
        raise asyncio.CancelledError

    engine.hook("PreToolUse", inline=kind == "inline")(later if kind == "async" else hook)
    assert fire(engine).denied


@pytest.mark.parametrize("kind", ["def", "async"])
def test_a_late_hook_is_a_timeout(engine, kind):
    async def later(event):
        await asyncio.sleep(30)

    release = threading.Event()
    engine.hook("PreToolUse", timeout=0.1)(later if kind == "async" else lambda event: (release.wait(30), None)[1])
    started = time.monotonic()
    assert fire(engine).reports[0].failure.kind == "timeout"
    assert asyncio.run(engine.fire("PreToolUse", LS)).reports[0].failure.kind == "timeout"
    assert time.monotonic() - started < 10
    release.set()


@pytest.mark.parametrize("value", [b"x", float("nan"), float("inf"), {1}, time.gmtime, {1: 2}, object()])
def test_what_json_cannot_say_names_its_field(engine, value):
    engine.hook("PreToolUse", inline=True)(lambda event: None)
    with pytest.raises(crosier.EventError) as caught:
        fire(engine, tool_input={"a": [{"b": value}]})
    assert caught.value.field == "tool_input.a[0].b" and "tool_input.a[0].b" in str(caught.value)


def test_a_value_that_contains_itself_is_refused(engine):
    engine.hook("PreToolUse", inline=True)(lambda event: None)
    loop = []
    loop.append(loop)
    with pytest.raises(crosier.EventError):
        fire(engine, tool_input={"a": loop})


def test_integers_text_and_order_are_kept():
    with Engine({"hooks": {"PreToolUse": [{"name": "c", "type": "command", "command": "cat > /dev/null"}]}}) as engine:
        seen = []
        engine.hook("PreToolUse", name="x", priority=200)(lambda event: seen.append(event.tool_input))
        engine.hook("PreToolUse", name="w", priority=1)(lambda event: {"updated_input": dict(event.tool_input)})
        given = {"n": 10**40, "t": "\ud800 \U0001f600", "z": 1, "a": [1.5, True, None]}
        outcome = fire(engine, tool_input=given)
        assert seen[0] == given and list(seen[0]) == list(given)
        assert outcome.updated_input == given


@pytest.mark.parametrize(
    "arguments, field",
    [
        (("PreTolUse", {}), "event"), (("PreToolUse", {}), "tool_name"), (("PreToolUse", {"tool_name": 3}), "tool_name"),
        (("PreToolUse", {"tool_name": "x", "tool_input": {}, "session_id": 3}), "session_id"),
        (("PreToolUse", {**LS, "hook_event_name": "Stop"}), "hook_event_name"), (("Stop", [1]), None),
    ],
)  # fmt: skip
def test_what_is_not_that_event(engine, arguments, field):
    for name in ("PreToolUse", "Stop"):
        engine.hook(name, name=f"h{name}", inline=True)(lambda event: None)
    with pytest.raises(crosier.EventError) as caught:
        engine.fire_sync(*arguments)
    assert caught.value.field == field
    with pytest.raises(crosier.EventError):
        asyncio.run(engine.fire(*arguments))


def test_missing_fields_are_seen_without_hooks_too(engine):
    with pytest.raises(crosier.EventError):
        engine.fire_sync("PreToolUse")
    assert engine.fire_sync("PreToolUse", LS).gate == Proceed()


# --- Deadlines and cancelling ---

SLOW = {"hooks": {"PreToolUse": [{"name": "slow", "type": "command", "command": "sleep 61"}]}}


def sleeping():
    import subprocess

    return subprocess.run(["pgrep", "-f", "^sleep 61$"], capture_output=True, text=True).stdout.split()


def test_a_deadline_tells_what_was_decided_so_far():
    with Engine(SLOW) as engine:
        engine.hook("PreToolUse", name="ask", priority=1)(lambda event: ask("really?"))
        for act in (
            lambda: engine.fire_sync("PreToolUse", LS, deadline=0.3),
            lambda: asyncio.run(engine.fire("PreToolUse", LS, deadline=0.3)),
        ):
            with pytest.raises(crosier.DeadlineExceeded) as caught:
                act()
            assert isinstance(caught.value, TimeoutError) and caught.value.outcome.decision == "ask"
        with pytest.raises(crosier.EventError):
            engine.fire_sync("PreToolUse", LS, deadline=-1)


async def test_cancelling_kills_processes_before_it_leaves():
    with Engine(SLOW) as engine:
        task = asyncio.create_task(engine.fire("PreToolUse", LS))
        for _ in range(500):
            await asyncio.sleep(0.01)
            if sleeping():
                break
        assert sleeping()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not sleeping()


@pytest.mark.parametrize("parallel", [False, True])
async def test_cancelling_cancels_coroutines_and_waits_for_their_cleanup(engine, parallel):
    seen = []

    async def hook(event):
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.02)
            seen.append("cleaned up")

    engine.hook("PreToolUse", name="a", parallel=parallel)(hook)
    engine.hook("PreToolUse", name="b", parallel=parallel)(lambda event: None)
    task = asyncio.create_task(engine.fire("PreToolUse", LS))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cleaned up"]


async def test_cancelling_while_a_thread_is_late(engine):
    release = threading.Event()
    engine.hook("PreToolUse")(lambda event: (release.wait(30), None)[1])
    task = asyncio.create_task(engine.fire("PreToolUse", LS))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    release.set()


# --- Outcomes ---


def test_gates_match(engine):
    def said(reply, event="PreToolUse", **fields):
        with Engine() as engine:
            engine.hook(event, inline=True, name="h")(lambda event: reply)
            return engine.fire_sync(event, fields or LS).gate

    assert said(deny("a")) == Deny("a", "h")
    assert said(ask("a")) == Ask("a")
    assert said(allow()) == Allow()
    assert said({"updated_input": {"x": 1}}) == Proceed({"x": 1})
    assert said({"continue": False, "stopReason": "s"}) == Halt("s", "h")
    assert said({"continue": True, "stopReason": "more"}, "Stop", stop_hook_active=False) == Resume("more", "h")


def test_an_outcome_is_a_frozen_dataclass(engine):
    engine.hook("PreToolUse", name="h", inline=True)(lambda event: {"decision": "deny", "reason": "r"})
    outcome = fire(engine)
    assert dataclasses.is_dataclass(outcome)
    assert [field.name for field in dataclasses.fields(outcome)] == (
        "event decision reason by by_failure updated_input updated_output suppress_output context inject resume halt "
        "notices updated_permissions reports would"
    ).split()
    with pytest.raises(dataclasses.FrozenInstanceError):
        outcome.reason = "x"
    assert dataclasses.replace(outcome, reason="x").reason == "x"
    assert outcome == fire(engine) and pickle.loads(pickle.dumps(outcome)) == outcome
    assert outcome.to_dict()["reports"][0]["hook"] == "h" and type(outcome.to_dict()["reports"][0]) is dict
    with pytest.raises(crosier.Denied) as caught:
        outcome.raise_for_denial()
    assert isinstance(caught.value, PermissionError)
    assert (caught.value.reason, caught.value.by, caught.value.outcome) == ("r", "h", outcome)
    assert engine.fire_sync("Stop", stop_hook_active=False).raise_for_denial() is None


# --- Configuration, scopes, messages ---


def test_config_errors_say_where(tmp_path):
    file = tmp_path / "crosier.yaml"
    file.write_text("hooks:\n  PreTolUse: []\n")
    with pytest.raises(crosier.ConfigError) as caught:
        Engine.load(file)
    assert isinstance(caught.value, ValueError)
    problem = caught.value.problems[0]
    assert (problem["line"], problem["severity"]) == (2, "error") and problem["path"] == str(file)
    for wrong in ({"hoks": {}}, {"hooks": {"PreToolUse": [{"command": object()}]}}, "text"):
        with pytest.raises(crosier.ConfigError):
            Engine(wrong)
    with pytest.raises(crosier.ConfigError):
        Engine.load(tmp_path / "missing.yaml")


def test_load_and_hooks_in_python_files(tmp_path):
    (tmp_path / "policy.py").write_text("from crosier import deny\ndef check(event):\n    return deny('from a worker')\n")
    (tmp_path / "crosier.yaml").write_text(
        "hooks:\n  PreToolUse:\n    - {name: p, type: python, handler: policy.check}\n"
    )
    with Engine.load(tmp_path / "crosier.yaml") as engine:
        assert fire(engine).reason == "from a worker"
        assert engine.explain("PreToolUse", tool="Bash")["plan"][0]["hook"] == "p"


def test_load_without_a_path_and_without_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    with pytest.raises(crosier.ConfigError):
        Engine.load(folder=folder)


def test_env_is_what_hooks_get(tmp_path):
    config = {"hooks": {"PreToolUse": [
        {"name": "e", "type": "command", "command": 'echo "{\\"decision\\":\\"deny\\",\\"reason\\":\\"$MINE-$MY_TOKEN\\"}"'}]}}
    with Engine(config, env={"PATH": "/usr/bin:/bin", "MINE": "yes", "MY_TOKEN": "secret"}, folder=tmp_path) as engine:
        assert fire(engine).reason == "yes-"


def test_scopes(engine):
    with engine.scope("a", {"PreToolUse": [{"name": "c", "type": "command", "command": "exit 2"}]}) as scope:
        assert scope.fire_sync("PreToolUse", LS).denied
        assert not engine.fire_sync("PreToolUse", LS, agent_id="other").denied
        scope.hook("PreToolUse", name="own", priority=1)(lambda event: deny("own"))
        assert asyncio.run(scope.fire("PreToolUse", LS)).by == "a/own"
    assert not engine.fire_sync("PreToolUse", LS, agent_id="a").denied
    with pytest.raises(crosier.RegisterError):
        scope.hook("PreToolUse")(lambda event: None)

    async def main():
        async with engine.scope("b") as scope:
            scope.hook("PreToolUse")(lambda event: deny("b"))
            return (await scope.fire("PreToolUse", LS)).denied

    assert asyncio.run(main())
    engine.hook("PreToolUse", agent_id="c", name="mine")(lambda event: deny("c"))
    assert engine.fire_sync("PreToolUse", LS, agent_id="c").by == "c/mine"
    assert not engine.fire_sync("PreToolUse", LS, agent_id="other").denied


def test_switches(engine):
    engine.hook("PreToolUse", name="h")(lambda event: deny("x"))
    assert engine.is_enabled("h")
    engine.disable("h")
    assert not engine.is_enabled("h") and not fire(engine).denied
    engine.enable("h")
    assert fire(engine).denied
    with pytest.raises(crosier.RegisterError):
        engine.disable("nobody")
    out = engine.explain("PreToolUse", tool="Bash", agent_id="x")
    assert out["plan"][0]["hook"] == "h"


def test_messages(engine):
    engine.hook("PreToolUse", name="h")(lambda event: None)
    with engine.messages() as messages, engine.messages(maxsize=1) as small:
        fire(engine)
        fire(engine)
        subtypes = [next(messages)["subtype"] for _ in range(4)]
        assert subtypes == ["hook_started", "hook_response"] * 2
        assert small.poll()["subtype"] == "hook_started" and small.poll() is None and small.missed == 3
    assert list(messages) == []
    held = engine.messages()
    engine.close()
    assert list(held) == []


async def test_messages_on_a_loop(engine):
    engine.hook("PreToolUse", name="h")(lambda event: time.sleep(0.02))
    got = []
    messages = engine.messages()

    async def listen():
        async for message in messages:
            got.append(message["subtype"])

    listening = asyncio.create_task(listen())
    for _ in range(3):
        await engine.fire("PreToolUse", LS)
    await asyncio.sleep(0.05)
    messages.close()
    await asyncio.wait_for(listening, 5)
    assert got == ["hook_started", "hook_response"] * 3


def test_a_closed_engine_says_so():
    engine = Engine()
    engine.close()
    engine.close()
    for act in (lambda: fire(engine), lambda: engine.hook("Stop")(lambda event: None), lambda: asyncio.run(engine.fire("Stop"))):
        with pytest.raises(crosier.Error, match="closed"):
            act()
