//! The temporary folder of a demo, and what the demo cannot show on this machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::environment;
use crate::exit::{Exit, Failed};

/// The hooks and the files that they need, in one folder.
const HOOKS: &[(&str, &str)] = &[
    ("hooks.yaml", include_str!("files/hooks.yaml")),
    ("lines.arma", include_str!("files/lines.arma")),
    ("python.yaml", include_str!("files/python.yaml")),
    ("policy.py", include_str!("files/policy.py")),
    ("RULES.md", include_str!("files/RULES.md")),
];

/// What the agent works on. The secrets are fake.
const WORKSPACE: &[(&str, &str)] = &[
    ("notes.md", "update the docs"),
    ("secrets.txt", "token = ghp_8Zq2Lk7TfW0sXcV9bN4mJ6hG3dR1yP5aE2uI\n"),
    (".env", "API_KEY=demo\n"),
    ("private.md", "private notes\n"),
    ("greet.sh", "echo \"hello ${1:-there}\"\n"),
    ("release.todo", "tag the release\n"),
];

/// The model's answers.
pub(super) const MODEL: &str = include_str!("files/model.yaml");

/// The folder of a demo; removed when this is dropped.
#[derive(Debug)]
pub(crate) struct DemoFolder {
    folder: TempDir,
    pub(super) has_python: bool,
    pub(super) has_git: bool,
}

impl DemoFolder {
    pub(super) fn build() -> Result<Self, Failed> {
        let cannot = |error: io::Error| {
            Failed::new(Exit::Failed, format!("the demo cannot create a temporary folder: {error}"))
        };
        let folder = tempfile::Builder::new().prefix("crosier-demo-").tempdir().map_err(cannot)?;
        let has = |program: &str| environment::find(program).is_some();
        let folder = Self { folder, has_python: has("python3"), has_git: has("git") };
        folder.fill().map_err(cannot)?;
        Ok(folder)
    }

    fn fill(&self) -> io::Result<()> {
        let long: String =
            (1..=120).map(|day| format!("day {day}: the nightly build passed, nothing new\n")).collect();
        let write = |folder: PathBuf, files: &[(&str, &str)]| {
            fs::create_dir_all(&folder)?;
            files.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
        };
        write(self.hooks(), HOOKS)?;
        write(self.workspace(), WORKSPACE)?;
        write(self.workspace(), &[("long.log", &long)])
    }

    /// What cannot be shown on this machine, and why.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let python = "left out: the Python hook, because there is no python3 on the PATH";
        let git = "left out: the history of files and PostGitWrite, because there is no git on the PATH";
        let missing = [(self.has_python, python), (self.has_git, git)];
        missing.into_iter().filter(|(has, _)| !has).map(|(_, text)| text.to_owned()).collect()
    }

    /// The configuration files that can be used on this machine.
    pub(super) fn configs(&self) -> Vec<PathBuf> {
        let names = if self.has_python { &["hooks.yaml", "python.yaml"][..] } else { &["hooks.yaml"] };
        names.iter().map(|name| self.hooks().join(name)).collect()
    }

    fn hooks(&self) -> PathBuf {
        self.path("hooks")
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Keeps the folder when this is dropped.
    pub(super) fn keep(&mut self) -> &Path {
        self.folder.disable_cleanup(true);
        self.folder.path()
    }
}
