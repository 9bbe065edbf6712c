"""A type for each event, so that editors and type checkers know its fields.

At run time hooks get a `HookEvent`; these types check its name, so `isinstance` and `match` tell events apart.
A field whose name is a Python keyword, and fields that a host adds, are only in the dict: `event["from"]`.

Written by bindings/python/events.py from schema/event.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ._hook import HookEvent

if TYPE_CHECKING:
    from ._hook import BaseEvent
else:

    class _Named(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, HookEvent) and value.get("hook_event_name") == cls.__name__

    class BaseEvent(HookEvent, metaclass=_Named):
        __slots__ = ()

        def __init__(self, *values: object, **fields: object) -> None:
            HookEvent.__init__(self, *values, **fields)
            for name in ("hook_event_name", "hook_type"):
                self.setdefault(name, type(self).__name__)


class Setup(BaseEvent):
    """When the host prepares a session, or does maintenance."""

    hook_event_name: Literal["Setup"]
    agent_id: str | None
    trigger: str


class SessionStart(BaseEvent):
    """When a session begins, is resumed, was cleared or was compacted."""

    hook_event_name: Literal["SessionStart"]
    agent_id: str | None
    source: str
    agent_type: str | None
    model: str | None


class SessionEnd(BaseEvent):
    """When the session is over."""

    hook_event_name: Literal["SessionEnd"]
    agent_id: str | None
    reason: str


class UserPromptSubmit(BaseEvent):
    """When a person sent a prompt."""

    hook_event_name: Literal["UserPromptSubmit"]
    agent_id: str | None
    prompt: str


class PreMessage(BaseEvent):
    """When a prompt is about to go to the model."""

    hook_event_name: Literal["PreMessage"]
    agent_id: str | None
    prompt: str
    model: str | None


class PostMessage(BaseEvent):
    """When the model has answered."""

    hook_event_name: Literal["PostMessage"]
    agent_id: str | None
    output: str
    model: str | None


class PreToolUse(BaseEvent):
    """When a tool is about to run."""

    hook_event_name: Literal["PreToolUse"]
    agent_id: str | None
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str | None
    tool: str
    args: dict[str, Any]


class PermissionRequest(BaseEvent):
    """When a person is about to be asked whether a tool may run."""

    hook_event_name: Literal["PermissionRequest"]
    agent_id: str | None
    tool_name: str
    tool_input: dict[str, Any]
    permission_suggestions: Any
    tool: str
    args: dict[str, Any]


class PostToolUse(BaseEvent):
    """When a tool has run."""

    hook_event_name: Literal["PostToolUse"]
    agent_id: str | None
    tool_name: str
    tool_input: dict[str, Any]
    tool_response: Any
    tool_output: str | None
    tool_use_id: str | None
    tool: str
    args: dict[str, Any]


class PostToolUseFailure(BaseEvent):
    """When a tool has failed."""

    hook_event_name: Literal["PostToolUseFailure"]
    agent_id: str | None
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str | None
    error: str
    is_interrupt: bool | None
    tool: str
    args: dict[str, Any]


class PreCompact(BaseEvent):
    """When the conversation is about to be shortened."""

    hook_event_name: Literal["PreCompact"]
    agent_id: str | None
    trigger: str
    custom_instructions: str | None


class Stop(BaseEvent):
    """When the model wants to stop."""

    hook_event_name: Literal["Stop"]
    agent_id: str | None
    stop_hook_active: bool


class SubagentStart(BaseEvent):
    """When a subagent is about to start."""

    hook_event_name: Literal["SubagentStart"]
    agent_id: str
    agent_type: str


class SubagentStop(BaseEvent):
    """When a subagent wants to stop."""

    hook_event_name: Literal["SubagentStop"]
    agent_id: str
    agent_type: str
    agent_transcript_path: str | None
    stop_hook_active: bool


class PreAgentSpawn(BaseEvent):
    """When an agent is about to be created."""

    hook_event_name: Literal["PreAgentSpawn"]
    agent_id: str
    agent_type: str
    config: Any


class PostAgentComplete(BaseEvent):
    """When an agent is done."""

    hook_event_name: Literal["PostAgentComplete"]
    agent_id: str
    agent_type: str
    result: Any


class PreSessionPhase(BaseEvent):
    """When the session is about to change its phase."""

    hook_event_name: Literal["PreSessionPhase"]
    agent_id: str | None
    to: str


class PostSessionPhase(BaseEvent):
    """When the session has changed its phase."""

    hook_event_name: Literal["PostSessionPhase"]
    agent_id: str | None
    to: str


class PreGitWrite(BaseEvent):
    """When a file is about to be written to the shadow repository."""

    hook_event_name: Literal["PreGitWrite"]
    agent_id: str | None
    path: str
    content: str


class PostGitWrite(BaseEvent):
    """When a file was written to the shadow repository."""

    hook_event_name: Literal["PostGitWrite"]
    agent_id: str | None
    path: str
    commit: str


class PreViewRender(BaseEvent):
    """When the screen is about to be drawn."""

    hook_event_name: Literal["PreViewRender"]
    agent_id: str | None
    view: Any


class Notification(BaseEvent):
    """When a person is notified."""

    hook_event_name: Literal["Notification"]
    agent_id: str | None
    message: str
    title: str | None
    notification_type: str


class TeammateIdle(BaseEvent):
    """When a team member has nothing to do."""

    hook_event_name: Literal["TeammateIdle"]
    agent_id: str | None
    teammate_name: str
    team_name: str


class TaskCompleted(BaseEvent):
    """When a task of a team is about to be marked done."""

    hook_event_name: Literal["TaskCompleted"]
    agent_id: str | None
    task_id: str
    task_subject: str
    task_description: str | None
    teammate_name: str | None
    team_name: str | None


class PostToolBatch(BaseEvent):
    """When all tools of one turn have run."""

    hook_event_name: Literal["PostToolBatch"]
    agent_id: str | None
    tool_calls: Any


class UserPromptExpansion(BaseEvent):
    """When a command that a person typed becomes a prompt."""

    hook_event_name: Literal["UserPromptExpansion"]
    agent_id: str | None
    expansion_type: str | None
    command_name: str
    command_args: str | None
    command_source: str | None
    prompt: str | None


class StopFailure(BaseEvent):
    """When a turn ended because the model's service failed."""

    hook_event_name: Literal["StopFailure"]
    agent_id: str | None
    error: str
    last_assistant_message: str | None


