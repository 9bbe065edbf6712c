"""Read by type checkers, not run: what they must understand."""

from __future__ import annotations

import crosier
from crosier import Allow, Ask, Deny, Engine, Halt, HookEvent, HookResult, Outcome, Proceed, Resume
from crosier.events import PostToolUse, PreToolUse, SubagentStart


def build() -> Engine:
    engine = Engine({"hooks": {}}, folder=".", env={"PATH": "/bin"}, timing=True)

    @engine.hook("PreToolUse", matcher="Bash", priority=10)
    def guard(event: HookEvent) -> HookResult | None:
        if "rm" in str(event.tool_input["command"]):
            return crosier.deny("no")
        return None

    @engine.hook("PostToolUse")
    async def later(event: HookEvent) -> dict[str, str]:
        return {"additionalContext": event.tool_name}

    result: HookResult | None = guard(HookEvent({}))
    assert result is None
    return engine


def by_event(event: PreToolUse | PostToolUse, started: SubagentStart, some: HookEvent) -> str | None:
    if event.hook_event_name == "PostToolUse":
        return event.tool_output
    command: str = event.args["command"]
    agent: str = started.agent_id
    match some:
        case PreToolUse():
            return some.tool_name
    return agent + command + event.tool_nam  # type: ignore[attr-defined, no-any-return] # pyright: ignore


async def use(engine: Engine) -> str:
    outcome: Outcome = await engine.fire("PreToolUse", {"tool_name": "x"}, agent_id="a", deadline=1.0, tool_input={})
    match outcome.gate:
        case Deny(reason, by) | Halt(reason, by) | Resume(reason, by):
            return f"{reason} {by}"
        case Ask(asked, _):
            return asked or ""
        case Allow(value) | Proceed(value):
            return str(value)
    with engine.scope("a") as scope:
        (await scope.fire("Stop", stop_hook_active=False)).raise_for_denial()
    async for message in engine.messages():
        return str(message["subtype"])
    return ""
