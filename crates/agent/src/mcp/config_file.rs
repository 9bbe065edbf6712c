//! Reads the `mcpServers` object of an `.mcp.json`, a format that other agents use too.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crosier::protocol::ordered::{Map, Value};
use serde::Deserialize;

use super::config::{Handshake, McpServerConfig, McpTransport, START_TIMEOUT, Trust};

/// Why servers cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct McpConfigError {
    /// Where: the file, or a server in it.
    pub place: String,
    /// What is wrong there.
    pub why: String,
}

/// The keys of a server's entry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Written {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Map,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: Map,
    /// Seconds.
    start_timeout: Option<f64>,
    handshake: Option<String>,
    #[serde(default)]
    trust_read_only_hints: bool,
    #[serde(default)]
    disabled: bool,
}

/// Reads `{"mcpServers": {"name": {…}}}`. `${NAME}` and `${NAME:-default}` in texts are replaced from the
/// environment that the host provides.
///
/// # Errors
/// When it is not such an object, or a server in it is not valid. Then no server is read.
pub fn read_config(
    text: &str,
    environment: &[(OsString, OsString)],
) -> Result<Vec<McpServerConfig>, McpConfigError> {
    let wrong = |why: String| McpConfigError { place: "MCP servers".to_owned(), why };
    let file: Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let servers = file.get("mcpServers").and_then(Value::as_object);
    let servers = servers.ok_or_else(|| wrong("there is no object `mcpServers`".to_owned()))?;
    let mut read = Vec::new();
    for (name, server) in servers.iter() {
        let config = server_config(name, server, environment);
        let config = config.map_err(|why| McpConfigError { place: format!("MCP server `{name}`"), why });
        read.extend(config?);
    }
    Ok(read)
}

/// A server; `None` when it is disabled.
fn server_config(
    name: &str,
    server: &Value,
    environment: &[(OsString, OsString)],
) -> Result<Option<McpServerConfig>, String> {
    let written = serde_json::from_str::<Written>(&server.to_string()).map_err(|error| error.to_string())?;
    if written.disabled {
        return Ok(None);
    }
    let expand = |text: &str| expand(text, environment);
    let pairs = |map: &Map| {
        let pair = |(key, value): (&String, &Value)| match value {
            Value::String(text) => Ok((key.clone(), expand(text)?)),
            Value::Number(number) => Ok((key.clone(), number.to_string())),
            Value::Bool(flag) => Ok((key.clone(), flag.to_string())),
            _ => Err(format!("`{key}` must be text")),
        };
        map.iter().map(pair).collect::<Result<Vec<_>, String>>()
    };
    let is_stdio = match (written.kind.as_deref(), &written.command, &written.url) {
        (Some("stdio") | None, Some(_), None) => true,
        (Some("http" | "streamable-http" | "streamableHttp") | None, None, Some(_)) => false,
        (Some("sse"), ..) => return Err("the transport `sse` was removed from MCP; use `http`".to_owned()),
        (Some(kind), ..) if !["stdio", "http", "streamable-http", "streamableHttp"].contains(&kind) => {
            return Err(format!("unknown type `{kind}`; there are `stdio` and `http`"));
        }
        _ => return Err("it needs either `command` (stdio) or `url` (http)".to_owned()),
    };
    let transport = if is_stdio {
        McpTransport::Stdio {
            command: expand(&written.command.unwrap_or_default())?,
            args: written.args.iter().map(|arg| expand(arg)).collect::<Result<_, _>>()?,
            env: pairs(&written.env)?,
            cwd: written.cwd,
        }
    } else {
        McpTransport::Http {
            url: expand(&written.url.unwrap_or_default())?,
            headers: pairs(&written.headers)?,
        }
    };
    let handshake = match written.handshake.as_deref() {
        None | Some("auto") => Handshake::Auto,
        Some("initialize") => Handshake::Initialize,
        Some("discover") => Handshake::Discover,
        Some(other) => {
            return Err(format!(
                "unknown handshake `{other}`; there are `auto`, `initialize` and `discover`"
            ));
        }
    };
    let start_timeout = match written.start_timeout {
        None => START_TIMEOUT,
        Some(seconds) => Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|timeout| !timeout.is_zero())
            .ok_or("`startTimeout` must be a number of seconds over 0")?,
    };
    let trust = if written.trust_read_only_hints { Trust::ReadOnlyHints } else { Trust::Nothing };
    Ok(Some(McpServerConfig { name: name.to_owned(), transport, handshake, start_timeout, trust }))
}

fn expand(text: &str, environment: &[(OsString, OsString)]) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (inside, tail) = after.split_once('}').ok_or("a `${` has no `}`")?;
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside, None),
        };
        let found =
            environment.iter().rev().find(|(key, _)| key == name).and_then(|(_, value)| value.to_str());
        out.push_str(before);
        out.push_str(found.or(otherwise).ok_or_else(|| format!("the variable `{name}` is not set"))?);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
#[path = "config_file_tests.rs"]
mod tests;