class PostCompact(BaseEvent):
    """When the conversation was shortened."""

    hook_event_name: Literal["PostCompact"]
    agent_id: str | None
    trigger: str
    compact_summary: str | None


class PreModelSwitch(BaseEvent):
    """When another model is about to be used."""

    hook_event_name: Literal["PreModelSwitch"]
    agent_id: str | None
    from_model: str
    to_model: str
    source: str


class PostModelSwitch(BaseEvent):
    """When the model was switched."""

    hook_event_name: Literal["PostModelSwitch"]
    agent_id: str | None
    from_model: str
    to_model: str
    source: str


class PermissionDenied(BaseEvent):
    """When the agent's own permissions refused a tool."""

    hook_event_name: Literal["PermissionDenied"]
    agent_id: str | None
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str | None
    reason: str
    tool: str
    args: dict[str, Any]


class TaskCreated(BaseEvent):
    """When a task is about to be added to a list."""

    hook_event_name: Literal["TaskCreated"]
    agent_id: str | None
    task_id: str
    task_subject: str
    task_description: str | None


class Elicitation(BaseEvent):
    """When an MCP server asks the person something."""

    hook_event_name: Literal["Elicitation"]
    agent_id: str | None
    mcp_server_name: str
    message: str | None


class ElicitationResult(BaseEvent):
    """When the person has answered an MCP server."""

    hook_event_name: Literal["ElicitationResult"]
    agent_id: str | None
    mcp_server_name: str
    action: str | None


