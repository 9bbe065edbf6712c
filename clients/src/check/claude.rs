//! What is checked in Claude Code.

use serde_json::json;

use super::expect::{
    all, ended, ended_with, logged, made, never_printed, never_told, not_made, printed, printed_times,
    requests, result_has, told, told_times,
};
use super::{Scenario, edge, shared, trust};
use crate::agent::Agent;
use crate::model::{Call, Turn};

pub(crate) fn claude(agent: &dyn Agent) -> Vec<Scenario> {
    let mut scenarios = vec![
        shared::decisions(agent).check("ask: the model is told why", result_has("ask", "REASON-ASK")),
        shared::force_push(agent),
        shared::set_up_by_init(agent),
        shared::rewritten(shared::rewrites(agent)),
        shared::context_before(shared::outputs_changed(shared::outputs(agent)))
            .check("context before a tool arrives once", told_times("CONTEXT-PRE", 1))
            .check("what is hidden leaves a result", result_has("hide", "")),
        failures(agent),
        shared::files(agent),
        notebook(),
        shared::broken_configuration(agent)
            .check("the person is told what is wrong", printed("crosier.yaml")),
        shared::no_configuration(agent)
            .check("every event of Claude Code passes without an error", never_printed("hook error")),
        shared::faulty_hooks(agent)
            .check("a hook that failed open is told to the person", printed("CAUSE-OPEN"))
            .check("and only once", printed_times("CAUSE-OPEN", 1)),
        shared::beginning(agent)
            .check("context of SessionStart arrives", told("CONTEXT-START"))
            .check("context of UserPromptSubmit arrives", told("CONTEXT-PROMPT"))
            .check(
                "each arrives once",
                all([told_times("CONTEXT-START", 1), told_times("CONTEXT-PROMPT", 1)]),
            ),
        shared::blocked_prompt().check("the person is told why", printed("REASON-PROMPT")),
        shared::resume_once(agent),
        shared::resume_always(9),
        shared::deadline(agent),
        shared::halt(agent)
            .check("the model is not asked again", requests(2, 2))
            .check("the person is told why", printed("REASON-HALT")),
        halt_after(agent),
        shared::mcp_changed(shared::mcp(agent, "mcp__demo__touch")),
        subagent(agent),
        permission("permission allowed", "allow")
            .turns([Turn::call(agent.shell("try", "touch permitted")), Turn::text("Finished.")])
            .check("a hook at PermissionRequest lets the tool run", made("permitted")),
        permission("permission denied", "deny")
            .turns([Turn::call(agent.shell("try", "touch permitted")), Turn::text("Finished.")])
            .check("a hook at PermissionRequest keeps the tool from running", not_made("permitted"))
            .check("its message reaches the model", result_has("try", "REASON-PERMISSION")),
        edge::together(agent),
        edge::closed(agent),
        edge::late_at_stop(),
        edge::secret(agent),
        monitor(),
        compaction(),
    ];
    scenarios.extend(trust::trust(agent));
    scenarios
}

fn failures(agent: &dyn Agent) -> Scenario {
    shared::by_word("failed tool")
        .turns([
            Turn::call(agent.shell("failed", "echo OUTPUT-FAILED; exit 3 # case:failed")),
            Turn::call(agent.read("none", "case:failed")),
            Turn::text("Finished."),
        ])
        .check("the failure reaches the model as it was", result_has("failed", "OUTPUT-FAILED"))
        .check("context after a failure arrives", told("CONTEXT-FAILURE"))
        .check("the agent goes on", all([ended_with(0), requests(3, 3)]))
}

fn notebook() -> Scenario {
    let cell = json!({"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "source": ["print(1)\n"],
        "execution_count": null});
    let notebook = json!({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5});
    let input =
        json!({"notebook_path": "/PROJECT/a.ipynb", "cell_id": "a", "new_source": "print('CELL-CHANGED')"});
    let read = Call::new("read", "Read", json!({"file_path": "/PROJECT/a.ipynb"}));
    Scenario::new("notebook")
        .policy(
            "hooks:\n  PreToolUse:\n    - {name: cells, matcher: NotebookEdit, command: 'echo REASON-CELL >&2; exit 2'}\n",
        )
        .file("a.ipynb", &notebook.to_string())
        .turns([Turn::call(read), Turn::call(Call::new("edit", "NotebookEdit", input)), Turn::text("Finished.")])
        .check("an edit of a cell is denied with the reason", result_has("edit", "REASON-CELL"))
        .check("the notebook stays as it was", super::expect::file_lacks("a.ipynb", "CELL-CHANGED"))
}

