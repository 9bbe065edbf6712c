//! The other agents: what they were seen to take.

use crosier_dialect::{ALL, Read, Verdict, catalog, closed, find, read};
use serde_json::json;

use crate::lab::{
    ask, call, capture, context, deny, field, halt, hide, input, object, output, resume, says, sent,
};

#[test]
fn qwen_denies_what_it_would_not_rewrite_and_forgets_empty_prompts() {
    let pre = call("qwen", "PreToolUse.run_shell_command");
    assert_eq!(field(&pre.events[0], "tool_name"), json!("Bash"));
    let said = object(&says(&pre, input(json!({"command": "ls -l"}))));
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], json!("deny"));
    assert!(said["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().contains("ls -l"));
    assert_eq!(says(&pre, context("c")).waits, ["c"]);
    let empty = capture("qwen", "UserPromptSubmit.empty");
    let repeated = read(find("qwen").unwrap(), None, empty.as_bytes(), &catalog());
    assert!(matches!(repeated, Ok(Read::Repeated)), "{repeated:?}");
    let post = call("qwen", "PostToolUse.run_shell_command");
    assert_eq!(object(&says(&post, output(json!("x")))), json!({"continue": false, "stopReason": "x"}));
    assert_eq!(says(&call("qwen", "Stop"), halt("h")).stdout, "{}");
}

#[test]
fn droid_is_never_asked_and_its_fields_come_back() {
    let edit = call("droid", "PreToolUse.Edit");
    assert_eq!(field(&edit.events[0], "tool_input")["old_string"], json!("beta"));
    let new = json!({"file_path": "a.txt", "old_string": "beta", "new_string": "delta"});
    let said = object(&says(&edit, input(new)));
    let own = json!({"file_path": "a.txt", "old_str": "beta", "new_str": "delta"});
    assert_eq!(said["hookSpecificOutput"]["updatedInput"], own);
    let said = object(&says(&edit, input(json!({"file_path": "a.txt"}))));
    assert_eq!(
        said["hookSpecificOutput"]["permissionDecision"],
        json!("deny"),
        "a part would be put over the old"
    );
    let said = object(&says(&edit, ask("sure?")));
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], json!("deny"));
    let post = call("droid", "PostToolUse.Execute");
    let hidden = object(&says(&post, hide()));
    assert!(hidden["systemMessage"].as_str().unwrap().contains("but the output was shown"), "{hidden}");
}

#[test]
fn copilot_takes_flat_keys_in_both_spellings() {
    for name in ["preToolUse", "PreToolUse"] {
        let pre = call("copilot", name);
        assert_eq!(field(&pre.events[0], "tool_name"), json!("Bash"));
        assert_eq!(
            object(&says(&pre, deny("no"))),
            json!({"permissionDecision": "deny", "permissionDecisionReason": "no"})
        );
        let said = object(&says(&pre, input(json!({"command": "ls"}))));
        assert_eq!(said, json!({"modifiedArgs": {"command": "ls"}}));
    }
    for name in ["preToolUse.create", "PreToolUse.create"] {
        let create = call("copilot", name);
        assert_eq!(field(&create.events[0], "tool_name"), json!("Write"));
        assert_eq!(
            field(&create.events[0], "tool_input"),
            json!({"file_path": "/tmp/x.txt", "content": "x"})
        );
        let said = object(&says(&create, input(json!({"file_path": "/tmp/y", "content": "x"}))));
        assert_eq!(said["modifiedArgs"], json!({"path": "/tmp/y", "file_text": "x"}));
    }
    for name in ["postToolUse", "PostToolUse"] {
        let post = call("copilot", name);
        assert!(field(&post.events[0], "tool_response").as_str().unwrap().starts_with("from-the-command"));
        assert_eq!(
            object(&says(&post, output(json!("x")))),
            json!({"modifiedResult": {"resultType": "success", "textResultForLlm": "x"}})
        );
    }
    assert_eq!(field(&call("copilot", "sessionStart").events[0], "source"), json!("startup"));
    let request = call("copilot", "permissionRequest");
    assert_eq!(object(&says(&request, deny("no"))), json!({"behavior": "deny", "message": "no"}));
}

#[test]
fn cline_judges_every_command_and_a_denial_says_why() {
    let text = json!({"hookName": "tool_call", "taskId": "t", "workspaceRoots": ["/p"], "tool_call": {
        "id": "1", "name": "run_commands", "input": {"commands": ["ls", {"command": "git", "args": ["push", "-f"]}]}}});
    let pre = sent("cline", None, &text.to_string());
    let commands: Vec<_> =
        pre.events.iter().map(|event| field(event, "tool_input")["command"].clone()).collect();
    assert_eq!(commands, [json!("ls"), json!("git push -f")]);
    let said = object(&says(&pre, deny("it's final")));
    let command = said["overrideInput"]["commands"][0].as_str().unwrap();
    let ran = std::process::Command::new("sh").args(["-c", command]).output().unwrap();
    assert_eq!(String::from_utf8(ran.stderr).unwrap(), "Denied: it's final\n");
    assert!(!ran.status.success() && said.get("cancel").is_none());
    let said = object(&says(&pre, input(json!({"command": "ls -l"}))));
    assert_eq!(said["overrideInput"]["commands"][0], json!("ls -l"));
    let other = text.to_string().replace("run_commands", "unknown_tool");
    let said = object(&says(&sent("cline", None, &other), deny("no")));
    assert_eq!(said, json!({"cancel": true, "errorMessage": "no"}));
    let post = call("cline", "PostToolUse.run_commands");
    assert_eq!(field(&post.events[0], "tool_response")["result"], json!("OUTPUT\n"));
}

