//! Scenarios that every agent must pass, with its own tool names. An agent adds its own checks to them.

use super::expect::{
    all, ended, file_has, file_lacks, logged, made, never_told, not_made, requests, result_has, result_lacks,
    told, within,
};
use super::{Scenario, edge};
use crate::agent::Agent;
use crate::model::Turn;

const BY_WORD: &str = "\
hooks:
  PreToolUse:
    - {name: before, command: python3 policy.py}
  PostToolUse:
    - {name: after, command: python3 policy.py}
  PostToolUseFailure:
    - {name: failed, command: python3 policy.py}
";

/// A run with a policy that answers according to a word in the tool's input.
pub(super) fn by_word(name: &'static str) -> Scenario {
    Scenario::new(name).policy(BY_WORD).policy_file("policy.py", include_str!("../../policy/policy.py"))
}

/// The scenarios to which hardly any agent adds a check.
pub(super) fn basics(agent: &dyn Agent) -> Vec<Scenario> {
    vec![
        force_push(agent),
        set_up_by_init(agent),
        files(agent),
        broken_configuration(agent),
        no_configuration(agent),
        deadline(agent),
        edge::closed(agent),
        edge::together(agent),
        edge::late_at_stop(),
    ]
}

/// Deny, ask, allow.
pub(super) fn decisions(agent: &dyn Agent) -> Scenario {
    by_word("decisions")
        .quick()
        .turns([
            Turn::call(agent.shell("free", "touch free")),
            Turn::call(agent.shell("deny", "touch denied # case:deny")),
            Turn::call(agent.shell("ask", "touch asked # case:ask")),
            Turn::call(agent.shell("allow", "touch allowed # case:allow")),
            Turn::text("Finished."),
        ])
        .check("a call that nobody minds runs", made("free"))
        .check("deny: the tool does not run", not_made("denied"))
        .check("deny: the reason reaches the model", result_has("deny", "REASON-DENY"))
        .check("ask without a person: the tool does not run", not_made("asked"))
        .check("allow: the tool runs", made("allowed"))
        .check("the agent goes on after a denial, and ends", all([ended(), requests(5, 5)]))
}

/// A policy of five lines that must work in every agent.
const NO_FORCE: &str = "\
hooks:
  PreToolUse:
    - name: no-force-push
      type: builtin
      handler: block-commands
";

/// `git push --force` against a real remote.
pub(super) fn force_push(agent: &dyn Agent) -> Scenario {
    forced(Scenario::new("force push").quick().policy(NO_FORCE), agent)
}

/// The same after `crosier init --yes` in an empty home, without any other setup. Before that, everything was
/// installed and uninstalled once, which must restore every file.
pub(super) fn set_up_by_init(agent: &dyn Agent) -> Scenario {
    forced(Scenario::new("first minute").quick().set_up_by_init(), agent)
}

fn forced(scenario: Scenario, agent: &dyn Agent) -> Scenario {
    let commit = "git -c user.name=a -c user.email=a@b.test commit -q --allow-empty";
    scenario
        .turns([
            Turn::call(agent.shell("setup", &format!("git init -q --bare remote.git && {commit} -m first"))),
            Turn::call(agent.shell("push", "git push -q ./remote.git HEAD:refs/heads/main")),
            Turn::call(agent.shell("amend", &format!("{commit} --amend -m second"))),
            Turn::call(agent.shell("force", "git push --force ./remote.git HEAD:refs/heads/main")),
            Turn::call(
                agent.shell("hidden", "cd . && sh -c 'git  push  -f ./remote.git HEAD:refs/heads/main'"),
            ),
            Turn::call(agent.shell("tip", "git --git-dir=remote.git log -1 --format=%s main > tip")),
            Turn::text("Finished."),
        ])
        .check("a plain push goes through, a forced one does not reach the remote", file_has("tip", "first"))
        .check("the model is told why", result_has("force", "overwrites what others have pushed"))
        .check(
            "inside another shell it is denied too",
            result_has("hidden", "overwrites what others have pushed"),
        )
}

