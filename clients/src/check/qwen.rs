//! What is checked in Qwen Code.

use super::expect::{told, told_times};
use super::{Scenario, shared};
use crate::agent::Agent;

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
        shared::mcp_told(shared::mcp(agent, "mcp__demo__touch")),
    ]);
    scenarios
}
