//! The conversation between a person, the model and the tools.

use crosier::Json;
use serde::{Deserialize, Serialize};

/// The author of a message.
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
    /// Its author.
    pub role: Role,
    /// Its content.
    pub content: Vec<Block>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "FlatBlock")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// The model wants a tool to run.
    ToolUse {
        /// Links it to its result.
        id: String,
        /// The tool.
        name: String,
        /// Its input.
        input: Json,
    },
    /// The result of a tool.
    ToolResult {
        /// The call that it answers.
        tool_use_id: String,
        /// What the model gets.
        content: String,
        /// Whether the tool failed or was denied.
        is_error: bool,
    },
}

/// A block as it is deserialized: serde would buffer a tagged enum, and [`Json`] needs the original text of its
/// value, which buffering loses.
#[derive(Deserialize)]
struct FlatBlock {
    r#type: String,
    text: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Json>,
    tool_use_id: Option<String>,
    content: Option<String>,
    is_error: Option<bool>,
}

impl TryFrom<FlatBlock> for Block {
    type Error = String;

    fn try_from(flat: FlatBlock) -> Result<Self, String> {
        let kind = flat.r#type;
        let lacks = |field: &str| format!("a block `{kind}` lacks `{field}`");
        match kind.as_str() {
            "text" => Ok(Self::Text { text: flat.text.ok_or_else(|| lacks("text"))? }),
            "tool_use" => Ok(Self::ToolUse {
                id: flat.id.ok_or_else(|| lacks("id"))?,
                name: flat.name.ok_or_else(|| lacks("name"))?,
                input: flat.input.ok_or_else(|| lacks("input"))?,
            }),
            "tool_result" => Ok(Self::ToolResult {
                tool_use_id: flat.tool_use_id.ok_or_else(|| lacks("tool_use_id"))?,
                content: flat.content.ok_or_else(|| lacks("content"))?,
                is_error: flat.is_error.unwrap_or(false),
            }),
            other => Err(format!("there is no block `{other}`")),
        }
    }
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

impl Message {
    /// A text message of the person.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, content: vec![Block::text(text)] }
    }

    /// All text of the message, joined.
    #[must_use]
    pub fn words(&self) -> String {
        let words = self.content.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            Block::ToolUse { .. } | Block::ToolResult { .. } => None,
        });
        words.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_read_back_as_it_was() {
        let input = Json::parse(r#"{"big":123456789012345678901234567890}"#).unwrap();
        let message = Message {
            role: Role::Assistant,
            content: vec![
                Block::text("hi"),
                Block::ToolUse { id: "1".into(), name: "Bash".into(), input },
                Block::ToolResult { tool_use_id: "1".into(), content: "ok".into(), is_error: true },
            ],
        };
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message);
        let broken = serde_json::from_str::<Block>(r#"{"type":"tool_use","id":"1"}"#).unwrap_err();
        assert!(broken.to_string().contains("lacks `name`"), "{broken}");
    }
}
