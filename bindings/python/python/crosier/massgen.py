"""MassGen's hooks by their names (`massgen/mcp_tools/hooks.py` of 0.1.97), run by Crosier's engine.

    from crosier.massgen import GeneralHookManager, HookType, PythonCallableHook

What these names promise is what MassGen's own tests ask of them. What is different underneath: one engine decides
(nothing undoes a deny), and `GeneralHookManager.engine_for` gives it to whoever wants to look.
"""

from __future__ import annotations

import asyncio
import fnmatch
import importlib
import json
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from typing import Any

from . import _hook
from ._engine import Engine

__all__ = [
    "FunctionHook", "FunctionHookManager", "GeneralHookManager", "HighPriorityTaskReminderHook", "HookEvent", "HookResult",
    "HookType", "MidStreamInjectionHook", "PatternHook", "PythonCallableHook",
]  # fmt: skip

logger = logging.getLogger("crosier.massgen")

# Names of MassGen's module that belong to its orchestrator, its sessions or its screens.
_NOT_OFFERED = frozenset(
    """BackgroundToolCompleteHook CheckpointGatedHook ClientSession HumanInputHook InjectionDeliveryStatus MCP_AVAILABLE
    MediaCallLedgerHook PermissionClientSession ProgressFnT RoundTimeoutPostHook RoundTimeoutPreHook RoundTimeoutState
    RuntimeInboxPoller SubagentCompleteHook convert_sessions_to_permission_sessions types""".split()
)


def __getattr__(name: str) -> Any:
    if name in _NOT_OFFERED:
        raise AttributeError(
            f"crosier.massgen does not have {name}: it is part of MassGen's own orchestration, and works with these "
            f"hooks as it is; import it from massgen.mcp_tools.hooks"
        )
    raise AttributeError(f"module 'crosier.massgen' has no attribute {name!r}: no hook or helper of MassGen 0.1.97 has that name")


class HookType(Enum):
    """When a hook is called."""

    PRE_CALL = "pre_call"
    POST_CALL = "post_call"
    PRE_TOOL_USE = "PreToolUse"
    POST_TOOL_USE = "PostToolUse"


@dataclass
class HookEvent:
    """A tool call, as a hook gets it."""

    hook_type: str
    session_id: str
    orchestrator_id: str
    agent_id: str | None
    timestamp: datetime
    tool_name: str
    tool_input: dict[str, Any]
    tool_output: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "timestamp": self.timestamp.isoformat()}

    def to_json(self) -> str:
        return json.dumps(self.to_dict())


@dataclass
class HookResult:
    """A hook's answer to a tool call."""

    allowed: bool = True
    metadata: dict[str, Any] = field(default_factory=dict)
    modified_args: str | None = None
    decision: str = "allow"
    reason: str | None = None
    updated_input: dict[str, Any] | None = None
    inject: dict[str, Any] | None = None
    hook_errors: list[str] = field(default_factory=list)
    hook_name: str | None = None
    hook_type: str | None = None
    execution_time_ms: float | None = None
    executed_hooks: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.allowed:
            self.decision = "deny"
        elif self.decision == "deny":
            self.allowed = False

    def add_error(self, error: str) -> None:
        self.hook_errors.append(error)

    def has_errors(self) -> bool:
        return bool(self.hook_errors)

    def add_executed_hook(
        self,
        hook_name: str,
        hook_type: str,
        decision: str,
        reason: str | None = None,
        execution_time_ms: float | None = None,
        injection_preview: str | None = None,
        injection_content: str | None = None,
    ) -> None:
        """Records a hook that ran, for display."""
        self.executed_hooks.append({
            "hook_name": hook_name, "hook_type": hook_type, "decision": decision, "reason": reason,
            "execution_time_ms": execution_time_ms, "injection_preview": injection_preview,
            "injection_content": injection_content,
        })  # fmt: skip

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> HookResult:
        return cls(**{name: data[name] for name in cls.__dataclass_fields__ if data.get(name) is not None})

    @classmethod
    def allow(cls) -> HookResult:
        return cls()

    @classmethod
    def deny(cls, reason: str | None = None) -> HookResult:
        return cls(allowed=False, decision="deny", reason=reason)

    @classmethod
    def ask(cls, reason: str | None = None) -> HookResult:
        return cls(decision="ask", reason=reason)


