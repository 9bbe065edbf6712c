"""Crosier in pydantic-ai: a toolset whose calls go through the hooks.

    from crosier.adapters.pydantic_ai import guarded
    agent = Agent(model, toolsets=[guarded(FunctionToolset([run_shell]), engine)])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

try:
    from pydantic_ai import RunContext
    from pydantic_ai.exceptions import ModelRetry
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
except ImportError as error:
    raise ImportError("crosier.adapters.pydantic_ai needs the package pydantic-ai: pip install 'crosier[pydantic-ai]'") from error

from .._engine import Engine
from ._call import AskPerson, ToolCall

__all__ = ["guarded"]


@dataclass
class _Guarded(WrapperToolset[Any]):
    engine: Engine | None = None
    ask: AskPerson | None = None
    agent_id: str | None = None

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        assert self.engine is not None
        fields = {"tool_use_id": ctx.tool_call_id} if ctx.tool_call_id else {}
        if self.agent_id is not None:
            fields["agent_id"] = self.agent_id
        call = ToolCall(self.engine, name, tool_args, self.ask, fields)
        before = call.arguments
        await call.before()
        if call.refused is not None:
            return call.refused
        if call.arguments is not before:
            # A hook's input is validated like the model's, and gets the same types.
            tool_args = tool.args_validator.validate_python(call.arguments)
        try:
            result = await self.wrapped.call_tool(name, tool_args, ctx, tool)
        except Exception as error:
            if not isinstance(error, ModelRetry):
                await call.failed(error)
            raise
        return await call.after(result)


def guarded(
    toolset: AbstractToolset[Any], engine: Engine, *, ask: AskPerson | None = None, agent_id: str | None = None
) -> AbstractToolset[Any]:
    """Wraps a toolset, so that its calls go through the engine's hooks.

    `ask` decides when a hook wants a person to; without it such a call is refused.
    """
    return _Guarded(toolset, engine, ask, agent_id)
