use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crosier_install::plan::Request;
use crosier_install::{Places, Row, table};
use crosier_install::{Plan, Program, Refused, Store};

/// A home folder and a project, and an installer for them.
pub(crate) struct Lab {
    _folder: tempfile::TempDir,
    pub(crate) home: PathBuf,
    pub(crate) places: Places,
    pub(crate) program: Program,
    pub(crate) store: Store,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, project, state) = (root.join("home"), root.join("project"), root.join("state"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&project).unwrap();
        let program = Program {
            program: "/opt/my tools/crosier".into(),
            config_home: home.join(".config/crosier"),
            state_home: state.clone(),
        };
        let (places, store) = (Places::new(&home, &project), Store::in_folder(&state));
        Self { _folder: folder, home, places, program, store }
    }

    pub(crate) fn request(&self) -> Request<'_> {
        Request::new(&self.places, &self.program)
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.home.join(path)).unwrap()
    }

    pub(crate) fn install(&self, agent: &str) -> Result<Plan, Refused> {
        self.install_as(agent, &self.request())
    }

    pub(crate) fn install_as(&self, agent: &str, request: &Request<'_>) -> Result<Plan, Refused> {
        let plan = row(agent).install_plan(request)?;
        self.store.install(agent, &plan)?;
        Ok(plan)
    }

    pub(crate) fn uninstall(&self, agent: &str) -> Plan {
        let plan = self.store.uninstall_plan(row(agent), &self.places).unwrap();
        self.store.uninstall(agent, &plan).unwrap();
        plan
    }

    /// Everything below the home folder.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        walk(&self.home, &mut all);
        walk(&self.places.project, &mut all);
        all
    }
}

fn walk(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            all.insert(path.clone(), b"folder".to_vec());
            walk(&path, all);
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
}

pub(crate) fn row(agent: &str) -> &'static Row {
    table::find(agent).unwrap()
}

impl Lab {
    /// Uninstalls unless the agent's file cannot be read.
    pub(crate) fn uninstall_if_there(&self, agent: &str) {
        if let Ok(plan) = self.store.uninstall_plan(row(agent), &self.places) {
            self.store.uninstall(agent, &plan).unwrap();
        }
    }
}
