//! The Messages API of Anthropic.

use crosier::Json;
use serde::Serialize;
use serde_json::Value;

use super::draft::{Draft, Part};
use super::{Answer, Step, invalid_answer, parse, service_error};
use crate::conversation::{Block, Role};
use crate::model::sse::Event;
use crate::model::{ModelError, ModelRequest, OnText, StopReason, Turn};

#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    system: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
}

#[derive(Debug, Serialize)]
struct WireMessage<'a> {
    role: Role,
    /// Blocks of the conversation already have the format of this API.
    content: Vec<&'a Block>,
}

#[derive(Debug, Serialize)]
struct WireTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Json,
}

/// The request. Roles alternate, and no text is empty: the API requires both.
pub(super) fn body<'a>(model: &'a str, request: &ModelRequest<'a>) -> Body<'a> {
    let mut messages: Vec<WireMessage<'a>> = Vec::new();
    for message in request.messages {
        let is_said = |block: &&Block| !matches!(block, Block::Text { text } if text.trim().is_empty());
        let content = message.content.iter().filter(is_said);
        match messages.last_mut() {
            Some(last) if last.role == message.role => last.content.extend(content),
            _ => messages.push(WireMessage { role: message.role, content: content.collect() }),
        }
    }
    messages.retain(|message| !message.content.is_empty());
    let offer = |tool: &'a crate::tool::ToolSpec| WireTool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.input_schema,
    };
    let tools = request.tools.iter().map(offer).collect();
    Body { model, max_tokens: request.max_tokens, stream: true, system: request.system, messages, tools }
}

/// An answer while it arrives.
#[derive(Debug)]
pub(super) struct AnthropicAnswer(Draft);

impl AnthropicAnswer {
    pub(super) fn new(max_tokens: u32) -> Self {
        Self(Draft::new(max_tokens))
    }

    fn count(&mut self, usage: &Value) {
        let count = |key: &str| usage.get(key).and_then(Value::as_u64);
        let read = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        // The count at the end covers the whole answer; that of the input tokens comes at its beginning.
        let read: u64 = read.into_iter().filter_map(count).sum();
        self.0.usage.input_tokens = self.0.usage.input_tokens.max(read);
        self.0.usage.output_tokens = count("output_tokens").unwrap_or(self.0.usage.output_tokens);
    }

    fn begin(&mut self, data: &Value, on_text: OnText<'_>) -> Result<(), ModelError> {
        let (index, block) = (index(data)?, &data["content_block"]);
        let text = |key: &str| block[key].as_str().unwrap_or_default();
        match text("type") {
            "text" => {
                self.0.begin(index, Part::Text(String::new()))?;
                self.0.say(index, text("text"), on_text)
            }
            "tool_use" => {
                let (id, name) = (text("id").to_owned(), text("name").to_owned());
                if id.is_empty() || name.is_empty() {
                    return Err(invalid_answer("a tool call has no id or no name"));
                }
                self.0.begin(index, Part::Call { id, name, arguments: String::new() })
            }
            _ => self.0.begin(index, Part::Other),
        }
    }

    fn more(&mut self, data: &Value, on_text: OnText<'_>) -> Result<(), ModelError> {
        let (index, delta) = (index(data)?, &data["delta"]);
        let text = |key: &str| {
            let text = delta[key].as_str();
            text.ok_or_else(|| invalid_answer(format!("part {index} goes on without a `{key}`")))
        };
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => self.0.say(index, text("text")?, on_text),
            "input_json_delta" => self.0.add_arguments(index, text("partial_json")?),
            _ => Ok(()),
        }
    }
}

fn index(data: &Value) -> Result<u64, ModelError> {
    data["index"].as_u64().ok_or_else(|| invalid_answer("a part has no index"))
}

impl Answer for AnthropicAnswer {
    fn take(&mut self, event: &Event, on_text: OnText<'_>) -> Result<Step, ModelError> {
        let data = parse(event)?;
        match data["type"].as_str().unwrap_or(&event.name) {
            "message_start" => self.count(&data["message"]["usage"]),
            "content_block_start" => self.begin(&data, on_text)?,
            "content_block_delta" => self.more(&data, on_text)?,
            "message_delta" => {
                self.count(&data["usage"]);
                self.0.stop = match data["delta"]["stop_reason"].as_str() {
                    Some("tool_use") => Some(StopReason::ToolUse),
                    Some("max_tokens" | "model_context_window_exceeded") => Some(StopReason::MaxTokens),
                    Some("refusal") => Some(StopReason::Refused),
                    Some(_) => Some(StopReason::EndTurn),
                    None => self.0.stop,
                };
            }
            "message_stop" => return Ok(Step::Over),
            "error" => return Err(service_error(&data["error"])),
            // Unknown kinds of events are skipped.
            _ => {}
        }
        Ok(Step::More)
    }

    fn has_begun(&self) -> bool {
        !self.0.is_empty()
    }

    fn is_whole(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Result<Turn, ModelError> {
        self.0.finish()
    }
}
