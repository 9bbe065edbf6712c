"""One measurement of one Python hook system: `python peer.py PEER HOOKS BATCHES` prints version and nanoseconds.

Each hook is the same small guard as on Crosier's side: it looks for a text in the tool's input and has no opinion.
The number is the tenth percentile over batches of one dispatch through all hooks, over a third of a second at least:
where another tenant shares the core now and then, a median would say who had that luck.
"""
import asyncio
import importlib.metadata
import json
import sys
import time

COMMAND = "cargo test --workspace"
SPAN = 333_000_000  # nanoseconds


def report(package: str, times: list) -> None:
    kept = times[len(times) // 10 :]
    print(json.dumps({"version": importlib.metadata.version(package), "ns": sorted(kept)[len(kept) // 10]}))


def batched(batches: int, repeat: int, work) -> list:
    times, end = [], time.perf_counter_ns() + SPAN
    while len(times) < batches or time.perf_counter_ns() < end:
        start = time.perf_counter_ns()
        for _ in range(repeat):
            work()
        times.append((time.perf_counter_ns() - start) / repeat)
    return times


async def batched_async(batches: int, repeat: int, work) -> list:
    times, end = [], time.perf_counter_ns() + SPAN
    while len(times) < batches or time.perf_counter_ns() < end:
        start = time.perf_counter_ns()
        for _ in range(repeat):
            await work()
        times.append((time.perf_counter_ns() - start) / repeat)
    return times


def pluggy_peer(hooks: int, batches: int) -> None:
    import pluggy

    spec, impl = pluggy.HookspecMarker("bench"), pluggy.HookimplMarker("bench")

    class Spec:
        @spec
        def pre_tool_use(self, event):
            """A tool is about to run."""

    def plugin(number: int):
        word = f"rm -rf /{number}"

        class Plugin:
            @impl
            def pre_tool_use(self, event):
                return {"decision": "deny"} if word in event["tool_input"] else None

        return Plugin()

    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Spec)
    for number in range(hooks):
        manager.register(plugin(number))
    event = {"tool_name": "Bash", "tool_input": COMMAND}
    report("pluggy", batched(batches, 200, lambda: manager.hook.pre_tool_use(event=event)))


def sdk_peer(hooks: int, batches: int) -> None:
    """The dispatch of a hook callback, from a parsed control request to the response on a transport that drops it."""
    from claude_agent_sdk._internal.query import Query

    class Transport:
        async def write(self, data: str) -> None:
            pass

    def callback(number: int):
        word = f"rm -rf /{number}"

        async def guard(event, tool_use_id, context):
            return {"decision": "block"} if word in event["tool_input"]["command"] else {}

        return guard

    async def run() -> None:
        query = Query(transport=Transport(), is_streaming_mode=True)
        requests = []
        for number in range(hooks):
            query.hook_callbacks[f"hook_{number}"] = callback(number)
            event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": COMMAND}}
            request = {"subtype": "hook_callback", "callback_id": f"hook_{number}", "input": event, "tool_use_id": "t"}
            requests.append({"type": "control_request", "request_id": f"r{number}", "request": request})

        async def fire() -> None:
            for request in requests:
                await query._handle_control_request(request)

        report("claude-agent-sdk", await batched_async(batches, 50, fire))

    asyncio.run(run())


def massgen_peer(hooks: int, batches: int) -> None:
    """Its GeneralHookManager, loaded without the package around it (which imports every model client)."""
    import importlib.util
    import types

    root = importlib.util.find_spec("massgen").submodule_search_locations[0]
    for name in ("massgen", "massgen.mcp_tools", "massgen.utils"):
        module = sys.modules[name] = types.ModuleType(name)
        module.__path__ = [root + name.removeprefix("massgen").replace(".", "/")]
    from massgen.mcp_tools.hooks import GeneralHookManager, HookType, PythonCallableHook

    from loguru import logger

    logger.remove()  # its log lines are formatted and go nowhere

    def callback(number: int):
        word = f"rm -rf /{number}"

        async def guard(event):
            await asyncio.sleep(0)
            return {"decision": "deny"} if word in event.tool_input["command"] else None

        return guard

    manager = GeneralHookManager()
    for number in range(hooks):
        hook = PythonCallableHook(f"hook-{number}", callback(number), matcher="Bash|Write")
        manager.register_global_hook(HookType.PRE_TOOL_USE, hook)
    arguments, context = json.dumps({"command": COMMAND}), {"session_id": "s", "agent_id": "a"}

    async def fire() -> None:
        result = await manager.execute_hooks(HookType.PRE_TOOL_USE, "Bash", arguments, context)
        assert result.allowed and len(result.executed_hooks) == hooks

    async def run() -> None:
        report("massgen", await batched_async(batches, 20, fire))

    asyncio.run(run())


if __name__ == "__main__":
    peer, hooks, batches = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    {"pluggy": pluggy_peer, "sdk": sdk_peer, "massgen": massgen_peer}[peer](hooks, batches)
