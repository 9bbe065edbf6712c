"""Crosier beside pluggy, MassGen's manager and the Claude Agent SDK, in one interpreter, at equal work.

    python bindings/python/bench/peers.py [--json]

Each row is one event with an input of 1 KB, and hooks that look at one field of it. Without a peer's package its rows are
left out, and said so. MASSGEN_SOURCE names an unpacked MassGen.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time

import crosier

INPUT = {"command": "ls -la " + "x" * 900, "description": "list", "timeout": 30, "flags": ["a", "b", {"c": True}]}
PAYLOAD = {"tool_name": "Bash", "tool_input": INPUT, "session_id": "s"}
GOALS = {"no hook": 1, "1 inline": 3, "10 inline": 12, "1 async def": 12, "1 def on its thread": 40}
rows: list[dict] = []


def look(event):
    if event["tool_input"]["command"].startswith("rm"):
        return crosier.deny("no")


async def look_async(event):
    if event["tool_input"]["command"].startswith("rm"):
        return crosier.deny("no")


def best(measure, turns=60) -> float:
    return min(measure() for _ in range(turns))


def sync(act, number):
    def measure():
        started = time.perf_counter()
        for _ in range(number):
            act()
        return (time.perf_counter() - started) / number * 1e6

    return best(measure)


def on_loop(act, number):
    async def measure():
        for _ in range(20):
            await act()
        started = time.perf_counter()
        for _ in range(number):
            await act()
        return (time.perf_counter() - started) / number * 1e6

    return best(lambda: asyncio.run(measure()))


def row(who, what, micros):
    rows.append({"who": who, "what": what, "micros": round(micros, 2)})


def crosiers():
    def engine(count, function, **options):
        made = crosier.Engine()
        for number in range(count):
            made.hook("PreToolUse", name=f"h{number}", **options)(function)
        return made

    none = engine(0, look)
    row("crosier", "no hook", sync(lambda: none.fire_sync("PreToolUse", PAYLOAD), 400))
    for count in (1, 10):
        inline = engine(count, look, inline=True)
        row("crosier", f"{count} inline", sync(lambda inline=inline: inline.fire_sync("PreToolUse", PAYLOAD), 200))
        row("crosier", f"{count} inline, awaited", on_loop(lambda inline=inline: inline.fire("PreToolUse", PAYLOAD), 100))
        later = engine(count, look_async)
        row("crosier", f"{count} async def", on_loop(lambda later=later: later.fire("PreToolUse", PAYLOAD), 100))
    thread = engine(1, look)
    row("crosier", "1 def on its thread", sync(lambda: thread.fire_sync("PreToolUse", PAYLOAD), 50))
    row("crosier", "1 def on its thread, awaited", on_loop(lambda: thread.fire("PreToolUse", PAYLOAD), 50))
    rewrites = engine(1, lambda event: {"updated_input": event["tool_input"]}, inline=True)
    row("crosier", "1 inline, rewrites 1 KB", sync(lambda: rewrites.fire_sync("PreToolUse", PAYLOAD).updated_input, 200))


def pluggys():
    try:
        import pluggy
    except ImportError:
        return print("pluggy is not installed: left out", file=sys.stderr)
    spec, impl = pluggy.HookspecMarker("x"), pluggy.HookimplMarker("x")

    class Spec:
        @spec
        def pre_tool_use(self, event):
            """A tool is about to run."""

    for count in (1, 10):
        manager = pluggy.PluginManager("x")
        manager.add_hookspecs(Spec)
        for _ in range(count):
            manager.register(type("P", (), {"pre_tool_use": impl(lambda self, event: None)})())
        row("pluggy (no event, no deadline, no fold)", f"{count} inline",
            sync(lambda manager=manager: manager.hook.pre_tool_use(event=PAYLOAD), 400))  # fmt: skip


def massgens():
    source = os.environ.get("MASSGEN_SOURCE")
    if not source:
        return print("MASSGEN_SOURCE is not set: MassGen is left out", file=sys.stderr)
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests/massgen"))
    import substitute

    theirs, arguments = substitute.THEIRS, json.dumps(INPUT)
    for count in (1, 10):
        for word, function in (("async def", look_massgen_async), ("def on its thread", look_massgen)):
            if word != "async def" and count == 10:
                continue
            manager = theirs["GeneralHookManager"]()
            for number in range(count):
                hook = theirs["PythonCallableHook"](f"h{number}", function)
                manager.register_global_hook(theirs["HookType"].PRE_TOOL_USE, hook)
            kind = theirs["HookType"].PRE_TOOL_USE
            act = lambda manager=manager, kind=kind: manager.execute_hooks(kind, "Bash", arguments, {"agent_id": "a"})  # noqa: E731
            row("MassGen's manager", f"{count} {word}", on_loop(act, 50))


def look_massgen(event):
    event.tool_input["command"].startswith("rm")


async def look_massgen_async(event):
    event.tool_input["command"].startswith("rm")


def claudes():
    try:
        from claude_agent_sdk import HookMatcher
        from claude_agent_sdk._internal.query import Query
    except ImportError:
        return print("claude-agent-sdk is not installed: left out", file=sys.stderr)

    async def hook(input, tool_use_id, context):
        input["tool_input"]["command"].startswith("rm")
        return {}

    class Transport:
        async def write(self, data):
            pass

    async def make(count):
        matchers = {"PreToolUse": [{"matcher": None, "hooks": [hook] * count}]}
        query = Query(transport=Transport(), is_streaming_mode=True, hooks=matchers)
        for number in range(count):
            query.hook_callbacks[f"hook_{number}"] = hook
        return query

    async def measure(count, number=30):
        query = await make(count)
        requests = [{"type": "control_request", "request_id": "1", "request": {
            "subtype": "hook_callback", "callback_id": f"hook_{at}", "input": PAYLOAD, "tool_use_id": "t"}}
            for at in range(count)]  # fmt: skip
        texts = [json.dumps(request) for request in requests]
        started = time.perf_counter()
        for _ in range(number):
            for text in texts:  # each is a message of its own
                await query._handle_control_request(json.loads(text))
        return (time.perf_counter() - started) / number * 1e6

    assert HookMatcher
    for count in (1, 10):
        try:
            row("claude-agent-sdk (its side of the pipe)", f"{count} async def",
                best(lambda count=count: asyncio.run(measure(count)), 30))  # fmt: skip
        except (AttributeError, TypeError) as error:
            return print(f"claude-agent-sdk has changed inside: left out ({error})", file=sys.stderr)


if __name__ == "__main__":
    for part in (crosiers, pluggys, massgens, claudes):
        part()
    if "--json" in sys.argv:
        print(json.dumps(rows, indent=1))
    else:
        for item in rows:
            goal = GOALS.get(item["what"]) if item["who"] == "crosier" else None
            met = "" if goal is None else f"   goal {goal}: {'met' if item['micros'] <= goal else 'MISSED'}"
            print(f"{item['who']:42} {item['what']:32} {item['micros']:9.2f} µs{met}")
