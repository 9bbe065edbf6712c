//! What a server needs from the program that runs it: configurations, tables, agents.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crosier::config::Config;
use crosier::{Builder, Engine, Event, Json, Outcome};

/// The program that runs a server. The server itself knows no files, agents or environment.
pub trait Host: fmt::Debug + Send + Sync + 'static {
    /// The program's version.
    fn version(&self) -> &str;

    /// The hooks in force at a location.
    ///
    /// # Errors
    /// Why no decision can be made there.
    fn load(&self, location: &ConfigLocation) -> Result<Loaded, Closed>;

    /// Whether there are no hooks and no problems at a location, if that is known without loading it.
    fn has_nothing(&self, location: &ConfigLocation) -> bool {
        let _ = location;
        false
    }

    /// What `crosier explain --json` prints.
    ///
    /// # Errors
    /// What is wrong with the request.
    fn explain(
        &self,
        engine: &Engine,
        event: &str,
        tool: Option<&str>,
        agent: Option<&str>,
    ) -> Result<Json, String>;

    /// What `crosier events --json` prints.
    fn events(&self) -> Json;

    /// Reads the `hooks:` section of one agent; relative paths begin at this folder.
    ///
    /// # Errors
    /// The problems, as `crosier check --json` prints them.
    fn section(&self, agent: &str, hooks: &Json, folder: &std::path::Path) -> Result<Config, Json>;

    /// Answers an agent, as `crosier hook` does.
    fn hook(&self, post: &AgentPost) -> HookAnswer;

    /// Called when an event was judged, for the log. No decision depends on it.
    fn fired(&self, location: &ConfigLocation, event: &Event, outcome: &Outcome, took: Duration);
}

/// Which configuration applies to an event, and whose folders are used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigLocation {
    /// How its configuration files are found.
    pub source: ConfigSource,
    /// Crosier's own configuration folder, when the client names it.
    pub config_home: Option<PathBuf>,
    /// Crosier's own state folder, when the client names it.
    pub state_home: Option<PathBuf>,
    /// Whether the client may name any file, because it started this server itself.
    pub any_file: bool,
}

impl ConfigLocation {
    /// A location with the server's own folders.
    #[must_use]
    pub fn new(source: ConfigSource, any_file: bool) -> Self {
        Self { source, config_home: None, state_home: None, any_file }
    }
}

/// How the configuration files of a location are found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigSource {
    /// The layers and the trust of this project.
    Project(PathBuf),
    /// Exactly these files; if there are none, only registered hooks apply.
    Files(Vec<PathBuf>),
}

/// The hooks in force.
#[derive(Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// An engine with these hooks. The server adds folder, environment and workers.
    pub builder: Builder,
    /// The configuration files in force.
    pub files: Vec<PathBuf>,
    /// Files and folders that determine it, including some that do not exist yet: when one changes, it is reloaded.
    pub watched: Vec<PathBuf>,
    /// The display names of the hooks that a person disabled.
    pub disabled_by_person: Vec<String>,
    /// Problems to show to the client's user, as a list.
    pub problems: Json,
    /// Why no hook is in force, if there are some that a person has never trusted.
    pub not_trusted_notice: Option<String>,
}

impl Loaded {
    /// These hooks, from these files.
    #[must_use]
    pub fn new(builder: Builder, files: Vec<PathBuf>) -> Self {
        Self {
            builder,
            watched: files.clone(),
            files,
            disabled_by_person: Vec::new(),
            problems: Json::from(crosier::protocol::json!([])),
            not_trusted_notice: None,
        }
    }
}

/// The policy of a location cannot be relied on: no decision can be made there.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Closed {
    /// The reason, on one line.
    pub why: String,
    /// What is at fault.
    pub fault: Fault,
    /// What is wrong, as `crosier check --json` prints it.
    pub problems: Json,
}

impl Closed {
    /// Closed for a reason that is not a list of problems in a file.
    pub fn new(why: impl Into<String>, fault: Fault) -> Self {
        Self { why: why.into(), fault, problems: Json::from(crosier::protocol::json!([])) }
    }
}

/// What is at fault when a location is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A configuration has errors, or the host does not support such a location. The client's error is `config`.
    Configuration,
    /// A file of a layer is not safe to use, for example because others can write it. The client's error is `untrusted`,
    /// although no trust in the project can mend it.
    UnsafeFile,
    /// A person has not trusted the file that the client names. The client's error is `untrusted`.
    Trust,
}

/// An event that an agent posted over HTTP.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentPost {
    /// The agent's name.
    pub agent: String,
    /// The agent's name of the event, if the URL has it.
    pub event: Option<String>,
    /// The project, if a header names it.
    pub project: Option<PathBuf>,
    /// The body of the request, or why it could not be read.
    pub body: Result<Vec<u8>, String>,
}

/// The answer to an agent.
#[derive(Debug, Clone)]
pub struct HookAnswer {
    /// A body in the agent's own format.
    pub body: String,
}
