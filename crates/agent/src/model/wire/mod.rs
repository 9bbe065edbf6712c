//! The wire formats of model services: a request becomes JSON, server-sent events become an answer.
//!
//! Nothing here uses the network. Unknown parts of an answer are skipped, as the
//! services ask their callers to do; invalid parts are an error.

mod anthropic;
mod draft;
mod openai;

use serde_json::Value;

use super::sse::Event;
use super::{ModelError, ModelRequest, OnText, Turn};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// The Messages API of Anthropic.
    Anthropic,
    /// The Chat Completions API of OpenAI, which many other services have too.
    OpenAi,
}

impl Wire {
    /// The provider that defined it.
    #[must_use]
    pub fn provider(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
        }
    }

    /// The variable in which hosts usually keep the key.
    #[must_use]
    pub fn key_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi => "OPENAI_API_KEY",
        }
    }

    /// The provider's own service.
    #[must_use]
    pub fn home(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }

    /// The URL for requests to a service at this address.
    pub(super) fn endpoint(self, base_url: &str) -> String {
        let base = base_url.trim_end_matches('/');
        match self {
            // The base URL may or may not contain the version.
            Self::Anthropic => format!("{}/v1/messages", base.trim_end_matches("/v1")),
            Self::OpenAi => format!("{base}/chat/completions"),
        }
    }

    /// The header with the key, and the prefix of its value.
    pub(super) fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Self::Anthropic => ("x-api-key", ""),
            Self::OpenAi => ("authorization", "Bearer "),
        }
    }

    /// Headers that are the same in every request.
    pub(super) fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
            Self::OpenAi => &[],
        }
    }

    /// The request as JSON.
    pub(super) fn body(
        self,
        model: &str,
        request: &ModelRequest<'_>,
        home: Home,
    ) -> Result<Vec<u8>, ModelError> {
        let body = match self {
            Self::Anthropic => serde_json::to_vec(&anthropic::body(model, request)),
            Self::OpenAi => serde_json::to_vec(&openai::body(model, request, home)),
        };
        body.map_err(|error| ModelError::Setup { why: format!("the request cannot be written: {error}") })
    }

    /// An answer that has not begun.
    pub(super) fn answer(self, max_tokens: u32) -> Box<dyn Answer> {
        match self {
            Self::Anthropic => Box::new(anthropic::AnthropicAnswer::new(max_tokens)),
            Self::OpenAi => Box::new(openai::OpenAiAnswer::new(max_tokens)),
        }
    }
}

/// Whether a service is the provider's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    Provider,
    Elsewhere,
}

/// Whether the answer continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    More,
    Over,
}

/// An answer while it arrives.
pub(super) trait Answer: Send {
    /// Adds one event.
    fn take(&mut self, event: &Event, on_text: OnText<'_>) -> Result<Step, ModelError>;

    /// Whether part of the answer has arrived: then the request must not be retried.
    fn has_begun(&self) -> bool;

    /// Whether the answer is complete even if the stream ends here without an end marker.
    fn is_whole(&self) -> bool;

    /// The answer.
    fn finish(self: Box<Self>) -> Result<Turn, ModelError>;
}

fn parse(event: &Event) -> Result<Value, ModelError> {
    serde_json::from_str(&event.data)
        .map_err(|error| invalid_answer(format!("an event is not JSON ({error}): {}", start(&event.data))))
}

fn invalid_answer(detail: impl Into<String>) -> ModelError {
    ModelError::InvalidAnswer { detail: detail.into() }
}

/// The error in an event.
fn service_error(error: &Value) -> ModelError {
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    let kind = text("type").or_else(|| text("code")).unwrap_or("error").to_owned();
    let message = text("message").map_or_else(|| error.to_string(), str::to_owned);
    ModelError::ServiceError { kind, message }
}

/// The beginning of a text that may be long.
fn start(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
