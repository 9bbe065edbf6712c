//! From configuration files to an engine.

use std::path::{Path, PathBuf};

use crosier::config::{Config, Loader, Problems};
use crosier::{Builder, Catalog, Engine};
use crosier_agent::agent::AgentHooks;

use crate::agent::scopes;
use crate::cases::ReplyType;
use crate::exit::{Exit, Failed};
use crate::{environment, state};

/// The file that is used when none is named.
pub(crate) const DEFAULT_CONFIG: &str = "crosier.yaml";

/// The named files, or the default one.
pub(crate) fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failed> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let default = Path::new(DEFAULT_CONFIG);
    if !default.exists() {
        let message =
            format!("no configuration: there is no {DEFAULT_CONFIG} in this folder; name one with -c FILE");
        return Err(Failed::new(Exit::BadConfig, message));
    }
    Ok(vec![default.to_owned()])
}

/// The named files, or the default one if it is there.
pub(crate) fn files_if_any(named: &[PathBuf]) -> Vec<PathBuf> {
    files(named).unwrap_or_default()
}

/// Reads the files; what is wrong is said in full.
pub(crate) fn load(files: &[PathBuf]) -> Result<Config, Failed> {
    with_files(files).load().map_err(|problems| bad("configuration", &problems))
}

/// Reads the files and also looks for what is probably not meant: too slow for every event.
pub(crate) fn lint(files: &[PathBuf]) -> Result<Config, Problems> {
    with_files(files).search_path(environment::path()).lint().load()
}

fn with_files(files: &[PathBuf]) -> Loader {
    files.iter().fold(loader(), |loader, file| loader.file(file))
}

/// Every event: those of the core, and those that only some agents have.
pub(crate) fn catalog() -> Catalog {
    crosier_dialect::catalog()
}

/// A loader that knows everything that this program lets a configuration name.
pub(crate) fn loader() -> Loader {
    // Registering costs nothing: a built-in reads its data and compiles its patterns when a hook names it.
    let mut host = crosier_builtins::Host::default();
    host.state_folder = environment::state_folder();
    crosier_builtins::register_for(Loader::new(catalog()), &host).hook_type(ReplyType)
}

/// The hooks of configuration files, ready to run.
#[derive(Debug)]
pub(crate) struct Hooks {
    pub(crate) engine: Engine,
    /// What was switched off from the command line, by names as shown.
    switched_off: Vec<String>,
}

impl Hooks {
    pub(crate) fn is_switched_off(&self, name: &str) -> bool {
        self.switched_off.iter().any(|other| other == name)
    }
}

/// The hooks of these files, with what was switched off from the command line left out.
pub(crate) fn hooks(files: &[PathBuf], more: impl FnOnce(Builder) -> Builder) -> Result<Hooks, Failed> {
    hooks_of(load(files)?, files, more)
}

fn hooks_of(
    mut config: Config,
    files: &[PathBuf],
    more: impl FnOnce(Builder) -> Builder,
) -> Result<Hooks, Failed> {
    let states = state::read_all(files).map_err(|problems| bad("state", &problems))?;
    let declared = std::mem::take(&mut config.declared);
    let engine = build(more(builder(config)))?;
    let switched_off = state::apply(&states, &declared, files, &engine);
    Ok(Hooks { engine, switched_off })
}

/// The same for a session, in which agents come and go: their hooks are apart.
pub(crate) fn session(files: &[PathBuf]) -> Result<(Engine, Box<AgentHooks>), Failed> {
    let mut config = load(files)?;
    let agents = scopes::take(&mut config);
    Ok((hooks_of(config, files, |builder| builder)?.engine, agents))
}

/// An engine in the current folder and with our environment.
pub(crate) fn builder(config: Config) -> Builder {
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    Engine::builder().events(catalog()).config(config).folder(folder).environment(environment::all()).timing()
}

pub(crate) fn build(builder: Builder) -> Result<Engine, Failed> {
    builder.build().map_err(|error| Failed::new(Exit::BadConfig, format!("bad configuration: {error}")))
}

pub(crate) fn bad(what: &str, problems: &Problems) -> Failed {
    let errors = count(problems.errors(), "error");
    Failed::new(Exit::BadConfig, format!("bad {what}, {errors}\n\n{problems}"))
}

/// `1 error`, `2 errors`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