/// Inputs that a hook rewrites.
pub(super) fn rewrites(agent: &dyn Agent) -> Scenario {
    by_word("rewrites")
        .turns([
            Turn::call(agent.shell("rewrite", "echo old-input > rewritten # case:rewrite")),
            Turn::call(agent.write("write", "written", "old-input case:rewrite\n")),
            Turn::call(agent.shell("both", "echo old-both > both # case:both")),
            Turn::call(agent.shell("partial", "touch partial # case:partial")),
            Turn::call(agent.shell("last", "touch last")),
            Turn::text("Finished."),
        ])
        .check("the old command does not run", all([file_lacks("rewritten", "old-input"), made("last")]))
        .check("the old content is not written", all([file_lacks("written", "old-input"), made("last")]))
        .check(
            "an input without the tool's own fields does not run",
            all([not_made("partial"), made("last")]),
        )
        .check("context beside a rewrite arrives", told("CONTEXT-BOTH"))
}

/// Rewrites, for agents that support them.
pub(super) fn rewritten(scenario: Scenario) -> Scenario {
    scenario
        .check("the new command runs", file_has("rewritten", "new-input"))
        .check("the new content is written", file_has("written", "new-input"))
        .check("a rewrite with context runs", file_has("both", "new-both"))
}

/// Tool results, and text added to them.
pub(super) fn outputs(agent: &dyn Agent) -> Scenario {
    by_word("outputs")
        .file("secret-a", "ORIGINAL-A\n")
        .file("secret-b", "ORIGINAL-B\n")
        .file("plain", "ORIGINAL-C\n")
        .turns([
            Turn::call(agent.shell("replace", "cat secret-a # case:replace")),
            Turn::call(agent.shell("hide", "cat secret-b # case:hide")),
            Turn::call(agent.shell("after", "cat plain # case:after")),
            Turn::call(agent.shell("inject", "cat plain # case:inject")),
            Turn::call(agent.shell("message", "cat plain # case:message")),
            Turn::call(agent.shell("context", "touch told # case:context")),
            Turn::call(agent.shell("last", "cat plain")),
            Turn::text("Finished."),
        ])
        .check("an output that no hook minds reaches the model", result_has("last", "ORIGINAL-C"))
        .check("context beside a result leaves the result", result_has("after", "ORIGINAL-C"))
}

/// Changed outputs, for agents that support that.
pub(super) fn outputs_changed(scenario: Scenario) -> Scenario {
    scenario
        .check("replace: the model gets the new output", told("REPLACED-OUTPUT"))
        .check("replace: the old output never reaches the model", never_told("ORIGINAL-A"))
        .check("hide: the output never reaches the model", all([never_told("ORIGINAL-B"), made("told")]))
        .check("context after a tool arrives", told("CONTEXT-POST"))
        .check("text injected into a result arrives", told("INJECTED-RESULT"))
        .check("a message injected after a result arrives", told("INJECTED-MESSAGE"))
}

/// Context given before a tool runs; an agent that drops it gets it at a later event.
pub(super) fn context_before(scenario: Scenario) -> Scenario {
    scenario
        .check("context before a tool arrives, and the tool runs", all([told("CONTEXT-PRE"), made("told")]))
}

const PROTECTED: &str = "\
hooks:
  PreToolUse:
    - {name: log, command: 'cat >> events; echo >> events'}
    - {name: paths, type: builtin, handler: protect-paths, options: {also_no_read: ['*.vault']}}
    - {name: frozen, matcher: Write|Edit, command: 'grep -q frozen && echo \"{\\\"decision\\\": \\\"deny\\\", \\\"reason\\\": \\\"REASON-FROZEN\\\"}\"; exit 0'}
";

/// Tools that read and write files.
pub(super) fn files(agent: &dyn Agent) -> Scenario {
    Scenario::new("files")
        .policy(PROTECTED)
        .file("deploy.vault", "TOKEN=HIDDEN-TOKEN\n")
        .file("notes.txt", "one\ntwo\n")
        .file("frozen.txt", "ice\n")
        .turns([
            Turn::call(agent.read("read", "notes.txt")),
            Turn::call(agent.read("secret", "deploy.vault")),
            Turn::call(agent.shell("cat", "cat deploy.vault")),
            Turn::call(agent.write("write", "new.txt", "fresh\n")),
            Turn::call(agent.write("vault", "release.vault", "TOKEN=WRITTEN\n")),
            Turn::call(agent.edit("edit", "notes.txt", "two", "three")),
            Turn::call(agent.read("ice", "frozen.txt")),
            Turn::call(agent.edit("frozen", "frozen.txt", "ice", "water")),
            Turn::text("Finished."),
        ])
        .check("a file that nobody protects is read", result_has("read", "two"))
        .check("a secret file is not read", all([never_told("HIDDEN-TOKEN"), result_has("read", "two")]))
        .check("a file that nobody protects is written", file_has("new.txt", "fresh"))
        .check("a protected file is not written", all([not_made("release.vault"), made("new.txt")]))
        .check("a file that nobody protects is edited", file_has("notes.txt", "three"))
        .check("Write|Edit matches an edit: it is denied", file_lacks("frozen.txt", "water"))
        .check("the reason of the denied edit reaches the model", told("REASON-FROZEN"))
        .check(
            "hooks see the shell as Bash with a command",
            logged(&["\"tool_name\":\"Bash\"", "cat deploy.vault"]),
        )
        .check("hooks see a path as file_path", logged(&["\"file_path\":", "new.txt"]))
}

