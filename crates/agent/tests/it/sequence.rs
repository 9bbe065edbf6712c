//! The loop with a scripted model: which events fire, in which order, and that what hooks say has its effect.

use std::sync::{Arc, Mutex};

use crosier::payload::{
    PermissionRequest, PostMessage, PostToolUse, PreAgentSpawn, PreCompact, PreMessage, PreToolUse,
    SessionStart, Stop, SubagentStart, SubagentStop, UserPromptSubmit,
};
use crosier::{Hook, Reply, Strategy};
use crosier_agent::agent::End;
use crosier_agent::permission::PermissionMode;
use crosier_agent::session::Session;
use serde_json::json;

use super::stage::{ONE_CALL, Stage};

#[tokio::test]
async fn an_allowed_call_runs_between_its_hooks() {
    let played = Stage::new(ONE_CALL).play("go").await;
    assert_eq!(played.end, End::Done);
    assert_eq!(
        played.events(),
        [
            "SessionStart",
            "Setup",
            "UserPromptSubmit",
            "PreMessage",
            "PostMessage",
            "PreToolUse",
            "PostToolUse",
            "PreMessage",
            "PostMessage",
            "Stop",
            "SessionEnd"
        ]
    );
    assert_eq!(played.results(), [(r#"{"command":"ls"}"#.to_owned(), false)]);
}

#[tokio::test]
async fn a_denied_call_is_a_result_with_its_reason_and_nothing_runs() {
    let deny = Hook::on(PreToolUse).named("guard").callback(|_: &PreToolUse| Reply::deny("not today"));
    let played = Stage::new(ONE_CALL).hook(deny).play("go").await;
    assert_eq!(played.results(), [("Error: not today".to_owned(), true)]);
    assert!(!played.events().contains(&"PostToolUse"));
}

#[tokio::test]
async fn a_failing_call_fires_its_own_event() {
    let script = "- tools: [{name: Bash, input: {fail: no disk}}]\n- say: done\n";
    let played = Stage::new(script).play("go").await;
    assert!(played.events().contains(&"PostToolUseFailure") && !played.events().contains(&"PostToolUse"));
    assert_eq!(played.results(), [("Error: no disk".to_owned(), true)]);
}

#[tokio::test]
async fn rewritten_input_output_and_prompt_are_really_used() {
    let played = Stage::new(
        "- {when: rewritten prompt, tools: [{name: Bash, input: {command: ls}}]}\n- say: secret\n",
    )
    .hook(Hook::on(PreMessage).callback(|e: &PreMessage| {
        (e.prompt == "go").then(|| Reply::none().rewrite_input("rewritten prompt"))
    }))
    .hook(
        Hook::on(PreToolUse)
            .callback(|_: &PreToolUse| Reply::none().rewrite_input(json!({"command": "pwd"}))),
    )
    .hook(Hook::on(PostToolUse).callback(|e: &PostToolUse| {
        assert_eq!(e.tool_input, json!({"command": "pwd"}).into());
        Reply::none()
            .rewrite_output("replaced")
            .inject(Strategy::ToolResult, "note")
            .inject(Strategy::UserMessage, "hey")
    }))
    .hook(Hook::on(PostMessage).callback(|e: &PostMessage| {
        (e.output == "secret").then(|| Reply::none().rewrite_output("[redacted]"))
    }))
    .play("go")
    .await;
    assert_eq!(played.results(), [("replaced\nnote".to_owned(), false)]);
    assert_eq!(played.words(), ["rewritten prompt", "hey", "[redacted]"]);
    // What a hook hid does not come back with the session.
    let sessions = played.folder.path().join("sessions");
    let messages = Session::resume(&sessions, played.session_context.session.id()).unwrap().messages;
    assert_eq!(messages, played.messages);
}

#[tokio::test]
async fn suppressed_output_is_replaced_by_a_note() {
    let hide = Hook::on(PostToolUse).callback(|_: &PostToolUse| Reply::none().suppress());
    let played = Stage::new(ONE_CALL).hook(hide).play("go").await;
    assert_eq!(played.results(), [("[output suppressed by hook]".to_owned(), false)]);
}

#[tokio::test]
async fn a_stop_hook_resumes_and_is_told_so_and_gives_up_after_eight() {
    let script = "- {say: again, repeat: true}\n";
    let active = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&active);
    let resume = Hook::on(Stop).named("more").callback(move |e: &Stop| {
        seen.lock().unwrap().push(e.stop_hook_active);
        Reply::resume("not yet")
    });
    let played = Stage::new(script).hook(resume).play("go").await;
    assert_eq!(played.end, End::Done);
    let active = active.lock().unwrap().clone();
    assert_eq!(active.len(), 9);
    assert!(!active[0] && active[1..].iter().all(|&flag| flag));
}

#[tokio::test]
async fn a_halt_stops_the_loop_and_a_denied_prompt_never_reaches_the_model() {
    let halt = Hook::on(PostToolUse).callback(|_: &PostToolUse| Reply::halt("enough"));
    let played = Stage::new(ONE_CALL).hook(halt).play("go").await;
    assert_eq!(played.end, End::Halted("enough".into()));
    assert_eq!(played.events().last(), Some(&"SessionEnd"));
    let deny = Hook::on(UserPromptSubmit).callback(|_: &UserPromptSubmit| Reply::deny("no"));
    let played = Stage::new(ONE_CALL).hook(deny).play("go").await;
    assert_eq!(played.end, End::Denied("no".into()));
    assert!(!played.events().contains(&"PreMessage"));
}

#[tokio::test]
async fn what_must_be_asked_is_denied_when_nobody_is_there_unless_a_hook_allows_it() {
    let mut stage = Stage::new(ONE_CALL);
    stage.mode = PermissionMode::Default;
    let played = stage.play("go").await;
    assert!(played.events().contains(&"PermissionRequest"));
    assert!(played.results()[0].0.contains("there is nobody to ask"), "{:?}", played.results());
    let mut stage = Stage::new(ONE_CALL);
    stage.mode = PermissionMode::Default;
    let allow = Hook::on(PermissionRequest).callback(|_: &PermissionRequest| Reply::allow("fine"));
    assert!(!stage.hook(allow).play("go").await.results()[0].1);
}

#[tokio::test]
async fn a_guard_of_the_call_judges_what_a_hook_on_the_request_made_of_it() {
    let mut stage = Stage::new(ONE_CALL);
    stage.mode = PermissionMode::Default;
    let guard = Hook::on(PreToolUse).named("guard").guard(true);
    let guard = guard
        .callback(|e: &PreToolUse| e.tool_input.text().contains("touch").then(|| Reply::deny("no touch")));
    let allow = Hook::on(PermissionRequest)
        .callback(|_: &PermissionRequest| Reply::allow("fine").rewrite_input(json!({"command": "touch x"})));
    let played = stage.hook(guard).hook(allow).play("go").await;
    assert_eq!(played.results()[0], ("Error: no touch".to_owned(), true));
}

#[tokio::test]
async fn permissions_that_a_hook_adds_are_not_asked_for_again() {
    let script = "- tools: [{name: Bash, input: {command: git status}}]\n\
                  - tools: [{name: Bash, input: {command: git log}}]\n- say: done\n";
    let mut stage = Stage::new(script);
    stage.mode = PermissionMode::Default;
    let rule = json!({"toolName": "Bash", "ruleContent": "git *"});
    let updates = json!([{"type": "addRules", "behavior": "allow", "rules": [rule]}, {"type": "dance"}]);
    let allow = Hook::on(PermissionRequest).callback(move |_: &PermissionRequest| {
        Reply::allow("fine").with(|effects| effects.permissions = Some(updates.clone().into()))
    });
    let played = stage.hook(allow).play("go").await;
    assert!(played.results().iter().all(|(_, is_error)| !is_error), "{:?}", played.results());
    assert_eq!(played.field("PermissionRequest", "tool_input"), [r#"{"command":"git status"}"#]);
    assert!(played.notes("main").contains(&"ignored: `dance` is not a known update".into()));
}

#[tokio::test]
async fn a_subagent_lives_in_its_own_scope_between_its_events() {
    let script = "- {when: go, tools: [{name: Task, input: {prompt: look, agent_type: scout}}]}\n\
                  - {when: look harder, say: found it}\n- {when: found it, say: done}\n";
    let played = Stage::new(script)
        .hook(
            Hook::on(PreAgentSpawn)
                .callback(|_: &PreAgentSpawn| Reply::none().rewrite_input(json!({"prompt": "look harder"}))),
        )
        .hook(Hook::on(SubagentStart).callback(|e: &SubagentStart| {
            assert_eq!((e.agent_id.as_str(), e.agent_type.as_str()), ("scout-1", "scout"));
        }))
        .hook(Hook::on(SubagentStop).callback(|e: &SubagentStop| assert!(e.agent_transcript_path.is_some())))
        .play("go")
        .await;
    assert_eq!(played.results(), [("found it".to_owned(), false)]);
    assert_eq!(
        played.events(),
        [
            "SessionStart",
            "Setup",
            "UserPromptSubmit",
            "PreMessage",
            "PostMessage",
            "PreToolUse",
            "PreAgentSpawn",
            "SubagentStart",
            "PreMessage",
            "PostMessage",
            "SubagentStop",
            "PostAgentComplete",
            "Notification",
            "PostToolUse",
            "PreMessage",
            "PostMessage",
            "Stop",
            "SessionEnd"
        ]
    );
    assert!(
        played.session_context.engine.entries().iter().all(|hook| hook.scope.is_none()),
        "the scope is gone"
    );
}

#[tokio::test]
async fn a_long_conversation_is_compacted_with_the_instructions_of_a_hook() {
    let script = "- {when: go, tools: [{name: Read, input: {text: long long long long long long text}}]}\n\
                  - {when: Summarise the conversation, say: a summary}\n- say: done\n";
    let mut stage = Stage::new(script);
    stage.compact_over = 60;
    let starts = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&starts);
    let played = stage
        .hook(Hook::on(PreCompact).callback(|e: &PreCompact| {
            assert_eq!(e.trigger, "auto");
            Reply::none().rewrite_input("keep the names")
        }))
        .hook(
            Hook::on(SessionStart)
                .callback(move |e: &SessionStart| seen.lock().unwrap().push(e.source.clone())),
        )
        .play("go")
        .await;
    assert_eq!(played.end, End::Done);
    assert_eq!(*starts.lock().unwrap(), ["startup", "compact"]);
    // What the model has not answered yet is not summarised away.
    let words = played.messages[0].words();
    assert!(words.contains("a summary") && words.contains("long long text"), "{words}");
    assert!(played.heard.lock().unwrap()[1].0.ends_with("keep the names"));
}

#[tokio::test]
async fn an_interrupt_is_told_to_hooks_and_still_ends_the_session() {
    let mut stage = Stage::new(ONE_CALL);
    stage.interrupting = true;
    let played = stage.play("go").await;
    assert_eq!(played.end, End::Interrupted);
    let fires = played.fires();
    let failure = fires.iter().find(|fired| fired.event == "PostToolUseFailure").unwrap();
    assert_eq!(failure.input.get("is_interrupt").unwrap().text(), "true");
    assert_eq!(played.events().last(), Some(&"SessionEnd"));
}

#[tokio::test]
async fn context_goes_into_the_next_system_prompt_once() {
    let start = Hook::on(SessionStart).callback(|_: &SessionStart| Reply::none().context("note"));
    let tool = Hook::on(PreToolUse).callback(|_: &PreToolUse| Reply::none().context("careful"));
    let stop = Hook::on(Stop).callback(|_: &Stop| Reply::none().context("too late"));
    let played = Stage::new(ONE_CALL).hook(start).hook(tool).hook(stop).play("go").await;
    let heard: Vec<String> = played.heard.lock().unwrap().iter().map(|(system, _)| system.clone()).collect();
    assert_eq!(heard, ["Be brief.\n\nnote", "Be brief.\n\ncareful"]);
    assert_eq!(
        played.notes("main"),
        ["context: note", "context: careful", "context without a model call: too late", "end: done"]
    );
}

#[tokio::test]
async fn a_denied_phase_is_reported_and_not_entered() {
    let deny = Hook::on(crosier::payload::PreSessionPhase)
        .named("gate")
        .matching("done")
        .callback(|_: &crosier::payload::PreSessionPhase| Reply::deny("not yet"));
    let played = Stage::new("- say: hi\n").hook(deny).play("go").await;
    assert_eq!(played.field("PreSessionPhase", "to"), ["working", "done"]);
    assert_eq!(played.field("PostSessionPhase", "to"), ["working"]);
    assert_eq!(played.notes("main"), ["phase denied: stays working, not done: not yet (gate)", "end: done"]);
}

#[tokio::test]
async fn a_person_is_told_that_the_agent_waits() {
    let (mut actor, played) = Stage::new("- {say: hi, repeat: true}\n").enter().await;
    actor.begin("startup", "init").await;
    actor.prompt("one").await;
    actor.wait().await;
    actor.prompt("two").await;
    actor.finish(&End::Done).await;
    assert_eq!(played.field("Notification", "notification_type"), ["idle_prompt"]);
    assert_eq!(played.field("PreSessionPhase", "to"), ["working", "waiting", "working", "done"]);
}
