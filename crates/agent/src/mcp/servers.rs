//! All servers of a session.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::join_all;

use super::config::{McpServerConfig, McpTransport};
use super::connection::Connector;
use super::http::HttpConnector;
use super::server::Server;
use super::stdio::StdioConnector;
use super::tool::{McpTool, tool_name};
use crate::tool::Tool;

/// The maximum number of tools of one server.
const MAX_TOOLS: usize = 1000;

/// What the host provides.
#[derive(Debug, Clone)]
pub struct McpHost {
    /// The environment that server processes inherit.
    pub environment: Vec<(OsString, OsString)>,
    /// Where they run.
    pub workspace: PathBuf,
}

/// A server that is left out, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("MCP server `{server}`: {why}")]
pub struct McpFailure {
    /// Its name.
    pub server: String,
    /// Why.
    pub why: String,
}

/// All servers of a session, and their tools.
#[derive(Debug)]
pub struct McpServers {
    servers: Vec<Arc<Server>>,
    tools: Vec<Arc<McpTool>>,
    failures: Vec<McpFailure>,
}

impl McpServers {
    /// Starts all servers at once and lists their tools. A server that fails is left out and listed among the
    /// failures; it delays the others at most by its start timeout.
    pub async fn start(configs: &[McpServerConfig], host: &McpHost) -> Self {
        let mut started = Self { servers: Vec::new(), tools: Vec::new(), failures: Vec::new() };
        let mut listed = Vec::new();
        for config in configs {
            match started.admit(config, host) {
                Ok(server) => listed.push((config, server)),
                Err(why) => started.fail(config, why),
            }
        }
        let lists = join_all(listed.iter().map(|(_, server)| server.tools())).await;
        for ((config, server), list) in listed.into_iter().zip(lists) {
            let mut tools = match list {
                Ok(tools) => tools,
                Err(error) => {
                    started.fail(config, error.to_string());
                    continue;
                }
            };
            if tools.len() > MAX_TOOLS {
                started.fail(config, format!("it has {} tools; only {MAX_TOOLS} are used", tools.len()));
                tools.truncate(MAX_TOOLS);
            }
            for tool in tools {
                let name = tool_name(&config.name, &tool.name);
                if started.tools.iter().any(|other| other.spec().name == name) {
                    started.fail(config, format!("its tool `{}` is left out: `{name}` is taken", tool.name));
                    continue;
                }
                started.tools.push(Arc::new(McpTool::new(&server, tool, name, config.trust)));
            }
        }
        started
    }

    fn admit(&mut self, config: &McpServerConfig, host: &McpHost) -> Result<Arc<Server>, String> {
        let prefix = |name: &str| tool_name(name, "");
        if !config.name.contains(|c: char| c.is_ascii_alphanumeric()) {
            return Err("its name has no letter and no digit".to_owned());
        }
        if self.servers.iter().any(|other| prefix(&other.name) == prefix(&config.name)) {
            return Err("another server has this name, or one that looks the same".to_owned());
        }
        let connector: Box<dyn Connector> = match &config.transport {
            McpTransport::Stdio { .. } => Box::new(StdioConnector::new(config, host)),
            McpTransport::Http { url, headers } => {
                Box::new(HttpConnector::new(url, headers, config.handshake)?)
            }
        };
        let server = Arc::new(Server::new(config.name.clone(), connector, config.start_timeout));
        self.servers.push(Arc::clone(&server));
        Ok(server)
    }

    fn fail(&mut self, config: &McpServerConfig, why: String) {
        self.failures.push(McpFailure { server: config.name.clone(), why });
    }

    /// The tools of all servers, in the order of the servers.
    pub fn tools(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        self.tools.iter().map(|tool| Arc::clone(tool) as Arc<dyn Tool>)
    }

    /// What was left out, and why.
    #[must_use]
    pub fn failures(&self) -> &[McpFailure] {
        &self.failures
    }

    /// Ends all servers cleanly: closes their input, then sends SIGTERM, then SIGKILL. Dropping this kills them
    /// at once, when the last of their tools is dropped too.
    pub async fn close(self) {
        join_all(self.servers.iter().map(|server| server.close())).await;
    }
}
