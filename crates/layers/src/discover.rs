//! Finds the files of every layer.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crosier::Layer;

use crate::owner::{self, Person, Writers};
use crate::project::project_folders;

/// The name of a configuration, in every layer.
pub const FILE: &str = "crosier.yaml";
/// The name of the local configuration, which is not committed, in the same folder.
pub const LOCAL_FILE: &str = "crosier.local.yaml";
const MANAGED_FOLDER: &str =
    if cfg!(target_os = "macos") { "/Library/Application Support/Crosier" } else { "/etc/crosier" };

/// Where to look. The library reads no environment: the host fills this in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Places {
    /// The folder of the managed layer.
    pub managed: PathBuf,
    /// The folder of the person's configuration, `$XDG_CONFIG_HOME/crosier`; without it there is no user layer.
    pub config_home: Option<PathBuf>,
    /// The person's home folder.
    pub home: Option<PathBuf>,
    /// The project folder.
    pub project: PathBuf,
    /// Folders that the person has trusted.
    pub trusted: Vec<PathBuf>,
    /// Who the hooks run as.
    pub person: Person,
    /// The project folder with its links followed, which takes a system call for every part of the path.
    real_project: Option<PathBuf>,
    /// The same for the home folder.
    real_home: Option<Option<PathBuf>>,
}

impl Places {
    /// The default places for this project and person, without `config_home` and `home`.
    #[must_use]
    pub fn new(project: impl Into<PathBuf>, person: Person) -> Self {
        Self {
            managed: PathBuf::from(MANAGED_FOLDER),
            config_home: None,
            home: None,
            project: project.into(),
            trusted: Vec::new(),
            person,
            real_project: None,
            real_home: None,
        }
    }

    /// Uses this as the project folder with its links followed, which are then not followed again.
    #[must_use]
    pub fn with_real_project(self, real: PathBuf) -> Self {
        Self { real_project: Some(real), ..self }
    }

    /// Follows the links of the project and the home folder now, once for everything that is looked up with this value
    /// and its [`of_folder`](Self::of_folder). Fields that are changed later are not looked at again.
    #[must_use]
    pub fn resolved(mut self) -> Self {
        (self.real_project, self.real_home) = (Some(self.real_project()), Some(self.real_home()));
        self
    }

    /// The same places for another project folder, whose links were followed already.
    #[must_use]
    pub fn of_folder(&self, real: &Path, trusted: Vec<PathBuf>) -> Self {
        Self { project: real.to_owned(), trusted, real_project: Some(real.to_owned()), ..self.clone() }
    }

    /// The project folder, its links followed.
    #[must_use]
    pub fn real_project(&self) -> PathBuf {
        self.real_project.clone().unwrap_or_else(|| real(&self.project))
    }

    /// The home folder, its links followed.
    #[must_use]
    pub fn real_home(&self) -> Option<PathBuf> {
        self.real_home.clone().unwrap_or_else(|| self.home.as_deref().map(real))
    }
}

/// A path with its links followed, if it exists.
#[must_use]
pub fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A file that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerFile {
    /// Its layer.
    pub layer: Layer,
    /// Its path.
    pub path: PathBuf,
    /// Its content, from the same open file whose owner and mode were checked.
    pub bytes: Vec<u8>,
}

/// A file that exists but must not be used. A host must fail closed, as it does for a
/// configuration that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedFile {
    /// Its layer.
    pub layer: Layer,
    /// Its path.
    pub path: PathBuf,
    /// Why it is refused.
    pub why: String,
}

/// The files in force, in order of precedence, and those that were refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layers {
    /// The files, in order of precedence.
    pub files: Vec<LayerFile>,
    /// What was refused.
    pub refused: Vec<RefusedFile>,
    /// Who may own the files that the user's layer refers to, and that person's home folder.
    pub(crate) person: Option<(Person, Option<PathBuf>)>,
}

impl Layers {
    /// Looks for the files of every layer.
    #[must_use]
    pub fn discover(places: &Places) -> Self {
        let mut layers = Self::of_machine(places);
        layers.add_project(&project_folders(places));
        layers
    }

