//! `crosier hook`: what an agent gets, whatever happens.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::lab::{Lab, Ran, finish, mode};

const POLICY: &str = "hooks: {PreToolUse: [{name: no-force, type: builtin, handler: block-commands}]}";

/// One call, in a session whose state is kept in the lab.
fn hook(lab: &Lab, words: &[&str], event: &Value) -> Ran {
    feed(lab, words, &event.to_string())
}

fn feed(lab: &Lab, words: &[&str], input: &str) -> Ran {
    let started = Instant::now();
    let args: Vec<&str> = std::iter::once("hook").chain(words.iter().copied()).collect();
    let mut command = lab.command(&args);
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    finish(child, started)
}

fn event(name: &str, more: &Value) -> Value {
    let mut event = json!({"session_id": "s1", "hook_event_name": name});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

fn push() -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "git push --force"}})
}

fn is_denied(ran: &Ran) -> bool {
    let said = ran.json();
    said["hookSpecificOutput"]["permissionDecision"] == "deny" || said["decision"] == "deny"
}

#[test]
fn one_policy_holds_in_every_agent_in_its_own_words() {
    let lab = Lab::with(POLICY);
    for agent in ["claude", "codex"] {
        let ran = hook(&lab, &[agent], &event("PreToolUse", &push())).exits(0);
        assert!(is_denied(&ran), "{agent}: {}", ran.stdout);
    }
    let shell = json!({"tool_name": "run_shell_command", "tool_input": {"command": "git push -f"}});
    let ran = hook(&lab, &["gemini"], &event("BeforeTool", &shell)).exits(0);
    assert_eq!(ran.json()["decision"], "deny");
}

#[test]
fn an_unknown_event_and_a_missing_configuration_are_no_opinion() {
    let lab = Lab::with(POLICY);
    let ran = hook(&lab, &["claude"], &event("BrandNew", &json!({}))).exits(0);
    assert_eq!(ran.stdout, "");
    ran.complains("BrandNew");
    let bare = Lab::new();
    assert_eq!(hook(&bare, &["claude"], &event("PreToolUse", &push())).exits(0).stdout, "");
    assert_eq!(hook(&bare, &["gemini"], &event("BeforeTool", &push())).exits(0).stdout, "{}\n");
}

#[test]
fn our_own_fault_denies_what_acts_tells_the_person_and_keeps_nothing_alive() {
    let bad = Lab::with("hooks: {PreToolUse: [{comand: x}]}");
    let good = Lab::with(POLICY);
    for (lab, words) in [
        (&bad, &["codex"][..]),
        (&good, &["codex", "-c", "nope.yaml"]),
        (&good, &["codex", "--frob"]),
        (&good, &["codex", "a", "b", "c"]),
    ] {
        let ran = hook(lab, words, &event("PreToolUse", &push())).exits(0);
        assert!(is_denied(&ran), "{words:?}: {}", ran.stdout);
        let ran = hook(lab, words, &event("UserPromptSubmit", &json!({"prompt": "x"}))).exits(0);
        assert!(ran.json()["systemMessage"].as_str().unwrap().contains("cannot decide"), "{}", ran.stdout);
        let ran = hook(lab, words, &event("Stop", &json!({"stop_hook_active": true}))).exits(0);
        assert_eq!(ran.stdout, "", "{words:?}");
    }
    let ran = hook(&good, &["clode"], &event("PreToolUse", &push())).exits(0);
    assert!(is_denied(&ran), "an agent that nobody knows: {}", ran.stdout);
    assert!(is_denied(&feed(&good, &["claude", "PreToolUse"], "not JSON").exits(0)));
    assert_eq!(feed(&good, &["gemini", "AfterAgent"], "").exits(0).stdout, "{}\n");
}

