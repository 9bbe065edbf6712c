//! Servers over stdio that die, hang, flood or never start; and what is left of them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crosier::Json;
use crosier_agent::mcp::{McpServerConfig, McpTransport};
use crosier_agent::tool::ToolContext;
use serde_json::json;

use crate::mcp::{Place, call, echo, text, tool};
use crate::tools_bash::{is_alive, soon};

fn shell(script: &str) -> McpServerConfig {
    McpServerConfig::stdio("sh", "/bin/sh", vec!["-c".to_owned(), script.to_owned()])
}

#[tokio::test]
async fn a_server_that_dies_is_an_error_and_is_started_again_for_the_next_call() {
    let place = Place::new();
    let servers = place.start(&[echo("e", &[])]).await;
    let (echo, die) = (tool(&servers, "mcp__e__echo"), tool(&servers, "mcp__e__die"));
    for round in 0..3 {
        let error = call(&die, json!({})).await.unwrap_err();
        assert!(error.message.contains("it ended, or the connection was lost"), "{round}: {error}");
        assert_eq!(text(&echo, json!({"text": "again"})).await, "again");
    }
    // Killed between calls: the next call does not even notice.
    let pids = text(&tool(&servers, "mcp__e__child"), json!({})).await;
    let (server, _) = pids.split_once(' ').unwrap();
    assert!(Command::new("kill").args(["-9", server]).status().unwrap().success());
    assert!(soon(|| !is_alive(server)).await);
    assert_eq!(text(&echo, json!({"text": "again"})).await, "again");
    servers.close().await;
}

#[tokio::test]
async fn dropping_and_closing_end_the_server_with_everything_it_started() {
    let place = Place::new();
    for close in [true, false] {
        let servers = place.start(&[echo("e", &[])]).await;
        let pids = text(&tool(&servers, "mcp__e__child"), json!({})).await;
        let pids: Vec<&str> = pids.split(' ').collect();
        assert!(pids.iter().all(|pid| is_alive(pid)), "{pids:?}");
        if close {
            servers.close().await;
            assert!(!is_alive(pids[0]));
        } else {
            drop(servers);
        }
        assert!(soon(|| !pids.iter().any(|pid| is_alive(pid))).await, "closed: {close}");
    }
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled_at_the_server() {
    let place = Place::new();
    let servers = place.start(&[echo("e", &[])]).await;
    let wait = tool(&servers, "mcp__e__wait");
    let file = place.file("cancelled");
    let input = Json::from(json!({"seconds": 60, "cancelled": file}));
    let context = ToolContext::new("/", Duration::from_millis(300));
    let error = wait.run(&input, &context).await.unwrap_err();
    assert_eq!(error.message, "MCP server `e`, tool `wait`: it did not answer within 300ms");
    assert!(soon(|| file.exists()).await, "timed out");
    fs::remove_file(&file).unwrap();
    let context = ToolContext::new("/", Duration::from_secs(60));
    let dropped = tokio::time::timeout(Duration::from_millis(300), wait.run(&input, &context)).await;
    assert!(dropped.is_err());
    assert!(soon(|| file.exists()).await, "dropped");
    assert_eq!(text(&tool(&servers, "mcp__e__echo"), json!({"text": "still there"})).await, "still there");
    servers.close().await;
}

#[tokio::test]
async fn servers_that_do_not_work_are_left_out_with_the_reason() {
    let place = Place::new();
    let failure = place.failure(McpServerConfig::stdio("e", "/no/such/program", Vec::new())).await;
    assert!(
        failure.starts_with("MCP server `e`: it could not be reached: `/no/such/program` cannot be started"),
        "{failure}"
    );
    let failure = place.failure(shell("echo no licence >&2; exit 3")).await;
    assert!(failure.contains("(the process has ended)"), "{failure}");
    assert!(failure.ends_with("its stderr ends with: no licence"), "{failure}");
    let failure = place.failure(shell("echo hello; echo '{\"x\":1}'; echo '['; exit 0")).await;
    assert!(failure.contains("it could not be reached"), "{failure}");
    let silent = McpServerConfig {
        start_timeout: Duration::from_millis(500),
        ..shell("sleep 300 & echo $! > child; wait")
    };
    let failure = place.failure(silent).await;
    assert_eq!(failure, "MCP server `sh`: it did not answer within 500ms");
    let child = fs::read_to_string(place.file("child")).unwrap();
    assert!(soon(|| !is_alive(&child)).await, "what a server started that did not start goes too");
    let gone = McpTransport::Stdio {
        command: "true".to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: Some(Path::new("gone").to_owned()),
    };
    let failure = place.failure(McpServerConfig::new("e", gone)).await;
    assert!(failure.contains("/gone"), "{failure}");
}

#[tokio::test]
async fn a_server_that_writes_without_end_is_left_out() {
    let place = Place::new();
    let config = McpServerConfig {
        start_timeout: Duration::from_secs(1),
        ..shell("yes noise & echo $! > child; yes more >&2")
    };
    let failure = place.failure(config).await;
    assert!(failure.contains("it did not answer within 1s"), "{failure}");
    let child = fs::read_to_string(place.file("child")).unwrap();
    assert!(soon(|| !is_alive(&child)).await);
}

#[tokio::test]
async fn one_bad_server_does_not_take_the_others_with_it() {
    let place = Place::new();
    let servers = place
        .start(&[
            shell("exit 1"),
            echo("good", &[]),
            echo("go__od", &[]),
            echo("go_od", &[]),
            echo("good", &[]),
            echo("__", &[]),
        ])
        .await;
    assert_eq!(text(&tool(&servers, "mcp__good__echo"), json!({"text": "x"})).await, "x");
    let failures: Vec<String> = servers.failures().iter().map(ToString::to_string).collect();
    assert_eq!(servers.tools().count(), 22);
    assert_eq!(
        failures[..3],
        [
            "MCP server `go_od`: another server has this name, or one that looks the same",
            "MCP server `good`: another server has this name, or one that looks the same",
            "MCP server `__`: its name has no letter and no digit"
        ]
    );
    assert!(failures[3].starts_with("MCP server `sh`: it could not be reached"), "{failures:?}");
    servers.close().await;
}
