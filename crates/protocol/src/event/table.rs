//! The built-in event table, in the order of the documentation.

use super::row::Capability::{
    Allow, Ask, Context, Deny, Inject, Interrupt, Permissions, Resume, Rewrite, Suppress,
};
use super::row::FieldKind::{Any, Bool, Text, TextOrNull};
use super::row::Phase::{Post, Pre};
use super::row::{EventRow, Field};

const TOOL_NAME: Field = Field::required("tool_name", Text, "the tool's name");
const TOOL_INPUT: Field = Field::required("tool_input", Any, "what the tool is called with");
const TOOL_USE_ID: Field = Field::optional("tool_use_id", Text, "the id of this call");
const MODEL: Field = Field::optional("model", Text, "the model's name");
const AGENT_ID: Field = Field::required("agent_id", Text, "the id of that agent");
const AGENT_TYPE: Field = Field::required("agent_type", Text, "what kind of agent it is");
const STOP_HOOK_ACTIVE: Field =
    Field::optional("stop_hook_active", Bool, "true when a hook has already resumed the loop").or("false");
const FROM: Field = Field::required("from", Text, "the old phase");
const TO: Field = Field::required("to", Text, "the new phase");
const PATH: Field = Field::required("path", Text, "the file, relative to the workspace");

/// Every built-in event.
pub static TABLE: &[EventRow] = &NUMBERED;

static NUMBERED: [EventRow; ROWS.len()] = {
    let mut rows = [ROWS[0]; ROWS.len()];
    let mut at = 0;
    while at < rows.len() {
        rows[at] = ROWS[at];
        rows[at].index = at;
        at += 1;
    }
    rows
};

/// The row of a typed payload, by name. Only called in constants, so an unknown name is a compile error.
#[expect(clippy::panic, reason = "called in constants only, where it is a compile error")]
pub(crate) const fn built_in_row(name: &str) -> &'static EventRow {
    let mut at = 0;
    while at < NUMBERED.len() {
        if is_same(NUMBERED[at].name.as_bytes(), name.as_bytes()) {
            return &NUMBERED[at];
        }
        at += 1;
    }
    panic!("no row of the event table has this name")
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

