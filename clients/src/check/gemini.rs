//! What is checked in Gemini CLI.

use serde_json::json;

use super::expect::{all, ended, made, never_told, not_made, printed, requests, result_has, told};
use super::{Scenario, edge, shared};
use crate::agent::Agent;
use crate::model::{Call, Turn};

pub(crate) fn gemini(agent: &dyn Agent) -> Vec<Scenario> {
    vec![
        shared::decisions(agent)
            .check("ask becomes a denial with the reason", result_has("ask", "REASON-ASK")),
        shared::force_push(agent),
        shared::set_up_by_init(agent),
        shared::rewritten(shared::rewrites(agent)),
        shared::context_before(shared::outputs_changed(shared::outputs(agent))),
        shared::files(agent),
        shared::broken_configuration(agent),
        shared::no_configuration(agent),
        shared::faulty_hooks(agent)
            .check("a hook that failed open is told to the person", printed("CAUSE-OPEN")),
        shared::beginning(agent)
            .check("context of SessionStart arrives", told("CONTEXT-START"))
            .check("context of UserPromptSubmit arrives", told("CONTEXT-PROMPT")),
        shared::blocked_prompt(),
        shared::resume_once(agent),
        shared::resume_always(9),
        shared::deadline(agent),
        shared::halt(agent).check("the model is not asked again", requests(2, 2)),
        shared::mcp_changed(shared::mcp(agent, "mcp_demo_touch")),
        messages(agent),
        subagent(agent),
        edge::closed(agent),
        edge::together(agent),
        edge::late_at_stop(),
        edge::secret(agent),
    ]
}

/// Rewrites what is sent to the model.
fn messages(agent: &dyn Agent) -> Scenario {
    Scenario::new("messages")
        .policy("hooks:\n  PreMessage:\n    - {name: prompt, command: python3 prompt.py}\n")
        .policy_file(
            "prompt.py",
            "import json, sys\nevent = json.load(sys.stdin)\n\
             new = event['prompt'].replace('SECRET-WORD', 'PLAIN-WORD')\n\
             if new != event['prompt']:\n    print(json.dumps({'modify': {'prompt': new}}))\n",
        )
        .prompt("[[main]] Do the work with SECRET-WORD.")
        .turns([Turn::call(agent.shell("free", "touch free")), Turn::text("Finished.")])
        .check("PreMessage rewrites what the model gets", told("PLAIN-WORD"))
        .check("the old words never reach the model", never_told("SECRET-WORD"))
        .check("tool calls are not lost", all([made("free"), ended(), requests(2, 2)]))
}

fn subagent(agent: &dyn Agent) -> Scenario {
    let call = |id, prompt: &str| {
        Turn::call(Call::new(id, "invoke_agent", json!({"agent_name": "generalist", "prompt": prompt})))
    };
    shared::by_word("subagent")
        .turns([
            call("spawn", "[[helper]] Look around."),
            call("forbidden", "[[never]] case:deny Look around."),
            Turn::text("Finished."),
        ])
        .conversation(
            "helper",
            [
                Turn::call(agent.shell("refused", "touch refused # case:deny")),
                Turn::call(agent.shell("inner", "touch inner")),
                Turn::call(Call::new(
                    "done",
                    "complete_task",
                    json!({"result": {"response": "Looked around."}}),
                )),
                Turn::text("Looked around."),
            ],
        )
        .check("tools of a subagent run", made("inner"))
        .check("a denial holds in a subagent", all([not_made("refused"), made("inner")]))
        .check("starting a subagent is a tool that can be denied", result_has("forbidden", "REASON-DENY"))
}
