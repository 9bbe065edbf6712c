//! A home folder of one's own, with agents in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::lab::CROSIER;

/// A home folder with agents in it, and a project.
pub(crate) struct Home {
    _folder: tempfile::TempDir,
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
}

/// What came of one run.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert!(all.contains(text), "no `{text}` in:\n{all}");
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

impl Home {
    pub(crate) fn new(agents: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, project) = (root.join("home"), root.join("project"));
        for agent in agents {
            fs::create_dir_all(home.join(agent)).unwrap();
        }
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(project.join("Cargo.toml"), "").unwrap();
        fs::create_dir_all(&home).unwrap();
        Self { _folder: folder, home, project }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(CROSIER);
        command.args(args).current_dir(&self.project).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", &self.home);
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        let output = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.home.join(path)).unwrap()
    }

    /// Every file of agents and of the project.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                // What Crosier remembers, and what the person trusts, is its own.
                let own = [".local/state/crosier", ".config/crosier/trusted.json"];
                if own.iter().any(|own| entry.path().ends_with(own)) {
                    continue;
                }
                match entry.file_type().unwrap().is_dir() {
                    true => walk(&entry.path(), all),
                    false => drop(all.insert(entry.path(), fs::read(entry.path()).unwrap())),
                }
            }
        }
        let mut all = BTreeMap::new();
        walk(&self.home, &mut all);
        walk(&self.project, &mut all);
        all
    }

    pub(crate) fn status(&self, agent: &str) -> String {
        let status = self.run(&["status", "--json"]).json();
        let agents = status["agents"].as_array().unwrap();
        let one = agents.iter().find(|one| one["agent"] == agent);
        one.map_or_else(|| "nowhere".to_owned(), |one| one["state"].as_str().unwrap().to_owned())
    }
}
