//! The library that implements MCP, behind Crosier's own trait.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock, Implementation,
    PaginatedRequestParams, ProtocolVersion, ResourceContents, Tool,
};
use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::transport::Transport;
use rmcp::{ClientLifecycleMode, RoleClient, ServiceError, serve_client_with_lifecycle};
use serde_json::{Map, Value};

use super::config::Handshake;
use super::connection::{McpError, RemoteTool, Reply};

/// The maximum number of pages of a list of tools.
const MAX_PAGES: usize = 100;

/// A message of a server is cut after this many characters.
const MESSAGE_LIMIT: usize = 1000;

/// An open conversation.
pub(super) type Session = RunningService<RoleClient, ClientConfig>;

/// The two kinds of handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandshakeKind {
    Initialize,
    Discover,
}

/// Which handshakes to try, and which one worked.
#[derive(Debug)]
pub(super) struct Handshakes {
    handshake: Handshake,
    worked: AtomicU8,
}

impl Handshakes {
    pub(super) fn new(handshake: Handshake) -> Self {
        Self { handshake, worked: AtomicU8::new(0) }
    }

    /// Tries them in order. When none works, returns the error of the first.
    pub(super) async fn first_that_works<C, F>(
        &self,
        open: impl Fn(HandshakeKind) -> F,
    ) -> Result<C, McpError>
    where
        F: Future<Output = Result<C, McpError>>,
    {
        let mut first = None;
        for &handshake_kind in self.to_try() {
            match open(handshake_kind).await {
                Ok(connection) => {
                    self.remember(handshake_kind);
                    return Ok(connection);
                }
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or_else(|| McpError::Unreachable { detail: "nothing was tried".to_owned() }))
    }

    fn to_try(&self) -> &'static [HandshakeKind] {
        match (self.handshake, self.worked.load(Ordering::Relaxed)) {
            (Handshake::Initialize, _) | (Handshake::Auto, 1) => &[HandshakeKind::Initialize],
            (Handshake::Discover, _) | (Handshake::Auto, 2) => &[HandshakeKind::Discover],
            (Handshake::Auto, _) => &[HandshakeKind::Initialize, HandshakeKind::Discover],
        }
    }

    fn remember(&self, handshake_kind: HandshakeKind) {
        let worked = match handshake_kind {
            HandshakeKind::Initialize => 1,
            HandshakeKind::Discover => 2,
        };
        self.worked.store(worked, Ordering::Relaxed);
    }
}

/// Opens a session.
pub(super) async fn open<T>(transport: T, handshake_kind: HandshakeKind) -> Result<Session, McpError>
where
    T: Transport<RoleClient> + Send + 'static,
{
    let lifecycle = match handshake_kind {
        HandshakeKind::Initialize => ClientLifecycleMode::Initialize,
        HandshakeKind::Discover => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        }
    };
    let me = Implementation::new("crosier", env!("CARGO_PKG_VERSION"));
    let config = ClientConfig::new(ClientCapabilities::default(), me)
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
    serve_client_with_lifecycle(config, transport, lifecycle).await.map_err(|error| match error {
        ClientInitializeError::JsonRpcError(error) => McpError::Refused { message: brief(&error.message) },
        ClientInitializeError::TransportError { error, context } => {
            McpError::Unreachable { detail: brief(&format!("{} ({context})", error.error)) }
        }
        other => McpError::Unreachable { detail: brief(&other.to_string()) },
    })
}

pub(super) async fn tools(session: &Session) -> Result<Vec<RemoteTool>, McpError> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = session.list_tools(Some(params)).await.map_err(failed)?;
        tools.extend(page.tools.into_iter().map(remote));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
    Err(McpError::InvalidResponse { detail: format!("its list of tools has more than {MAX_PAGES} pages") })
}

fn remote(tool: Tool) -> RemoteTool {
    let hint = tool.annotations.as_ref().and_then(|hints| hints.read_only_hint);
    RemoteTool {
        name: tool.name.into_owned(),
        description: tool.description.or(tool.title.map(Into::into)).unwrap_or_default().into_owned(),
        input_schema: Value::Object(Arc::unwrap_or_clone(tool.input_schema)),
        read_only_hint: hint == Some(true),
    }
}

/// Calls a tool. Dropping the future tells the server that the call is cancelled.
pub(super) async fn call(
    session: &Session,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Reply, McpError> {
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    session.call_tool(params).await.map(reply).map_err(failed)
}

fn reply(result: CallToolResult) -> Reply {
    let text = result.content.iter().map(shown).collect::<Vec<_>>().join("\n");
    if result.is_error == Some(true) {
        let silent = "the tool failed and does not say why";
        return Reply::Failed(if text.is_empty() { silent.to_owned() } else { text });
    }
    match result.structured_content {
        Some(value) if text.is_empty() => Reply::Done(value),
        _ => Reply::Done(Value::String(text)),
    }
}

/// A piece of content as text; for content that is not text, its kind.
fn shown(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => {
            format!("[an image, {}, {} characters]", image.mime_type, image.data.len())
        }
        ContentBlock::Audio(audio) => {
            format!("[audio, {}, {} characters]", audio.mime_type, audio.data.len())
        }
        ContentBlock::ResourceLink(link) => format!("[a resource: {}]", link.uri),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[{uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, .. } => format!("[{uri}: not text]"),
            _ => "[a resource of an unknown kind]".to_owned(),
        },
        _ => "[content of an unknown kind]".to_owned(),
    }
}

fn failed(error: ServiceError) -> McpError {
    match error {
        ServiceError::McpError(error) => McpError::Refused { message: brief(&error.message) },
        ServiceError::UnexpectedResponse => {
            McpError::InvalidResponse { detail: "its answer does not fit the request".to_owned() }
        }
        ServiceError::TransportSend(error) => {
            let detail = brief(&error.error.to_string());
            let kind = error.error.downcast_ref::<io::Error>().map(io::Error::kind);
            // The pipe has no reader: the request did not reach the server.
            if kind == Some(io::ErrorKind::BrokenPipe) {
                McpError::Gone { detail }
            } else {
                McpError::Lost { detail }
            }
        }
        other => McpError::Lost { detail: brief(&other.to_string()) },
    }
}

/// A server's message on one line, shortened.
fn brief(message: &str) -> String {
    let one_line = message.chars().map(|c| if c.is_control() { ' ' } else { c });
    one_line.take(MESSAGE_LIMIT).collect::<String>().trim().to_owned()
}
