//! What is checked in Qwen Code.

use super::expect::{all, made, not_made, result_has, told, told_times};
use serde_json::json;

use super::{Scenario, edge, shared};
use crate::agent::Agent;
use crate::model::{Call, Turn};

pub(crate) fn qwen(agent: &dyn Agent) -> Vec<Scenario> {
    let mut scenarios = shared::basics(agent);
    scenarios.extend([
        shared::decisions(agent),
        shared::rewrites(agent).check(
            "a rewrite, which Qwen Code ignores, is a denial that names the new input",
            told("new-input"),
        ),
        shared::context_before(shared::outputs_changed(shared::outputs(agent))),
        shared::faulty_hooks(agent),
        shared::beginning(agent)
            .check("context of SessionStart arrives", told("CONTEXT-START"))
            .check("context of UserPromptSubmit arrives", told("CONTEXT-PROMPT"))
            .check("and only once: prompts that are empty say nothing", told_times("CONTEXT-PROMPT", 1)),
        shared::blocked_prompt(),
        shared::resume_once(agent),
        shared::resume_always(8),
        shared::halt(agent),
        edge::secret(agent),
        edge::subagent(agent, spawn()),
        indirect(),
        shared::mcp_told(shared::mcp(agent, "mcp__demo__touch")),
    ]);
    scenarios
}

fn spawn() -> Call {
    let input = json!({
        "description": "look", "prompt": "[[helper]] Look around.", "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    Call::new("spawn", "agent", input)
}

/// A tool that is not offered from the start, called by its name: it runs a command in the background.
fn indirect() -> Scenario {
    let call = |id, command: &str| {
        let input = json!({"command": command, "description": "A step"});
        Turn::call(Call::new(id, "tool_call", json!({"name": "monitor", "arguments": input})))
    };
    shared::by_word("indirect call")
        .policy_file(
            "crosier.yaml",
            "hooks:\n  PreToolUse:\n    - {name: before, matcher: Bash, command: python3 policy.py}\n",
        )
        .turns([
            Turn::call(Call::new("search", "tool_search", json!({"query": "select:monitor"}))),
            call("free", "touch free"),
            call("deny", "touch denied # case:deny"),
            call("last", "touch last; sleep 1"),
            Turn::text("Finished."),
        ])
        .check("a command that it runs is judged as Bash", all([made("free"), not_made("denied")]))
        .check("the reason reaches the model", result_has("deny", "REASON-DENY"))
}
