//! One server: connected when it is needed, and again when the connection was lost.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::connection::{Connection, Connector, McpError, RemoteTool, Reply};

/// A server and the connection to it, if there is one.
pub(super) struct Server {
    pub(super) name: String,
    connector: Box<dyn Connector>,
    start_timeout: Duration,
    current: Mutex<Option<Arc<dyn Connection>>>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Server {
    pub(super) fn new(name: String, connector: Box<dyn Connector>, start_timeout: Duration) -> Self {
        Self { name, connector, start_timeout, current: Mutex::new(None) }
    }

    /// All its tools.
    pub(super) async fn tools(&self) -> Result<Vec<RemoteTool>, McpError> {
        let listing = async {
            let connection = self.connection().await?;
            let tools = connection.tools().await;
            self.forget_if_lost(&connection, &tools).await;
            tools
        };
        in_time(self.start_timeout, listing).await
    }

    /// Calls a tool within a time limit. A call that did not reach the server is repeated on a new connection; any
    /// other is made only once, because a lost call may have had its effect.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        limit: Duration,
    ) -> Result<Reply, McpError> {
        let calling = async {
            let reply = self.call_once(tool, arguments.clone()).await;
            match reply {
                Err(McpError::Gone { .. }) => self.call_once(tool, arguments).await,
                reply => reply,
            }
        };
        in_time(limit, calling).await
    }

    async fn call_once(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, McpError> {
        let connection = in_time(self.start_timeout, self.connection()).await?;
        let reply = connection.call(tool, arguments).await;
        self.forget_if_lost(&connection, &reply).await;
        reply
    }

    /// Closes the connection cleanly.
    pub(super) async fn close(&self) {
        let current = self.current.lock().await.take();
        if let Some(connection) = current {
            connection.close().await;
        }
    }

    /// The existing connection, or a new one. Concurrent calls share it.
    async fn connection(&self) -> Result<Arc<dyn Connection>, McpError> {
        let mut current = self.current.lock().await;
        if let Some(connection) = current.as_ref().filter(|connection| connection.is_open()) {
            return Ok(Arc::clone(connection));
        }
        // Close the old connection before opening a new one: two processes of one server might conflict.
        *current = None;
        let connection = self.connector.connect().await?;
        *current = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Drops a connection that was lost.
    async fn forget_if_lost<T: Sync>(&self, used: &Arc<dyn Connection>, result: &Result<T, McpError>) {
        if matches!(result, Err(McpError::Lost { .. } | McpError::Gone { .. } | McpError::Unreachable { .. }))
        {
            let mut current = self.current.lock().await;
            if current.as_ref().is_some_and(|connection| Arc::ptr_eq(connection, used)) {
                *current = None;
            }
        }
    }
}

async fn in_time<T>(limit: Duration, work: impl Future<Output = Result<T, McpError>>) -> Result<T, McpError> {
    timeout(limit, work).await.unwrap_or(Err(McpError::TimedOut { after: limit }))
}
