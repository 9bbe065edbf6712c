"""Crosier in the OpenAI Agents SDK: tools whose calls go through the hooks.

    from crosier.adapters.openai_agents import guard
    agent = Agent(name="…", tools=[guard(run_shell, engine)])

The SDK's own hooks only observe; so the tool itself is wrapped.
"""

from __future__ import annotations

import copy
import json
from typing import Any

try:
    from agents import FunctionTool
    from agents.tool_context import ToolContext
except ImportError as error:
    raise ImportError("crosier.adapters.openai_agents needs the package openai-agents: pip install 'crosier[openai-agents]'") from error

from .._engine import Engine
from ._call import AskPerson, ToolCall, text

__all__ = ["guard"]


def guard(tool: FunctionTool, engine: Engine, *, ask: AskPerson | None = None, agent_id: str | None = None) -> FunctionTool:
    """Wraps a tool, so that its calls go through the engine's hooks.

    `ask` decides when a hook wants a person to; without it such a call is refused.
    """
    invoke = tool.on_invoke_tool

    async def on_invoke_tool(context: ToolContext[Any], arguments: str) -> Any:
        try:
            given = json.loads(arguments) if arguments else {}
        except json.JSONDecodeError:
            given = {"raw": arguments}
        fields = {"tool_use_id": context.tool_call_id} if getattr(context, "tool_call_id", None) else {}
        if agent_id is not None:
            fields["agent_id"] = agent_id
        call = ToolCall(engine, tool.name, given, ask, fields)
        await call.before()
        if call.refused is not None:
            return call.refused
        if call.arguments != given:
            arguments = json.dumps(call.arguments)
        try:
            result = await invoke(context, arguments)
        except Exception as error:
            await call.failed(error)
            raise
        changed = await call.after(result)
        return result if changed is result else text(changed)

    guarded = copy.copy(tool)
    guarded.on_invoke_tool = on_invoke_tool
    return guarded
