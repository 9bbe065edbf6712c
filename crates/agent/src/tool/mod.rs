//! Tools behind one small trait.
//!
//! Input: arguments that hooks and permissions have let through. Output: text for the model. A tool knows
//! nothing of hooks.

mod arguments;
mod bash;
mod blocking;
mod descendants;
mod edit;
mod glob;
mod grep;
pub(crate) mod group;
pub(crate) mod output;
mod pattern;
mod read;
mod set;
mod task;
mod walk;
pub mod workspace;
mod write;

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crosier::Json;

pub use bash::Bash;
pub use edit::Edit;
pub use glob::Glob;
pub use grep::Grep;
pub use read::Read;
pub use set::{NameTaken, ToolSet};
pub use task::Task;
pub use workspace::{Workspace, WorkspaceError};
pub use write::Write;

/// The description of a tool for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name; `mcp__server__tool` for tools of MCP servers.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Json,
}

/// The greatest risk of a tool; permissions depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// It only reads: calls of one turn may run concurrently.
    Read,
    /// It changes files in the workspace.
    Edit,
    /// It can do anything.
    Execute,
}

/// Where and how a tool runs.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The folder that it works in; nothing outside it is read or written by file tools.
    pub workspace: PathBuf,
    /// How long it may take at most.
    pub timeout: Duration,
    /// Is called with what a tool writes while it runs.
    pub progress: Option<Progress>,
}

impl ToolContext {
    /// A context without a progress listener.
    pub fn new(workspace: impl Into<PathBuf>, timeout: Duration) -> Self {
        Self { workspace: workspace.into(), timeout, progress: None }
    }
}

/// Called with what a tool writes, while it runs. It must not block.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(&str) + Send + Sync>);

impl Progress {
    /// A progress listener.
    pub fn new(told: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }

    /// Calls the listener.
    pub fn tell(&self, text: &str) {
        (self.0)(text);
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

/// Why a tool has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// What went wrong, for the model.
    pub message: String,
}

impl ToolError {
    /// An error for the model.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// A file that a tool wants to write. The loop writes it, so that hooks see it before, and a commit contains it after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWrite {
    /// The file, relative to the workspace.
    pub path: String,
    /// Its whole new content.
    pub content: String,
    /// What the model gets when it is written.
    pub report: String,
}

/// The future that a tool returns. Dropping it stops the tool, with everything it started.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = Result<Json, ToolError>> + Send + 'a>>;

/// A tool that the model can call.
pub trait Tool: Send + Sync {
    /// Its description.
    fn spec(&self) -> &ToolSpec;

    /// Its greatest risk.
    fn risk(&self) -> Risk;

    /// What it would write, for a tool that only writes one file; then it is not run.
    fn write(&self, _input: &Json, _context: &ToolContext) -> Option<Result<FileWrite, ToolError>> {
        None
    }

    /// Runs it. The result is a JSON value; text is a JSON string.
    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> ToolFuture<'a>;
}
