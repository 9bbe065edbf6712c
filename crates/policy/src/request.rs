//! A request for a policy: which project, whose home folders, and what was given on the command line.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crosier_layers::{Person, Places, real};

/// The person's folders. The library reads no environment: the host fills this in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Homes {
    /// The home folder.
    pub home: Option<PathBuf>,
    /// Crosier's own folder for configuration, `$XDG_CONFIG_HOME/crosier`.
    pub config: Option<PathBuf>,
    /// Crosier's own folder for what it remembers, `$XDG_STATE_HOME/crosier`.
    pub state: Option<PathBuf>,
}

impl Homes {
    /// These folders.
    #[must_use]
    pub const fn new(home: Option<PathBuf>, config: Option<PathBuf>, state: Option<PathBuf>) -> Self {
        Self { home, config, state }
    }
}

/// Whether the self-guard is in force by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SelfGuard {
    /// Yes, unless the user's or the managed file switches it off.
    On,
    /// No: the host is not a coding agent.
    #[default]
    Off,
}

/// How to compare virtual environments, which can have thousands of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Venvs {
    /// By the list of all their files.
    InFull,
    /// By the stamps of the folders that installers write to, while these are as they were after the last full
    /// comparison. A full one is made right before a hook runs.
    ByStamp,
}

/// A request for the policy in force.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// The project folder.
    pub project: PathBuf,
    /// Further folders that the agent entered: they can only add projects.
    pub entered_folders: Vec<PathBuf>,
    /// Files that a person named explicitly, which replace those of the user, project and local layers.
    pub named: Vec<PathBuf>,
    /// The person's folders.
    pub homes: Homes,
    /// The program that agents call: no tool may change it.
    pub program: Option<PathBuf>,
    /// The folder of the managed layer, if it is not the default one.
    pub managed: Option<PathBuf>,
    /// Who the hooks run as.
    pub person: Person,
    /// The digest that a person trusts, `sha256:…`, used instead of the trust record.
    pub trust: Option<String>,
    /// Whether the self-guard is in force.
    pub self_guard: SelfGuard,
    /// How virtual environments of a trusted project are compared.
    pub venvs: Venvs,
    /// A project folder of this request, and the same with its links followed.
    real_project: OnceLock<(PathBuf, PathBuf)>,
}

impl Request {
    /// The policy for this project folder and the user who runs this process.
    #[must_use]
    pub fn new(project: impl Into<PathBuf>) -> Self {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Self {
            project: project.into(),
            entered_folders: Vec::new(),
            named: Vec::new(),
            homes: Homes::default(),
            program: None,
            managed: None,
            person: Person::new(user, Some(group)),
            trust: None,
            self_guard: SelfGuard::Off,
            venvs: Venvs::ByStamp,
            real_project: OnceLock::new(),
        }
    }

    /// Where to look for the layers of one of its folders.
    pub(crate) fn places(&self, project: &Path, trusted: Vec<PathBuf>) -> Places {
        let mut places = Places::new(project, self.person);
        if let Some(managed) = &self.managed {
            places.managed.clone_from(managed);
        }
        places.home.clone_from(&self.homes.home);
        places.config_home.clone_from(&self.homes.config);
        places.trusted = trusted;
        // Asked for several times, and the project may be changed in between.
        let (given, real) = self.real_project.get_or_init(|| (project.to_owned(), real(project)));
        if given == project { places.with_real_project(real.clone()) } else { places }
    }
}
