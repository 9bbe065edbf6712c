//! The table itself: 24 rows of data, in the order of the documentation.

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
const AGENT_ID: Field = Field::required("agent_id", Text, "the agent that this is about");
const AGENT_TYPE: Field = Field::required("agent_type", Text, "what kind of agent it is");
const STOP_HOOK_ACTIVE: Field =
    Field::optional("stop_hook_active", Bool, "true when a hook has resumed the loop already").or("false");
const FROM: Field = Field::required("from", Text, "the phase that is left");
const TO: Field = Field::required("to", Text, "the phase that is entered");
const PATH: Field = Field::required("path", Text, "the file, relative to the workspace");

/// Every event that Crosier knows by itself.
pub static TABLE: [EventRow; 24] = numbered([
    EventRow::new("Setup", "the host prepares a session, or maintains itself")
        .fields(&[Field::required("trigger", Text, "why").one_of(&["init", "maintenance"])])
        .matches_on("trigger")
        .allows(&[Context]),
    EventRow::new("SessionStart", "a session begins, goes on, was cleared or was compacted")
        .fields(&[
            Field::required("source", Text, "how it begins")
                .one_of(&["startup", "resume", "clear", "compact"]),
            Field::optional("agent_type", Text, "what kind of agent it is"),
            MODEL,
        ])
        .matches_on("source")
        .allows(&[Context]),
    EventRow::new("SessionEnd", "the session is over")
        .fields(&[Field::required("reason", Text, "why it ended")])
        .matches_on("reason"),
    EventRow::new("UserPromptSubmit", "a person sent a prompt")
        .fields(&[Field::required("prompt", Text, "what the person wrote")])
        .allows(&[Deny, Context]),
    EventRow::new("PreMessage", "a prompt is about to go to the model")
        .alias("pre:message")
        .fields(&[Field::required("prompt", Text, "what the model will get"), MODEL])
        .allows(&[Deny, Rewrite, Context])
        .rewrites(Pre, "prompt"),
    EventRow::new("PostMessage", "the model has answered")
        .alias("post:message")
        .fields(&[Field::required("output", Text, "what the model wrote"), MODEL])
        .allows(&[Rewrite])
        .rewrites(Post, "output"),
    EventRow::new("PreToolUse", "a tool is about to run")
        .alias("pre:tool")
        .fields(&[TOOL_NAME, TOOL_INPUT, TOOL_USE_ID])
        .matches_on("tool_name")
        .allows(&[Deny, Ask, Allow, Rewrite, Context])
        .rewrites(Pre, "tool_input"),
    EventRow::new("PermissionRequest", "a person is about to be asked whether a tool may run")
        .fields(&[
            TOOL_NAME,
            TOOL_INPUT,
            Field::optional("permission_suggestions", Any, "rules that the person could add"),
        ])
        .matches_on("tool_name")
        .allows(&[Deny, Allow, Rewrite, Interrupt, Permissions])
        .rewrites(Pre, "tool_input"),
    EventRow::new("PostToolUse", "a tool has run")
        .alias("post:tool")
        .fields(&[
            TOOL_NAME,
            TOOL_INPUT,
            Field::required("tool_response", Any, "what the tool gave back"),
            Field::optional("tool_output", Text, "tool_response as text; always derived"),
            TOOL_USE_ID,
        ])
        .matches_on("tool_name")
        .allows(&[Suppress, Rewrite, Context, Inject])
        .rewrites(Post, "tool_response")
        .derives("tool_output", "tool_response"),
    EventRow::new("PostToolUseFailure", "a tool has failed")
        .fields(&[
            TOOL_NAME,
            TOOL_INPUT,
            TOOL_USE_ID,
            Field::required("error", Text, "what went wrong"),
            Field::optional("is_interrupt", Bool, "true when a person stopped it"),
        ])
        .matches_on("tool_name")
        .allows(&[Context, Inject]),
    EventRow::new("PreCompact", "the conversation is about to be shortened")
        .fields(&[
            Field::required("trigger", Text, "who wants it").one_of(&["manual", "auto"]),
            Field::required("custom_instructions", TextOrNull, "what to keep, in words"),
        ])
        .matches_on("trigger")
        .allows(&[Deny, Rewrite, Context])
        .rewrites(Pre, "custom_instructions"),
    EventRow::new("Stop", "the model wants to stop").fields(&[STOP_HOOK_ACTIVE]).allows(&[Resume, Context]),
    EventRow::new("SubagentStart", "a subagent is about to start")
        .fields(&[AGENT_ID, AGENT_TYPE])
        .matches_on("agent_type")
        .allows(&[Context]),
    EventRow::new("SubagentStop", "a subagent wants to stop")
        .fields(&[
            AGENT_ID,
            AGENT_TYPE,
            Field::optional("agent_transcript_path", Text, "the subagent's own transcript"),
            STOP_HOOK_ACTIVE,
        ])
        .matches_on("agent_type")
        .allows(&[Resume, Context]),
    EventRow::new("PreAgentSpawn", "an agent is about to be created")
        .alias("pre:agent:spawn")
        .fields(&[AGENT_ID, AGENT_TYPE, Field::required("config", Any, "what it will be made from")])
        .matches_on("agent_type")
        .allows(&[Deny, Rewrite])
        .rewrites(Pre, "config"),
    EventRow::new("PostAgentComplete", "an agent is done")
        .alias("post:agent:complete")
        .fields(&[AGENT_ID, AGENT_TYPE, Field::required("result", Any, "what it came back with")])
        .matches_on("agent_type"),
    EventRow::new("PreSessionPhase", "the session is about to change its phase")
        .alias("pre:session:phase")
        .fields(&[FROM, TO])
        .matches_on("to")
        .allows(&[Deny]),
    EventRow::new("PostSessionPhase", "the session has changed its phase")
        .alias("post:session:phase")
        .fields(&[FROM, TO])
        .matches_on("to"),
    EventRow::new("PreGitWrite", "a file is about to be written to the shadow repository")
        .alias("pre:git:write")
        .fields(&[PATH, Field::required("content", Text, "what will be written")])
        .matches_on("path")
        .allows(&[Deny, Rewrite])
        .rewrites(Pre, "content"),
    EventRow::new("PostGitWrite", "a file was written to the shadow repository")
        .alias("post:git:write")
        .fields(&[PATH, Field::required("commit", Text, "the commit that holds it")])
        .matches_on("path"),
    EventRow::new("PreViewRender", "the screen is about to be drawn")
        .alias("pre:view:render")
        .fields(&[Field::required("view", Any, "the screen as data")])
        .allows(&[Rewrite])
        .rewrites(Pre, "view"),
    EventRow::new("Notification", "a person is being told something")
        .fields(&[
            Field::required("message", Text, "what they are told"),
            Field::optional("title", Text, "a heading"),
            Field::required("notification_type", Text, "what it is about"),
        ])
        .matches_on("notification_type")
        .allows(&[Context]),
    EventRow::new("TeammateIdle", "a team member has nothing to do")
        .fields(&[
            Field::required("teammate_name", Text, "who is idle"),
            Field::required("team_name", Text, "the team"),
        ])
        .matches_on("teammate_name")
        .allows(&[Deny, Context]),
    EventRow::new("TaskCompleted", "a task of a team is about to be marked done")
        .fields(&[
            Field::required("task_id", Text, "the task"),
            Field::required("task_subject", Text, "what it was about"),
            Field::optional("task_description", Text, "the task in full"),
            Field::optional("teammate_name", Text, "who did it"),
            Field::optional("team_name", Text, "the team"),
        ])
        .allows(&[Deny, Context]),
]);

const fn numbered<const N: usize>(mut rows: [EventRow; N]) -> [EventRow; N] {
    let mut at = 0;
    while at < N {
        rows[at].index = at;
        at += 1;
    }
    rows
}

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
        assert_eq!(TABLE.iter().filter(|row| row.alias.is_some()).count(), 11);
    }
}
