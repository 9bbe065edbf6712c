//! The errors that requests are answered with.

use crosier::Json;
use crosier::protocol::json;
use crosier::protocol::ordered::{Map, Value};

/// The ways in which a request fails: a number for programs, a word for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    Parse,
    Request,
    Method,
    Params,
    Internal,
    Version,
    HelloFirst,
    Deadline,
    Cancelled,
    Registration,
    Config,
    Untrusted,
    TooLarge,
    Confined,
    ShuttingDown,
    Input,
}

impl ErrorKind {
    const fn code(self) -> i32 {
        match self {
            Self::Parse => -32700,
            Self::Request => -32600,
            Self::Method => -32601,
            Self::Params => -32602,
            Self::Internal => -32603,
            Self::Version => -32001,
            Self::HelloFirst => -32002,
            Self::Deadline => -32003,
            Self::Cancelled => -32004,
            Self::Registration => -32005,
            Self::Config | Self::Untrusted => -32006,
            Self::TooLarge => -32007,
            Self::Confined => -32008,
            Self::ShuttingDown => -32009,
            Self::Input => -32010,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Request => "request",
            Self::Method => "method",
            Self::Params => "params",
            Self::Internal => "internal",
            Self::Version => "version",
            Self::HelloFirst => "hello_first",
            Self::Deadline => "deadline",
            Self::Cancelled => "cancelled",
            Self::Registration => "registration",
            Self::Config => "config",
            Self::Untrusted => "untrusted",
            Self::TooLarge => "too_large",
            Self::Confined => "confined",
            Self::ShuttingDown => "shutting_down",
            Self::Input => "input",
        }
    }

    /// Whether the connection is closed after it.
    pub(crate) const fn closes(self) -> bool {
        matches!(self, Self::Version | Self::Confined | Self::ShuttingDown)
    }
}

/// A failed request.
#[derive(Debug, Clone)]
pub(crate) struct RpcError {
    pub(crate) kind: ErrorKind,
    message: String,
    /// Further members of the error's `data`.
    data: Vec<(&'static str, Json)>,
}

impl RpcError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), data: Vec::new() }
    }

    /// An error about the parameter of this name.
    pub(crate) fn params(name: &str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Params, message).with("param", Json::from(json!(name)))
    }

    pub(crate) fn with(mut self, key: &'static str, value: Json) -> Self {
        self.data.push((key, value));
        self
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The error object.
    pub(crate) fn to_json(&self) -> String {
        let mut data = format!("{{\"kind\":\"{}\"", self.kind.word());
        for (key, value) in &self.data {
            data.push_str(&format!(",\"{key}\":{}", value.text()));
        }
        let message = Value::from(self.message.as_str());
        format!("{{\"code\":{},\"message\":{message},\"data\":{data}}}}}", self.kind.code())
    }
}

/// A JSON object, as text.
pub(crate) fn object(entries: impl IntoIterator<Item = (&'static str, Value)>) -> String {
    let map: Map = entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Value::Object(map).to_string()
}
