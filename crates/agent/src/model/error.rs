//! Why there is no answer.

use std::time::Duration;

/// Why there is no answer. No message contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The key is missing.
    #[error("no key for {provider}: set {variable}")]
    NoKey {
        /// The provider of the model.
        provider: &'static str,
        /// The variable that should contain the key.
        variable: &'static str,
    },
    /// The configuration of the service is invalid.
    #[error("the model's service cannot be called: {why}")]
    Setup {
        /// What is wrong.
        why: String,
    },
    /// The service does not accept the key, or the key lacks a permission.
    #[error("the key was refused ({status}): {message}; check {variable}")]
    BadKey {
        /// The HTTP status.
        status: u16,
        /// The variable that contains the key.
        variable: &'static str,
        /// The service's message.
        message: String,
    },
    /// The service has no such model, or there is no service at this address.
    #[error("no model `{model}` at {address}: {message}; check the model's name and the base URL")]
    UnknownModel {
        /// The model.
        model: String,
        /// The service.
        address: String,
        /// The service's message.
        message: String,
    },
    /// The service refused.
    #[error("the model's service answered {status}: {message}{}", times(*tries))]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Its message.
        message: String,
        /// How often the request was sent.
        tries: u32,
    },
    /// The service could not be reached, even after retries.
    #[error("the model's service at {address} could not be reached: {why}{}", times(*tries))]
    Unreachable {
        /// The service.
        address: String,
        /// What went wrong.
        why: String,
        /// How often it was tried.
        tries: u32,
    },
    /// The service was silent for too long.
    #[error("the model's service sent nothing for {after:?}")]
    Stalled {
        /// The time limit.
        after: Duration,
    },
    /// The answer ended before it was complete. It is not retried: part of it may have been shown.
    #[error("the model's answer was cut off: {why}")]
    Interrupted {
        /// What went wrong.
        why: String,
    },
    /// The service reported an error in the middle of an answer.
    #[error("the model's service reported an error while answering ({kind}): {message}")]
    ServiceError {
        /// The service's word for it.
        kind: String,
        /// Its message.
        message: String,
    },
    /// The answer cannot be understood.
    #[error("the model's answer cannot be understood: {detail}")]
    InvalidAnswer {
        /// What is wrong with it.
        detail: String,
    },
    /// The model called a tool with something that is not a JSON object.
    #[error("the model called {tool} with arguments that are not a JSON object: {why}")]
    BadCall {
        /// The tool.
        tool: String,
        /// What is wrong.
        why: String,
    },
    /// The model ran out of tokens in the middle of a call.
    #[error(
        "the model ran out of tokens in the middle of calling {tool}; allow more than {max_tokens} with --max-tokens"
    )]
    TruncatedCall {
        /// The tool.
        tool: String,
        /// The limit of tokens.
        max_tokens: u32,
    },
    /// The script has no turn left.
    #[error("the script has no more turns")]
    OutOfTurns,
}

fn times(tries: u32) -> String {
    if tries > 1 { format!(" (tried {tries} times)") } else { String::new() }
}

impl ModelError {
    /// The same error, after this many attempts.
    pub(super) fn after(mut self, number: u32) -> Self {
        if let Self::Refused { tries, .. } | Self::Unreachable { tries, .. } = &mut self {
            *tries = number;
        }
        self
    }
}
