//! Halts and interrupts: the loop stops wherever a hook says so, and leaves a conversation that can be resumed.

use crosier::payload::{PostMessage, PreToolUse, SessionStart};
use crosier::{Catalog, EventKind, Hook, Reply};
use crosier_agent::agent::End;
use crosier_agent::conversation::Block;

use super::stage::{ONE_CALL, Played, Stage};

/// Each call has its result: a model's service takes nothing else.
fn has_all_results(played: &Played) -> bool {
    let blocks = || played.messages.iter().flat_map(|message| &message.content);
    let answered = |wanted: &str| {
        blocks().any(|block| matches!(block, Block::ToolResult { tool_use_id, .. } if tool_use_id == wanted))
    };
    blocks().all(|block| match block {
        Block::ToolUse { id, .. } => answered(id),
        _ => true,
    })
}

#[tokio::test]
async fn a_halt_stops_the_loop_at_every_event_that_fires_before_the_end() {
    let script = "- {when: go, tools: [{name: Write, input: {path: a.txt, content: hi}}, {name: Bash, input: {fail: no}}]}\n\
                  - tools: [{name: Task, input: {prompt: look}}, {name: Bash, input: {command: ls}}]\n\
                  - {when: look, say: seen}\n- say: done\n";
    let catalog = Catalog::default();
    let halt_at = |name: &str| {
        let kind: EventKind = catalog.find(name).unwrap();
        Hook::on_event(kind).callback(|_: &crosier::Event| Reply::halt("enough"))
    };
    let events = [
        "SessionStart",
        "Setup",
        "PreSessionPhase",
        "PostSessionPhase",
        "UserPromptSubmit",
        "PreMessage",
        "PostMessage",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PreGitWrite",
        "PostGitWrite",
        "PreAgentSpawn",
        "Notification",
        "PreViewRender",
        "Stop",
    ];
    for event in events {
        let mut stage = Stage::new(script);
        stage.git = true;
        let played = stage.hook(halt_at(event)).play("go").await;
        assert_eq!(played.end, End::Halted("enough".into()), "{event}");
        assert_eq!(played.events().last(), Some(&"SessionEnd"), "{event}");
        assert!(has_all_results(&played), "{event}: {:?}", played.messages);
    }
}

#[tokio::test]
async fn calls_after_a_halt_do_not_run() {
    let script = "- tools: [{name: Bash, input: {command: one}}, {name: Bash, input: {command: two}}]\n";
    let halt = Hook::on(PreToolUse)
        .callback(|e: &PreToolUse| e.tool_input.text().contains("two").then(|| Reply::halt("enough")));
    let played = Stage::new(script).hook(halt).play("go").await;
    let results = played.results();
    assert_eq!(results[0], (r#"{"command":"one"}"#.to_owned(), false));
    assert_eq!(results[1], ("not run: the agent stopped first".to_owned(), true));
    let halt = Hook::on(PostMessage).callback(|_: &PostMessage| Reply::halt("enough"));
    let played = Stage::new(script).hook(halt).play("go").await;
    assert!(!played.events().contains(&"PreToolUse"));
    assert!(has_all_results(&played));
}

#[tokio::test]
async fn a_halted_session_takes_the_next_prompt() {
    let halt = Hook::on(SessionStart).callback(|_: &SessionStart| Reply::halt("not on Sundays"));
    let (mut actor, _played) = Stage::new(ONE_CALL).hook(halt).enter().await;
    actor.begin("startup", "init").await;
    assert_eq!(actor.prompt("one").await, End::Halted("not on Sundays".into()));
    assert_eq!(actor.prompt("two").await, End::Done);
}

#[tokio::test]
async fn an_interrupt_is_told_to_hooks_and_still_ends_the_session() {
    let mut stage = Stage::new(ONE_CALL);
    stage.interrupting = true;
    let played = stage.play("go").await;
    assert_eq!(played.end, End::Interrupted);
    assert_eq!(played.field("PostToolUseFailure", "is_interrupt"), ["true"]);
    assert_eq!(played.field("SessionEnd", "reason"), ["interrupt"]);
    assert_eq!(played.events().last(), Some(&"SessionEnd"));
    assert!(has_all_results(&played));
}
