//! Where Crosier's own agent keeps persistent data: sessions, and the history of what it wrote.
//!
//! `--state-dir`, or `crosier` in `$XDG_STATE_HOME`, or in `~/.local/state`. Never in the workspace: an agent must not
//! be able to write its own record.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use crosier_agent::history::{HistoryConfig, HistoryError, ShadowGit};
use sha2::{Digest, Sha256};

use crate::environment;
use crate::exit::{Exit, Failed};

// The folder, from the command line. (Not a doc comment: clap would take it for the command's.)
#[derive(Debug, Args)]
pub(crate) struct AgentDataArgs {
    /// Where sessions and history are kept (default: crosier in $XDG_STATE_HOME or ~/.local/state)
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

/// The folder of all persistent data of Crosier's own agent. By default it is also the folder of what a policy remembers,
/// which `crosier_policy::StateFolder` is, once checked.
#[derive(Debug)]
pub(crate) struct AgentData(PathBuf);

impl AgentDataArgs {
    pub(crate) fn find(&self) -> Result<AgentData, Failed> {
        let Some(folder) = self.state_dir.clone().or_else(environment::default_state_folder) else {
            let message = "there is no home folder to keep sessions in: name one with --state-dir DIR";
            return Err(Failed::new(Exit::BadConfig, message));
        };
        let absolute = std::path::absolute(&folder);
        absolute
            .map(AgentData)
            .map_err(|error| Failed::new(Exit::Usage, format!("--state-dir {}: {error}", folder.display())))
    }
}

impl AgentData {
    /// The folder of sessions.
    pub(crate) fn sessions(&self) -> PathBuf {
        self.0.join("sessions")
    }

    /// The shadow repository of a workspace. Its name begins with that of the workspace, for people, and ends
    /// with a hash of the whole path.
    pub(crate) fn repository(&self, workspace: &Path) -> PathBuf {
        let name = workspace.file_name().unwrap_or(OsStr::new("root")).to_string_lossy();
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let mut folder: String = name.chars().map(plain).take(40).collect();
        folder.push('-');
        for byte in &Sha256::digest(workspace.as_os_str().as_encoded_bytes())[..8] {
            let _ = write!(folder, "{byte:02x}");
        }
        self.0.join("history").join(folder)
    }

    /// Opens the history of a workspace, or creates it.
    pub(crate) async fn history(&self, workspace: &Path) -> Result<ShadowGit, HistoryError> {
        let config = HistoryConfig::new(workspace, self.repository(workspace));
        ShadowGit::open(HistoryConfig { search_path: environment::path(), ..config }).await
    }
}

/// The workspace, by its real path: a history belongs to a folder, and not to one of its paths.
pub(crate) fn workspace() -> Result<PathBuf, Failed> {
    let folder = std::env::current_dir().and_then(|folder| folder.canonicalize());
    folder.map_err(|error| Failed::new(Exit::Failed, format!("the current folder cannot be used: {error}")))
}
