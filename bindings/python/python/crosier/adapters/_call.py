"""One tool call of a framework: fires the event before it and the event after it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any, Union

from .._engine import Engine, Outcome
from .._errors import Denied, Error
from .._gates import Ask, Deny, Halt

# Asks a person; returns true if they agree.
AskPerson = Callable[[Outcome], Union[bool, Awaitable[bool]]]

WITHHELD = "[the result was withheld by a hook]"


def json_like(value: Any) -> Any:
    """A value for an event: unchanged if JSON can represent it, else its closest representation."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return value if isinstance(value, str) else str(value)


def text(value: Any) -> str:
    """A value as text for the model."""
    return value if isinstance(value, str) else json.dumps(json_like(value), ensure_ascii=False)


def refusal(reason: str | None, by: str | None = None) -> str:
    """The text that the model gets instead of a result."""
    return f"Denied: {reason or 'a hook refused this call'}" + (f" (by {by})" if by else "")


class ToolCall:
    """A call that goes through the hooks. `refused` is set when it must not run."""

    def __init__(self, engine: Engine, name: str, arguments: Any, ask: AskPerson | None, fields: dict[str, Any]) -> None:
        self.engine, self.name, self.ask, self.fields = engine, name, ask, fields
        self.arguments = arguments
        self.refused: str | None = None
        self.notes: list[str] = []

    def _before(self) -> dict[str, Any]:
        return {"tool_name": self.name, "tool_input": json_like(self.arguments), **self.fields}

    def _after(self, result: Any) -> dict[str, Any]:
        return {**self._before(), "tool_response": json_like(result)}

    # --- before ------------------------------------------------------------------------------------------------------

    async def before(self) -> None:
        """Fires the event. If that fails, the call is denied."""
        try:
            outcome = await self.engine.fire("PreToolUse", self._before())
        except Error as error:
            self.refused = refusal(f"the hooks could not be run: {error}")
            return
        if (question := self._decide(outcome)) is not None:
            agreed = question(outcome)
            self._answered(outcome, await agreed if inspect.isawaitable(agreed) else agreed)

    def before_sync(self) -> None:
        try:
            outcome = self.engine.fire_sync("PreToolUse", self._before())
        except Error as error:
            self.refused = refusal(f"the hooks could not be run: {error}")
            return
        if (question := self._decide(outcome)) is not None:
            agreed = question(outcome)
            if inspect.isawaitable(agreed):
                raise Error("`ask` is async, and the agent runs without a loop; use its async methods")
            self._answered(outcome, agreed)

    def _decide(self, outcome: Outcome) -> AskPerson | None:
        gate = outcome.gate
        self.notes.extend(outcome.context)
        if isinstance(gate, Halt):
            raise Denied(gate.reason or "a hook stopped the agent", gate.by, outcome)
        if outcome.updated_input is not None:
            self.arguments = outcome.updated_input
        if isinstance(gate, Deny):
            self.refused = refusal(gate.reason, gate.by)
        elif isinstance(gate, Ask):
            if self.ask is not None:
                return self.ask
            self._answered(outcome, False)
        return None

    def _answered(self, outcome: Outcome, agreed: Any) -> None:
        if agreed is not True:
            why = f": {outcome.reason}" if outcome.reason else ""
            self.refused = refusal(f"a person has to agree to this call{why}; ask them", outcome.by)

    # --- after -------------------------------------------------------------------------------------------------------

    async def after(self, result: Any) -> Any:
        """The result that the model gets."""
        try:
            return self._result(await self.engine.fire("PostToolUse", self._after(result)), result)
        except Error as error:
            return self._lost(error)

    def after_sync(self, result: Any) -> Any:
        try:
            return self._result(self.engine.fire_sync("PostToolUse", self._after(result)), result)
        except Error as error:
            return self._lost(error)

    def _lost(self, error: Error) -> str:
        if isinstance(error, Denied):
            raise error
        return f"{WITHHELD[:-1]}: the hooks could not be run: {error}]"

    async def failed(self, error: BaseException) -> None:
        """Tells the hooks that the tool failed."""
        try:
            await self.engine.fire("PostToolUseFailure", self._before(), error=f"{type(error).__name__}: {error}")
        except Error:
            return  # the failure itself is what the caller should see

    def failed_sync(self, error: BaseException) -> None:
        try:
            self.engine.fire_sync("PostToolUseFailure", self._before(), error=f"{type(error).__name__}: {error}")
        except Error:
            return

    def _result(self, outcome: Outcome, result: Any) -> Any:
        if outcome.halt is not None:
            raise Denied(outcome.halt.reason or "a hook stopped the agent", outcome.halt.by, outcome)
        if outcome.suppress_output:
            result = WITHHELD
        elif outcome.updated_output is not None:
            result = outcome.updated_output
        more = [*self.notes, *outcome.context, *(inject.content for inject in outcome.inject)]
        self.notes = []
        return "\n\n".join([text(result), *more]) if more else result
