//! Loads the policy in force for a request.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crosier::config::{Config, HostSettings, Loader, Problems};
use crosier::{Builder, Engine, Handler, Layer, Sources};
use crosier_builtins::OwnFiles;
use crosier_layers::{Layers, Places, RefusedFile};

use crate::closed::{Closed, Fault};
use crate::loader::{catalog, loader_with};
use crate::request::{Request, SelfGuard};
use crate::show;
use crate::state::{self, StateFolder};
use crate::switch::Switches;
use crate::trust::{self, Project, Trusted};

/// What decides on events.
#[derive(Debug)]
#[non_exhaustive]
pub enum Policy {
    /// No hooks: there is no configuration, or none that a person trusts.
    None(Notices),
    /// Hooks to run.
    Loaded(Box<Loaded>),
    /// No decision can be made, so actions are denied.
    Closed(Closed),
}

/// A message that the person gets once per session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// What it is about: messages with the same subject are shown once.
    pub subject: String,
    /// What it says, on one line, escaped.
    pub text: String,
}

/// Messages for the person.
pub type Notices = Vec<Notice>;

/// The hooks in force.
#[derive(Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The configuration files in force, in the order of their layers.
    pub files: Vec<PathBuf>,
    /// Their content, by layer.
    pub layers: Vec<(Layer, Config)>,
    /// Messages for the person.
    pub notices: Notices,
    /// The display names of the hooks that a person disabled.
    pub disabled_by_person: Vec<String>,
    /// Settings for the host from the managed, named and user's files; earlier ones take precedence.
    pub settings: HostSettings,
    trusted: Arc<Trusted>,
    /// The project folder that hooks are given.
    project: PathBuf,
}

impl Loaded {
    /// An engine with these hooks. The host adds its folder, its environment and what starts background hooks.
    pub fn builder(self) -> Builder {
        let trusted = self.trusted;
        let layers = self.layers.into_iter();
        layers.fold(Engine::builder().events(catalog()).project(self.project), |builder, (layer, config)| {
            match is_of_project(layer) {
                true => builder.layer_with(layer, config, Arc::clone(&trusted) as Arc<dyn Sources>),
                false => builder.layer(layer, config),
            }
        })
    }

    /// The files that the hooks of a layer may run; `None` when they may run any.
    #[must_use]
    pub fn sources(&self, layer: Layer) -> Option<Arc<dyn Sources>> {
        is_of_project(layer).then(|| Arc::clone(&self.trusted) as _)
    }
}

/// The policy in force for a project.
#[must_use]
pub fn in_force(request: &Request) -> Policy {
    in_force_in(request, &state::state_folder(request))
}

/// Like [`in_force`], for a host that has checked the state folder of this very request.
#[must_use]
pub fn in_force_in(request: &Request, state: &StateFolder) -> Policy {
    let mut loading = Loading::default();
    let loaded = loading.load(request, state);
    match loading.closed {
        Some(mut closed) => {
            closed.remaining = loaded.ok().map(Box::new);
            Policy::Closed(closed)
        }
        None => loaded.map_or_else(Policy::None, |loaded| Policy::Loaded(Box::new(loaded))),
    }
}

/// A policy while it is loaded. A part at fault is left out, so that it does not disable the rest.
#[derive(Debug, Default)]
struct Loading {
    /// The first fault.
    closed: Option<Closed>,
}

impl Loading {
    /// Returns the value; on an error, records the fault and returns the default.
    fn or_close<T: Default>(&mut self, result: Result<T, Closed>) -> T {
        result.unwrap_or_else(|closed| {
            self.closed.get_or_insert(closed);
            T::default()
        })
    }

