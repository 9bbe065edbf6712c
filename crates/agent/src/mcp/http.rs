//! A server that speaks streamable HTTP.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value};

use super::config::Handshake;
use super::connection::{Connection, Connector, McpError, McpFuture, RemoteTool, Reply};
use super::sdk::{self, HandshakeKind, Handshakes, Session};
use crate::http;

/// How long to wait for the connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long closing the session may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Connects to one server.
pub(super) struct HttpConnector {
    client: reqwest::Client,
    config: StreamableHttpClientTransportConfig,
    handshakes: Handshakes,
}

impl HttpConnector {
    pub(super) fn new(url: &str, headers: &[(String, String)], handshake: Handshake) -> Result<Self, String> {
        let client = http::client(&http::address(url)?, CONNECT_TIMEOUT)?.pool_max_idle_per_host(0);
        let mut named = HashMap::new();
        for (name, value) in headers {
            let bad = |what: &str| format!("the header `{name}` has {what} that cannot be sent");
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("a name"))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad("a value"))?;
            value.set_sensitive(key == AUTHORIZATION);
            named.insert(key, value);
        }
        let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(named);
        Ok(Self { client: http::build(client)?, config, handshakes: Handshakes::new(handshake) })
    }

    async fn open(&self, handshake_kind: HandshakeKind) -> Result<HttpConnection, McpError> {
        let transport = StreamableHttpClientTransport::with_client(self.client.clone(), self.config.clone());
        sdk::open(transport, handshake_kind).await.map(|session| HttpConnection { session })
    }
}

impl Connector for HttpConnector {
    fn connect(&self) -> McpFuture<'_, Arc<dyn Connection>> {
        Box::pin(async move {
            let connection =
                self.handshakes.first_that_works(|handshake_kind| self.open(handshake_kind)).await?;
            Ok(Arc::new(connection) as Arc<dyn Connection>)
        })
    }
}

struct HttpConnection {
    session: Session,
}

impl Connection for HttpConnection {
    fn tools(&self) -> McpFuture<'_, Vec<RemoteTool>> {
        Box::pin(sdk::tools(&self.session))
    }

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> McpFuture<'a, Reply> {
        Box::pin(sdk::call(&self.session, tool, arguments))
    }

    fn is_open(&self) -> bool {
        !self.session.is_transport_closed()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            self.session.cancellation_token().cancel();
            // Wait a short time for the session to close; nothing depends on it.
            let closed = async {
                while !self.session.is_transport_closed() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, closed).await;
        })
    }
}
