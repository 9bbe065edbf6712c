//! The layers of permission: rules that read command lines, modes, lists, hooks and the host's own say.

use std::path::Path;
use std::sync::Arc;

use crosier::{Json, Matcher};
use crosier_agent::permission::{HookDecision, PermissionMode, Permissions, Ruling};
use crosier_agent::tool::Risk;
use crosier_builtins::rules::{RuleLists, Rules};
use serde_json::json;

fn rules(allow: &[&str], ask: &[&str], deny: &[&str]) -> Rules {
    let texts = |list: &[&str]| list.iter().map(|rule| (*rule).to_owned()).collect();
    Rules::parse(&RuleLists { allow: texts(allow), ask: texts(ask), deny: texts(deny) }).unwrap()
}

fn with(rules: Rules) -> Permissions {
    Permissions { rules, ..Permissions::default() }
}

/// What becomes of a command line: `allow`, `ask` or `deny`.
fn bash(permissions: &Permissions, line: &str, hook: HookDecision) -> &'static str {
    let input = Json::from(json!({ "command": line }));
    word(&permissions.ruling("Bash", Risk::Execute, &input, Path::new("/w"), &hook))
}

fn any(permissions: &Permissions, tool: &str, risk: Risk, hook: HookDecision) -> &'static str {
    word(&permissions.ruling(tool, risk, &Json::null(), Path::new("/w"), &hook))
}

fn word(ruling: &Ruling) -> &'static str {
    match ruling {
        Ruling::Allow => "allow",
        Ruling::Ask(_) => "ask",
        Ruling::Deny(_) => "deny",
    }
}

#[test]
fn rules_read_the_whole_line() {
    let permissions =
        with(rules(&["Bash(git status:*)", "Bash(ls *)"], &["Bash(git push *)"], &["Bash(rm *)"]));
    for (line, expected) in [
        ("ls -la", "allow"),
        ("git status --short && ls", "allow"),
        ("make", "ask"),
        ("ls; make", "ask"),
        ("git push", "ask"),
        ("ls; rm -rf x", "deny"),
        ("ls | xargs rm", "deny"),
        ("sh -c 'rm x'", "deny"),
        ("ls $(rm x)", "deny"),
        ("$X y", "ask"),
        ("ls 'unclosed", "ask"),
    ] {
        assert_eq!(bash(&permissions, line, HookDecision::Nothing), expected, "{line}");
    }
}

#[test]
fn a_hooks_allow_skips_the_question_but_never_a_deny_rule() {
    let permissions = with(rules(&[], &["Bash(git push *)"], &["Bash(rm *)"]));
    assert_eq!(bash(&permissions, "make", HookDecision::Nothing), "ask");
    for (line, expected) in
        [("make", "allow"), ("git push", "allow"), ("rm x", "deny"), ("make && sudo rm x", "deny")]
    {
        assert_eq!(bash(&permissions, line, HookDecision::Allow), expected, "{line}");
    }
}

#[test]
fn nothing_but_a_person_overrules_what_a_deny_rule_could_be_about() {
    let bypass = Permissions {
        mode: PermissionMode::BypassPermissions,
        allowed: vec![Matcher::new("Bash").unwrap()],
        ..with(rules(&["Bash"], &[], &["Bash(rm *)"]))
    };
    for line in ["$(cat name) -rf x", "eval \"$CODE\"", "ls 'unclosed"] {
        assert_eq!(bash(&bypass, line, HookDecision::Allow), "ask", "{line}");
    }
    assert_eq!(bash(&bypass, "rm x", HookDecision::Allow), "deny");
    assert_eq!(bash(&bypass, "$(echo rm) -rf x", HookDecision::Allow), "deny");
    assert_eq!(bash(&bypass, "make $X", HookDecision::Nothing), "allow");
    // Without a deny rule there is nothing to be in doubt about.
    let free = Permissions { mode: PermissionMode::BypassPermissions, ..Permissions::default() };
    assert_eq!(bash(&free, "eval \"$CODE\"", HookDecision::Nothing), "allow");
}

#[test]
fn files_are_judged_where_the_agent_works() {
    let permissions = with(rules(&["Edit(./src/**)"], &[], &["Read(.env)"]));
    let file = |tool: &str, risk, path: &str| {
        let input = Json::from(json!({ "file_path": path }));
        word(&permissions.ruling(tool, risk, &input, Path::new("/w"), &HookDecision::Nothing))
    };
    assert_eq!(file("Write", Risk::Edit, "src/a.rs"), "allow");
    assert_eq!(file("Write", Risk::Edit, "/w/src/../Cargo.toml"), "ask");
    assert_eq!(file("Read", Risk::Read, "./sub/../.env"), "deny");
    assert_eq!(file("Read", Risk::Read, "README.md"), "allow");
    assert_eq!(bash(&permissions, "cat < .env", HookDecision::Allow), "deny");
}

#[test]
fn modes_allow_by_risk() {
    let of = |mode| Permissions { mode, ..Permissions::default() };
    let table = [
        (PermissionMode::Default, ["allow", "ask", "ask"]),
        (PermissionMode::AcceptEdits, ["allow", "allow", "ask"]),
        (PermissionMode::BypassPermissions, ["allow", "allow", "allow"]),
        (PermissionMode::DontAsk, ["allow", "ask", "ask"]),
        (PermissionMode::Plan, ["allow", "deny", "deny"]),
    ];
    for (mode, expected) in table {
        for (risk, expected) in [Risk::Read, Risk::Edit, Risk::Execute].into_iter().zip(expected) {
            assert_eq!(any(&of(mode), "T", risk, HookDecision::Nothing), expected, "{mode:?} {risk:?}");
        }
    }
    assert_eq!(any(&of(PermissionMode::Plan), "T", Risk::Edit, HookDecision::Allow), "deny");
}

#[test]
fn a_hooks_ask_is_asked_even_where_everything_is_allowed() {
    let bypass = Permissions { mode: PermissionMode::BypassPermissions, ..Permissions::default() };
    assert_eq!(any(&bypass, "T", Risk::Read, HookDecision::Ask(None)), "ask");
}

#[test]
fn lists_of_tools_and_the_host_have_their_say() {
    let permissions = Permissions {
        disabled: vec![Matcher::new("Web*").unwrap()],
        allowed: vec![Matcher::new("mcp__notes__*").unwrap()],
        callback: Some(Arc::new(|tool, _| match tool {
            "Bash" => Some(false),
            "Deploy" => Some(true),
            _ => None,
        })),
        ..Permissions::default()
    };
    for (tool, expected) in [
        ("WebFetch", "deny"),
        ("mcp__notes__add", "allow"),
        ("Bash", "deny"),
        ("Deploy", "allow"),
        ("X", "ask"),
    ] {
        assert_eq!(any(&permissions, tool, Risk::Execute, HookDecision::Nothing), expected, "{tool}");
    }
    assert_eq!(any(&permissions, "WebFetch", Risk::Execute, HookDecision::Allow), "deny");
}