const ROWS: &[EventRow] = &[
    EventRow::new("Setup", "the host prepares a session, or does maintenance")
        .fields(&[Field::required("trigger", Text, "why").one_of(&["init", "maintenance"])])
        .matches_on("trigger")
        .allows(&[Context])
        .example(
            r#"{"trigger": "init"}"#,
            r#"{"systemMessage": "The database of this project is called shop."}"#,
        ),
    EventRow::new("SessionStart", "a session begins, is resumed, was cleared or was compacted")
        .fields(&[
            Field::required("source", Text, "how it begins")
                .one_of(&["startup", "resume", "clear", "compact"]),
            Field::optional("agent_type", Text, "what kind of agent it is"),
            MODEL,
        ])
        .matches_on("source")
        .allows(&[Context])
        .example(
            r#"{"source": "startup", "model": "opus"}"#,
            r#"{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "Today is release day."}}"#,
        ),
    EventRow::new("SessionEnd", "the session is over")
        .fields(&[Field::required("reason", Text, "why it ended")])
        .matches_on("reason")
        .example(
            r#"{"reason": "logout"}"#,
            r#"{"continue": false, "stopReason": "the machine is shutting down"}"#,
        ),
    EventRow::new("UserPromptSubmit", "a person sent a prompt")
        .fields(&[Field::required("prompt", Text, "what the person wrote")])
        .allows(&[Deny, Context])
        .example(
            r#"{"prompt": "deploy it"}"#,
            r#"{"decision": "block", "reason": "Nobody deploys on a Friday."}"#,
        ),
    EventRow::new("PreMessage", "a prompt is about to go to the model")
        .alias("pre:message")
        .fields(&[Field::required("prompt", Text, "what the model will get"), MODEL])
        .allows(&[Deny, Rewrite, Context])
        .rewrites(Pre, "prompt")
        .example(
            r#"{"prompt": "Fix the bug."}"#,
            r#"{"modify": {"prompt": "[Project: shop]\nFix the bug."}}"#,
        ),
    EventRow::new("PostMessage", "the model has answered")
        .alias("post:message")
        .fields(&[Field::required("output", Text, "what the model wrote"), MODEL])
        .allows(&[Rewrite])
        .rewrites(Post, "output")
        .example(
            r#"{"output": "The key is abc123."}"#,
            r#"{"modify": {"output": "The key is ******."}}"#,
        ),
    EventRow::new("PreToolUse", "a tool is about to run")
        .alias("pre:tool")
        .fields(&[TOOL_NAME, TOOL_INPUT, TOOL_USE_ID])
        .matches_on("tool_name")
        .allows(&[Deny, Ask, Allow, Rewrite, Context])
        .rewrites(Pre, "tool_input")
        .example(
            r#"{"tool_name": "Bash", "tool_input": {"command": "rm -r build"}}"#,
            r#"{"updated_input": {"command": "mv build /tmp/trash"}, "systemMessage": "Files are moved to the trash here."}"#,
        ),
    EventRow::new("PermissionRequest", "a person is about to be asked whether a tool may run")
        .fields(&[
            TOOL_NAME,
            TOOL_INPUT,
            Field::optional("permission_suggestions", Any, "rules that the person could add"),
        ])
        .matches_on("tool_name")
        .allows(&[Deny, Allow, Rewrite, Interrupt, Permissions])
        .rewrites(Pre, "tool_input")
        .example(
            r#"{"tool_name": "Bash", "tool_input": {"command": "git status"}}"#,
            r#"{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}"#,
        ),
    EventRow::new("PostToolUse", "a tool has run")
        .alias("post:tool")
        .fields(&[
            TOOL_NAME,
            TOOL_INPUT,
            Field::required("tool_response", Any, "what the tool returned"),
            Field::optional("tool_output", Text, "tool_response as text; always derived"),
            TOOL_USE_ID,
        ])
        .matches_on("tool_name")
        .allows(&[Suppress, Rewrite, Context, Inject])
        .rewrites(Post, "tool_response")
        .derives("tool_output", "tool_response")
        .example(
            r#"{"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": "3 warnings"}"#,
            r#"{"inject": {"content": "Warnings count as errors in CI.", "strategy": "tool_result"}}"#,
        ),
    EventRow::new("PostToolUseFailure", "a tool has failed")
        .fields(&[
            TOOL_NAME,
            TOOL_INPUT,
            TOOL_USE_ID,
            Field::required("error", Text, "what went wrong"),
            Field::optional("is_interrupt", Bool, "true when a person stopped it"),
        ])
        .matches_on("tool_name")
        .allows(&[Context, Inject])
        .example(
            r#"{"tool_name": "WebFetch", "tool_input": {"url": "http://x.test"}, "error": "no route to host"}"#,
            r#"{"systemMessage": "This machine has no network; use the files in vendor/."}"#,
        ),
    EventRow::new("PreCompact", "the conversation is about to be shortened")
        .fields(&[
            Field::required("trigger", Text, "what triggered it").one_of(&["manual", "auto"]),
            Field::required("custom_instructions", TextOrNull, "what the summary must keep"),
        ])
        .matches_on("trigger")
        .allows(&[Deny, Rewrite, Context])
        .rewrites(Pre, "custom_instructions")
        .example(
            r#"{"trigger": "auto", "custom_instructions": null}"#,
            r#"{"modify": {"custom_instructions": "Keep every file name."}}"#,
        ),
    EventRow::new("Stop", "the model wants to stop").fields(&[STOP_HOOK_ACTIVE]).allows(&[Resume, Context])
        .example(
            r#"{"stop_hook_active": false}"#,
            r#"{"decision": "block", "reason": "Two tests still fail."}"#,
        ),
    EventRow::new("SubagentStart", "a subagent is about to start")
        .fields(&[AGENT_ID, AGENT_TYPE])
        .matches_on("agent_type")
        .allows(&[Context])
        .example(
            r#"{"agent_id": "a1", "agent_type": "reviewer"}"#,
            r#"{"systemMessage": "Write the review to REVIEW.md."}"#,
        ),
    EventRow::new("SubagentStop", "a subagent wants to stop")
        .fields(&[
            AGENT_ID,
            AGENT_TYPE,
            Field::optional("agent_transcript_path", Text, "the subagent's own transcript"),
            STOP_HOOK_ACTIVE,
        ])
        .matches_on("agent_type")
        .allows(&[Resume, Context])
        .example(
            r#"{"agent_id": "a1", "agent_type": "reviewer"}"#,
            r#"{"decision": "block", "reason": "There is no REVIEW.md yet."}"#,
        ),
    EventRow::new("PreAgentSpawn", "an agent is about to be created")
        .alias("pre:agent:spawn")
        .fields(&[AGENT_ID, AGENT_TYPE, Field::required("config", Any, "its configuration")])
        .matches_on("agent_type")
        .allows(&[Deny, Rewrite])
        .rewrites(Pre, "config")
        .example(
            r#"{"agent_id": "a2", "agent_type": "coder", "config": {"model": "opus", "turns": 500}}"#,
            r#"{"modify": {"config": {"model": "opus", "turns": 50}}}"#,
        ),
    EventRow::new("PostAgentComplete", "an agent is done")
        .alias("post:agent:complete")
        .fields(&[AGENT_ID, AGENT_TYPE, Field::required("result", Any, "its result")])
        .matches_on("agent_type")
        .example(
            r#"{"agent_id": "a2", "agent_type": "coder", "result": "done"}"#,
            r#"{"continue": false, "stopReason": "one agent was enough"}"#,
        ),
    EventRow::new("PreSessionPhase", "the session is about to change its phase")
        .alias("pre:session:phase")
        .fields(&[FROM, TO])
        .matches_on("to")
        .allows(&[Deny])
        .example(
            r#"{"from": "plan", "to": "build"}"#,
            r#"{"abort": true, "reason": "The plan has no tests in it."}"#,
        ),
    EventRow::new("PostSessionPhase", "the session has changed its phase")
        .alias("post:session:phase")
        .fields(&[FROM, TO])
        .matches_on("to")
        .example(
            r#"{"from": "plan", "to": "build"}"#,
            r#"{"continue": false, "stopReason": "only a plan was wanted"}"#,
        ),
    EventRow::new("PreGitWrite", "a file is about to be written to the shadow repository")
        .alias("pre:git:write")
        .fields(&[PATH, Field::required("content", Text, "what will be written")])
        .matches_on("path")
        .allows(&[Deny, Rewrite])
        .rewrites(Pre, "content")
        .example(
            r#"{"path": "src/a.rs", "content": "fn a() {}"}"#,
            r#"{"modify": {"content": "// Licensed under MIT.\nfn a() {}"}}"#,
        ),
    EventRow::new("PostGitWrite", "a file was written to the shadow repository")
        .alias("post:git:write")
        .fields(&[PATH, Field::required("commit", Text, "the commit that contains it")])
        .matches_on("path")
        .example(
            r#"{"path": "src/a.rs", "commit": "4f2a9c1"}"#,
            r#"{"continue": false, "stopReason": "the expected change was made"}"#,
        ),
    EventRow::new("PreViewRender", "the screen is about to be drawn")
        .alias("pre:view:render")
        .fields(&[Field::required("view", Any, "the content of the screen")])
        .allows(&[Rewrite])
        .rewrites(Pre, "view")
        .example(
            r#"{"view": {"title": "shop", "status": "working"}}"#,
            r#"{"modify": {"view": {"title": "shop (staging)", "status": "working"}}}"#,
        ),
    EventRow::new("Notification", "a person is notified")
        .fields(&[
            Field::required("message", Text, "the text of the notification"),
            Field::optional("title", Text, "a heading"),
            Field::required("notification_type", Text, "the kind of notification"),
        ])
        .matches_on("notification_type")
        .allows(&[Context])
        .example(
            r#"{"message": "Waiting for you", "notification_type": "idle_prompt"}"#,
            r#"{"systemMessage": "The person was told that you are waiting."}"#,
        ),
    EventRow::new("TeammateIdle", "a team member has nothing to do")
        .fields(&[
            Field::required("teammate_name", Text, "who is idle"),
            Field::required("team_name", Text, "the team"),
        ])
        .matches_on("teammate_name")
        .allows(&[Deny, Context])
        .example(
            r#"{"teammate_name": "ada", "team_name": "backend"}"#,
            r#"{"decision": "block", "reason": "Task 7 is open: take it."}"#,
        ),
    EventRow::new("TaskCompleted", "a task of a team is about to be marked done")
        .fields(&[
            Field::required("task_id", Text, "the task"),
            Field::required("task_subject", Text, "its subject"),
            Field::optional("task_description", Text, "its description"),
            Field::optional("teammate_name", Text, "who did it"),
            Field::optional("team_name", Text, "the team"),
        ])
        .allows(&[Deny, Context])
        .example(
            r#"{"task_id": "7", "task_subject": "Add the index", "teammate_name": "ada"}"#,
            r#"{"decision": "block", "reason": "The migration has no test."}"#,
        ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_consistent_with_itself() {
        for (place, row) in TABLE.iter().enumerate() {
            assert_eq!(row.index(), place);
            assert_eq!(row.rewrites.is_some(), row.capabilities.has(Rewrite), "{}", row.name);
            for name in row.matcher.into_iter().chain(row.rewrites.map(|(_, name)| name)) {
                assert!(row.field(name).is_some(), "{} has no field {name}", row.name);
            }
            assert!(row.fields.iter().all(|field| field.default.is_none() || !field.required));
        }
    }

    #[test]
    fn names_and_aliases_are_unique() {
        let mut names: Vec<&str> =
            TABLE.iter().flat_map(|row| std::iter::once(row.name).chain(row.alias)).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
