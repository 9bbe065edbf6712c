//! Claude Code: its own shapes, seen in the real program.

use crosier_dialect::{closed, find};
use serde_json::{Value, json};

use crate::lab::{
    allow, ask, call, context, deny, field, halt, hide, input, object, output, resume, says, sent,
};

#[test]
fn a_denial_a_question_and_an_allow_name_the_event() {
    let pre = call("claude", "PreToolUse");
    let hso = |decision: &str, reason: &str| json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason}});
    assert_eq!(object(&says(&pre, deny("no"))), hso("deny", "no"));
    assert_eq!(object(&says(&pre, ask("sure?"))), hso("ask", "sure?"));
    assert_eq!(
        object(&says(&pre, allow())),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}})
    );
}

#[test]
fn a_halt_before_a_tool_also_denies_it() {
    let said = object(&says(&call("claude", "PreToolUse"), halt("enough")));
    assert_eq!(said["continue"], json!(false));
    assert_eq!(said["stopReason"], json!("enough"));
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], json!("deny"));
}

#[test]
fn another_input_is_whole_and_the_same_input_is_nothing() {
    let pre = call("claude", "PreToolUse");
    let said = object(&says(&pre, input(json!({"command": "ls"}))));
    assert_eq!(
        said,
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls"}}})
    );
}

#[test]
fn an_output_has_the_shape_of_the_tools_own_response() {
    let bash = call("claude", "PostToolUse");
    let said = object(&says(&bash, output(json!("clean"))));
    assert_eq!(
        said["hookSpecificOutput"]["updatedToolOutput"],
        json!({"stdout": "clean", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false})
    );
    let read = call("claude", "PostToolUse.Read");
    let said = object(&says(&read, hide()));
    let file = &said["hookSpecificOutput"]["updatedToolOutput"]["file"];
    assert!(file["content"].as_str().unwrap().contains("hidden"), "{said}");
    assert_eq!(said["hookSpecificOutput"]["updatedToolOutput"]["type"], json!("text"));
    let mcp = call("claude", "PostToolUse.mcp");
    let said = object(&says(&mcp, output(json!("other"))));
    assert_eq!(said["hookSpecificOutput"]["updatedToolOutput"], json!([{"type": "text", "text": "other"}]));
    let write = call("claude", "PostToolUse.Write");
    let said = object(&says(&write, output(json!({"type": "create", "content": "y"}))));
    let response = &said["hookSpecificOutput"]["updatedToolOutput"];
    assert_eq!(response["content"], json!("y"));
    assert!(response.get("structuredPatch").is_some() && response.get("filePath").is_some());
}

#[test]
fn a_prompt_is_blocked_and_given_context() {
    let prompt = call("claude", "UserPromptSubmit");
    assert_eq!(object(&says(&prompt, deny("no"))), json!({"decision": "block", "reason": "no"}));
    assert_eq!(
        object(&says(&prompt, context("know this"))),
        json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "know this"}})
    );
}

#[test]
fn context_at_a_stop_waits_because_it_would_keep_the_agent_going() {
    let stop = call("claude", "Stop");
    let said = says(&stop, context("later"));
    assert_eq!((said.stdout.as_str(), &said.waits[..]), ("", &["later".to_owned()][..]));
    let said = says(&stop, resume("run the tests"));
    assert_eq!(object(&said), json!({"decision": "block", "reason": "run the tests"}));
    assert!(said.resumed);
}

#[test]
fn before_a_compaction_only_plain_text_is_printed() {
    let compact = call("claude", "PreCompact");
    assert_eq!(says(&compact, context("keep the plan")).stdout, "keep the plan");
    assert_eq!(says(&compact, input(json!("keep names and dates"))).stdout, "and dates");
    let denied = says(&compact, deny("not now"));
    assert_eq!((denied.stdout.as_str(), denied.stderr.as_str(), denied.status), ("", "not now\n", 2));
}

#[test]
fn a_permission_is_answered_in_the_words_of_an_answer() {
    let request = call("claude", "PermissionRequest");
    let decision = |said: serde_json::Value| said["hookSpecificOutput"]["decision"].clone();
    assert_eq!(decision(object(&says(&request, allow()))), json!({"behavior": "allow"}));
    assert_eq!(decision(object(&says(&request, deny("no")))), json!({"behavior": "deny", "message": "no"}));
    assert_eq!(
        decision(object(&says(&request, halt("stop")))),
        json!({"behavior": "deny", "message": "stop", "interrupt": true})
    );
    let undecided = says(&request, input(json!({"command": "ls"})));
    assert_eq!(decision(object(&undecided))["behavior"], json!("deny"));
}

#[test]
fn task_and_agent_are_one_tool() {
    let task = call("claude", "PostToolUse.Task");
    assert_eq!(field(&task.events[0], "tool_name"), json!("Task"));
    assert_eq!(task.events[0].other_names(), ["Agent"]);
    assert_eq!(field(&task.events[0], "host")["tool_name"], json!("Agent"));
}

#[test]
fn a_fault_of_ours_denies_what_acts_and_keeps_nothing_alive() {
    let claude = find("claude").unwrap();
    let said = |event: &str| closed(claude, claude.named(event), None, "broken");
    assert_eq!(object(&said("PreToolUse"))["hookSpecificOutput"]["permissionDecision"], json!("deny"));
    assert_eq!(
        object(&said("PermissionRequest"))["hookSpecificOutput"]["decision"]["behavior"],
        json!("deny")
    );
    assert_eq!(object(&said("UserPromptSubmit")), json!({"systemMessage": "broken"}));
    for event in ["Stop", "SubagentStop", "PostToolUse", "PreCompact", "TeammateIdle", "PostToolBatch"] {
        let said = said(event);
        assert_eq!((said.stdout.as_str(), said.stderr.as_str(), said.status), ("", "", 0), "{event}");
    }
    let nowhere = closed(claude, None, None, "broken");
    assert_eq!(object(&nowhere)["hookSpecificOutput"]["permissionDecision"], json!("deny"));
}

#[test]
fn the_payload_is_believed_more_than_the_line() {
    let call = sent("claude", Some("PreToolUse"), r#"{"session_id":"s","hook_event_name":"Stop"}"#);
    assert_eq!(call.entry.event, "Stop");
}

#[test]
fn a_monitored_command_is_a_command() {
    let text = |input: Value| {
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p", "tool_name": "Monitor",
            "tool_use_id": "1", "tool_input": input})
        .to_string()
    };
    let command = sent("claude", None, &text(json!({"command": "ls", "description": "d"})));
    assert_eq!(field(&command.events[0], "tool_name"), json!("Bash"));
    let socket = sent("claude", None, &text(json!({"ws": {"url": "wss://a.test"}})));
    assert_eq!(field(&socket.events[0], "tool_name"), json!("Monitor"));
}
