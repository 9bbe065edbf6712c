//! Scenarios that every agent must pass besides the usual ones: a project's own hooks, several calls at once, hooks that
//! are late when the agent wants to stop, secrets in outputs, and subagents.

use super::expect::{all, ended, made, never_told, not_made, requests, result_has, told};
use super::{Scenario, shared, trust};
use crate::agent::Agent;
use crate::model::{Call, Turn};

/// A trusted project whose hooks hold, in a folder below it too, until a program changes one of their files: then
/// nothing acts, and the agent ends.
pub(super) fn closed(agent: &dyn Agent) -> Scenario {
    trust::project("closed project")
        .trusted()
        .file("below/notes.txt", "notes\n")
        .file("build.sh", "#!/bin/sh\necho '# another policy' >> policy.py\n")
        .turns([
            Turn::call(agent.shell("below", "cd below && touch here")),
            Turn::call(agent.shell("minded", "touch minded # case:deny")),
            Turn::call(agent.shell("build", "cd /PROJECT && ./build.sh && touch built")),
            Turn::call(agent.shell("after", "touch /PROJECT/after")),
            Turn::call(agent.write("write", "written", "fresh\n")),
            Turn::text("Finished."),
        ])
        .check("the project's hooks hold after a `cd`", all([made("below/here"), not_made("minded")]))
        .check("their reason reaches the model", result_has("minded", "REASON-DENY"))
        .check("after a change nothing acts", all([made("built"), not_made("after"), not_made("written")]))
        .check("the model is told the line to copy", result_has("after", "crosier trust --diff"))
        .check("the agent ends", all([ended(), requests(6, 6)]))
}

/// Several calls in one answer of the model.
pub(super) fn together(agent: &dyn Agent) -> Scenario {
    shared::by_word("calls together")
        .turns([
            Turn::calls([
                agent.shell("one", "touch one"),
                agent.shell("deny", "touch two # case:deny"),
                agent.shell("three", "touch three"),
            ]),
            Turn::text("Finished."),
        ])
        .check(
            "of three calls in one answer the denied one does not run",
            all([made("one"), not_made("two")]),
        )
        .check("the others do", all([made("one"), made("three")]))
        .check("each has its own result", all([result_has("deny", "REASON-DENY"), requests(2, 2)]))
}

/// A hook that is late when the agent wants to stop: no fault keeps an agent going.
pub(super) fn late_at_stop() -> Scenario {
    Scenario::new("late at stop")
        .deadline(2)
        .policy("hooks:\n  Stop:\n    - {name: slow, command: sleep 300, timeout: 50, on_error: abort}\n")
        .turns([Turn::text("I think I am done."), Turn::text("And again.")])
        .most_requests(20)
        .check("the agent ends as if there were no hook", all([ended(), requests(1, 1)]))
}

/// A secret in a file, which the recommended pack masks wherever a tool shows it.
pub(super) fn secret(agent: &dyn Agent) -> Scenario {
    const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    Scenario::new("secret")
        .policy("extends: crosier:recommended\n")
        .file("notes.txt", &format!("before\ntoken = {KEY}\nafter\n"))
        .turns([
            Turn::call(agent.read("read", "notes.txt")),
            Turn::call(agent.shell("cat", "cat notes.txt; echo über-ünïcode-✓")),
            Turn::text("Finished."),
        ])
        .check(
            "a secret never reaches the model, by a file or by a command",
            all([never_told(KEY), result_has("read", "before"), result_has("cat", "after")]),
        )
        .check("other characters stay as they are", result_has("cat", "über-ünïcode-✓"))
}

/// What a subagent does: a call that is denied, and one that runs.
pub(super) fn inner_turns(agent: &dyn Agent) -> [Turn; 3] {
    [
        Turn::call(agent.shell("refused", "touch refused # case:deny")),
        Turn::call(agent.shell("inner", "touch inner")),
        Turn::text("Looked around."),
    ]
}

/// A subagent that is started by this call, with the prompt `[[helper]] …`.
pub(super) fn subagent(agent: &dyn Agent, spawn: Call) -> Scenario {
    shared::by_word("subagent")
        .turns([Turn::call(spawn), Turn::text("Finished.")])
        .conversation("helper", inner_turns(agent))
        .check("tools of a subagent run", made("inner"))
        .check("a denial holds in a subagent", all([not_made("refused"), made("inner")]))
        .check("its reason reaches the subagent", all([told("REASON-DENY"), ended()]))
}