    /// Loads the hooks of everything that is not at fault. If there are none, returns the notices for the person.
    fn load(&mut self, request: &Request, state: &StateFolder) -> Result<Loaded, Notices> {
        let places = request.places(&request.project, Vec::new());
        let is_named = !request.named.is_empty();
        let places = if is_named { places } else { places.resolved() };
        let mut layers = if is_named { Layers::managed(&places) } else { Layers::of_machine(&places) };
        self.or_close(refuse(&layers));
        let mut project = if is_named { Project::default() } else { trust::project(request, &places, state) };
        if let Some(closed) = project.closed.take() {
            self.or_close(Err::<(), _>(closed));
        }
        let notices = std::mem::take(&mut project.notices);
        layers.add_project(&project.folders);
        self.or_close(refuse(&layers));
        let trusted = &project.trusted;
        layers.files.retain(|file| {
            let checked = if is_of_project(file.layer) { trusted.check_bytes(file) } else { Ok(()) };
            let is_same = checked.is_ok();
            self.or_close(checked);
            is_same
        });
        let trusted = Arc::new(project.trusted);
        let own = own_files(request, &layers, &trusted);
        let make = || loader_with(&request.homes, own.clone());
        let (mut configs, problems) = layers.load_each(make);
        if !problems.is_empty() {
            self.or_close(Err::<(), _>(bad(problems)));
        }
        for file in layers.refuse_unsafe_references(&mut configs) {
            self.or_close(Err::<(), _>(refused(&file)));
        }
        if let Err(closed) = trusted.check_loaded() {
            // It is not known which layer read the file that changed.
            configs.retain(|(layer, _)| !is_of_project(*layer));
            self.or_close(Err::<(), _>(closed));
        }
        let mut files: Vec<PathBuf> = layers.files.iter().map(|file| file.path.clone()).collect();
        if is_named {
            match named(&request.named, make(), &configs) {
                Ok(config) => {
                    configs.push((Layer::Host, config));
                    files.extend(request.named.iter().cloned());
                }
                Err(closed) => self.or_close(Err(closed)),
            }
        }
        let disabled_by_person = match state {
            StateFolder::Usable(state) => {
                self.or_close(switch_off(state, &layers, &request.named, &mut configs))
            }
            // Without a usable state folder, nothing is switched off.
            StateFolder::Missing | StateFolder::Refused(_) => Vec::new(),
        };
        let mut settings = settings(&configs);
        if is_named && settings.daemon.is_none() && calls_python(&configs) {
            settings.daemon = daemon_of_user(&places, make());
        }
        if request.self_guard == SelfGuard::On && settings.self_guard != Some(false) {
            match self_guard(request, make(), &configs) {
                Ok(config) => configs.push((Layer::Host, config)),
                Err(closed) => self.or_close(Err(closed)),
            }
        }
        if configs.is_empty() {
            return Err(notices);
        }
        Ok(Loaded {
            files,
            layers: configs,
            notices,
            disabled_by_person,
            settings,
            trusted,
            project: project_dir(request),
        })
    }
}

fn is_of_project(layer: Layer) -> bool {
    matches!(layer, Layer::Project(_) | Layer::Local)
}

/// The project folder that hooks are given: the folder of the first named file, if files were named.
fn project_dir(request: &Request) -> PathBuf {
    let named = request.named.first().and_then(|file| std::path::absolute(file).ok());
    named.and_then(|file| file.parent().map(Path::to_owned)).unwrap_or_else(|| request.project.clone())
}

/// Crosier's own files, which no tool may change: the configuration, and what it runs.
fn own_files(request: &Request, layers: &Layers, trusted: &Arc<Trusted>) -> OwnFiles {
    let files = layers.files.iter().map(|file| &file.path).chain(&request.named).chain(&request.program);
    let (files, trusted): (Vec<PathBuf>, _) = (files.cloned().collect(), Arc::clone(trusted));
    OwnFiles::new(move || files.iter().cloned().chain(trusted.paths()).collect())
}

/// Fails closed when a file was refused.
fn refuse(layers: &Layers) -> Result<(), Closed> {
    layers.refused.first().map_or(Ok(()), |file| Err(refused(file)))
}

fn refused(file: &RefusedFile) -> Closed {
    let (layer, path, why) = (file.layer, show::path(&file.path), show::one_line(&file.why));
    Closed::new(Fault::Refused, format!("the {layer} configuration {path} is refused: {why}"))
}

pub(crate) fn bad(problems: Problems) -> Closed {
    let text = problems.to_string();
    let lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !matches!(*line, "" | "|")).take(2).collect();
    let why = format!("bad configuration: {}; run: crosier check", show::one_line(&lines.join(" ")));
    Closed::new(Fault::Configuration(Box::new(problems)), why)
}

