"""Crosier in LangChain and LangGraph: a middleware.

    from crosier.adapters.langchain import CrosierMiddleware
    agent = create_agent(model, tools=[…], middleware=[CrosierMiddleware(engine)])

Tool calls fire PreToolUse and PostToolUse, a person's prompt UserPromptSubmit, a model's answer PostMessage.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

try:
    from langchain.agents.middleware import AgentMiddleware, hook_config
    from langchain.agents.middleware.types import ToolCallRequest
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
except ImportError as error:
    raise ImportError("crosier.adapters.langchain needs the package langchain: pip install 'crosier[langchain]'") from error

from .._engine import Engine, Outcome
from .._errors import Denied
from ._call import AskPerson, ToolCall, refusal, text

__all__ = ["CrosierMiddleware"]


class CrosierMiddleware(AgentMiddleware[Any, Any, Any]):
    """Runs the engine's hooks on what an agent does.

    `ask` decides when a hook wants a person to; without it such a call is refused.
    """

    def __init__(self, engine: Engine, *, ask: AskPerson | None = None, agent_id: str | None = None) -> None:
        super().__init__()
        self.engine, self.ask, self.agent_id = engine, ask, agent_id

    # --- Tools -------------------------------------------------------------------------------------------------------

    def _call(self, request: ToolCallRequest) -> ToolCall:
        fields: dict[str, Any] = {"tool_use_id": request.tool_call["id"]} if request.tool_call.get("id") else {}
        if self.agent_id is not None:
            fields["agent_id"] = self.agent_id
        return ToolCall(self.engine, request.tool_call["name"], request.tool_call["args"], self.ask, fields)

    @staticmethod
    def _refused(call: ToolCall, request: ToolCallRequest) -> ToolMessage:
        identity = request.tool_call.get("id") or ""
        return ToolMessage(call.refused or "", tool_call_id=identity, name=call.name, status="error")

    @staticmethod
    def _changed(call: ToolCall, request: ToolCallRequest) -> ToolCallRequest:
        if call.arguments is request.tool_call["args"]:
            return request
        return request.override(tool_call={**request.tool_call, "args": call.arguments})

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        call = self._call(request)
        call.before_sync()
        if call.refused is not None:
            return self._refused(call, request)
        try:
            result = handler(self._changed(call, request))
        except Exception as error:
            call.failed_sync(error)
            raise
        if not isinstance(result, ToolMessage):
            return result
        return _with_content(result, call.after_sync(result.content))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]) -> Any:
        call = self._call(request)
        await call.before()
        if call.refused is not None:
            return self._refused(call, request)
        try:
            result = await handler(self._changed(call, request))
        except Exception as error:
            await call.failed(error)
            raise
        if not isinstance(result, ToolMessage):
            return result
        return _with_content(result, await call.after(result.content))

    # --- The model ---------------------------------------------------------------------------------------------------

    def _prompt(self, state: Any) -> str | None:
        messages = state["messages"]
        return text(messages[-1].content) if messages and isinstance(messages[-1], HumanMessage) else None

    def _fields(self) -> dict[str, Any]:
        return {} if self.agent_id is None else {"agent_id": self.agent_id}

    @staticmethod
    def _prompted(outcome: Outcome) -> dict[str, Any] | None:
        if outcome.halt is not None:
            raise Denied(outcome.halt.reason, outcome.halt.by, outcome)
        if outcome.denied:
            return {"messages": [AIMessage(refusal(outcome.reason, outcome.by))], "jump_to": "end"}
        if outcome.context:
            return {"messages": [HumanMessage("\n\n".join(outcome.context))]}
        return None

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        prompt = self._prompt(state)
        if prompt is None:
            return None
        return self._prompted(self.engine.fire_sync("UserPromptSubmit", prompt=prompt, **self._fields()))

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        prompt = self._prompt(state)
        if prompt is None:
            return None
        return self._prompted(await self.engine.fire("UserPromptSubmit", prompt=prompt, **self._fields()))

    @staticmethod
    def _answer(state: Any) -> AIMessage | None:
        messages = state["messages"]
        last = messages[-1] if messages else None
        return last if isinstance(last, AIMessage) and isinstance(last.content, str) and last.content else None

    @staticmethod
    def _answered(message: AIMessage, outcome: Outcome) -> dict[str, Any] | None:
        if outcome.halt is not None:
            raise Denied(outcome.halt.reason, outcome.halt.by, outcome)
        if outcome.updated_output is None:
            return None
        # A message with the same id replaces the previous one.
        return {"messages": [message.model_copy(update={"content": text(outcome.updated_output)})]}

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        message = self._answer(state)
        if message is None:
            return None
        return self._answered(message, self.engine.fire_sync("PostMessage", output=message.content, **self._fields()))

    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        message = self._answer(state)
        if message is None:
            return None
        outcome = await self.engine.fire("PostMessage", output=message.content, **self._fields())
        return self._answered(message, outcome)


def _with_content(message: ToolMessage, content: Any) -> ToolMessage:
    if content is message.content:
        return message
    return message.model_copy(update={"content": text(content)})
