//! One full and one bare payload of every event, and the JSON that a host would write for a row.

use crosier_protocol::payload::*;
use crosier_protocol::{Base, EventRow, FieldKind, Json};

/// A base with every field given, so that nothing is left to complete.
pub(crate) fn base(agent: Option<&str>) -> Base {
    Base {
        session_id: Some("s-1".into()),
        transcript_path: Some("/t/s-1.jsonl".into()),
        cwd: Some("/project".into()),
        permission_mode: Some("default".into()),
        agent_id: agent.map(Into::into),
        orchestrator_id: Some("o-1".into()),
        timestamp: Some("2026-01-02T03:04:05.006Z".into()),
    }
}

/// A JSON value that must come back digit by digit and key by key.
pub(crate) fn odd() -> Json {
    Json::parse(r#"{"z":1,"a":123456789012345678901234567890,"t":"\u00e4 \ud83d\ude00\n","n":[null,{}]}"#)
        .unwrap()
}

/// Calls `$check` with a full and a bare payload of each of the 24 events, in the order of the table.
macro_rules! every_payload {
    ($check:ident) => {{
        use crate::sample::{base, odd};
        use crosier_protocol::payload::*;
        let (plain, of_agent) = (base(Some("a-1")), base(Some("sub-1")));
        let text = |text: &str| -> String { format!("{text} \"quoted\" \\ \u{1F600}\n") };
        let some = |name: &str| Some(text(name));

        $check(Setup { base: plain.clone(), trigger: text("init") });
        $check(Setup::default());
        $check(SessionStart {
            base: plain.clone(),
            source: text("startup"),
            agent_type: some("coder"),
            model: some("m"),
        });
        $check(SessionStart::default());
        $check(SessionEnd { base: plain.clone(), reason: text("exit") });
        $check(SessionEnd::default());
        $check(UserPromptSubmit { base: plain.clone(), prompt: text("hello") });
        $check(UserPromptSubmit::default());
        $check(PreMessage { base: plain.clone(), prompt: text("hello"), model: some("m") });
        $check(PreMessage::default());
        $check(PostMessage { base: plain.clone(), output: text("hi"), model: some("m") });
        $check(PostMessage::default());
        $check(PreToolUse {
            base: plain.clone(),
            tool_name: text("Bash"),
            tool_input: odd(),
            tool_use_id: some("u-1"),
        });
        $check(PreToolUse::default());
        $check(PermissionRequest {
            base: plain.clone(),
            tool_name: text("Bash"),
            tool_input: odd(),
            permission_suggestions: Some(odd()),
        });
        $check(PermissionRequest::default());
        $check(PostToolUse {
            base: plain.clone(),
            tool_name: text("Bash"),
            tool_input: odd(),
            tool_response: odd(),
            tool_use_id: some("u-1"),
        });
        $check(PostToolUse::default());
        $check(PostToolUseFailure {
            base: plain.clone(),
            tool_name: text("Bash"),
            tool_input: odd(),
            tool_use_id: some("u-1"),
            error: text("boom"),
            is_interrupt: Some(true),
        });
        $check(PostToolUseFailure::default());
        $check(PreCompact { base: plain.clone(), trigger: text("auto"), custom_instructions: some("keep") });
        $check(PreCompact::default());
        $check(Stop { base: plain.clone(), stop_hook_active: true });
        $check(Stop::default());
        $check(SubagentStart {
            base: of_agent.clone(),
            agent_id: "sub-1".to_owned(),
            agent_type: text("coder"),
        });
        $check(SubagentStart::default());
        $check(SubagentStop {
            base: of_agent.clone(),
            agent_id: "sub-1".to_owned(),
            agent_type: text("coder"),
            agent_transcript_path: some("/t/sub"),
            stop_hook_active: true,
        });
        $check(SubagentStop::default());
        $check(PreAgentSpawn {
            base: of_agent.clone(),
            agent_id: "sub-1".to_owned(),
            agent_type: text("coder"),
            config: odd(),
        });
        $check(PreAgentSpawn::default());
        $check(PostAgentComplete {
            base: of_agent.clone(),
            agent_id: "sub-1".to_owned(),
            agent_type: text("coder"),
            result: odd(),
        });
        $check(PostAgentComplete::default());
        $check(PreSessionPhase { base: plain.clone(), from: text("plan"), to: text("build") });
        $check(PreSessionPhase::default());
        $check(PostSessionPhase { base: plain.clone(), from: text("plan"), to: text("build") });
        $check(PostSessionPhase::default());
        $check(PreGitWrite { base: plain.clone(), path: text("a.rs"), content: text("fn main() {}") });
        $check(PreGitWrite::default());
        $check(PostGitWrite { base: plain.clone(), path: text("a.rs"), commit: text("c0ffee") });
        $check(PostGitWrite::default());
        $check(PreViewRender { base: plain.clone(), view: odd() });
        $check(PreViewRender::default());
        $check(Notification {
            base: plain.clone(),
            message: text("look"),
            title: some("Title"),
            notification_type: text("idle"),
        });
        $check(Notification::default());
        $check(TeammateIdle { base: plain.clone(), teammate_name: text("ann"), team_name: text("red") });
        $check(TeammateIdle::default());
        $check(TaskCompleted {
            base: plain,
            task_id: text("t-1"),
            task_subject: text("subject"),
            task_description: some("all of it"),
            teammate_name: some("ann"),
            team_name: some("red"),
        });
        $check(TaskCompleted::default());
    }};
}
pub(crate) use every_payload;

/// JSON that fits a field.
pub(crate) fn fitting(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Text | FieldKind::TextOrNull => "\"text\"",
        FieldKind::Bool => "true",
        _ => "{\"k\":[1,2]}",
    }
}

/// The payload fields of a row with a value each, as a host would write them.
pub(crate) fn fields(row: &EventRow) -> Vec<(String, Json)> {
    let value = |field: &crosier_protocol::Field| Json::parse(fitting(field.kind)).unwrap();
    row.fields.iter().map(|field| (field.name.to_owned(), value(field))).collect()
}

/// One JSON object of these members.
pub(crate) fn object(members: &[(String, Json)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("{}:{value}", serde_json::to_string(name).unwrap()))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A tool call that is about to happen.
pub(crate) fn tool_call() -> PreToolUse {
    PreToolUse { base: base(Some("a-1")), ..PreToolUse::new("Bash", odd()) }
}
