//! Ready-made hooks for Crosier, and its permission rules.
//!
//! A first guard is three lines of configuration:
//!
//! ```yaml
//! hooks:
//!   PreToolUse:
//!     - {type: builtin, handler: block-commands}
//! ```
//!
//! A host registers them all with [`register`]. Each has its module, whose page lists its options:
//!
//! - [`permissions`]: rules like `Bash(git *)` that allow, ask or deny ([`rules`] is their syntax and engine).
//! - [`block_commands`]: destructive shell commands are denied, with the reason and the safer way.
//! - [`protect_paths`]: `.env`, keys, `.git` and the hook configuration are protected.
//! - [`self_guard`]: Crosier itself is protected.
//! - [`redact_secrets`]: secrets in results and answers are masked; [`redact_secrets::Redactor`] does logs too.
//! - [`limit_prompt`]: a prompt that is too large is denied, with the numbers.
//! - [`audit`]: a tamper-evident log of every event.
//! - [`inbox`]: content that the host or another agent pushes, delivered with the next tool result.
//! - [`task_reminder`]: a reminder when a tool's result meets a condition.
//! - [`context_files`]: files, such as project notes, for the model to read.
//!
//! [`shell`] splits a line of shell into the commands it can run; the guards above are built on it. This crate
//! uses the engine's public interface only.
#![forbid(unsafe_code)]

mod atomic_write;
pub mod audit;
pub mod block_commands;
pub mod context_files;
mod guard;
pub mod inbox;
pub mod limit_prompt;
mod names;
mod option;
pub mod packs;
mod path;
pub mod permissions;
pub mod protect_paths;
pub mod redact_secrets;
pub mod rules;
pub mod self_guard;
pub mod shell;
pub mod task_reminder;
mod token;
mod tool;

use std::path::PathBuf;
use std::sync::Arc;

use crosier::config::Loader;

use protect_paths::OwnPaths;

/// What a host gives to the built-in hooks.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Host {
    /// The inbox that the host pushes messages into, besides those from folders.
    pub inbox: inbox::Inbox,
    /// A folder of its own outside of projects, for the key of `audit` and the ends of its logs. Made when needed, for
    /// its owner only. Without it, the chain of an audit log has no key.
    pub state_folder: Option<PathBuf>,
    /// Further files and folders that belong to the configuration, such as everything that its hooks run: no tool
    /// changes them.
    pub own_files: OwnFiles,
    /// Like `own_files`, for a few folders: links in their paths are followed, which takes too long for hundreds of
    /// files.
    pub own_folders: Vec<PathBuf>,
    /// The home folder, for paths such as `~/.config` above them.
    pub home: Option<PathBuf>,
}

/// A list of files that is made when a tool is about to change a file: there may be hundreds.
#[derive(Clone, Default)]
pub struct OwnFiles(Option<Arc<dyn Fn() -> Vec<PathBuf> + Send + Sync>>);

impl OwnFiles {
    /// The list that `list` returns.
    pub fn new(list: impl Fn() -> Vec<PathBuf> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(list)))
    }

    fn list(&self) -> Vec<PathBuf> {
        self.0.as_ref().map(|list| list()).unwrap_or_default()
    }
}

impl std::fmt::Debug for OwnFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OwnFiles")
    }
}

impl From<Vec<PathBuf>> for OwnFiles {
    fn from(files: Vec<PathBuf>) -> Self {
        if files.is_empty() { Self::default() } else { Self::new(move || files.clone()) }
    }
}

impl Host {
    /// Everything that no tool may change.
    fn own(&self) -> Arc<OwnPaths> {
        let folders = self.own_folders.iter().chain(&self.state_folder).cloned().collect();
        Arc::new(OwnPaths { files: self.own_files.clone(), folders, home: self.home.clone() })
    }
}

/// Registers every built-in hook, with the default [`Host`].
pub fn register(loader: Loader) -> Loader {
    register_for(loader, &Host::default())
}

/// Registers every built-in hook.
pub fn register_for(loader: Loader, host: &Host) -> Loader {
    let loader = packs::PACKS.iter().fold(loader, |loader, pack| loader.pack(*pack));
    let own = host.own();
    let anchors = host.state_folder.as_deref().map(audit::Anchors::in_state_folder);
    loader
        .builtin(audit::Audit::anchored(anchors))
        .builtin(block_commands::BlockCommands)
        .builtin(context_files::ContextFiles)
        .builtin(inbox::InboxHook::new(&host.inbox))
        .builtin(limit_prompt::LimitPrompt)
        .builtin(permissions::Permissions)
        .builtin(protect_paths::ProtectPaths::of_host(Arc::clone(&own)))
        .builtin(redact_secrets::RedactSecrets)
        .builtin(self_guard::SelfGuard::of_host(own))
        .builtin(task_reminder::TaskReminder)
}

#[cfg(test)]
mod new_lines_tests;
#[cfg(test)]
mod rule_table_tests;