    /// Looks for the files of the managed and the user's layer.
    #[must_use]
    pub fn of_machine(places: &Places) -> Self {
        let mut layers = Self::managed(places);
        layers.user(places);
        layers
    }

    /// Looks for the files of the managed layer.
    #[must_use]
    pub fn managed(places: &Places) -> Self {
        let person = Some((places.person, places.home.clone()));
        let mut layers = Self { person, ..Self::default() };
        layers.add_managed(places);
        layers
    }

    /// Adds the project's and the local files in these folders, the outermost first.
    pub fn add_project(&mut self, folders: &[PathBuf]) {
        let mut number = 0;
        for folder in folders {
            if self.add(Layer::Project(number), folder.join(FILE), Writers::Anybody) {
                number = number.saturating_add(1);
            }
        }
        for folder in folders {
            self.add(Layer::Local, folder.join(LOCAL_FILE), Writers::Anybody);
        }
    }

    /// Adds a refused file, with the reason.
    pub fn refuse(&mut self, layer: Layer, path: PathBuf, why: impl Into<String>) {
        self.refused.push(RefusedFile { layer, path, why: why.into() });
    }

    /// Whether there are no files, neither in force nor refused.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.refused.is_empty()
    }

    fn add_managed(&mut self, places: &Places) {
        // Most machines have none, and every event looks.
        if fs::symlink_metadata(&places.managed).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return;
        }
        self.add(Layer::Managed, places.managed.join(FILE), Writers::Root);
        let folder = places.managed.join("conf.d");
        let mut more: Vec<PathBuf> = match fs::read_dir(&folder) {
            Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                let why = format!("it cannot be read: {error}");
                return self.refused.push(RefusedFile { layer: Layer::Managed, path: folder, why });
            }
        };
        more.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
        more.sort();
        for path in more {
            self.add(Layer::Managed, path, Writers::Root);
        }
    }

    fn user(&mut self, places: &Places) {
        let Some(folder) = &places.config_home else { return };
        let path = folder.join(FILE);
        if is_in_project(&path, places) {
            // A project could set the environment variable that names this folder, also to an empty one, so that the
            // person's file is not found.
            let is_usual =
                || places.home.as_ref().is_some_and(|home| *folder == home.join(".config/crosier"));
            if path.exists() || !is_usual() {
                let why = "it is inside the project folder".to_owned();
                self.refused.push(RefusedFile { layer: Layer::User, path, why });
            }
            return;
        }
        self.add(Layer::User, path, Writers::Person(places.person));
    }

    /// Adds a file if it exists; returns whether it is in force.
    fn add(&mut self, layer: Layer, path: PathBuf, writers: Writers) -> bool {
        match owner::read(&path, writers) {
            Ok(Some(bytes)) => {
                self.files.push(LayerFile { layer, path, bytes });
                true
            }
            Ok(None) => false,
            Err(why) => {
                self.refused.push(RefusedFile { layer, path, why });
                false
            }
        }
    }
}

/// Whether a path is inside the project folder. A project folder that is the home folder or above it does not count: it
/// holds the person's own files.
#[must_use]
pub fn is_in_project(path: &Path, places: &Places) -> bool {
    let project = places.real_project();
    let folder = path.parent().map(real);
    // Checked in every run of the program, and following links is slow: a path that is not a link is in its folder.
    let is_link = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    let is_there = is_link && real(path).starts_with(&project);
    let is_inside = is_there
        || path.starts_with(&project)
        || folder.is_some_and(|folder| folder.starts_with(&project) || is_folder(path, &folder, &project));
    let holds_home = || places.real_home().is_some_and(|home| home.starts_with(&project));
    is_inside && !holds_home()
}

/// Whether a path in a folder, none of them a link, is this project.
fn is_folder(path: &Path, folder: &Path, project: &Path) -> bool {
    path.file_name().is_some_and(|name| folder.join(name) == project)
}
