//! What a hook runs. This module only describes handlers; `run` runs them.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::reply::Output;
use crosier_protocol::{Answer, Event};

use super::service::Service;

/// The code of a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Handler {
    /// Code of the host, in its own process.
    Callback(Callback),
    /// A process.
    Command(Arc<CommandSpec>),
    /// A function in a python worker.
    Python(Arc<PythonSpec>),
    /// A handler kind that the host defines.
    Service(Arc<dyn Service>),
}

impl Handler {
    /// Whether it runs in the host's own process.
    #[must_use]
    pub fn is_callback(&self) -> bool {
        matches!(self, Self::Callback(_))
    }

    /// Whether it is a future that is polled in the host's own process.
    pub(crate) fn is_async(&self) -> bool {
        matches!(self, Self::Callback(Callback::Async(_)) | Self::Service(_))
    }

    /// The name of its kind, for tables.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Callback(_) => "callback",
            Self::Command(_) => "command",
            Self::Python(_) => "python",
            Self::Service(service) => service.kind(),
        }
    }
}

/// One call of a hook's code.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The event, as the hooks before this one left it.
    pub event: &'a Event,
    /// The hook's name as shown.
    pub hook: &'a Arc<str>,
    /// Whether this is a second run, which the hook asked for in its first reply
    /// ([`Reply::again`](crate::Reply::again)).
    pub second: bool,
    /// Whether this is the first pass, or a guard is asked again about the final event.
    pub pass: Pass,
    /// Whether no other hook gets this event. A host then need not protect the value that it passes from
    /// being modified.
    pub is_only_hook: bool,
}

/// The passes over the hooks of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Pass {
    /// As the event goes from hook to hook.
    #[default]
    First,
    /// On the final event, guards only.
    Second,
}

impl Pass {
    /// 1 or 2.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::First => 1,
            Self::Second => 2,
        }
    }
}

impl<'a> Call<'a> {
    /// The first call of the hook of this name for this event.
    #[must_use]
    pub const fn new(event: &'a Event, hook: &'a Arc<str>) -> Self {
        Self { event, hook, second: false, pass: Pass::First, is_only_hook: false }
    }
}

/// A future that a callback returns.
pub type BoxFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;

type Function = dyn Fn(Call<'_>) -> Answer + Send + Sync;
type AsyncFunction = dyn Fn(Call<'_>) -> BoxFuture + Send + Sync;

/// Code of the host.
#[derive(Clone)]
#[non_exhaustive]
pub enum Callback {
    /// Called in place. It must not block, and has no timeout.
    Inline(Arc<Function>),
    /// Polled in place; dropped at its deadline.
    Async(Arc<AsyncFunction>),
    /// Called on a thread of its own. A late answer is dropped, but the thread runs until the code returns: a
    /// thread cannot be stopped from outside.
    Blocking(Arc<Function>),
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inline(_) => "Callback::Inline",
            Self::Async(_) => "Callback::Async",
            Self::Blocking(_) => "Callback::Blocking",
        })
    }
}

/// A process to start for each event.
#[derive(Debug, Clone)]
pub struct CommandSpec {
    /// What to start.
    pub program: Program,
    /// Where it runs.
    pub cwd: Cwd,
    /// The folder of the configuration.
    pub project_dir: PathBuf,
    /// Environment variables that are set for it.
    pub env: Vec<(String, String)>,
    /// Names of inherited variables that are passed on even if the filter would remove them.
    pub env_pass: Vec<String>,
    /// How its stdout is read.
    pub output: Output,
    /// How long it may take to end after SIGTERM.
    pub grace: Duration,
}

/// A python function to call for each event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PythonSpec {
    /// The interpreter: a path, or a name to look up in `PATH`.
    pub interpreter: String,
    /// The module that holds the function.
    pub module: String,
    /// The function, or a class with `__call__`.
    pub function: String,
    /// Folders in which python looks for the module before its own path.
    pub paths: Vec<PathBuf>,
    /// Where it runs.
    pub cwd: Cwd,
    /// The folder of the configuration.
    pub project_dir: PathBuf,
    /// Environment variables that are set for it.
    pub env: Vec<(String, String)>,
    /// Names of inherited variables that are passed on even if the filter would remove them.
    pub env_pass: Vec<String>,
    /// Whether each call runs in a fork of the worker.
    pub fork: bool,
}

impl PythonSpec {
    /// The function `module.function`; python looks for the module in this folder first. `None` when the text
    /// has no module or no function.
    pub fn new(handler: &str, folder: impl Into<PathBuf>) -> Option<Self> {
        let folder = folder.into();
        let (module, function) = handler.rsplit_once('.')?;
        if module.is_empty() || function.is_empty() {
            return None;
        }
        Some(Self {
            interpreter: "python3".to_owned(),
            module: module.to_owned(),
            function: function.to_owned(),
            paths: vec![folder.clone()],
            cwd: Cwd::Folder(folder.clone()),
            project_dir: folder,
            env: Vec::new(),
            env_pass: Vec::new(),
            fork: false,
        })
    }
}

/// How long a command may take to end after SIGTERM, by default.
pub const DEFAULT_GRACE: Duration = Duration::from_millis(100);

impl CommandSpec {
    /// A line for `sh -c`, run in this folder.
    pub fn shell(line: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        Self::new(Program::Shell(line.into()), folder.into())
    }

    /// A program and its arguments, run in this folder without a shell.
    pub fn argv<W: Into<String>>(words: impl IntoIterator<Item = W>, folder: impl Into<PathBuf>) -> Self {
        Self::new(Program::Argv(words.into_iter().map(Into::into).collect()), folder.into())
    }

    fn new(program: Program, folder: PathBuf) -> Self {
        Self {
            program,
            cwd: Cwd::Folder(folder.clone()),
            project_dir: folder,
            env: Vec::new(),
            env_pass: Vec::new(),
            output: Output::Reply,
            grace: DEFAULT_GRACE,
        }
    }
}

/// What a command starts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Program {
    /// A line for `sh -c`.
    Shell(String),
    /// A program and its arguments, without a shell.
    Argv(Vec<String>),
}

/// Where a command runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cwd {
    /// In this folder.
    Folder(PathBuf),
    /// In the folder that the event names.
    Event,
}
