//! The interface between the agent and a server: two small traits.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

/// The future that a connection returns. Dropping it cancels the request.
pub(super) type McpFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, McpError>> + Send + 'a>>;

/// Why a server did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// It could not be started or reached, or the handshake failed.
    #[error("it could not be reached: {detail}")]
    Unreachable {
        /// What went wrong.
        detail: String,
    },
    /// It ended, or the connection to it broke.
    #[error("it ended, or the connection was lost: {detail}")]
    Lost {
        /// What went wrong.
        detail: String,
    },
    /// It had already ended before the request: nothing was done.
    #[error("it had ended: {detail}")]
    Gone {
        /// What went wrong.
        detail: String,
    },
    /// It refused.
    #[error("it refused: {message}")]
    Refused {
        /// Its message.
        message: String,
    },
    /// It took too long.
    #[error("it did not answer within {after:?}")]
    TimedOut {
        /// The time limit.
        after: Duration,
    },
    /// Its answer cannot be understood.
    #[error("its answer cannot be understood: {detail}")]
    InvalidResponse {
        /// What is wrong with it.
        detail: String,
    },
}

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RemoteTool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) input_schema: Value,
    /// The server's claim, which may be wrong.
    pub(super) read_only_hint: bool,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// Text, or structured content when there was no text.
    Done(Value),
    /// The tool says that it failed.
    Failed(String),
}

/// An open conversation with a server. Dropping it ends the server's process, with everything it started.
pub(super) trait Connection: Send + Sync {
    /// All its tools.
    fn tools(&self) -> McpFuture<'_, Vec<RemoteTool>>;

    /// Calls a tool.
    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> McpFuture<'a, Reply>;

    /// Whether a call could still be answered.
    fn is_open(&self) -> bool;

    /// Closes it cleanly.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// Makes connections to one server.
pub(super) trait Connector: Send + Sync {
    /// Makes a new connection.
    fn connect(&self) -> McpFuture<'_, Arc<dyn Connection>>;
}