class FunctionHook(ABC):
    """A hook on function calls."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    async def execute(
        self, function_name: str, arguments: str, context: dict[str, Any] | None = None, **kwargs: Any
    ) -> HookResult:
        """Checks a call; `arguments` is its input as JSON."""


class FunctionHookManager:
    """Hooks by function, and hooks for all functions."""

    def __init__(self) -> None:
        self._hooks: dict[str, dict[HookType, list[FunctionHook]]] = {}
        self._global_hooks: dict[HookType, list[FunctionHook]] = {kind: [] for kind in HookType}

    def register_hook(self, function_name: str, hook_type: HookType, hook: FunctionHook) -> None:
        self._hooks.setdefault(function_name, {}).setdefault(hook_type, []).append(hook)

    def register_global_hook(self, hook_type: HookType, hook: FunctionHook) -> None:
        self._global_hooks[hook_type].append(hook)

    def get_hooks_for_function(self, function_name: str) -> dict[HookType, list[FunctionHook]]:
        """The hooks for all functions come first."""
        own = self._hooks.get(function_name, {})
        return {kind: [*self._global_hooks[kind], *own.get(kind, [])] for kind in HookType}

    def clear_hooks(self) -> None:
        self._hooks.clear()
        self._global_hooks = {kind: [] for kind in HookType}


class PatternHook(FunctionHook):
    """A hook on the tools that a pattern names: `*`, `Write|Edit`, `mcp__*`."""

    def __init__(self, name: str, matcher: str = "*", timeout: float = 30) -> None:
        super().__init__(name)
        self.matcher, self.timeout = matcher, timeout
        self._patterns = [part.strip() for part in (matcher or "*").split("|") if part.strip()]

    def matches(self, tool_name: str) -> bool:
        return any(fnmatch.fnmatch(tool_name, pattern) for pattern in self._patterns)


def _event(function_name: str, arguments: str, context: dict[str, Any]) -> HookEvent:
    return HookEvent(
        hook_type=context.get("hook_type", "PreToolUse"),
        session_id=context.get("session_id", ""),
        orchestrator_id=context.get("orchestrator_id", ""),
        agent_id=context.get("agent_id"),
        timestamp=datetime.now(timezone.utc),
        tool_name=function_name,
        tool_input=_input(arguments),
        tool_output=context.get("tool_output"),
    )


def _input(arguments: str) -> Any:
    try:
        return json.loads(arguments) if arguments else {}
    except json.JSONDecodeError:
        return {"raw": arguments}


class PythonCallableHook(PatternHook):
    """A hook that is a function, or the path of one (`package.module.function`)."""

    def __init__(
        self,
        name: str,
        handler: str | Callable[..., Any],
        matcher: str = "*",
        timeout: float = 30,
        fail_closed: bool = False,
    ) -> None:
        super().__init__(name, matcher, timeout)
        self._handler_path = handler if isinstance(handler, str) else None
        self._callable: Callable[..., Any] | None = None if isinstance(handler, str) else handler
        self.fail_closed = fail_closed

    def _import_callable(self, path: str) -> Callable[..., Any]:
        module, dot, function = path.rpartition(".")
        if not dot:
            raise ImportError(f"Invalid callable path: {path}")
        return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]

    async def execute(
        self, function_name: str, arguments: str, context: dict[str, Any] | None = None, **kwargs: Any
    ) -> HookResult:
        if not self.matches(function_name):
            return HookResult.allow()
        if self._callable is None and self._handler_path:
            try:
                self._callable = self._import_callable(self._handler_path)
            except Exception as error:  # a guard that is not there must not be an open door
                logger.error("cannot import %s: %s", self._handler_path, error)
                return HookResult.deny(reason=f"Hook import failed: {error}")
        if self._callable is None:
            return HookResult.allow()
        event = _event(function_name, arguments, context or {})
        try:
            if asyncio.iscoroutinefunction(self._callable):
                called = self._callable(event)
            else:
                called = asyncio.get_running_loop().run_in_executor(None, self._callable, event)
            return self._normalize_result(await asyncio.wait_for(called, timeout=self.timeout))
        except (asyncio.TimeoutError, TimeoutError):
            problem = f"Hook {self.name} timed out"
        except Exception as error:
            problem = f"Hook {self.name} failed: {error}"
        logger.warning("%s", problem)
        return HookResult.deny(reason=problem) if self.fail_closed else HookResult(hook_errors=[problem])

    def _normalize_result(self, result: Any) -> HookResult:
        if isinstance(result, HookResult):
            return result
        if isinstance(result, dict):
            return HookResult.from_dict(result)
        if isinstance(result, _hook.HookResult):
            return HookResult.from_dict(result.to_dict())
        if hasattr(result, "allowed") and hasattr(result, "decision"):  # MassGen's own
            return HookResult.from_dict({name: getattr(result, name, None) for name in HookResult.__dataclass_fields__})
        if result is not None:
            logger.warning("a hook returned a %s, which says nothing", type(result).__name__)
        return HookResult.allow()


class _Call:
    """One call of `execute_hooks`: the event, and the answers of hooks."""

    def __init__(self, function_name: str, arguments: str, context: dict[str, Any], kind: str) -> None:
        self.function_name, self.arguments, self.context, self.kind = function_name, arguments, context, kind
        self.final = HookResult.allow()
        self.denial: HookResult | None = None
        self.injections: list[dict[str, Any]] = []

    async def ask(self, hook: PatternHook) -> dict[str, Any] | None:
        """Calls one hook, and converts its answer to a reply for the engine."""
        started = time.perf_counter()
        try:
            result = await hook.execute(self.function_name, self.arguments, dict(self.context))
            return self.take(hook, result, started)
        except Exception as error:
            problem = f"Hook '{hook.name}' failed unexpectedly: {error}"
            logger.error("%s", problem, exc_info=True)
            self.final.add_error(problem)
            self.note(self.final, hook, "error", problem, started)
            if getattr(hook, "fail_closed", False):
                self.denial = HookResult.deny(reason=problem)
                return {"decision": "deny", "reason": problem}
            return None

    def note(
        self, result: HookResult, hook: PatternHook, decision: str, reason: str | None, started: float, text: Any = None
    ) -> None:
        preview = text[:100] + "..." if isinstance(text, str) and len(text) > 100 else text
        result.add_executed_hook(
            hook.name, self.kind, decision, reason, (time.perf_counter() - started) * 1000, preview, text
        )

    def take(self, hook: PatternHook, result: Any, started: float) -> dict[str, Any] | None:
        if not result.allowed or result.decision == "deny":
            reason = result.reason or result.metadata.get("reason", f"Denied by hook {hook.name}")
            self.denial = HookResult.deny(reason=reason)
            self.note(self.denial, hook, "deny", reason, started)
            return {"decision": "deny", "reason": reason}
        inject = result.inject or {}
        self.note(self.final, hook, result.decision, result.reason, started, inject.get("content") or None)
        reply: dict[str, Any] = {}
        if result.decision == "ask":
            self.final.decision, self.final.reason = "ask", result.reason
            reply["decision"] = "ask"
        if result.modified_args is not None:
            self.arguments = result.modified_args
        elif result.updated_input is not None:
            self.arguments = json.dumps(result.updated_input)
        if self.kind == "pre" and isinstance(changed := _input(self.arguments), dict):
            if result.modified_args is not None or result.updated_input is not None:
                reply["updated_input"] = changed
        if inject:
            self.injections.append(inject)
        for error in result.hook_errors:
            self.final.add_error(error)
        return reply or None


_CALL: ContextVar[_Call] = ContextVar("crosier.massgen.call")


class GeneralHookManager:
    """Hooks for all agents and hooks of one agent, run by an engine."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        kinds = (HookType.PRE_TOOL_USE, HookType.POST_TOOL_USE)
        self._global_hooks: dict[HookType, list[PatternHook]] = {kind: [] for kind in kinds}
        self._agent_hooks: dict[str, dict[HookType, list[PatternHook]]] = {}
        self._agent_overrides: dict[str, dict[HookType, bool]] = {}
        self._engines: dict[tuple[HookType, tuple[int, ...]], Engine] = {}

    def register_global_hook(self, hook_type: HookType, hook: PatternHook) -> None:
        self._global_hooks.setdefault(hook_type, []).append(hook)

    def register_agent_hook(
        self, agent_id: str, hook_type: HookType, hook: PatternHook, override: bool = False
    ) -> None:
        """With `override`, hooks for all agents are left out for this agent and type."""
        kinds = (HookType.PRE_TOOL_USE, HookType.POST_TOOL_USE)
        self._agent_hooks.setdefault(agent_id, {kind: [] for kind in kinds}).setdefault(hook_type, []).append(hook)
        overrides = self._agent_overrides.setdefault(agent_id, {kind: False for kind in kinds})
        if override:
            overrides[hook_type] = True

    def get_hooks_for_agent(self, agent_id: str | None, hook_type: HookType) -> list[PatternHook]:
        """In the order in which they run."""
        own = self._agent_hooks.get(agent_id or "", {}).get(hook_type, [])
        if agent_id and self._agent_overrides.get(agent_id, {}).get(hook_type, False):
            return list(own)
        return [*self._global_hooks.get(hook_type, []), *own]

    def engine_for(self, hook_type: HookType, hooks: list[PatternHook]) -> Engine:
        """The engine that runs these hooks."""
        key = (hook_type, tuple(map(id, hooks)))
        if (engine := self._engines.get(key)) is None:
            if len(self._engines) > 256:
                self._engines.clear()
            limit = {"settings": {}, "max_hooks_per_point": max(50, len(hooks))} if len(hooks) > 50 else None
            engine = self._engines[key] = Engine(limit)
            for index, hook in enumerate(hooks):
                # A hook enforces its own timeout; this is for one that does not.
                options = {"name": f"{index}:{hook.name}", "timeout": float(getattr(hook, "timeout", 30) or 30) + 1}
                engine.hook(hook_type.value, **options)(self._handler(hook))  # type: ignore[arg-type]
        return engine

    @staticmethod
    def _handler(hook: PatternHook) -> Callable[[Any], Any]:
        async def ask(event: Any) -> Any:
            return await _CALL.get().ask(hook)

        return ask

    async def execute_hooks(
        self,
        hook_type: HookType,
        function_name: str,
        arguments: str,
        context: dict[str, Any],
        tool_output: str | None = None,
    ) -> HookResult:
        """Calls every hook that matches, and combines their answers."""
        if tool_output is not None:
            context["tool_output"] = tool_output
        hooks = self.get_hooks_for_agent(context.get("agent_id"), hook_type)
        hooks = [hook for hook in hooks if hook.matches(function_name)]
        if not hooks:
            return HookResult.allow()
        kind = "pre" if hook_type == HookType.PRE_TOOL_USE else "post"
        call = _Call(function_name, arguments, context, kind)
        engine, before = self.engine_for(hook_type, hooks), _CALL.set(call)
        fields: dict[str, Any] = {"tool_name": function_name, "tool_input": _input(arguments)}
        if kind == "post":
            fields["tool_response"] = tool_output if tool_output is not None else context.get("tool_output") or ""
        for name in ("session_id", "orchestrator_id"):
            if isinstance(context.get(name), str):
                fields[name] = context[name]
        try:
            outcome = await engine.fire(hook_type.value, fields)
        finally:
            _CALL.reset(before)
        if call.denial is not None:
            return call.denial
        if outcome.denied:  # a failure that the engine takes as a denial
            return HookResult.deny(reason=outcome.reason)
        for report in outcome.reports:
            if report.failure is not None:
                call.final.add_error(f"Hook '{report.hook.partition(':')[2]}' failed: {report.failure.detail}")
        call.final.modified_args = call.arguments if call.arguments != arguments else None
        if contents := [inject["content"] for inject in call.injections if inject.get("content")]:
            strategy = call.injections[-1].get("strategy", "tool_result")
            call.final.inject = {"content": "\n".join(contents), "strategy": strategy}
        return call.final

    def register_hooks_from_config(self, hooks_config: dict[str, Any], agent_id: str | None = None) -> None:
        """The `hooks:` of a MassGen configuration; with an agent, those of its `backend:`."""
        kinds = {kind.value: kind for kind in (HookType.PRE_TOOL_USE, HookType.POST_TOOL_USE)}
        for name, entries in hooks_config.items():
            if name == "override":
                continue
            if (kind := kinds.get(name)) is None:
                logger.warning("unknown hook type %s", name)
                continue
            override = False
            if isinstance(entries, dict):
                override, entries = entries.get("override", False), entries.get("hooks", [])
            for entry in entries:
                if (hook := self._create_hook_from_config(entry)) is None:
                    continue
                if agent_id:
                    self.register_agent_hook(agent_id, kind, hook, override)
                else:
                    self.register_global_hook(kind, hook)

    def _create_hook_from_config(self, config: dict[str, Any]) -> PatternHook | None:
        handler = config.get("handler")
        if not handler:
            logger.warning("a hook has no handler")
            return None
        return PythonCallableHook(
            name=f"{config.get('type', 'python')}_{handler}",
            handler=handler,
            matcher=config.get("matcher", "*"),
            timeout=config.get("timeout", 30),
            fail_closed=config.get("fail_closed", False),
        )

    def clear_hooks(self) -> None:
        self._reset()


