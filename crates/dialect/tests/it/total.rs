//! Any bytes, any agent: an answer, and never a panic.

use crosier_dialect::{ALL, Read, Verdict, catalog, closed, read};
use proptest::prelude::*;

fn survives(word: Option<&str>, bytes: &[u8]) {
    let catalog = catalog();
    for agent in ALL {
        match read(agent, word, bytes, &catalog) {
            Ok(Read::Call(call)) => {
                let verdict = Verdict { hide: true, halt: Some(String::new()), ..call.verdict(&[]) };
                let _ = call.answer(&verdict);
                let _ = closed(agent, Some(call.entry), Some(&call), "x");
            }
            Ok(_) => {}
            Err(unreadable) => {
                let _ = closed(agent, unreadable.event, None, &unreadable.why);
            }
        }
    }
}

proptest! {
    #[test]
    fn bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        survives(Some("PreToolUse"), &bytes);
    }

    #[test]
    fn objects(
        event in prop_oneof![Just("PreToolUse"), Just("PostToolUse"), Just("BeforeTool"), Just("BeforeModel"), Just("x")],
        tool in "[a-z_]{0,12}|apply_patch|run_commands",
        value in "(\\*\\*\\* (Begin|End) Patch\n|\\*\\*\\* (Add|Update|Delete) File: a\n|[+ -]x\n|\"|\\\\|\\[|\\{){0,12}",
    ) {
        let text = serde_json::json!({
            "hook_event_name": event, "session_id": 5, "timestamp": 7, "tool_name": tool, "cwd": [],
            "tool_input": {"command": value, "commands": [value, {"command": value}], "files": value},
            "tool_response": {"error": value}, "llm_request": {"messages": [{"role": "user"}, value]},
        });
        survives(Some(event), text.to_string().as_bytes());
    }
}
