//! A small MCP server, and the one that the tests talk to.
//!
//! Without arguments it talks over stdin and stdout; with `--http PORT` it listens on 127.0.0.1 and prints its
//! address (port 0: any free one). `--modern` refuses the handshake of older protocol versions.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::error::Error;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InitializeRequestParams,
    InitializeResult, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};

#[derive(Debug, Clone)]
struct Echo {
    modern_only: bool,
}

fn tools() -> Vec<Tool> {
    let tool = |name: &'static str, description: &'static str, properties: Value| {
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties);
        Tool::new(name, description, schema)
    };
    vec![
        tool("echo", "Says `text` again.", json!({"text": {"type": "string"}}))
            .with_annotations(ToolAnnotations::new().read_only(true)),
        tool("structured", "Answers with an object and no text.", json!({})),
        tool("picture", "Answers with an image.", json!({})),
        tool("fail", "Fails.", json!({})),
        tool("refuse", "Is a protocol error.", json!({})),
        tool(
            "wait",
            "Waits for `seconds`; writes the file `cancelled` when nobody waits for it.",
            json!({"seconds": {"type": "number"}, "cancelled": {"type": "string"}}),
        ),
        tool("die", "Ends the server at once.", json!({})),
        tool("child", "Starts a process that sleeps, and names both.", json!({})),
        tool("environment", "The names of all variables.", json!({})),
        tool("flood", "A megabyte.", json!({})),
        tool("odd name/with:signs", "Has a name that no model takes.", json!({})),
    ]
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.modern_only {
            return Err(ErrorData::invalid_request("initialize is too old for this server", None));
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    /// Two pages.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut first = tools();
        let second = first.split_off(4);
        let cursor = request.and_then(|request| request.cursor);
        let mut page = ListToolsResult::default();
        if cursor.is_some() {
            page.tools = second;
        } else {
            page.tools = first;
            page.next_cursor = Some("more".to_owned());
        }
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let argument = |name: &str| request.arguments.as_ref().and_then(|all| all.get(name)).cloned();
        let text = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        let result = match &*request.name {
            "echo" => text(argument("text").unwrap_or_default().as_str().unwrap_or("nothing").to_owned()),
            "structured" => {
                let mut result = CallToolResult::structured(json!({"answer": 42}));
                result.content.clear();
                result
            }
            "picture" => CallToolResult::success(vec![
                ContentBlock::text("a picture:"),
                ContentBlock::image("AAAA", "image/png"),
            ]),
            "fail" => CallToolResult::error(vec![ContentBlock::text("it did not work")]),
            "wait" => {
                let seconds = argument("seconds").and_then(|seconds| seconds.as_f64()).unwrap_or(60.0);
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs_f64(seconds)) => text("waited".to_owned()),
                    () = context.ct.cancelled() => {
                        let file = argument("cancelled").unwrap_or_default();
                        let written = fs::write(file.as_str().unwrap_or("cancelled"), "cancelled");
                        text(format!("cancelled, {written:?}"))
                    }
                }
            }
            "die" => {
                eprintln!("mcp_echo: dying as asked");
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                text(String::new())
            }
            "child" => {
                let started =
                    Command::new("sleep").arg("300").stdin(Stdio::null()).stdout(Stdio::null()).spawn();
                let child = started.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                text(format!("{} {}", std::process::id(), child.id()))
            }
            "environment" => text(names_of_variables()),
            "flood" => text("x".repeat(1024 * 1024)),
            "odd name/with:signs" => text("odd".to_owned()),
            other => return Err(ErrorData::invalid_params(format!("refused: {other}"), None)),
        };
        Ok(result.into())
    }
}

#[expect(clippy::disallowed_methods, reason = "a program")]
fn names_of_variables() -> String {
    let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
    names.sort();
    names.join(" ")
}

async fn listen(server: Echo, port: &str) -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let service = TowerToHyperService::new(StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    ));
    loop {
        let (stream, _) = listener.accept().await?;
        let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service.clone());
        tokio::spawn(serving);
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let server = Echo { modern_only: arguments.iter().any(|argument| argument == "--modern") };
    if let Some(at) = arguments.iter().position(|argument| argument == "--http") {
        return listen(server, arguments.get(at + 1).map_or("0", String::as_str)).await;
    }
    server.serve(stdio()).await?.waiting().await?;
    Ok(())
}
