//! The parts of an answer, shared by both wire formats: text and calls, in the order in which they begin.

use crosier::Json;

use super::invalid_answer;
use crate::conversation::Block;
use crate::model::{ModelError, OnText, StopReason, Turn, Usage};

/// The largest answer.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// An answer while it is assembled.
#[derive(Debug)]
pub(super) struct Draft {
    parts: Vec<(u64, Part)>,
    size: usize,
    max_tokens: u32,
    pub(super) stop: Option<StopReason>,
    pub(super) usage: Usage,
}

#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// A part that this program does not use.
    Other,
}

impl Draft {
    pub(super) fn new(max_tokens: u32) -> Self {
        Self { parts: Vec::new(), size: 0, max_tokens, stop: None, usage: Usage::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn part(&mut self, index: u64) -> Option<&mut Part> {
        self.parts.iter_mut().find(|(other, _)| *other == index).map(|(_, part)| part)
    }

    pub(super) fn begin(&mut self, index: u64, part: Part) -> Result<(), ModelError> {
        if self.part(index).is_some() {
            return Err(invalid_answer(format!("part {index} begins twice")));
        }
        self.parts.push((index, part));
        Ok(())
    }

    /// Adds text to a part.
    pub(super) fn say(&mut self, index: u64, more: &str, on_text: OnText<'_>) -> Result<(), ModelError> {
        self.grow(more.len())?;
        match self.part(index) {
            Some(Part::Text(text)) => {
                text.push_str(more);
                if !more.is_empty() {
                    on_text(more);
                }
                Ok(())
            }
            _ => Err(invalid_answer(format!("text for part {index}, which is not a text"))),
        }
    }

    /// Adds a piece of a call's arguments.
    pub(super) fn add_arguments(&mut self, index: u64, more: &str) -> Result<(), ModelError> {
        self.grow(more.len())?;
        match self.part(index) {
            Some(Part::Call { arguments, .. }) => {
                arguments.push_str(more);
                Ok(())
            }
            // A call of a tool that the service runs itself.
            Some(Part::Other) => Ok(()),
            _ => Err(invalid_answer(format!("arguments for part {index}, which is not a call"))),
        }
    }

    fn grow(&mut self, by: usize) -> Result<(), ModelError> {
        self.size += by;
        if self.size > ANSWER_LIMIT {
            return Err(invalid_answer(format!("it is larger than {ANSWER_LIMIT} bytes")));
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Turn, ModelError> {
        let stop = self.stop.unwrap_or(StopReason::EndTurn);
        let mut content = Vec::with_capacity(self.parts.len());
        for (_, part) in self.parts {
            match part {
                Part::Text(text) if !text.is_empty() => content.push(Block::Text { text }),
                Part::Text(_) | Part::Other => {}
                Part::Call { id, name, arguments } => {
                    let input = input(&arguments).map_err(|why| match stop {
                        StopReason::MaxTokens => {
                            ModelError::TruncatedCall { tool: name.clone(), max_tokens: self.max_tokens }
                        }
                        _ => ModelError::BadCall { tool: name.clone(), why },
                    })?;
                    content.push(Block::ToolUse { id, name, input });
                }
            }
        }
        let calls = content.iter().any(|block| matches!(block, Block::ToolUse { .. }));
        // Some services say "stop" although they want a tool to run.
        let stop = if calls && stop == StopReason::EndTurn { StopReason::ToolUse } else { stop };
        Ok(Turn { content, stop, usage: self.usage })
    }
}

/// The input of a tool call. Empty arguments are an empty object.
fn input(arguments: &str) -> Result<Json, String> {
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let input = Json::parse(arguments).map_err(|error| error.to_string())?;
    if input.is_object() { Ok(input) } else { Err(format!("it is {}", input.kind_word())) }
}