#[test]
fn context_waits_for_an_event_that_takes_it() {
    let lab = Lab::with("hooks: {PreToolUse: [{name: hint, reply: {systemMessage: remember the tests}}]}");
    let ran = hook(&lab, &["gemini"], &event("BeforeTool", &push())).exits(0);
    assert_eq!(ran.stdout, "{}\n");
    let name = std::fs::read_dir(lab.state("hook")).unwrap();
    let name =
        name.map(|entry| entry.unwrap().file_name().into_string().unwrap()).find(|name| name != "lock");
    assert_eq!(mode(&lab.state("hook").join(name.unwrap())), 0o600);
    assert_eq!(mode(&lab.state("hook")), 0o700);
    let other = json!({"session_id": "other", "hook_event_name": "BeforeAgent", "prompt": "x"});
    assert_eq!(hook(&lab, &["gemini"], &other).exits(0).stdout, "{}\n");
    let after = json!({"tool_name": "glob", "tool_input": {}, "tool_response": {"llmContent": "x"}});
    let ran = hook(&lab, &["gemini"], &event("AfterTool", &after)).exits(0);
    assert_eq!(ran.json()["hookSpecificOutput"]["additionalContext"], "remember the tests");
    assert_eq!(hook(&lab, &["gemini"], &event("AfterTool", &after)).exits(0).stdout, "{}\n", "said once");
    hook(&lab, &["gemini"], &event("BeforeTool", &push())).exits(0);
    hook(&lab, &["gemini"], &event("SessionStart", &json!({"source": "startup"}))).exits(0);
    assert_eq!(hook(&lab, &["gemini"], &event("AfterTool", &after)).exits(0).stdout, "{}\n", "a new session");
}

#[test]
fn resumes_are_limited_where_the_agent_has_no_limit() {
    let lab = Lab::with("hooks: {Stop: [{name: more, reply: {decision: block, reason: go on}}]}");
    let stop = event("Stop", &json!({"stop_hook_active": false}));
    for round in 0..8 {
        let ran = hook(&lab, &["codex"], &stop).exits(0);
        assert_eq!(ran.json(), json!({"decision": "block", "reason": "go on"}), "{round}");
    }
    let ran = hook(&lab, &["codex"], &stop).exits(0);
    assert!(ran.json().get("decision").is_none(), "{}", ran.stdout);
    hook(&lab, &["codex"], &event("UserPromptSubmit", &json!({"prompt": "again"}))).exits(0);
    assert_eq!(
        hook(&lab, &["codex"], &stop).exits(0).json()["decision"],
        "block",
        "a new prompt counts anew"
    );
}

#[test]
fn a_resume_that_comes_back_as_a_prompt_is_no_new_prompt() {
    let lab = Lab::with("hooks: {Stop: [{name: more, reply: {decision: block, reason: go on}}]}");
    let stop = event("AfterAgent", &json!({"prompt": "x", "stop_hook_active": true}));
    for round in 0..8 {
        assert_eq!(hook(&lab, &["gemini"], &stop).exits(0).json()["decision"], "deny", "{round}");
        hook(&lab, &["gemini"], &event("BeforeAgent", &json!({"prompt": "go on"}))).exits(0);
    }
    let ran = hook(&lab, &["gemini"], &stop).exits(0);
    assert!(ran.json().get("decision").is_none(), "{}", ran.stdout);
    hook(&lab, &["gemini"], &event("BeforeAgent", &json!({"prompt": "another"}))).exits(0);
    assert_eq!(hook(&lab, &["gemini"], &stop).exits(0).json()["decision"], "deny");
}

#[test]
fn a_denial_by_a_failure_names_the_cause() {
    let broken = "{name: broken, command: 'echo no rules found >&2; exit 3', on_error: abort}";
    let lab = Lab::with(&format!("hooks: {{PreToolUse: [{broken}]}}"));
    let ran = hook(&lab, &["claude"], &event("PreToolUse", &push())).exits(0);
    let reason = ran.json()["hookSpecificOutput"]["permissionDecisionReason"].to_string();
    assert!(reason.contains("broken failed (exit)") && reason.contains("no rules found"), "{reason}");
}

#[test]
fn a_hook_that_fails_is_told_once_in_a_session() {
    let lab = Lab::with("hooks: {PreToolUse: [{name: broken, command: 'exit 3'}]}");
    let ls = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let ran = hook(&lab, &["claude"], &event("PreToolUse", &ls)).exits(0);
    assert!(ran.json()["systemMessage"].as_str().unwrap().contains("broken"), "{}", ran.stdout);
    assert_eq!(hook(&lab, &["claude"], &event("PreToolUse", &ls)).exits(0).stdout, "");
}

