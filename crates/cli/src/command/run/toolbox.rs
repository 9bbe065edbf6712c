//! The tools of the agent: the built-in ones, and those of MCP servers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use crosier_agent::mcp::{McpHost, McpServerConfig, McpServers, read_config};
use crosier_agent::tool::{Bash, Tool, ToolSet};

use crate::exit::{Exit, Failed};
use crate::{environment, print};

// Tools, from the command line. (Not a doc comment: clap would take it for the command's.)
#[derive(Debug, Args)]
pub(crate) struct ToolArgs {
    /// A file with a map `mcpServers`, as in other agents; the tools of its servers are offered too
    #[arg(long, value_name = "FILE")]
    mcp: Vec<PathBuf>,
}

impl ToolArgs {
    /// The servers of all files.
    pub(crate) fn servers(&self) -> Result<Vec<McpServerConfig>, Failed> {
        let mut servers = Vec::new();
        for file in &self.mcp {
            let bad = |why: String| Failed::new(Exit::BadConfig, format!("{}: {why}", file.display()));
            let text = std::fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
            let read = read_config(&text, &environment::all());
            servers.extend(read.map_err(|error| bad(error.to_string()))?);
        }
        Ok(servers)
    }
}

/// The tools, and the servers that some of them belong to. A server that fails is reported and left out.
pub(crate) async fn tools(servers: &[McpServerConfig], workspace: &Path) -> (Vec<Arc<dyn Tool>>, McpServers) {
    let mut tools = ToolSet::standard(Bash::new(inherited()));
    let host = McpHost { environment: inherited(), workspace: workspace.to_owned() };
    let servers = McpServers::start(servers, &host).await;
    for failure in servers.failures() {
        print::note(&print::plain(&failure.to_string()));
    }
    for tool in servers.tools() {
        if let Err(error) = tools.add(tool) {
            print::note(&error.to_string());
        }
    }
    (tools.to_vec(), servers)
}

/// The environment of tools: without the keys, which they could send anywhere.
fn inherited() -> Vec<(OsString, OsString)> {
    environment::all()
        .into_iter()
        .filter(|(name, value)| !crosier::is_secret_or_loader(name, value))
        .collect()
}