/// A configuration that cannot be loaded.
pub(super) fn broken_configuration(agent: &dyn Agent) -> Scenario {
    Scenario::new("broken configuration")
        .quick()
        .policy("hooks:\n  PreToolUse:\n    - {name: x, comand: 'exit 2'}\n  Stop: [oops\n")
        .turns([Turn::call(agent.shell("try", "touch ran")), Turn::text("Finished.")])
        .most_requests(20)
        .check("the tool does not run", not_made("ran"))
        .check("the model is told what is wrong", result_has("try", "crosier.yaml"))
        .check("the agent is not kept going when it wants to stop", all([ended(), requests(2, 2)]))
}

/// No configuration anywhere.
pub(super) fn no_configuration(agent: &dyn Agent) -> Scenario {
    Scenario::new("no configuration")
        .unnamed()
        .turns([Turn::call(agent.shell("free", "touch free")), Turn::text("Finished.")])
        .check(
            "Crosier has no opinion: the tool runs, the agent ends",
            all([made("free"), ended(), requests(2, 2)]),
        )
}

const FAULTY: &str = "\
hooks:
  PreToolUse:
    - {name: broken, matcher: Bash, command: ./broken.sh, on_error: abort}
    - {name: open, matcher: Bash, command: ./open.sh}
    - {name: slow, matcher: Bash, command: ./slow.sh, timeout: 1500ms, on_error: abort}
";

fn script(word: &str, then: &str) -> String {
    format!("#!/bin/sh\nif grep -q {word}; then {then}; fi\n")
}

/// Hooks that fail.
pub(super) fn faulty_hooks(agent: &dyn Agent) -> Scenario {
    Scenario::new("faulty hooks")
        .policy(FAULTY)
        .policy_file("broken.sh", &script("case:broken", "echo CAUSE-BROKEN >&2; exit 7"))
        .policy_file("open.sh", &script("case:open", "echo CAUSE-OPEN >&2; exit 7"))
        .policy_file("slow.sh", &script("case:slow", "sleep 300"))
        .turns([
            Turn::call(agent.shell("broken", "touch broken # case:broken")),
            Turn::call(agent.shell("open", "touch open # case:open")),
            Turn::call(agent.shell("slow", "touch slow # case:slow")),
            Turn::call(agent.shell("last", "touch last")),
            Turn::text("Finished."),
        ])
        .check("a guard that breaks denies", all([not_made("broken"), made("last")]))
        .check("the denial names the cause", result_has("broken", "CAUSE-BROKEN"))
        .check("a hook that may fail lets the tool run", made("open"))
        .check(
            "a guard that hangs denies, at its own deadline",
            all([not_made("slow"), made("last"), within(60.0)]),
        )
        .check("the denial says that it was late", result_has("slow", "timeout"))
}

/// A hook that takes longer than Crosier's own deadline.
pub(super) fn deadline(agent: &dyn Agent) -> Scenario {
    Scenario::new("deadline")
        .deadline(2)
        .policy("hooks:\n  PreToolUse:\n    - {name: slow, matcher: Bash, command: ./slow.sh, timeout: 50}\n")
        .policy_file("slow.sh", &script("case:slow", "sleep 300"))
        .turns([
            Turn::call(agent.shell("slow", "touch slow # case:slow")),
            Turn::call(agent.shell("last", "touch last")),
            Turn::text("Finished."),
        ])
        .check(
            "Crosier answers before the agent gives up, with a denial",
            all([not_made("slow"), made("last")]),
        )
        .check("the agent does not wait for the hook", all([ended(), within(40.0)]))
}

const PROMPTS: &str = "\
hooks:
  SessionStart:
    - {name: start, command: 'echo \"{\\\"systemMessage\\\": \\\"CONTEXT-START\\\"}\"'}
  UserPromptSubmit:
    - {name: prompt, command: 'echo \"{\\\"systemMessage\\\": \\\"CONTEXT-PROMPT\\\"}\"'}
