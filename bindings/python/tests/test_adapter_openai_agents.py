"""The OpenAI Agents SDK, with a scripted model."""

import json

import pytest

pytest.importorskip("agents")

from agents import Agent, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import crosier
from crosier.adapters.openai_agents import guard

set_tracing_disabled(True)


class Scripted(Model):
    """Calls `shell` once, then is done."""

    def __init__(self):
        self.read = []

    async def get_response(self, system_instructions, input, *args, **kwargs):
        outputs = [item for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
        if outputs:
            self.read.append(str(outputs[-1]["output"]))
            text = ResponseOutputText(annotations=[], text="done", type="output_text")
            item = ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")
        else:
            item = ResponseFunctionToolCall(
                arguments=json.dumps({"command": "rm -rf /"}), call_id="c1", name="shell", type="function_call"
            )
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    async def stream_response(self, *args, **kwargs):
        raise NotImplementedError


async def run(engine, **options):
    ran, model = [], Scripted()

    @function_tool
    def shell(command: str) -> str:
        """Runs a command."""
        ran.append(command)
        return f"token=abc {command}"

    agent = Agent(name="a", tools=[guard(shell, engine, **options)], model=model)
    assert (await Runner.run(agent, "go")).final_output == "done"
    return ran, model.read


async def test_a_denied_tool_does_not_run_and_the_model_reads_why(engine):
    engine.hook("PreToolUse", matcher="shell")(lambda event: crosier.deny("never by force"))
    ran, read = await run(engine)
    assert ran == [] and "never by force" in read[0]


async def test_a_rewritten_input_runs(engine):
    engine.hook("PreToolUse")(lambda event: {"updated_input": {"command": "ls"}})
    assert (await run(engine))[0] == ["ls"]


async def test_a_redacted_result_and_injected_text_arrive(engine):
    @engine.hook("PostToolUse")
    async def redact(event):
        return {"updatedToolOutput": event.tool_response.replace("abc", "***"),
                "inject": {"content": "be careful", "strategy": "tool_result"}}

    ran, read = await run(engine)
    assert "abc" not in read[0] and "***" in read[0] and "be careful" in read[0]


async def test_the_tool_itself_is_as_it_was(engine):
    engine.hook("PreToolUse")(lambda event: crosier.deny("no"))

    @function_tool
    def shell(command: str) -> str:
        """Runs a command."""
        return command

    invoke = shell.on_invoke_tool
    guarded = guard(shell, engine)
    assert shell.on_invoke_tool is invoke and guarded.params_json_schema == shell.params_json_schema


async def test_a_hook_that_halts_ends_the_run(engine):
    engine.hook("PreToolUse")(lambda event: {"continue": False, "stopReason": "enough"})
    with pytest.raises(Exception, match="enough"):
        await run(engine)