class MidStreamInjectionHook(PatternHook):
    """Adds messages of other agents to a tool's result."""

    def __init__(
        self, name: str = "mid_stream_injection", injection_callback: Callable[[], Any] | None = None
    ) -> None:
        super().__init__(name, matcher="*", timeout=5)
        self._injection_callback = injection_callback

    def set_callback(self, callback: Callable[[], Any]) -> None:
        """The callback that returns the text, or None; it may be async."""
        self._injection_callback = callback

    async def execute(
        self, function_name: str, arguments: str, context: dict[str, Any] | None = None, **kwargs: Any
    ) -> HookResult:
        if not self._injection_callback:
            return HookResult.allow()
        try:
            content = self._injection_callback()
            if asyncio.iscoroutine(content):
                content = await content
        except Exception as error:
            problem = f"Injection callback failed: {error}"
            logger.error("%s", problem, exc_info=True)
            return HookResult(hook_errors=[problem], metadata={"injection_skipped": True})
        if not content:
            return HookResult.allow()
        return HookResult(inject={"content": content, "strategy": "tool_result"})


class HighPriorityTaskReminderHook(PatternHook):
    """Reminds the agent to write down what it learned when an important task is completed."""

    def __init__(self, name: str = "high_priority_task_reminder") -> None:
        super().__init__(name, matcher="*update_task_status", timeout=5)

    def _format_reminder(self) -> str:
        line = "=" * 60
        return (
            f"\n{line}\n⚠️  SYSTEM REMINDER\n{line}\n\n"
            "✓ High-priority task completed! Document decisions to optimize future work:\n"
            "  • Which skills/tools were effective (or not)? → memory/long_term/skill_effectiveness.md\n"
            "  • What approach worked (or failed) and why? → memory/long_term/approach_patterns.md\n"
            "  • What would prevent mistakes on similar tasks? → memory/long_term/lessons_learned.md\n"
            "  • User preferences revealed? → memory/short_term/user_prefs.md"
            f"\n\n{line}\n"
        )

    async def execute(
        self, function_name: str, arguments: str, context: dict[str, Any] | None = None, **kwargs: Any
    ) -> HookResult:
        output = (context or {}).get("tool_output")
        if not output or not self.matches(function_name):
            return HookResult.allow()
        try:
            told = json.loads(output)
        except (json.JSONDecodeError, TypeError):
            return HookResult.allow()
        task = told.get("task", {}) if isinstance(told, dict) else {}
        if not isinstance(task, dict) or (task.get("priority"), task.get("status")) != ("high", "completed"):
            return HookResult.allow()
        return HookResult(inject={"content": self._format_reminder(), "strategy": "user_message"})
