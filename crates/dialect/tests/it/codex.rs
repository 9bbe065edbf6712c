//! Codex: every answer fits the schemas that are inside it, and a key too many is none.

use crosier_dialect::{PersonMessage, Verdict, closed, find};
use serde_json::{Value, json};

use crate::lab::{
    allow, ask, call, capture, context, deny, field, halt, hide, input, object, output, resume, says, sent,
};

/// The schema of what an event takes.
fn schema(event: &str) -> Option<Value> {
    let all: Value = serde_json::from_str(&capture("codex", "schemas")).unwrap();
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    all.get(format!("{name}.command.output")).cloned()
}

#[test]
fn whatever_hooks_want_the_answer_fits_the_schema() {
    let told = Verdict {
        told: vec![PersonMessage { hook: "h".to_owned(), failed: true, text: "it failed".to_owned() }],
        ..Verdict::default()
    };
    for entry in find("codex").unwrap().events {
        let recorded = call("codex", entry.name());
        let wishes = [
            deny("no"),
            ask("?"),
            allow(),
            context("c"),
            halt("h"),
            resume("r"),
            hide(),
            output(json!("o")),
            input(json!({"command": "ls"})),
            told.clone(),
            Verdict { context: vec!["c".to_owned()], told: told.told.clone(), ..resume("r") },
        ];
        for wish in wishes {
            let said = says(&recorded, wish.clone());
            assert_eq!((said.stderr.as_str(), said.status), ("", 0));
            if said.stdout.is_empty() {
                continue;
            }
            let schema =
                schema(entry.name()).unwrap_or_else(|| panic!("{} takes nothing: {wish:?}", entry.name()));
            let object = object(&said);
            assert!(jsonschema::is_valid(&schema, &object), "{}: {object}", entry.name());
        }
    }
}

#[test]
fn what_it_cannot_do_is_a_denial_with_the_reason() {
    let pre = call("codex", "PreToolUse");
    for wish in [ask("a person decides"), halt("enough")] {
        let said = object(&says(&pre, wish));
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], json!("deny"), "{said}");
    }
    assert_eq!(says(&pre, allow()).stdout, "");
    let said = object(&says(&pre, input(json!({"command": "ls"}))));
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], json!("allow"));
    assert_eq!(said["hookSpecificOutput"]["updatedInput"], json!({"command": "ls"}));
    let request = call("codex", "PermissionRequest");
    let said = object(&says(&request, input(json!({"command": "ls"}))));
    assert_eq!(said["hookSpecificOutput"]["decision"]["behavior"], json!("deny"));
}

#[test]
fn an_output_is_replaced_by_a_block() {
    let post = call("codex", "PostToolUse");
    assert_eq!(object(&says(&post, output(json!("clean")))), json!({"decision": "block", "reason": "clean"}));
    let hidden = object(&says(&post, hide()));
    assert_eq!(hidden["decision"], json!("block"));
    let both = Verdict { context: vec!["and this".to_owned()], ..output(json!("clean")) };
    assert_eq!(object(&says(&post, both))["reason"], json!("clean\n\nand this"));
    let mcp = call("codex", "PostToolUse.mcp");
    let redacted = output(json!({"content": [{"type": "text", "text": "said ***"}]}));
    assert_eq!(object(&says(&mcp, redacted))["reason"], json!("said ***"));
}

#[test]
fn a_resume_stands_alone() {
    let wish = Verdict { context: vec!["c".to_owned()], ..resume("go on") };
    assert_eq!(
        object(&says(&call("codex", "Stop"), wish)),
        json!({"decision": "block", "reason": "go on\n\nc"})
    );
    let codex = find("codex").unwrap();
    assert_eq!(closed(codex, codex.named("Stop"), None, "broken").stdout, "");
}

#[test]
fn a_patch_is_judged_file_by_file() {
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y\n*** Delete File: old\n*** End Patch\n";
    let text = json!({"session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": patch}}).to_string();
    let call = sent("codex", None, &text);
    let seen: Vec<(Value, Value)> = call
        .events
        .iter()
        .map(|event| (field(event, "tool_name"), field(event, "tool_input")["file_path"].clone()))
        .collect();
    let wanted = [("Write", "new.txt"), ("Edit", "a.rs"), ("Write", "b.rs"), ("Edit", "old")];
    assert_eq!(seen, wanted.map(|(tool, path)| (json!(tool), json!(path))));
    assert!(call.events.iter().all(|event| event.other_names().contains(&"apply_patch".to_owned())));
    assert_eq!(field(&call.events[2], "host")["part"], json!({"index": 3, "of": 4}));
    let wish = input(json!({"file_path": "new.txt", "content": "bye\n"}));
    let said = object(&says(&call, wish));
    let whole = patch.replace("+hello", "+bye");
    assert_eq!(said["hookSpecificOutput"]["updatedInput"], json!({"command": whole}));
    let refused = object(&says(&call, input(json!({"file_path": "new.txt", "other": 1}))));
    assert_eq!(refused["hookSpecificOutput"]["permissionDecision"], json!("deny"));
}

#[test]
fn a_patch_that_nobody_understands_is_denied() {
    let codex = find("codex").unwrap();
    let text = br#"{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"?"}}"#;
    let unreadable = crosier_dialect::read(codex, None, text, &crosier_dialect::catalog()).unwrap_err();
    let said = closed(codex, unreadable.event, None, &unreadable.why);
    assert_eq!(object(&said)["hookSpecificOutput"]["permissionDecision"], json!("deny"));
}

#[test]
fn a_subagent_is_a_task() {
    let spawn = call("codex", "PreToolUse.spawn_agent");
    assert_eq!(field(&spawn.events[0], "tool_name"), json!("Task"));
    assert_eq!(field(&spawn.events[0], "tool_input")["subagent_type"], json!("default"));
    let said = object(&says(&spawn, input(json!({"prompt": "x", "subagent_type": "y"}))));
    assert_eq!(said["hookSpecificOutput"]["updatedInput"], json!({"message": "x", "agent_type": "y"}));
}

#[test]
fn a_patch_in_the_shell_is_seen_file_by_file() {
    let patch =
        "cd /etc && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\nEOF\n";
    let text = |event: &str| {
        json!({"hook_event_name": event, "session_id": "s", "cwd": "/p", "tool_name": "Bash", "tool_use_id": "1",
            "tool_input": {"command": patch}, "tool_response": "done"})
        .to_string()
    };
    let before = sent("codex", None, &text("PreToolUse"));
    assert_eq!(before.events.len(), 2);
    assert_eq!(field(&before.events[0], "tool_name"), json!("Bash"));
    assert_eq!(field(&before.events[1], "tool_name"), json!("Write"));
    assert_eq!(field(&before.events[1], "tool_input"), json!({"file_path": "/etc/a.txt", "content": "x\n"}));
    let new = json!({"command": "ls"});
    assert_eq!(
        object(&says(&before, input(new.clone())))["hookSpecificOutput"]["updatedInput"],
        new,
        "the command itself can be another"
    );
    let inner = Verdict { inputs: vec![None, input(json!({"file_path": "b"})).inputs.remove(0)], ..allow() };
    let said = object(&before.answer(&inner));
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], json!("deny"), "{said}");
    assert_eq!(sent("codex", None, &text("PostToolUse")).events.len(), 1);
}
