//! What is said between a person, the model and the tools.

use crosier::Json;
use serde::{Deserialize, Serialize};

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, or a tool's result.
    User,
    /// The model.
    Assistant,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Vec<Block>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// The model wants a tool to run.
    ToolUse {
        /// Joins it to its result.
        id: String,
        /// The tool.
        name: String,
        /// What to call it with.
        input: Json,
    },
    /// What a tool came back with.
    ToolResult {
        /// The call that it answers.
        tool_use_id: String,
        /// What the model reads.
        content: String,
        /// Whether the tool failed or was denied.
        is_error: bool,
    },
}

impl Block {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

impl Message {
    /// Words of the person.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, content: vec![Block::text(text)] }
    }

    /// All words of the message, joined.
    #[must_use]
    pub fn words(&self) -> String {
        let words = self.content.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            Block::ToolUse { .. } | Block::ToolResult { .. } => None,
        });
        words.collect::<Vec<_>>().join("\n")
    }
}