/// Loads the files that a person named.
fn named(files: &[PathBuf], loader: Loader, earlier: &[(Layer, Config)]) -> Result<Config, Closed> {
    let packs = earlier.iter().flat_map(|(_, config)| config.packs.iter().cloned()).collect();
    let permissions = earlier.last().map(|(_, config)| config.permissions.clone()).unwrap_or_default();
    let loader = loader.packs_in_force(packs).permissions_in_force(permissions);
    files.iter().fold(loader, |loader, file| loader.file(file)).load().map_err(|problems| {
        let mut closed = bad(problems);
        let files: Vec<String> = files.iter().map(|file| format!(" -c {}", show::path(file))).collect();
        closed.why.push_str(&files.concat());
        closed
    })
}

fn switch_off(
    state: &Path,
    layers: &Layers,
    named: &[PathBuf],
    configs: &mut [(Layer, Config)],
) -> Result<Vec<String>, Closed> {
    let switches = Switches::read(state).map_err(|why| Closed::new(Fault::Refused, why))?;
    let mut names = Vec::new();
    for (layer, config) in configs {
        let files: Vec<PathBuf> = match *layer {
            Layer::Host => named.to_vec(),
            layer => {
                let files = layers.files.iter().filter(|file| file.layer == layer);
                files.map(|file| file.path.clone()).collect()
            }
        };
        names.extend(switches.apply(*layer, config, &files));
    }
    Ok(names)
}

/// Settings for the host. The first layer that sets a value wins.
fn settings(configs: &[(Layer, Config)]) -> HostSettings {
    let mut all = HostSettings::default();
    for (layer, config) in configs {
        if matches!(layer, Layer::Managed | Layer::Host | Layer::User) {
            all.log = all.log.or(config.settings.log);
            all.daemon = all.daemon.or(config.settings.daemon);
        }
        // A file that was named for one call cannot change settings that are always in force.
        if matches!(layer, Layer::Managed | Layer::User) {
            all.self_guard = all.self_guard.or(config.settings.self_guard);
        }
    }
    all
}

/// Whether a daemon would be of use.
fn calls_python(configs: &[(Layer, Config)]) -> bool {
    let mut hooks = configs.iter().flat_map(|(_, config)| &config.hooks);
    hooks.any(|hook| matches!(hook.handler(), Handler::Python(_)))
}

/// What the user's own file says about the daemon, when files were named instead of it: they replace its hooks, and not
/// what a person says about the processes on the machine. A file that cannot be read may say `off`.
fn daemon_of_user(places: &Places, loader: Loader) -> Option<bool> {
    // Most people who name files have none, and each look at the machine takes time.
    if !places.config_home.as_ref()?.join(crosier_layers::FILE).exists() {
        return None;
    }
    let layers = Layers::of_machine(places);
    if layers.refused.iter().any(|file| file.layer == Layer::User) {
        return Some(false);
    }
    let file = layers.files.into_iter().find(|file| file.layer == Layer::User)?;
    if !file.bytes.windows("daemon".len()).any(|word| word == b"daemon") {
        return None;
    }
    let folder = file.path.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
    let loader = loader.layer(Layer::User).bytes(&file.path.display().to_string(), file.bytes, folder);
    loader.load().map_or(Some(false), |config| config.settings.daemon)
}

/// The hook that keeps agents from changing Crosier itself.
fn self_guard(request: &Request, loader: Loader, earlier: &[(Layer, Config)]) -> Result<Config, Closed> {
    let host = earlier.iter().filter(|(layer, _)| *layer == Layer::Host);
    let mut names = host.flat_map(|(_, config)| &config.declared).filter_map(|hook| hook.name.as_deref());
    let text = match names.any(|name| name == "self-guard") {
        true => crosier_builtins::self_guard::CONFIG.replace("name: self-guard", "name: self-guard-always"),
        false => crosier_builtins::self_guard::CONFIG.to_owned(),
    };
    loader.text("crosier:self-guard", &text, &request.project).load().map_err(bad)
}