#[test]
fn a_late_hook_is_killed_and_what_acts_is_denied() {
    let lab = Lab::with("hooks: {PreToolUse: [{name: slow, command: 'sleep 60', timeout: 50}]}");
    let ran = hook(&lab, &["claude", "--deadline", "1"], &event("PreToolUse", &push())).exits(0);
    assert!(is_denied(&ran), "{}", ran.stdout);
    assert!(ran.took < Duration::from_secs(30), "{:?}", ran.took);
}

#[test]
fn an_agent_may_leave_stdin_open() {
    let lab = Lab::with(POLICY);
    for mark in ["", "\u{feff}", "\u{feff}\u{feff}"] {
        let mut child = lab.command(&["hook", "claude"]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(format!("{mark}{}\r\n", event("PreToolUse", &push())).as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().contains("deny"), "{mark:?}");
        drop(stdin);
    }
}

#[test]
fn a_matcher_may_use_the_name_of_the_agent() {
    for matcher in ["run_shell_command", "Bash", "re:run_.*"] {
        let config =
            format!("hooks: {{PreToolUse: [{{name: n, matcher: '{matcher}', reply: {{decision: deny}}}}]}}");
        let lab = Lab::with(&config);
        let shell = json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}});
        let ran = hook(&lab, &["gemini"], &event("BeforeTool", &shell)).exits(0);
        assert_eq!(ran.json()["decision"], "deny", "{matcher}");
    }
}

#[test]
fn the_events_of_hosts_can_be_hooked() {
    let lab = Lab::with(
        "hooks: {ConfigChange: [{name: keep, matcher: project_settings, reply: {decision: deny, reason: no}}]}",
    );
    let change = event("ConfigChange", &json!({"source": "project_settings", "file_path": "x"}));
    let ran = hook(&lab, &["claude"], &change).exits(2);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", "no\n"));
}

#[test]
fn the_hooks_of_an_agent_become_a_configuration_that_works() {
    let lab = Lab::new();
    let settings = r#"{"hooks": {"PreToolUse": [{"matcher": "Ba.h", "hooks": [{"type": "command", "command": "echo no >&2; exit 2", "timeout": 5}, {"type": "http", "url": "http://x"}]}]}}"#;
    lab.write(".claude/settings.json", settings);
    let ran = lab.run(&["import", "claude"]).exits(0);
    ran.complains("not imported: PreToolUse: a hook of type `http`");
    lab.write("crosier.yaml", &ran.stdout);
    lab.run(&["check"]).exits(0);
    assert!(is_denied(&hook(&lab, &["claude"], &event("PreToolUse", &push())).exits(0)));
    lab.run(&["import", "nobody"]).exits(64);
    lab.run(&["import", "codex"]).exits(65).complains(".codex/hooks.json");
}

#[test]
fn a_notice_of_a_hook_reaches_the_person() {
    let lab = Lab::with("hooks: {PreToolUse: [{name: bell, run: '/notify \"look here\"'}]}");
    let ls = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let ran = hook(&lab, &["claude"], &event("PreToolUse", &ls)).exits(0);
    assert_eq!(ran.json()["systemMessage"], "look here");
    assert!(!ran.stdout.contains("permissionDecision"), "{}", ran.stdout);
    lab.write("crosier.yaml", "hooks: {PreToolUse: [{run: '/notify \"look here\"'}, {run: /deny no}]}");
    let ran = hook(&lab, &["claude"], &event("PreToolUse", &ls)).exits(0);
    assert!(is_denied(&ran) && ran.json()["systemMessage"] == "look here", "{}", ran.stdout);
}

#[test]
fn a_matcher_finds_a_server_whose_name_has_the_separator_in_it() {
    let config =
        "hooks: {PreToolUse: [{name: no, matcher: mcp__my-server__*, command: 'echo R >&2; exit 2'}]}";
    let lab = Lab::with(config);
    let sent = json!({"sessionId": "s", "cwd": "/tmp", "toolName": "my-server-touch", "toolArgs": {"a": 1}});
    let ran = hook(&lab, &["copilot", "preToolUse"], &sent).exits(0);
    assert!(ran.stdout.contains("deny"), "{}", ran.stdout);
}
