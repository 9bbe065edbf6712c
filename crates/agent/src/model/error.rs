//! Why there is no answer.

use std::time::Duration;

/// Why there is no answer. No message contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// There is no key to call it with.
    #[error("no key for {provider}: set {variable}")]
    NoKey {
        /// Whose model it is.
        provider: &'static str,
        /// Where the key is looked for.
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
        /// Where the key was looked for.
        variable: &'static str,
        /// What the service said.
        message: String,
    },
    /// The service has no such model, or nothing at all at this address.
    #[error("no model `{model}` at {address}: {message}; check the model's name and the base URL")]
    UnknownModel {
        /// The model.
        model: String,
        /// The service.
        address: String,
        /// What the service said.
        message: String,
    },
    /// The service refused.
    #[error("the model's service answered {status}: {message}{}", times(*tries))]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
        /// How often it was asked.
        tries: u32,
    },
    /// The service could not be reached, also after retries.
    #[error("the model's service at {address} could not be reached: {why}{}", times(*tries))]
    Unreachable {
        /// The service.
        address: String,
        /// What went wrong.
        why: String,
        /// How often it was tried.
        tries: u32,
    },
    /// The service said nothing for too long.
    #[error("the model's service said nothing for {after:?}")]
    Stalled {
        /// The time it had.
        after: Duration,
    },
    /// The answer ended before it was complete. It is not retried: part of it may have been shown.
    #[error("the model's answer broke off in the middle: {why}")]
    BrokenOff {
        /// What went wrong.
        why: String,
    },
    /// The service reported an error in the middle of an answer.
    #[error("the model's service gave up while answering ({kind}): {message}")]
    GaveUp {
        /// The service's word for it.
        kind: String,
        /// What it said.
        message: String,
    },
    /// The answer is not one that can be understood.
    #[error("the model's answer cannot be understood: {detail}")]
    Garbled {
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
        "the model ran out of tokens in the middle of calling {tool}: let it answer with more than {max_tokens}"
    )]
    CutCall {
        /// The tool.
        tool: String,
        /// The most tokens that it had.
        max_tokens: u32,
    },
    /// The script of turns is over.
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
