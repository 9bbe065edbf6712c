//! Tools of MCP servers: processes that talk over stdin and stdout, and servers that speak HTTP.
//!
//! Input: configured servers. Output: tools named `mcp__server__tool`, used like any other tool. A server
//! is started when its tools are listed, and again when a call finds it dead; a call is never made twice. A server
//! that dies, hangs or breaks the protocol is an error of the call, not of the agent. Only `sdk`, `stdio` and `http`
//! know the library that speaks the protocol; the rest knows two small traits.
//! Never: a server's claim about itself used as a permission (unless the host trusts it), an environment that
//! the host did not provide, a process that outlives its connection.

mod config;
mod config_file;
mod connection;
mod http;
mod sdk;
mod server;
mod servers;
mod stdio;
mod tool;

pub use config::{Handshake, McpServerConfig, McpTransport, Trust};
pub use config_file::{McpConfigError, read_config};
pub use connection::McpError;
pub use servers::{McpFailure, McpHost, McpServers};
pub use tool::{McpTool, tool_name};
