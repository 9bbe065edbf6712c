//! A home and a project for one run, deleted afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::Installed;

/// What an agent's hooks call.
#[derive(Clone, Debug)]
pub(crate) enum Hook {
    /// `crosier hook AGENT`, with the configuration named explicitly or found by its layers.
    Crosier { program: PathBuf, named: bool, deadline: Option<u32> },
    /// This program, which writes what it gets to a folder.
    Recorder { dir: PathBuf },
}

/// The folders of one run.
#[derive(Debug)]
pub(crate) struct Home {
    dir: PathBuf,
    keep: bool,
    itself: PathBuf,
    pub(crate) agent: &'static str,
    pub(crate) hook: Hook,
    /// The model's address, without a path.
    pub(crate) url: String,
    pub(crate) installed: Installed,
}

impl Home {
    /// Creates the folders; with `keep`, they are not deleted.
    pub(crate) fn new(
        agent: &'static str,
        keep: Option<PathBuf>,
        hook: Hook,
        installed: Installed,
    ) -> anyhow::Result<Home> {
        let kept = keep.is_some();
        let dir = match keep {
            Some(dir) => {
                if dir.exists() {
                    fs::remove_dir_all(&dir)?;
                }
                fs::create_dir_all(&dir)?;
                dir.canonicalize()?
            }
            None => tempfile::Builder::new().prefix("crosier-clients-").tempdir()?.keep().canonicalize()?,
        };
        let itself = std::env::current_exe()?;
        let home = Home { dir, itself, keep: kept, agent, hook, url: String::new(), installed };
        for folder in [home.user(), home.project(), home.temporary(), home.state()] {
            fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        Ok(home)
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// `HOME` of the agent.
    pub(crate) fn user(&self) -> PathBuf {
        self.dir.join("home")
    }

    /// The working directory of the agent.
    pub(crate) fn project(&self) -> PathBuf {
        self.dir.join("project")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.dir.join("tmp")
    }

    /// `XDG_STATE_HOME`.
    pub(crate) fn state(&self) -> PathBuf {
        self.dir.join("state")
    }

    /// Crosier's configuration; outside the project, like a person's own.
    pub(crate) fn policy(&self) -> PathBuf {
        self.dir.join("policy").join("crosier.yaml")
    }

    /// Replaces the placeholders in a text with the folders and the program of this run.
    pub(crate) fn place(&self, text: &str) -> String {
        let policy = self.dir.join("policy").display().to_string();
        let text = text
            .replace("/PROJECT", &self.project().display().to_string())
            .replace("/POLICY", &policy)
            .replace("/STATE", &self.state().display().to_string());
        match &self.hook {
            Hook::Crosier { program, .. } => text.replace("/CROSIER", &program.display().to_string()),
            Hook::Recorder { .. } => text,
        }
    }

    /// This program, which is also a recorder and an MCP server.
    pub(crate) fn itself(&self) -> String {
        self.itself.display().to_string()
    }

    /// Writes a file of the agent, below its home.
    pub(crate) fn write(&self, path: &str, text: &str) -> anyhow::Result<()> {
        write(&self.user().join(path), text)
    }

    /// The words of the hook command for an event in the agent's configuration.
    pub(crate) fn words(&self, event: &str, named_on_the_line: bool) -> Vec<String> {
        let text = |path: &Path| path.display().to_string();
        match &self.hook {
            Hook::Crosier { program, named, deadline } => {
                let mut words = vec![text(program), "hook".to_owned(), self.agent.to_owned()];
                if named_on_the_line {
                    words.push(event.to_owned());
                }
                if *named {
                    words.extend(["-c".to_owned(), text(&self.policy())]);
                }
                if let Some(deadline) = deadline {
                    words.extend(["--deadline".to_owned(), deadline.to_string()]);
                }
                words
            }
            Hook::Recorder { dir } => {
                vec![self.itself(), "record".to_owned(), text(dir), self.agent.to_owned(), event.to_owned()]
            }
        }
    }

    /// The same as one shell command.
    pub(crate) fn line(&self, event: &str, named_on_the_line: bool) -> String {
        let plain =
            |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
        let quoted =
            |word: String| if plain(&word) { word } else { format!("'{}'", word.replace('\'', "'\\''")) };
        self.words(event, named_on_the_line).into_iter().map(quoted).collect::<Vec<_>>().join(" ")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if !self.keep {
            // A process that was killed may still be writing; what remains is left to the system's cleanup.
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

/// Writes a file and the folders above it; one that begins with `#!` can be run.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let place = || format!("cannot write {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(place)?;
    }
    fs::write(path, text).with_context(place)?;
    if text.starts_with("#!") {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).with_context(place)?;
    }
    Ok(())
}
