"""pydantic-ai, with its own scripted model."""

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.toolsets import FunctionToolset

import crosier
from crosier.adapters.pydantic_ai import guarded


def run(engine, **options):
    """Calls `shell` once; what ran, and what the model read."""
    ran, read = [], []

    def shell(command: str) -> str:
        ran.append(command)
        return f"token=abc {command}"

    def model(messages, info):
        returned = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        read.extend(part.model_response_str() for part in returned)
        return ModelResponse([TextPart("done")] if returned else [ToolCallPart("shell", {"command": "rm -rf /"})])

    agent = Agent(FunctionModel(model), toolsets=[guarded(FunctionToolset([shell]), engine, **options)])
    assert agent.run_sync("go").output == "done"
    return ran, read


def test_a_denied_tool_does_not_run_and_the_model_reads_why(engine):
    engine.hook("PreToolUse", matcher="shell")(lambda event: crosier.deny("never by force"))
    ran, read = run(engine)
    assert ran == [] and "never by force" in read[0]


def test_a_rewritten_input_runs(engine):
    engine.hook("PreToolUse")(lambda event: {"updated_input": {"command": "ls"}})
    ran, read = run(engine)
    assert ran == ["ls"]


def test_a_redacted_result_and_injected_text_arrive(engine):
    @engine.hook("PostToolUse")
    def redact(event):
        return {"updatedToolOutput": event.tool_response.replace("abc", "***"),
                "inject": {"content": "be careful", "strategy": "tool_result"}}

    engine.hook("PreToolUse", name="context")(lambda event: {"additionalContext": "the disk is full"})
    ran, read = run(engine)
    assert "abc" not in read[0] and "***" in read[0] and "be careful" in read[0] and "the disk is full" in read[0]


def test_a_person_is_asked(engine):
    engine.hook("PreToolUse")(lambda event: crosier.ask("it leaves this machine"))
    assert run(engine)[0] == []
    assert run(engine, ask=lambda outcome: True)[0] == ["rm -rf /"]
    assert run(engine, ask=lambda outcome: False)[0] == []


def test_a_hook_that_fails_closed_refuses(engine):
    def broken(event):
        raise ValueError("oh")

    engine.hook("PreToolUse", on_error="abort")(broken)
    ran, read = run(engine)
    assert ran == [] and "oh" in read[0]
