//! What is checked in Cline CLI.

use serde_json::json;

use super::expect::{all, ended, file_has, made, never_told, not_made, result_has};
use super::{Scenario, edge, shared};
use crate::agent::Agent;
use crate::model::{Call, Turn};

pub(crate) fn cline(agent: &dyn Agent) -> Vec<Scenario> {
    let mut scenarios = shared::basics(agent);
    scenarios.extend([
        shared::decisions(agent),
        shared::rewritten(shared::rewrites(agent)),
        shared::context_before(shared::outputs(agent)),
        shared::faulty_hooks(agent),
        shared::halt(agent),
        edge::subagent(agent, spawn()),
        several(),
        shared::mcp(agent, "demo__touch")
            .check("a denial that Cline cannot tell the model ends the run", ended()),
    ]);
    scenarios
}

/// Several commands, or several files, in one call.
fn several() -> Scenario {
    let run = |id, commands: serde_json::Value| {
        Turn::call(Call::new(id, "run_commands", json!({"commands": commands})))
    };
    shared::by_word("several in one call")
        .file("plain", "PLAIN-TEXT\n")
        .file("case:deny", "HIDDEN-TEXT\n")
        .turns([
            run("fine", json!(["touch one", "touch two"])),
            run("deny", json!(["touch three", "touch four # case:deny"])),
            run("rewrite", json!(["echo kept > kept", "echo old-input > rewritten # case:rewrite"])),
            run("program", json!([{"command": "touch", "args": ["five-case:deny"]}])),
            Turn::call(Call::new(
                "read",
                "read_files",
                json!({"files": [{"path": "/PROJECT/plain"}, {"path": "/PROJECT/case:deny"}]}),
            )),
            Turn::text("Finished."),
        ])
        .check("commands that nobody minds run", all([made("one"), made("two")]))
        .check(
            "one denied command denies the whole call",
            all([not_made("three"), not_made("four"), made("two")]),
        )
        .check("the reason reaches the model", result_has("deny", "REASON-DENY"))
        .check(
            "one command is rewritten, the other stays",
            all([file_has("kept", "kept"), file_has("rewritten", "new-input")]),
        )
        .check(
            "a program with its arguments is judged as a whole",
            all([not_made("five-case:deny"), made("two")]),
        )
        .check(
            "one denied file denies the whole call",
            all([never_told("HIDDEN-TEXT"), result_has("read", "denied")]),
        )
}

fn spawn() -> Call {
    let input = json!({"systemPrompt": "You look around.", "task": "[[helper]] Look around."});
    Call::new("spawn", "spawn_agent", input)
}
