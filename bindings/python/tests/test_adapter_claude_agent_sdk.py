"""The Claude Agent SDK with the program that it brings along, against a scripted model on loopback."""

import json

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import ClaudeAgentOptions, query
from scripted_claude import Scripted

import crosier
from crosier.adapters.claude_agent_sdk import hooks, say, withheld


@pytest.fixture
def run(engine, tmp_path):
    async def run(command="touch ran; echo token=abc"):
        """What the model read as the result, all that it read, and whether the command ran."""
        model = Scripted(command)
        work, home = tmp_path / "work", tmp_path / "home"
        for folder in (work, home):
            folder.mkdir(exist_ok=True)
        env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none", "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home),
               "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}  # fmt: skip
        options = ClaudeAgentOptions(
            hooks=hooks(engine), cwd=work, env=env, allowed_tools=["Bash"], max_turns=4, model="claude-sonnet-4-5"
        )
        async for _ in query(prompt="go", options=options):
            pass
        model.server.shutdown()
        return model.read[-1] if model.read else "", "".join(model.texts), {path.name for path in work.iterdir()}

    return run


async def test_a_denied_tool_does_not_run_and_the_model_reads_why(engine, run):
    engine.hook("PreToolUse", matcher="Bash")(lambda event: crosier.deny("never by force"))
    read, _, files = await run()
    assert "never by force" in read and not files


async def test_a_rewritten_input_runs(engine, run):
    engine.hook("PreToolUse")(lambda event: {"updated_input": {**event.args, "command": "touch safe"}})
    read, _, files = await run()
    assert files == {"safe"}


async def test_a_redacted_result_and_context_arrive(engine, run):
    @engine.hook("PostToolUse", matcher="Bash")
    async def redact(event):
        clean = json.loads(json.dumps(event.tool_response).replace("abc", "***"))
        return {"updatedToolOutput": clean, "inject": {"content": "be careful", "strategy": "tool_result"}}

    engine.hook("UserPromptSubmit")(lambda event: {"additionalContext": "today is Monday"})
    read, everything, files = await run()
    assert files == {"ran"} and "***" in read and "abc" not in read
    assert "be careful" in everything and "today is Monday" in everything


async def test_trouble_denies_what_acts(engine, run):
    engine.close()
    read, _, files = await run()
    assert "closed" in read and not files


def test_a_result_that_is_withheld_keeps_its_shape():
    response = {"stdout": "secret", "stderr": "", "interrupted": False, "more": [{"type": "text", "text": "x"}]}
    hidden = withheld(response)
    assert "secret" not in str(hidden) and hidden["interrupted"] is False and hidden["more"][0]["type"] == "text"


def test_a_stop_goes_on_and_a_halt_ends(engine):
    engine.hook("Stop", inline=True)(lambda event: {"continue": True, "stopReason": "run the tests"})
    said = say(engine.fire_sync("Stop", stop_hook_active=False), {})
    assert said == {"decision": "block", "reason": "run the tests"}
    engine.hook("PreToolUse", name="halt", inline=True)(lambda event: {"continue": False, "stopReason": "enough"})
    said = say(engine.fire_sync("PreToolUse", tool_name="x", tool_input={}), {})
    assert said["continue_"] is False and said["hookSpecificOutput"]["permissionDecision"] == "deny"