#[test]
fn opencode_gets_what_its_plugin_does() {
    let pre = call("opencode", "tool.execute.before");
    assert_eq!(field(&pre.events[0], "tool_name"), json!("Bash"));
    assert_eq!(object(&says(&pre, deny("no"))), json!({"deny": "no"}));
    assert_eq!(object(&says(&pre, input(json!({"command": "ls"})))), json!({"args": {"command": "ls"}}));
    let post = call("opencode", "tool.execute.after");
    assert_eq!(object(&says(&post, output(json!("x")))), json!({"output": "x"}));
    let prompt = call("opencode", "chat.message");
    assert_eq!(field(&prompt.events[0], "prompt"), json!("hello"));
    let plugin = crosier_dialect::agent::opencode_plugin(&["/bin/crosier", "hook", "opencode"]);
    assert!(plugin.contains(r#"const COMMAND = ["/bin/crosier","hook","opencode"]"#), "{plugin}");
}

#[test]
fn agents_that_were_not_run_say_no_as_their_documentation_has_it() {
    let bash = |event: &str, key: &str, tool: &str| {
        json!({key: event, "session_id": "s", "tool_name": tool, "tool_input": {"command": "x"}}).to_string()
    };
    let said = |agent: &str, text: &str| {
        let call = sent(agent, None, text);
        assert_eq!(field(&call.events[0], "tool_name"), json!("Bash"), "{agent}");
        assert_eq!(field(&call.events[0], "tool_input")["command"], json!("x"), "{agent}");
        says(&call, deny("no"))
    };
    let cursor = object(&said("cursor", &bash("preToolUse", "hook_event_name", "Shell")));
    assert_eq!(cursor, json!({"permission": "deny", "user_message": "no", "agent_message": "no"}));
    let shell = json!({"hook_event_name": "beforeShellExecution", "command": "x"}).to_string();
    assert_eq!(object(&said("cursor", &shell))["permission"], json!("deny"));
    let windsurf =
        json!({"agent_action_name": "pre_run_command", "tool_info": {"command_line": "x"}}).to_string();
    let windsurf = said("windsurf", &windsurf);
    assert_eq!((windsurf.stdout.as_str(), windsurf.stderr.as_str(), windsurf.status), ("", "no\n", 2));
    let crush = object(&said("crush", &bash("PreToolUse", "event", "bash")));
    assert_eq!(crush, json!({"decision": "deny", "reason": "no"}));
    let goose = object(&said("goose", &bash("PreToolUse", "event", "developer__shell")));
    assert_eq!(goose, json!({"decision": "block", "reason": "no"}));
    let kimi = object(&said("kimi", &bash("PreToolUse", "hook_event_name", "Shell")));
    assert_eq!(kimi["hookSpecificOutput"]["permissionDecision"], json!("deny"));
    let openhands = object(&said("openhands", &bash("PreToolUse", "event_type", "terminal")));
    assert_eq!(openhands, json!({"decision": "deny", "reason": "no"}));
    assert_eq!(said("kiro", &bash("preToolUse", "hook_event_name", "execute_bash")).status, 2);
    let vscode = object(&said("vscode", &bash("PreToolUse", "hookEventName", "run_in_terminal")));
    assert_eq!(vscode["hookSpecificOutput"]["permissionDecision"], json!("deny"));
}

#[test]
fn in_every_agent_a_fault_of_ours_denies_what_acts_and_never_resumes() {
    for agent in ALL {
        for entry in agent.events {
            let said = closed(agent, Some(entry), None, "broken");
            let is_silent = said.stdout == agent.nothing && said.status == 0;
            match entry.event {
                "PreToolUse" | "PermissionRequest" => assert!(!is_silent, "{}: {}", agent.name, entry.name()),
                "UserPromptSubmit" | "SessionStart" => assert_eq!(said.status, 0),
                _ => assert!(is_silent && said.stderr.is_empty(), "{}: {}", agent.name, entry.name()),
            }
        }
        let nowhere = closed(agent, None, None, "broken");
        let resumes: Vec<_> = agent.events.iter().filter(|entry| entry.event == "Stop").collect();
        for entry in resumes {
            let text = json!({"session_id": "s"}).to_string();
            if let Ok(Read::Call(call)) = read(agent, Some(entry.name()), text.as_bytes(), &catalog()) {
                let resumed = call.answer(&Verdict { inputs: vec![None], ..resume("broken") });
                let is_resume = nowhere.stdout == resumed.stdout && nowhere.status == resumed.status;
                assert!(!is_resume || nowhere.stdout == agent.nothing, "{}", agent.name);
            }
        }
    }
}
