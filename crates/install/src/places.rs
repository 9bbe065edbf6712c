//! Where the folders of agents are.

use std::path::{Path, PathBuf};

/// The base folders of the paths in the table. The host fills this in: nothing here reads the environment.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Places {
    /// The home folder.
    pub home: PathBuf,
    /// The folder of configurations, `$XDG_CONFIG_HOME` or `.config` in the home folder.
    pub config: PathBuf,
    /// The project folder.
    pub project: PathBuf,
    /// Folders from variables of agents (`CLAUDE_CONFIG_DIR`, …) that are set.
    pub variables: Vec<(String, PathBuf)>,
    /// The search path for programs.
    pub search_path: Vec<PathBuf>,
}

impl Places {
    /// The usual places below a home folder.
    #[must_use]
    pub fn new(home: impl Into<PathBuf>, project: impl Into<PathBuf>) -> Self {
        let home = home.into();
        Self { config: home.join(".config"), home, project: project.into(), ..Self::default() }
    }

    fn variable(&self, name: &str) -> Option<&Path> {
        self.variables.iter().find(|(other, _)| other == name).map(|(_, path)| path.as_path())
    }
}

/// A folder of an agent.
#[derive(Debug, Clone, Copy)]
pub enum Folder {
    /// Below the home folder; if the variable is set, it names the folder itself.
    Home(&'static str, Option<&'static str>),
    /// Below the home folder, or below the folder that this variable names instead of it.
    OtherHome(&'static str, &'static str),
    /// Below the folder of configurations.
    Config(&'static str),
}

impl Folder {
    /// Where it is.
    #[must_use]
    pub fn of(self, places: &Places) -> PathBuf {
        let named = |variable: Option<&str>| variable.and_then(|name| places.variable(name));
        match self {
            Self::Home(below, variable) => {
                named(variable).map_or_else(|| places.home.join(below), Path::to_owned)
            }
            Self::OtherHome(below, variable) => named(Some(variable)).unwrap_or(&places.home).join(below),
            Self::Config(below) => places.config.join(below),
        }
    }
}