fn halt_after(agent: &dyn Agent) -> Scenario {
    shared::by_word("halt after a tool")
        .turns([
            Turn::call(agent.shell("end", "touch ended # case:end")),
            Turn::call(agent.shell("more", "touch more")),
            Turn::text("Finished."),
        ])
        .check("the tool ran, nothing after it does", all([made("ended"), not_made("more")]))
        .check("the agent ends without another request", all([ended(), requests(1, 1)]))
}

const SUBAGENT: &str = "\
hooks:
  PreToolUse:
    - {name: word, command: python3 policy.py}
    - {name: log, command: 'cat >> events; echo >> events'}
  SubagentStart:
    - {name: start, command: 'echo \"{\\\"systemMessage\\\": \\\"CONTEXT-SUBAGENT\\\"}\"'}
  SubagentStop:
    - name: once
      command: '[ -e resumed ] || { touch resumed; echo RESUME-SUBAGENT >&2; exit 2; }'
";

fn subagent(agent: &dyn Agent) -> Scenario {
    let input = json!({
        "description": "look", "prompt": "[[helper]] Look around.", "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let forbidden = json!({
        "description": "case:deny", "prompt": "[[never]] Look around.", "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    shared::by_word("subagent")
        .policy_file("crosier.yaml", SUBAGENT)
        .turns([
            Turn::call(Call::new("spawn", "Agent", input)),
            Turn::call(Call::new("forbidden", "Agent", forbidden)),
            Turn::text("Finished."),
        ])
        .conversation(
            "helper",
            [
                Turn::call(agent.shell("inner", "touch inner")),
                Turn::call(agent.shell("refused", "touch refused # case:deny")),
                Turn::text("Looked around."),
                Turn::call(agent.shell("again", "touch again")),
                Turn::text("Looked again."),
            ],
        )
        .check("tools of a subagent run", made("inner"))
        .check("a denial holds in a subagent", all([not_made("refused"), made("inner")]))
        .check("its reason reaches the subagent", result_has("refused", "REASON-DENY"))
        .check("context of SubagentStart arrives", told("CONTEXT-SUBAGENT"))
        .check("a subagent that wants to stop is resumed", all([made("again"), told("RESUME-SUBAGENT")]))
        .check("hooks see the subagent's id", logged(&["touch inner", "\"agent_id\":\"a"]))
        .check(
            "starting a subagent is a tool, Task, that can be denied",
            result_has("forbidden", "REASON-DENY"),
        )
        .check("a subagent that was denied never asks the model", never_told("[[never]]"))
}

fn permission(name: &'static str, behavior: &str) -> Scenario {
    let decision =
        json!({"behavior": behavior, "message": (behavior == "deny").then_some("REASON-PERMISSION")});
    let reply = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    Scenario::new(name)
        .policy(
            "hooks:\n  PermissionRequest:\n    - {name: person, matcher: Bash, command: cat reply.json}\n",
        )
        .policy_file("reply.json", &reply.to_string())
        .settings(json!({"permissions": {"allow": ["Read"]}}))
}

/// A tool that runs a command in the background and reports its lines.
fn monitor() -> Scenario {
    let call = |id, command: &str| {
        let input = json!({"command": command, "description": "A step", "timeout_ms": 5000});
        Turn::call(Call::new(id, "Monitor", input))
    };
    shared::by_word("monitor")
        .policy_file(
            "crosier.yaml",
            "hooks:\n  PreToolUse:\n    - {name: before, matcher: Bash, command: python3 policy.py}\n",
        )
        .settings(json!({"permissions": {"allow": ["Bash", "Monitor"]}}))
        .turns([
            call("free", "touch free"),
            call("deny", "touch denied # case:deny"),
            call("last", "touch last; sleep 1"),
            Turn::text("Finished."),
        ])
        .check("a command that it runs is judged as Bash", all([not_made("denied"), made("free")]))
        .check("the reason reaches the model", result_has("deny", "REASON-DENY"))
}

/// Claude Code adds a hook's output at PreCompact to the instructions.
fn compaction() -> Scenario {
    Scenario::new("compaction")
        .policy(
            "hooks:\n  PreCompact:\n    - {name: keep, command: 'echo \"{\\\"modify\\\": {\\\"custom_instructions\\\": \\\"KEEP-NAMES\\\"}}\"'}\n",
        )
        .turns([Turn::text("First answer."), Turn::text("<analysis>x</analysis><summary>A short summary.</summary>")])
        .then("/compact")
        .check("new instructions arrive as plain text", told("KEEP-NAMES"))
        .check("nothing of Crosier's JSON arrives", never_told("custom_instructions"))
        .check("the conversation is shortened", all([ended_with(0), told("summary")]))
}
