//! The files of every layer, for display, including those that are not trusted. Nothing is run.

use std::path::{Path, PathBuf};

use crosier::Layer;
use crosier::config::{Config, Loader, Problems};
use crosier_layers::{FILE, LOCAL_FILE, Layers, project_folders};

use crate::closed::Closed;
use crate::foreign;
use crate::loader::loader;
use crate::request::Request;
use crate::switch::Switches;
use crate::trust::{self, TrustState, trust_states};

/// All configuration that was found, whether it is in force or not.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// The files, in the order of their layers, and those that were refused.
    pub layers: Layers,
    /// Their content, by layer, or all problems in them.
    pub loaded: Result<Vec<(Layer, Config)>, Problems>,
    /// The trust of each folder of the project, or why it cannot be determined.
    pub trust_states: Result<Vec<(PathBuf, TrustState)>, Closed>,
}

/// Finds and loads the files of a request. `prepare` is applied to the loader of each layer.
pub fn inspect(request: &Request, prepare: impl Fn(Loader) -> Loader) -> Inspection {
    let places = request.places(&request.project, Vec::new());
    let is_named = !request.named.is_empty();
    let mut layers = if is_named { Layers::managed(&places) } else { Layers::of_machine(&places) };
    let trust_states = if is_named { Ok(Vec::new()) } else { trust_states(request) };
    if !is_named {
        let folders = match &trust_states {
            Ok(all) => all.iter().map(|(folder, _)| folder.clone()).collect(),
            Err(_) => project_folders(&places),
        };
        let (plain, linked): (Vec<PathBuf>, Vec<PathBuf>) =
            folders.into_iter().partition(|folder| !is_foreign_link(folder, &trust_states));
        layers.add_project(&plain);
        refuse_links(&mut layers, &linked);
    }
    let make = || prepare(loader(&request.homes));
    let loaded = layers.load(make).and_then(|mut configs| {
        if is_named {
            let packs = configs.iter().flat_map(|(_, config): &(Layer, Config)| config.packs.iter().cloned());
            let permissions =
                configs.last().map(|(_, config)| config.permissions.clone()).unwrap_or_default();
            let loader = make().packs_in_force(packs.collect()).permissions_in_force(permissions);
            let config = request.named.iter().fold(loader, |loader, file| loader.file(file)).load()?;
            configs.push((Layer::Host, config));
        }
        Ok(configs)
    });
    let mut inspect = Inspection { layers, loaded, trust_states };
    if !inspect.may_run() {
        inspect.hide_foreign(request, make);
    }
    inspect
}

impl Inspection {
    /// Removes the content of files outside an untrusted project from its problems.
    fn hide_foreign(&mut self, request: &Request, make: impl Fn() -> Loader) {
        let project = std::fs::canonicalize(&request.project).unwrap_or_else(|_| request.project.clone());
        let root = trust::root_of(&project, request.homes.home.as_deref());
        match &mut self.loaded {
            Ok(configs) => {
                let of_project =
                    configs.iter_mut().filter(|(layer, _)| matches!(layer, Layer::Project(_) | Layer::Local));
                of_project.for_each(|(_, config)| {
                    config.warnings = foreign::hide(&config.warnings, &root, |_| false);
                });
            }
            Err(problems) => {
                let mut machine = self.layers.clone();
                machine.files.retain(|file| !matches!(file.layer, Layer::Project(_) | Layer::Local));
                // Problems in the person's own files are shown in full.
                let own = machine.load(make).err().unwrap_or_default();
                let is_own = |name: &str| own.iter().any(|problem| problem.path() == name);
                *problems = foreign::hide(problems, &root, is_own);
            }
        }
    }

    /// Whether code in these files may run: a person named or wrote them, or trusts their current content.
    #[must_use]
    pub fn may_run(&self) -> bool {
        self.trust_states
            .as_ref()
            .is_ok_and(|all| all.iter().all(|(_, trust_state)| *trust_state == TrustState::Trusted))
    }

    /// The files of one layer.
    #[must_use]
    pub fn files_of(&self, layer: Layer, request: &Request) -> Vec<PathBuf> {
        match layer {
            Layer::Host => request.named.clone(),
            layer => {
                let files = self.layers.files.iter().filter(|file| file.layer == layer);
                files.map(|file| file.path.clone()).collect()
            }
        }
    }

    /// Every file, in the order of the layers.
    #[must_use]
    pub fn files(&self, request: &Request) -> Vec<PathBuf> {
        let found = self.layers.files.iter().map(|file| file.path.clone());
        found.chain(request.named.iter().cloned()).collect()
    }
}

/// Whether the configuration of an untrusted folder is a symbolic link, which can point to any file.
fn is_foreign_link(folder: &Path, trust_states: &Result<Vec<(PathBuf, TrustState)>, Closed>) -> bool {
    let is_trusted =
        trust_states.as_ref().is_ok_and(|all| all.contains(&(folder.to_owned(), TrustState::Trusted)));
    let is_link = |name: &&str| folder.join(name).is_symlink();
    !is_trusted && [FILE, LOCAL_FILE].iter().any(is_link)
}

/// Refuses links in an untrusted project, so that errors do not quote the target.
fn refuse_links(layers: &mut Layers, folders: &[PathBuf]) {
    for folder in folders {
        let why = "it is a symbolic link, which is not followed in a project that is not trusted";
        layers.refuse(Layer::Project(0), folder.join(FILE), why);
    }
}

/// What a person switched off in the files of this request.
///
/// # Errors
/// Why the stored switches cannot be read.
pub fn switches(request: &Request) -> Result<Switches, String> {
    match crate::state::state_folder(request) {
        crate::state::StateFolder::Usable(folder) => Switches::read(&folder),
        _ => Ok(Switches::default()),
    }
}
