//! Rows of the events that only some agents have.
//!
//! The configuration, `check`, `events` and the schemas treat them like the built-in rows, which are the ones that
//! the reference agent fires.

use std::sync::LazyLock;

use crosier_protocol::Capability::{Allow, Ask, Context, Deny};
use crosier_protocol::FieldKind::{Any, Bool, Text};
use crosier_protocol::event::TABLE;
use crosier_protocol::{Catalog, EventRow, Field};

const TRIGGER: Field = Field::required("trigger", Text, "what triggered it");
const FILE_PATH: Field = Field::required("file_path", Text, "the file");
const FROM_MODEL: Field = Field::required("from_model", Text, "the previous model");
const TO_MODEL: Field = Field::required("to_model", Text, "the new model");
const SOURCE: Field = Field::required("source", Text, "where it comes from");
const SERVER: Field = Field::required("mcp_server_name", Text, "the MCP server that asks");
const LLM_REQUEST: Field = Field::required("llm_request", Any, "what goes to the model");
const TASK: &[Field] = &[
    Field::required("task_id", Text, "the task"),
    Field::required("task_subject", Text, "its subject"),
    Field::optional("task_description", Text, "its description"),
];

/// Every event that only some agents have.
pub static ROWS: &[EventRow] = &[
    EventRow::new("PostToolBatch", "all tools of one turn have run")
        .fields(&[Field::required("tool_calls", Any, "the calls, with their results")])
        .allows(&[Deny, Context]),
    EventRow::new("UserPromptExpansion", "a command that a person typed becomes a prompt")
        .fields(&[
            Field::optional("expansion_type", Text, "what it is"),
            Field::required("command_name", Text, "the command"),
            Field::optional("command_args", Text, "its arguments"),
            Field::optional("command_source", Text, "where the command comes from"),
            Field::optional("prompt", Text, "what the person typed"),
        ])
        .matches_on("command_name")
        .allows(&[Deny, Context]),
    EventRow::new("StopFailure", "a turn ended because the model's service failed")
        .fields(&[
            Field::required("error", Text, "what went wrong"),
            Field::optional("last_assistant_message", Text, "what was shown last"),
        ])
        .matches_on("error"),
    EventRow::new("PostCompact", "the conversation was shortened")
        .fields(&[TRIGGER, Field::optional("compact_summary", Text, "its summary")])
        .matches_on("trigger"),
    EventRow::new("PreModelSwitch", "another model is about to be used")
        .fields(&[FROM_MODEL, TO_MODEL, SOURCE])
        .matches_on("to_model")
        .allows(&[Deny, Ask, Allow]),
    EventRow::new("PostModelSwitch", "the model was switched")
        .fields(&[FROM_MODEL, TO_MODEL, SOURCE])
        .matches_on("to_model"),
    EventRow::new("PermissionDenied", "the agent's own permissions refused a tool")
        .fields(&[
            Field::required("tool_name", Text, "the tool's name"),
            Field::required("tool_input", Any, "what the tool was called with"),
            Field::optional("tool_use_id", Text, "the id of this call"),
            Field::required("reason", Text, "why it was refused"),
        ])
        .matches_on("tool_name"),
    EventRow::new("TaskCreated", "a task is about to be added to a list").fields(TASK).allows(&[Deny]),
    EventRow::new("Elicitation", "an MCP server asks the person something")
        .fields(&[SERVER, Field::optional("message", Text, "what it asks")])
        .matches_on("mcp_server_name"),
    EventRow::new("ElicitationResult", "the person has answered an MCP server")
        .fields(&[SERVER, Field::optional("action", Text, "what the person did")])
        .matches_on("mcp_server_name"),
    EventRow::new("ConfigChange", "the agent's own configuration has changed")
        .fields(&[SOURCE, Field::optional("file_path", Text, "the file")])
        .matches_on("source")
        .allows(&[Deny]),
    EventRow::new(
        "WorktreeCreate",
        "a worktree is about to be created; a hook replaces `git worktree`, so do not use it",
    )
    .fields(&[Field::required("name", Text, "its name")]),
    EventRow::new("WorktreeRemove", "a worktree is removed").fields(&[Field::required(
        "worktree_path",
        Text,
        "its folder",
    )]),
    EventRow::new("InstructionsLoaded", "a file with instructions was read")
        .fields(&[
            FILE_PATH,
            Field::optional("memory_type", Text, "whose instructions they are"),
            Field::optional("load_reason", Text, "why it was read"),
        ])
        .matches_on("file_path"),
    EventRow::new("CwdChanged", "the agent's working directory has changed").fields(&[
        Field::required("old_cwd", Text, "the previous folder"),
        Field::required("new_cwd", Text, "the new folder"),
    ]),
    EventRow::new("FileChanged", "a file that is watched has changed")
        .fields(&[FILE_PATH, Field::optional("event", Text, "what happened to it")])
        .matches_on("file_path"),
    EventRow::new("DirectoryAdded", "a folder was added to the workspace")
        .fields(&[Field::required("directory", Text, "the folder"), SOURCE]),
    EventRow::new("MessageDisplay", "the model's text is shown").fields(&[
        Field::optional("delta", Text, "the words"),
        Field::optional("final", Bool, "whether this is the last part"),
    ]),
    EventRow::new("Interrupt", "a person stopped the turn"),
    EventRow::new("BeforeToolSelection", "the tools for the next model call are chosen")
        .fields(&[LLM_REQUEST]),
    EventRow::new("PreCompress", "the agent checks whether the conversation is too long")
        .fields(&[TRIGGER])
        .matches_on("trigger"),
    EventRow::new("UserPromptTransformed", "a prompt was turned into what the model gets").fields(&[
        Field::required("prompt", Text, "what the person wrote"),
        Field::optional("transformedPrompt", Text, "what the model gets"),
    ]),
    EventRow::new("ErrorOccurred", "an error occurred in the agent").fields(&[Field::required(
        "error",
        Any,
        "what went wrong",
    )]),
    EventRow::new("AgentThought", "the model has finished thinking").fields(&[Field::required(
        "text",
        Text,
        "what it thought",
    )]),
];

/// Every row: the built-in ones, then those that only some agents have.
pub fn all_rows() -> impl Iterator<Item = &'static EventRow> {
    TABLE.iter().chain(ROWS)
}

/// All events: the built-in ones, and those that only some agents have.
#[must_use]
pub fn catalog() -> Catalog {
    // A test checks that every row is accepted.
    static ALL: LazyLock<Catalog> = LazyLock::new(|| Catalog::with_checked_rows(ROWS));
    ALL.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_place_of_its_own() {
        let mut catalog = Catalog::default();
        for row in ROWS {
            catalog.add(*row).unwrap();
        }
        assert!(super::catalog().rows().eq(catalog.rows()));
    }
}
