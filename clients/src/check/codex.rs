//! What is checked in Codex.

use serde_json::json;

use super::expect::{
    all, ended, file_has, file_lacks, logged, made, never_printed, not_made, printed, requests, result_has,
    told,
};
use super::{Scenario, edge, shared};
use crate::agent::{Agent, patch};
use crate::model::{Call, Turn};

pub(crate) fn codex(agent: &dyn Agent) -> Vec<Scenario> {
    vec![
        shared::decisions(agent)
            .check("ask becomes a denial with the reason", result_has("ask", "REASON-ASK"))
            .check("no hook failed in Codex's eyes", never_printed("Failed")),
        shared::force_push(agent),
        shared::set_up_by_init(agent),
        shared::rewritten(shared::rewrites(agent)).check("none of it failed", never_printed("Failed")),
        shared::context_before(shared::outputs_changed(shared::outputs(agent)))
            .check("none of it failed", never_printed("Failed")),
        shared::files(agent)
            .check("a patch is seen file by file", logged(&["\"tool_name\":\"Edit\"", "notes.txt"])),
        patches(),
        shared::broken_configuration(agent),
        shared::no_configuration(agent),
        shared::faulty_hooks(agent)
            .check("what is said to the person is no failure for Codex", never_printed("Failed")),
        shared::beginning(agent)
            .check("context of SessionStart arrives", told("CONTEXT-START"))
            .check("context of UserPromptSubmit arrives", told("CONTEXT-PROMPT")),
        shared::blocked_prompt()
            .check("the person sees that it was blocked", printed("UserPromptSubmit Blocked")),
        shared::resume_once(agent),
        shared::resume_always(9),
        shared::deadline(agent),
        shared::halt(agent).check("the reason reaches the model", result_has("halt", "REASON-HALT")),
        shared::mcp_changed(shared::mcp(agent, "mcp__demo/touch")),
        subagent(agent),
        edge::closed(agent),
        edge::together(agent),
        edge::late_at_stop(),
        edge::secret(agent),
        patch_in_the_shell(agent),
        permission("permission allowed", "allow")
            .check("a hook at PermissionRequest lets the tool run", made("permitted")),
        permission("permission denied", "deny")
            .check("a hook at PermissionRequest keeps the tool from running", not_made("permitted"))
            .check("its message reaches the model", result_has("try", "REASON-PERMISSION")),
    ]
}

/// Patches of several files.
fn patches() -> Scenario {
    let several = "*** Add File: a.txt\n+fresh\n*** Add File: frozen.txt\n+water\n*** Delete File: old.txt\n";
    let moved = "*** Update File: notes.txt\n*** Move to: frozen-notes.txt\n@@\n-one\n+two\n";
    let fine = "*** Add File: b.txt\n+fresh\n*** Update File: notes.txt\n@@\n-one\n+two\n";
    let deny = r#"echo "{\"decision\": \"deny\", \"reason\": \"REASON-FROZEN\"}""#;
    let policy = format!(
        "hooks:\n  PreToolUse:\n    - name: frozen\n      matcher: Write|Edit\n      command: |\n        \
         if grep -q 'frozen'; then {deny}; fi\n"
    );
    Scenario::new("patches")
        .policy(&policy)
        .file("old.txt", "old\n")
        .file("notes.txt", "one\n")
        .turns([
            Turn::call(patch("several", several)),
            Turn::call(patch("moved", moved)),
            Turn::call(patch("fine", fine)),
            Turn::text("Finished."),
        ])
        .check("one denied file denies the whole patch", all([not_made("a.txt"), not_made("frozen.txt")]))
        .check("nothing of it was applied", all([made("old.txt"), result_has("several", "REASON-FROZEN")]))
        .check(
            "the target of a move counts",
            all([not_made("frozen-notes.txt"), result_has("moved", "REASON-FROZEN")]),
        )
        .check("a patch that nobody minds is applied", all([made("b.txt"), file_has("notes.txt", "two")]))
        .check("and is not applied twice", file_lacks("notes.txt", "one"))
}

/// A patch that the shell is given: Codex applies it itself.
fn patch_in_the_shell(agent: &dyn Agent) -> Scenario {
    let patch = |file: &str| {
        format!("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {file}\n+fresh\n*** End Patch\nEOF\n")
    };
    Scenario::new("patch in the shell")
        .policy("hooks:\n  PreToolUse:\n    - {name: paths, type: builtin, handler: protect-paths, options: {also_no_read: ['*.vault']}}\n")
        .turns([
            Turn::call(agent.shell("free", &patch("free.txt"))),
            Turn::call(agent.shell("vault", &patch("release.vault"))),
            Turn::text("Finished."),
        ])
        .check("a file that nobody protects is written", made("free.txt"))
        .check("a protected file is not written", all([not_made("release.vault"), made("free.txt")]))
        .check("the model is told why", result_has("vault", "protected"))
}

fn subagent(agent: &dyn Agent) -> Scenario {
    let input = json!({"message": "[[helper]] Look around.", "agent_type": "default"});
    let policy = "\
hooks:
  PreToolUse:
    - {name: word, command: python3 policy.py}
  SubagentStart:
    - {name: start, command: 'echo \"{\\\"systemMessage\\\": \\\"CONTEXT-SUBAGENT\\\"}\"'}
";
    shared::by_word("subagent")
        .policy_file("crosier.yaml", policy)
        .turns([
            Turn::call(Call::new("spawn", "multi_agent_v1/spawn_agent", input)),
            Turn::call(agent.shell("wait", "while [ ! -e inner ]; do sleep 0.1; done; sleep 1")),
            Turn::text("Finished."),
        ])
        .conversation("helper", edge::inner_turns(agent))
        .check("tools of a subagent run", made("inner"))
        .check(
            "a denial holds in a subagent",
            all([not_made("refused"), result_has("refused", "REASON-DENY")]),
        )
        .check("context of SubagentStart arrives", told("CONTEXT-SUBAGENT"))
        .check("the session ends", all([ended(), requests(3, 3)]))
}

/// A command that needs to leave the sandbox, which Codex asks about.
fn permission(name: &'static str, behavior: &str) -> Scenario {
    let input = json!({
        "cmd": "touch permitted", "sandbox_permissions": "require_escalated", "justification": "A step outside",
    });
    let decision =
        json!({"behavior": behavior, "message": (behavior == "deny").then_some("REASON-PERMISSION")});
    let reply = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    Scenario::new(name)
        .policy(
            "hooks:\n  PermissionRequest:\n    - {name: person, matcher: Bash, command: cat reply.json}\n",
        )
        .policy_file("reply.json", &reply.to_string())
        // `codex exec` does not ask a person; an automatic reviewer answers instead.
        .arguments(&["--approve-for-me"])
        .settings(json!({"sandbox_mode": "workspace-write"}))
        .turns([Turn::call(Call::new("try", "exec_command", input)), Turn::text("Finished.")])
}
