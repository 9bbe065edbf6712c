//! MCP tools over stdio, with a real server process (`examples/mcp_echo.rs`) and with bad ones.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crosier::Json;
use crosier_agent::mcp::{Handshake, McpHost, McpServerConfig, McpServers, McpTransport, Trust};
use crosier_agent::tool::{Risk, Tool, ToolContext, ToolError, ToolSet};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The server. `cargo test` builds it; `cargo test --test it` alone does not.
pub(crate) static ECHO: LazyLock<PathBuf> = LazyLock::new(|| {
    let me = std::env::current_exe().unwrap();
    let echo = me.parent().unwrap().parent().unwrap().join("examples/mcp_echo");
    if !echo.exists() {
        let built = Command::new(env!("CARGO"))
            .args(["build", "-p", "crosier-agent", "--example", "mcp_echo"])
            .status();
        assert!(built.unwrap().success());
    }
    assert!(echo.exists(), "{} is built with the tests", echo.display());
    echo
});

pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn host(&self) -> McpHost {
        let environment = vec![("PATH".into(), "/usr/bin:/bin".into()), ("FROM_HOST".into(), "1".into())];
        McpHost { environment, workspace: self.folder.path().to_owned() }
    }

    pub(crate) async fn start(&self, configs: &[McpServerConfig]) -> McpServers {
        McpServers::start(configs, &self.host()).await
    }

    /// What goes wrong with one server.
    pub(crate) async fn failure(&self, config: McpServerConfig) -> String {
        let servers = self.start(&[config]).await;
        assert_eq!(servers.tools().count(), 0);
        assert_eq!(servers.failures().len(), 1);
        servers.failures()[0].to_string()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

pub(crate) fn echo(name: &str, args: &[&str]) -> McpServerConfig {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    McpServerConfig::stdio(name, ECHO.display().to_string(), args)
}

pub(crate) fn tool(servers: &McpServers, name: &str) -> Arc<dyn Tool> {
    servers.tools().find(|tool| tool.spec().name == name).unwrap_or_else(|| panic!("no tool {name}"))
}

pub(crate) async fn call(tool: &Arc<dyn Tool>, input: Value) -> Result<Json, ToolError> {
    let context = ToolContext::new("/", Duration::from_secs(20));
    tool.run(&Json::from(input), &context).await
}

pub(crate) async fn text(tool: &Arc<dyn Tool>, input: Value) -> String {
    call(tool, input).await.unwrap().plain().into_owned()
}

#[tokio::test]
async fn tools_are_listed_over_pages_and_called() {
    let place = Place::new();
    let servers = place.start(&[echo("my echo", &[])]).await;
    assert_eq!(servers.failures(), []);
    let names: Vec<String> = servers.tools().map(|tool| tool.spec().name.clone()).collect();
    assert_eq!(names.len(), 11);
    assert_eq!(names[0], "mcp__my_echo__echo");
    assert_eq!(names[10], "mcp__my_echo__odd_name_with_signs");
    let echo = tool(&servers, "mcp__my_echo__echo");
    assert_eq!(echo.spec().description, "Says `text` again.");
    assert_eq!(
        echo.spec().input_schema.get("properties").unwrap(),
        Json::from(json!({"text": {"type": "string"}}))
    );
    assert_eq!(text(&echo, json!({"text": "h\u{e4}\n\"llo\""})).await, "h\u{e4}\n\"llo\"");
    assert_eq!(text(&tool(&servers, "mcp__my_echo__odd_name_with_signs"), json!({})).await, "odd");
    let structured = call(&tool(&servers, "mcp__my_echo__structured"), json!({})).await.unwrap();
    assert_eq!(structured, Json::from(json!({"answer": 42})));
    let picture = text(&tool(&servers, "mcp__my_echo__picture"), json!({})).await;
    assert_eq!(picture, "a picture:\n[an image, image/png, 4 characters]");
    let mut set = ToolSet::new();
    for tool in servers.tools() {
        set.add(tool).unwrap();
    }
    assert_eq!(set.specs().len(), 11);
    servers.close().await;
}

#[tokio::test]
async fn errors_of_the_tool_and_of_the_protocol_are_errors_of_the_call() {
    let place = Place::new();
    let servers = place.start(&[echo("e", &[])]).await;
    let error = call(&tool(&servers, "mcp__e__fail"), json!({})).await.unwrap_err();
    assert_eq!(error.message, "it did not work");
    let error = call(&tool(&servers, "mcp__e__refuse"), json!({})).await.unwrap_err();
    assert_eq!(error.message, "MCP server `e`, tool `refuse`: it refused: refused: refuse");
    let flood = text(&tool(&servers, "mcp__e__flood"), json!({})).await;
    assert!(flood.len() < 300 * 1024 && flood.contains("bytes left out]"));
    let error = call(&tool(&servers, "mcp__e__echo"), json!([1])).await.unwrap_err();
    assert_eq!(error.message, "the input must be an object, not a list");
    servers.close().await;
}

#[tokio::test]
async fn a_servers_word_about_itself_counts_only_when_it_is_trusted() {
    let place = Place::new();
    let trusted = McpServerConfig { trust: Trust::ReadOnlyHints, ..echo("b", &[]) };
    let servers = place.start(&[echo("a", &[]), trusted]).await;
    let risk = |name: &str| tool(&servers, name).risk();
    assert_eq!(risk("mcp__a__echo"), Risk::Execute);
    assert_eq!(risk("mcp__b__echo"), Risk::Read);
    assert_eq!(risk("mcp__b__die"), Risk::Execute);
    servers.close().await;
}

#[tokio::test]
async fn the_environment_is_the_hosts_and_the_servers() {
    let place = Place::new();
    let mut config = echo("e", &[]);
    if let McpTransport::Stdio { env, .. } = &mut config.transport {
        env.push(("OWN".to_owned(), "1".to_owned()));
    }
    let servers = place.start(&[config]).await;
    assert_eq!(text(&tool(&servers, "mcp__e__environment"), json!({})).await, "FROM_HOST OWN PATH");
    servers.close().await;
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let place = Place::new();
    let servers = place.start(&[echo("e", &[])]).await;
    let wait = tool(&servers, "mcp__e__wait");
    let started = Instant::now();
    let calls = (0..20).map(|_| text(&wait, json!({"seconds": 0.5})));
    let all = futures_util::future::join_all(calls).await;
    assert!(all.iter().all(|text| text == "waited"));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    servers.close().await;
}

#[tokio::test]
async fn both_handshakes_work_and_auto_finds_the_right_one() {
    let place = Place::new();
    for (args, handshake) in [
        (vec![], Handshake::Initialize),
        (vec![], Handshake::Discover),
        (vec!["--modern"], Handshake::Discover),
        (vec!["--modern"], Handshake::Auto),
    ] {
        let config = McpServerConfig { handshake, ..echo("e", &args) };
        let servers = place.start(&[config]).await;
        assert_eq!(servers.failures(), [], "{args:?} {handshake:?}");
        assert_eq!(text(&tool(&servers, "mcp__e__echo"), json!({"text": "hi"})).await, "hi", "{args:?}");
        servers.close().await;
    }
    let old = McpServerConfig { handshake: Handshake::Initialize, ..echo("e", &["--modern"]) };
    let failure = place.failure(old).await;
    assert_eq!(failure, "MCP server `e`: it refused: initialize is too old for this server");
}
