//! Models behind one small trait.
//!
//! Input: a conversation and the tools that may be called. Output: one turn: text, tool calls, and why the
//! model stopped. A model knows nothing of hooks. `scripted` reads its answers from a file; `service` asks a service
//! over HTTP, in one of two wire formats (`wire`). Neither reads the environment or shows a key.

mod config;
mod error;
mod key;
mod refusal;
mod scripted;
mod service;
mod sse;
mod wire;

use std::future::Future;
use std::pin::Pin;

pub use config::{OnRetry, Retry, ServiceConfig};
pub use error::ModelError;
pub use key::Key;
pub use scripted::Scripted;
pub use service::Service;
pub use wire::Wire;

use crate::conversation::{Block, Message};
use crate::tool::ToolSpec;

/// A request to a model.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The instructions.
    pub system: &'a str,
    /// The conversation so far.
    pub messages: &'a [Message],
    /// The tools that it may call.
    pub tools: &'a [ToolSpec],
    /// The maximum number of tokens that it may answer with.
    pub max_tokens: u32,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It has finished its answer.
    EndTurn,
    /// It waits for the results of tools.
    ToolUse,
    /// It ran out of tokens.
    MaxTokens,
    /// It does not want to answer, or its service does not allow it.
    Refused,
}

/// The tokens of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
}

/// One answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Text and tool calls, in order.
    pub content: Vec<Block>,
    /// Why it stopped.
    pub stop: StopReason,
    /// Its tokens.
    pub usage: Usage,
}

/// The future that a model returns.
pub type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<Turn, ModelError>> + Send + 'a>>;

/// Called with the text of an answer while it arrives.
pub type OnText<'a> = &'a mut (dyn FnMut(&str) + Send);

/// A model.
pub trait Model: Send + Sync {
    /// Its name, for events.
    fn name(&self) -> &str;

    /// Answers a request. Dropping the future cancels it.
    fn turn<'a>(&'a self, request: ModelRequest<'a>, on_text: OnText<'a>) -> ModelFuture<'a>;
}
