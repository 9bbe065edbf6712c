"""Crosier beside pluggy, MassGen's manager and the Claude Agent SDK, in one interpreter, at equal work.

    bindings/python/bench/run [--json] [--rounds N]

Each row is one event with an input of 1 KB, and hooks that look at one field of it. The rows take turns, a short batch each,
so that whatever else the machine does falls on all of them: the tenth percentile and the median of the batches are told.
Without a peer's package its rows are left out, and said so. MASSGEN_SOURCE names an unpacked MassGen.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable

import crosier

INPUT = {"command": "ls -la " + "x" * 900, "description": "list", "timeout": 30, "flags": ["a", "b", {"c": True}]}
PAYLOAD = {"tool_name": "Bash", "tool_input": INPUT, "session_id": "s"}
GOALS = {"no hook": 1, "1 inline": 3, "10 inline": 12, "1 async def": 12, "1 def on its thread": 40}
BATCH_SECONDS = 0.002
# (who, what, one batch of so many: seconds)
rows: list[tuple[str, str, Callable[[int], float]]] = []
loop = asyncio.new_event_loop()


def look(event):
    if event["tool_input"]["command"].startswith("rm"):
        return crosier.deny("no")


async def look_async(event):
    if event["tool_input"]["command"].startswith("rm"):
        return crosier.deny("no")


def sync(who, what, act):
    def batch(number):
        started = time.perf_counter()
        for _ in range(number):
            act()
        return time.perf_counter() - started

    rows.append((who, what, batch))


def on_loop(who, what, act):
    async def measure(number):
        started = time.perf_counter()
        for _ in range(number):
            await act()
        return time.perf_counter() - started

    rows.append((who, what, lambda number: loop.run_until_complete(measure(number))))


def crosiers():
    def engine(count, function, **options):
        made = crosier.Engine()
        for number in range(count):
            made.hook("PreToolUse", name=f"h{number}", **options)(function)
        return made

    def fires(what, engine, awaited=False):
        if awaited:
            on_loop("crosier", what, lambda: engine.fire("PreToolUse", PAYLOAD))
        else:
            sync("crosier", what, lambda: engine.fire_sync("PreToolUse", PAYLOAD))

    fires("no hook", engine(0, look))
    for count in (1, 10):
        fires(f"{count} inline", engine(count, look, inline=True))
        fires(f"{count} inline, awaited", engine(count, look, inline=True), True)
        fires(f"{count} async def", engine(count, look_async), True)
    fires("1 def on its thread", engine(1, look))
    fires("1 def on its thread, awaited", engine(1, look), True)
    rewrites = engine(1, lambda event: {"updated_input": event["tool_input"]}, inline=True)
    sync("crosier", "1 inline, rewrites 1 KB", lambda: rewrites.fire_sync("PreToolUse", PAYLOAD).updated_input)
    denies = engine(1, lambda event: crosier.deny("no"), inline=True)
    sync("crosier", "1 inline, denies", lambda: denies.fire_sync("PreToolUse", PAYLOAD).denied)


def pluggys():
    try:
        import pluggy
    except ImportError:
        return print("pluggy is not installed: left out", file=sys.stderr)
    import copy

    spec, impl = pluggy.HookspecMarker("x"), pluggy.HookimplMarker("x")

    class Spec:
        @spec
        def pre_tool_use(self, event):
            """A tool is about to run."""

    class Plugin:
        @impl
        def pre_tool_use(self, event):
            look(event)

    class Careful:
        """Hooks that cannot change each other's event, as Crosier's cannot."""

        @impl
        def pre_tool_use(self, event):
            look(copy.deepcopy(event))

    for count in (1, 10):
        for who, plugin in (("pluggy (the hooks share the caller's dict)", Plugin), ("pluggy (each hook has its own copy)", Careful)):
            manager = pluggy.PluginManager("x")
            manager.add_hookspecs(Spec)
            for _ in range(count):
                manager.register(plugin())
            sync(who, f"{count} inline", lambda manager=manager: manager.hook.pre_tool_use(event=PAYLOAD))
            if plugin is Plugin:  # the caller's dict is safe, and yet a hook can change what the next one sees
                who = "pluggy (the hooks share one copy)"
                sync(who, f"{count} inline", lambda manager=manager: manager.hook.pre_tool_use(event=copy.deepcopy(PAYLOAD)))


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
            on_loop("MassGen's manager", f"{count} {word}", act)


def look_massgen(event):
    event.tool_input["command"].startswith("rm")


async def look_massgen_async(event):
    event.tool_input["command"].startswith("rm")


def claudes():
    try:
        from claude_agent_sdk._internal.query import Query
    except ImportError:
        return print("claude-agent-sdk is not installed: left out", file=sys.stderr)

    async def hook(input, tool_use_id, context):
        input["tool_input"]["command"].startswith("rm")
        return {}

    class Transport:
        async def write(self, data):
            pass

    for count in (1, 10):
        texts = [json.dumps({"type": "control_request", "request_id": "1", "request": {
            "subtype": "hook_callback", "callback_id": f"hook_{at}", "input": PAYLOAD, "tool_use_id": "t"}})
            for at in range(count)]  # fmt: skip

        async def make(count=count):
            query = Query(transport=Transport(), is_streaming_mode=True, hooks={})
            for number in range(count):
                query.hook_callbacks[f"hook_{number}"] = hook
            return query

        async def act(query, texts=texts):
            for text in texts:  # each is a message of its own
                await query._handle_control_request(json.loads(text))

        try:
            query = loop.run_until_complete(make())
            loop.run_until_complete(act(query))
        except (AttributeError, TypeError) as error:
            return print(f"claude-agent-sdk has changed inside: left out ({error})", file=sys.stderr)
        on_loop("claude-agent-sdk (its side of the pipe)", f"{count} async def", lambda query=query, act=act: act(query))


def measure(rounds):
    """Microseconds of one act: the tenth percentile and the median of all batches."""
    sizes = []
    for _, _, batch in rows:
        number = 1
        while (taken := batch(number)) < BATCH_SECONDS and number < 1_000_000:
            number *= 2
        sizes.append(max(1, int(number * BATCH_SECONDS / max(taken, 1e-9))))
    taken = [[] for _ in rows]
    for _ in range(rounds):
        for at, (_, _, batch) in enumerate(rows):
            taken[at].append(batch(sizes[at]) / sizes[at] * 1e6)
    return [
        {"who": who, "what": what, "p10": round(statistics.quantiles(times, n=10)[0], 2), "median": round(statistics.median(times), 2)}
        for (who, what, _), times in zip(rows, taken)
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--only", default="", help="rows of Crosier whose name has this text")
    options = parser.parse_args()
    for part in (crosiers,) if options.only else (crosiers, pluggys, massgens, claudes):
        part()
    if options.only:
        rows[:] = [row for row in rows if options.only in row[1]]
    before = os.getloadavg()[0]
    measured = measure(options.rounds)
    machine = {"python": platform.python_version(), "cores": os.cpu_count(), "load_before": before, "load_after": os.getloadavg()[0]}
    if options.json:
        return print(json.dumps({"machine": machine, "rows": measured}, indent=1))
    print(f"Python {machine['python']}, {machine['cores']} cores, load {before:.2f} before and {machine['load_after']:.2f} after\n")
    print(f"{'':44} {'':30} {'p10 µs':>9} {'median':>9}")
    for row in measured:
        goal = GOALS.get(row["what"]) if row["who"] == "crosier" else None
        met = "" if goal is None else f"   goal {goal}: {'met' if row['p10'] <= goal else 'MISSED'}"
        print(f"{row['who']:44} {row['what']:30} {row['p10']:9.2f} {row['median']:9.2f}{met}")


if __name__ == "__main__":
    main()
