//! Gemini CLI: its own names, and an object on stdout whatever happens.

use crosier_dialect::{Verdict, closed, find};
use serde_json::json;

use crate::lab::{ask, call, context, deny, field, halt, hide, input, object, output, resume, says};

#[test]
fn tools_and_events_have_the_names_of_the_vocabulary() {
    let shell = call("gemini", "BeforeTool.run_shell_command");
    assert_eq!(shell.entry.event, "PreToolUse");
    assert_eq!(field(&shell.events[0], "tool_name"), json!("Bash"));
    assert_eq!(shell.events[0].other_names(), ["run_shell_command"]);
    let mcp = call("gemini", "BeforeTool.mcp_demo_touch");
    assert_eq!(field(&mcp.events[0], "tool_name"), json!("mcp__demo__touch"));
    let failed = call("gemini", "AfterTool.read_file");
    assert_eq!(failed.entry.event, "PostToolUseFailure");
    assert_eq!(field(&failed.events[0], "error"), json!("File not found: /PROJECT/nope.txt"));
    assert_eq!(call("gemini", "AfterTool.write_file").entry.event, "PostToolUse");
    let prompt = call("gemini", "BeforeModel");
    assert!(field(&prompt.events[0], "prompt").as_str().unwrap().ends_with("do the work"));
}

#[test]
fn before_a_tool() {
    let pre = call("gemini", "BeforeTool.run_shell_command");
    let denied = |reason: &str| json!({"decision": "deny", "reason": reason});
    assert_eq!(object(&says(&pre, deny("no"))), denied("no"));
    assert_eq!(object(&says(&pre, ask("sure?")))["decision"], json!("deny"));
    assert_eq!(
        object(&says(&pre, input(json!({"command": "ls", "description": "d"})))),
        json!({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": "ls", "description": "d"}}})
    );
    assert_eq!(object(&says(&pre, halt("enough")))["continue"], json!(false));
    let waits = says(&pre, context("later"));
    assert_eq!((waits.stdout.as_str(), waits.waits.len()), ("{}", 1));
}

#[test]
fn after_a_tool_a_denial_is_the_new_output() {
    let post = call("gemini", "AfterTool.run_shell_command");
    let redacted = output(json!({"llmContent": "clean", "returnDisplay": "clean"}));
    assert_eq!(object(&says(&post, redacted)), json!({"decision": "deny", "reason": "clean"}));
    assert_eq!(object(&says(&post, hide()))["decision"], json!("deny"));
    assert_eq!(object(&says(&post, context("c")))["hookSpecificOutput"]["additionalContext"], json!("c"));
}

#[test]
fn a_fault_of_ours_is_never_a_resume() {
    let gemini = find("gemini").unwrap();
    for event in [gemini.named("AfterAgent"), None] {
        assert_eq!(closed(gemini, event, None, "broken").stdout, "{}");
    }
    assert_eq!(
        object(&closed(gemini, gemini.named("BeforeTool"), None, "broken"))["decision"],
        json!("deny")
    );
}

#[test]
fn a_resume_is_a_denial_of_the_end() {
    let end = call("gemini", "AfterAgent");
    assert_eq!(end.entry.event, "Stop");
    assert_eq!(object(&says(&end, resume("go on"))), json!({"decision": "deny", "reason": "go on"}));
}

#[test]
fn messages_are_rewritten_as_a_whole_and_only_when_they_change() {
    let pre = call("gemini", "BeforeModel");
    let said = object(&says(&pre, input(json!("other"))));
    let messages = &said["hookSpecificOutput"]["llm_request"]["messages"];
    assert_eq!(messages, &json!([{"role": "user", "content": "other"}]));
    let post = call("gemini", "AfterModel");
    assert_eq!(field(&post.events[0], "output"), json!("I will look"));
    let said = object(&says(&post, output(json!("I looked"))));
    let candidates = &said["hookSpecificOutput"]["llm_response"]["candidates"];
    assert_eq!(candidates[0]["content"], json!({"role": "model", "parts": ["I looked"]}));
    assert_eq!(says(&post, Verdict::default()).stdout, "{}");
}