class ConfigChange(BaseEvent):
    """When the agent's own configuration has changed."""

    hook_event_name: Literal["ConfigChange"]
    agent_id: str | None
    source: str
    file_path: str | None


class WorktreeCreate(BaseEvent):
    """When a worktree is about to be created; a hook replaces `git worktree`, so do not use it."""

    hook_event_name: Literal["WorktreeCreate"]
    agent_id: str | None
    name: str


class WorktreeRemove(BaseEvent):
    """When a worktree is removed."""

    hook_event_name: Literal["WorktreeRemove"]
    agent_id: str | None
    worktree_path: str


class InstructionsLoaded(BaseEvent):
    """When a file with instructions was read."""

    hook_event_name: Literal["InstructionsLoaded"]
    agent_id: str | None
    file_path: str
    memory_type: str | None
    load_reason: str | None


class CwdChanged(BaseEvent):
    """When the agent's working directory has changed."""

    hook_event_name: Literal["CwdChanged"]
    agent_id: str | None
    old_cwd: str
    new_cwd: str


class FileChanged(BaseEvent):
    """When a file that is watched has changed."""

    hook_event_name: Literal["FileChanged"]
    agent_id: str | None
    file_path: str
    event: str | None


class DirectoryAdded(BaseEvent):
    """When a folder was added to the workspace."""

    hook_event_name: Literal["DirectoryAdded"]
    agent_id: str | None
    directory: str
    source: str


class MessageDisplay(BaseEvent):
    """When the model's text is shown."""

    hook_event_name: Literal["MessageDisplay"]
    agent_id: str | None
    delta: str | None
    final: bool | None


class Interrupt(BaseEvent):
    """When a person stopped the turn."""

    hook_event_name: Literal["Interrupt"]
    agent_id: str | None


class BeforeToolSelection(BaseEvent):
    """When the tools for the next model call are chosen."""

    hook_event_name: Literal["BeforeToolSelection"]
    agent_id: str | None
    llm_request: Any


class PreCompress(BaseEvent):
    """When the agent checks whether the conversation is too long."""

    hook_event_name: Literal["PreCompress"]
    agent_id: str | None
    trigger: str


class UserPromptTransformed(BaseEvent):
    """When a prompt was turned into what the model gets."""

    hook_event_name: Literal["UserPromptTransformed"]
    agent_id: str | None
    prompt: str
    transformedPrompt: str | None


class ErrorOccurred(BaseEvent):
    """When an error occurred in the agent."""

    hook_event_name: Literal["ErrorOccurred"]
    agent_id: str | None
    error: Any


class AgentThought(BaseEvent):
    """When the model has finished thinking."""

    hook_event_name: Literal["AgentThought"]
    agent_id: str | None
    text: str


EventName = Literal[
    "Setup",
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreMessage",
    "PostMessage",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreAgentSpawn",
    "PostAgentComplete",
    "PreSessionPhase",
    "PostSessionPhase",
    "PreGitWrite",
    "PostGitWrite",
    "PreViewRender",
    "Notification",
    "TeammateIdle",
    "TaskCompleted",
    "PostToolBatch",
    "UserPromptExpansion",
    "StopFailure",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionDenied",
    "TaskCreated",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
    "Interrupt",
    "BeforeToolSelection",
    "PreCompress",
    "UserPromptTransformed",
    "ErrorOccurred",
    "AgentThought",
]

__all__ = [
    "EventName",
    "Setup",
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreMessage",
    "PostMessage",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreAgentSpawn",
    "PostAgentComplete",
    "PreSessionPhase",
    "PostSessionPhase",
    "PreGitWrite",
    "PostGitWrite",
    "PreViewRender",
    "Notification",
    "TeammateIdle",
    "TaskCompleted",
    "PostToolBatch",
    "UserPromptExpansion",
    "StopFailure",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionDenied",
    "TaskCreated",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
    "Interrupt",
    "BeforeToolSelection",
    "PreCompress",
    "UserPromptTransformed",
    "ErrorOccurred",
    "AgentThought",
]
