//! The Chat Completions API of OpenAI, which many other services have too.

use crosier::Json;
use serde::Serialize;
use serde_json::Value;

use super::draft::{Draft, Part};
use super::{Answer, Home, Step, parse, service_error};
use crate::conversation::{Block, Message, Role};
use crate::model::sse::Event;
use crate::model::{ModelError, ModelRequest, OnText, StopReason, Turn};
use crate::tool::ToolSpec;

/// The event that ends an answer.
const DONE: &str = "[DONE]";
/// The index used for text, which has none of its own; calls count from zero.
const WORDS: u64 = u64::MAX;

#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    /// The newer name, which OpenAI requires for newer models.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    /// The older name, which all other services know.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: String,
    },
    Assistant {
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Debug, Serialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Called<'a>,
}

#[derive(Debug, Serialize)]
struct Called<'a> {
    name: &'a str,
    /// JSON as text.
    arguments: &'a str,
}

#[derive(Debug, Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Json,
}

/// The request.
pub(super) fn body<'a>(model: &'a str, request: &ModelRequest<'a>, home: Home) -> Body<'a> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(WireMessage::System { content: request.system });
    }
    for message in request.messages {
        match message.role {
            Role::User => user(message, &mut messages),
            Role::Assistant => messages.extend(assistant(message)),
        }
    }
    let offer = |tool: &'a ToolSpec| WireTool {
        kind: "function",
        function: Function {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.input_schema,
        },
    };
    let max = |wanted: Home| (home == wanted).then_some(request.max_tokens);
    Body {
        model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_completion_tokens: max(Home::Provider),
        max_tokens: max(Home::Elsewhere),
        messages,
        tools: request.tools.iter().map(offer).collect(),
    }
}

/// In this API, tool results are separate messages. They come first, right after the calls that they answer.
fn user<'a>(message: &'a Message, messages: &mut Vec<WireMessage<'a>>) {
    messages.extend(message.content.iter().filter_map(|block| match block {
        Block::ToolResult { tool_use_id, content, .. } => {
            Some(WireMessage::Tool { tool_call_id: tool_use_id, content })
        }
        Block::Text { .. } | Block::ToolUse { .. } => None,
    }));
    let content = message.words();
    if !content.is_empty() {
        messages.push(WireMessage::User { content });
    }
}

fn assistant(message: &Message) -> Option<WireMessage<'_>> {
    let calls = message.content.iter().filter_map(|block| match block {
        Block::ToolUse { id, name, input } => {
            Some(Call { id, kind: "function", function: Called { name, arguments: input.text() } })
        }
        Block::Text { .. } | Block::ToolResult { .. } => None,
    });
    let tool_calls: Vec<Call<'_>> = calls.collect();
    let content = Some(message.words()).filter(|words| !words.is_empty());
    (content.is_some() || !tool_calls.is_empty()).then_some(WireMessage::Assistant { content, tool_calls })
}

/// An answer while it arrives.
#[derive(Debug)]
pub(super) struct OpenAiAnswer {
    draft: Draft,
    /// The call that the last piece belonged to, because some services leave the index out.
    current: Option<u64>,
}

impl OpenAiAnswer {
    pub(super) fn new(max_tokens: u32) -> Self {
        Self { draft: Draft::new(max_tokens), current: None }
    }

    fn words(&mut self, more: &str, on_text: OnText<'_>) -> Result<(), ModelError> {
        if more.is_empty() {
            return Ok(());
        }
        if self.draft.part(WORDS).is_none() {
            self.draft.begin(WORDS, Part::Text(String::new()))?;
        }
        self.draft.say(WORDS, more, on_text)
    }

    fn call(&mut self, piece: &Value) -> Result<(), ModelError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (id, name) = (text(&piece["id"]), text(&piece["function"]["name"]));
        let next = || self.current.map_or(0, |current| current + 1);
        let index = match piece["index"].as_u64() {
            Some(index) => index,
            None if id.is_empty() => self.current.unwrap_or(0),
            None => next(),
        };
        self.current = Some(index);
        match self.draft.part(index) {
            None => {
                // A call needs an id for its result.
                let id = if id.is_empty() { format!("call-{}", uuid::Uuid::now_v7().simple()) } else { id };
                self.draft.begin(index, Part::Call { id, name, arguments: String::new() })?;
            }
            Some(Part::Call { name: known, .. }) if known.is_empty() => *known = name,
            Some(_) => {}
        }
        self.draft.add_arguments(index, piece["function"]["arguments"].as_str().unwrap_or_default())
    }
}

impl Answer for OpenAiAnswer {
    fn take(&mut self, event: &Event, on_text: OnText<'_>) -> Result<Step, ModelError> {
        if event.data.trim() == DONE {
            return Ok(Step::Over);
        }
        let data = parse(event)?;
        if let Some(error) = data.get("error").filter(|error| !error.is_null()) {
            return Err(service_error(error));
        }
        let count = |key: &str| data["usage"][key].as_u64();
        self.draft.usage.input_tokens = count("prompt_tokens").unwrap_or(self.draft.usage.input_tokens);
        self.draft.usage.output_tokens = count("completion_tokens").unwrap_or(self.draft.usage.output_tokens);
        // One answer is requested, so there is one choice, or none in an event with only the usage.
        let choice = &data["choices"][0];
        let delta = &choice["delta"];
        for key in ["content", "refusal"] {
            self.words(delta[key].as_str().unwrap_or_default(), on_text)?;
        }
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(piece)?;
        }
        self.draft.stop = match choice["finish_reason"].as_str() {
            Some("tool_calls" | "function_call") => Some(StopReason::ToolUse),
            Some("length") => Some(StopReason::MaxTokens),
            Some("content_filter") => Some(StopReason::Refused),
            Some(_) => Some(StopReason::EndTurn),
            None => self.draft.stop,
        };
        Ok(Step::More)
    }

    fn has_begun(&self) -> bool {
        !self.draft.is_empty()
    }

    fn is_whole(&self) -> bool {
        self.draft.stop.is_some()
    }

    fn finish(self: Box<Self>) -> Result<Turn, ModelError> {
        self.draft.finish()
    }
}
