//! Task: a subagent with its own conversation.

use crosier::Json;
use crosier::protocol::json;

use super::arguments::Arguments;
use super::{Risk, Tool, ToolContext, ToolError, ToolFuture, ToolSpec};

/// Starts a subagent. The loop recognises the tool by name and runs the subagent itself. Every call of the subagent
/// goes through hooks and permissions, so that starting it is not a risk.
#[derive(Debug)]
pub struct Task(ToolSpec);

impl Task {
    /// The name by which the loop recognises it.
    pub const NAME: &'static str = "Task";

    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = "Starts a subagent, with a conversation of its own and the same tools, and returns its final \
            answer. Several calls in one answer run in parallel.";
        let schema = json!({
            "type": "object",
            "properties": {
                "prompt": {"type": "string", "description": "its task; it sees nothing else of this conversation"},
                "agent_type": {"type": "string", "description": "what kind of agent it is, in one word; the default is `general`"},
            },
            "required": ["prompt"],
            "additionalProperties": false,
        });
        Self(ToolSpec {
            name: Self::NAME.to_owned(),
            description: description.to_owned(),
            input_schema: Json::from(schema),
        })
    }
}

impl Task {
    /// The prompt and the type of a subagent.
    pub(crate) fn read(input: &Json) -> Result<(String, String), ToolError> {
        let arguments = Arguments::read(input, &["prompt", "agent_type"])?;
        let prompt = arguments.text("prompt")?.into_owned();
        let agent_type = arguments.optional_text("agent_type")?;
        Ok((prompt, agent_type.map_or_else(|| "general".to_owned(), |text| text.into_owned())))
    }
}

impl Default for Task {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for Task {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn risk(&self) -> Risk {
        Risk::Read
    }

    fn run<'a>(&'a self, input: &'a Json, _: &'a ToolContext) -> ToolFuture<'a> {
        Box::pin(async {
            Self::read(input)?;
            Err(ToolError::new("subagents can only be run by the agent loop, which is not running here"))
        })
    }
}