";

/// Context at the beginning of a session and of a prompt.
pub(super) fn beginning(agent: &dyn Agent) -> Scenario {
    Scenario::new("beginning")
        .policy(PROMPTS)
        .turns([Turn::call(agent.shell("free", "touch free")), Turn::text("Finished.")])
}

/// A prompt that is not let through.
pub(super) fn blocked_prompt() -> Scenario {
    Scenario::new("blocked prompt")
        .policy(
            "hooks:\n  UserPromptSubmit:\n    - name: no\n      command: 'echo REASON-PROMPT >&2; exit 2'\n",
        )
        .limit(40)
        .check("the model is never asked", all([requests(0, 0), ended()]))
}

const RESUME_ONCE: &str = "\
hooks:
  Stop:
    - name: once
      command: '[ -e resumed ] || { touch resumed; echo RESUME-REASON >&2; exit 2; }'
";

/// A stop that is refused once.
pub(super) fn resume_once(agent: &dyn Agent) -> Scenario {
    Scenario::new("resume once")
        .policy(RESUME_ONCE)
        .turns([
            Turn::text("I think I am done."),
            Turn::call(agent.shell("more", "touch more")),
            Turn::text("Finished."),
        ])
        .check("the agent goes on", made("more"))
        .check("the reason reaches the model", told("RESUME-REASON"))
        .check("then it ends", all([ended(), requests(3, 3)]))
}

/// A stop that is refused every time; `times` is how often the model is asked, by Crosier's limit or the agent's own.
pub(super) fn resume_always(times: usize) -> Scenario {
    Scenario::new("resume always")
        .policy("hooks:\n  Stop:\n    - {name: always, command: 'echo RESUME-REASON >&2; exit 2'}\n")
        .turns([Turn::text("I think I am done.")])
        .most_requests(30)
        .check(
            "the agent is resumed eight times at most, then it ends",
            all([ended(), requests(times, times)]),
        )
}

/// A hook that halts the agent before a tool.
pub(super) fn halt(agent: &dyn Agent) -> Scenario {
    by_word("halt")
        .turns([
            Turn::call(agent.shell("first", "touch first")),
            Turn::call(agent.shell("halt", "touch halted # case:halt")),
            Turn::text("Finished."),
        ])
        .check("the tool does not run", all([not_made("halted"), made("first")]))
        .check("the agent ends", ended())
}

/// Tools of an MCP server, by the agent's name for them.
pub(super) fn mcp(agent: &dyn Agent, tool: &str) -> Scenario {
    use crate::model::Call;
    use serde_json::json;
    let call = |id, name: &str| Turn::call(Call::new(id, tool, json!({"name": name})));
    by_word("mcp tools")
        .mcp()
        .policy_file("crosier.yaml", MCP)
        .turns([
            call("touch", "/PROJECT/touched"),
            call("deny", "/PROJECT/denied-case:deny"),
            call("rewrite", "/PROJECT/old-input-case:rewrite"),
            call("replace", "/PROJECT/case:replace"),
            Turn::call(agent.shell("other", "touch other")),
            Turn::text("Finished."),
        ])
        .check("a call that nobody minds runs", all([made("touched"), result_has("touch", "MCP-TOUCHED")]))
        .check("a matcher mcp__SERVER__* denies", all([not_made("denied-case:deny"), made("touched")]))
        .check("the old input does not run", all([not_made("old-input-case:rewrite"), made("touched")]))
}

/// The denial of an MCP tool, for agents that continue after it.
pub(super) fn mcp_told(scenario: Scenario) -> Scenario {
    scenario.check("the reason reaches the model", result_has("deny", "REASON-DENY"))
}

/// The changed result of an MCP tool, for agents that support that.
pub(super) fn mcp_changed(scenario: Scenario) -> Scenario {
    mcp_told(scenario).check("the new input runs", made("new-input-case:rewrite")).check(
        "the output is replaced",
        all([result_has("replace", "REPLACED-OUTPUT"), result_lacks("replace", "MCP-TOUCHED")]),
    )
}

const MCP: &str = "\
hooks:
  PreToolUse:
    - {name: before, matcher: mcp__demo__*, command: python3 policy.py}
  PostToolUse:
    - {name: after, matcher: mcp__demo__touch, command: python3 policy.py}
";
