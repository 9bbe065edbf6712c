"""LangChain's agents, with a scripted model."""

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage

import crosier
from crosier.adapters.langchain import CrosierMiddleware


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


def make(engine, ran, **options):
    def shell(command: str) -> str:
        """Runs a command."""
        ran.append(command)
        return f"token=abc {command}"

    calls = [{"name": "shell", "args": {"command": "rm -rf /"}, "id": "c1"}]
    model = Model(messages=iter([AIMessage("", tool_calls=calls), AIMessage("the secret is 42")]))
    return create_agent(model, tools=[shell], middleware=[CrosierMiddleware(engine, **options)])


@pytest.fixture(params=["sync", "async"])
async def run(request, engine):
    async def run(**options):
        ran = []
        agent = make(engine, ran, **options)
        asked = {"messages": [("user", "go")]}
        state = await agent.ainvoke(asked) if request.param == "async" else agent.invoke(asked)
        results = [message.content for message in state["messages"] if isinstance(message, ToolMessage)]
        return ran, results, state["messages"]

    return run


async def test_a_denied_tool_does_not_run_and_the_model_reads_why(engine, run):
    engine.hook("PreToolUse", matcher="shell")(lambda event: crosier.deny("never by force"))
    ran, read, _ = await run()
    assert ran == [] and "never by force" in read[0]


async def test_a_rewritten_input_runs(engine, run):
    engine.hook("PreToolUse")(lambda event: {"updated_input": {"command": "ls"}})
    assert (await run())[0] == ["ls"]


async def test_a_redacted_result_and_injected_text_arrive(engine, run):
    @engine.hook("PostToolUse")
    def redact(event):
        return {"updatedToolOutput": event.tool_response.replace("abc", "***"),
                "inject": {"content": "be careful", "strategy": "tool_result"}}

    ran, read, _ = await run()
    assert "abc" not in read[0] and "***" in read[0] and "be careful" in read[0]


async def test_a_prompt_gets_context_or_is_denied(engine, run):
    engine.hook("UserPromptSubmit", name="context")(lambda event: {"additionalContext": "today is Monday"})
    _, _, messages = await run()
    assert any("today is Monday" in str(message.content) for message in messages)
    engine.hook("UserPromptSubmit", name="deny")(lambda event: crosier.deny("not today"))
    ran, _, messages = await run()
    assert ran == [] and "not today" in messages[-1].content


async def test_an_answer_is_rewritten(engine, run):
    engine.hook("PostMessage")(lambda event: {"modify": {"output": event.output.replace("42", "**")}})
    _, _, messages = await run()
    assert messages[-1].content == "the secret is **"
