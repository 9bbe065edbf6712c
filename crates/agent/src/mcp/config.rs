//! The configuration of a server.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The default time that a server may take to start and to list its tools.
pub(super) const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerConfig {
    /// Its name, which is the middle part of its tools' names.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// How a conversation with it begins.
    pub handshake: Handshake,
    /// How long it may take to start and to list its tools.
    pub start_timeout: Duration,
    /// Whether its claims about tools are trusted.
    pub trust: Trust,
}

impl McpServerConfig {
    /// A server that is a process.
    pub fn stdio(name: impl Into<String>, command: impl Into<String>, args: Vec<String>) -> Self {
        let transport = McpTransport::Stdio { command: command.into(), args, env: Vec::new(), cwd: None };
        Self::new(name, transport)
    }

    /// A server that speaks streamable HTTP.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name, McpTransport::Http { url: url.into(), headers: Vec::new() })
    }

    /// A server with default settings.
    pub fn new(name: impl Into<String>, transport: McpTransport) -> Self {
        Self {
            name: name.into(),
            transport,
            handshake: Handshake::Auto,
            start_timeout: START_TIMEOUT,
            trust: Trust::Nothing,
        }
    }
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// A process that reads stdin and writes stdout.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables in addition to those that the host provides.
        env: Vec<(String, String)>,
        /// Where it runs; by default the workspace.
        cwd: Option<PathBuf>,
    },
    /// A server that speaks streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

/// Leaves out values that may be secrets.
impl fmt::Debug for McpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        match self {
            Self::Stdio { command, args, env, cwd } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &names(env))
                .field("cwd", cwd)
                .finish(),
            Self::Http { url, headers } => {
                f.debug_struct("Http").field("url", url).field("headers", &names(headers)).finish()
            }
        }
    }
}

/// How a conversation with a server begins: protocol versions up to 2025-11-25 with `initialize`, later ones with
/// `server/discover`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Handshake {
    /// `initialize`; a server that refuses it is started again with `server/discover`. What worked is remembered.
    #[default]
    Auto,
    /// `initialize` only.
    Initialize,
    /// `server/discover` only.
    Discover,
}

/// Whether a server's claims about its tools are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// Not trusted: every tool can do anything, whatever the server says about it.
    #[default]
    Nothing,
    /// A tool that the server calls read-only is treated as read-only.
    ReadOnlyHints,
}
