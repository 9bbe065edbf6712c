//! Loads configuration files.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::Catalog;

use super::builtin::{Builtin, Builtins};
use super::file::file;
use super::hook_type::{HookType, HookTypes};
use super::keys::{self, KeyTables};
use super::lint;
use super::names::{DeclaredHook, Names};
use super::pack::{ChangedHook, Document, Pack, Packs};
use super::referenced;
use super::script::{Commands, LayeredPermissions, Permissions, SlashCommand};
use super::section::Settings;
use super::settings::HostSettings;
use super::tree::{self, Problem, Problems, Severity, Source, Span, parse_document};
use super::value::Reader;
use crate::registry::{Hook, Layer, OnError};

/// The default maximum of hooks per event and scope.
const DEFAULT_MAX_HOOKS: usize = 50;

/// The checked content of configuration files: hooks in their order, and warnings.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Config {
    /// The base hooks.
    pub hooks: Vec<Hook>,
    /// The hooks of agents, in the order of the files.
    pub agents: Vec<AgentConfig>,
    /// The maximum number of hooks per event and scope, if a file sets it.
    pub max_hooks_per_point: Option<usize>,
    /// Settings for the host, besides hooks.
    pub settings: HostSettings,
    /// The packs that the files extend, for [`Loader::packs_in_force`] of a later layer.
    pub packs: Vec<String>,
    /// The permissions of this layer and of the earlier ones, for [`Loader::permissions_in_force`] of a later
    /// layer.
    pub permissions: LayeredPermissions,
    /// The files that the configuration refers to, if this is the managed or the user's layer: packs, scripts, and rules
    /// of built-in hooks.
    pub files: Vec<PathBuf>,
    /// Warnings about what is allowed but probably not intended.
    pub warnings: Problems,
    /// Every hook with its position, including disabled ones.
    pub declared: Vec<DeclaredHook>,
}

impl Config {
    /// Disables the hook of this name in this scope, unless it is a system hook. Returns whether a hook was
    /// disabled.
    pub fn disable_hook(&mut self, agent: Option<&str>, name: &str) -> bool {
        let hooks: Vec<&mut Hook> = match agent {
            None => self.hooks.iter_mut().collect(),
            Some(id) => {
                let agents = self.agents.iter_mut().filter(|agent| &*agent.id == id);
                agents.flat_map(|agent| agent.hooks.iter_mut()).collect()
            }
        };
        let mut found = false;
        for hook in hooks.into_iter().filter(|hook| hook.name.as_deref() == Some(name) && !hook.system) {
            hook.enabled = false;
            found = true;
        }
        found
    }
}

/// The hooks of one agent.
#[derive(Debug)]
#[non_exhaustive]
pub struct AgentConfig {
    /// The agent.
    pub id: Arc<str>,
    /// Its hooks.
    pub hooks: Vec<Hook>,
    /// The events whose base hooks it leaves out, and where that is configured.
    pub overrides: Vec<(crosier_protocol::EventKind, Span, Arc<Source>)>,
}

impl AgentConfig {
    /// Whether it adds or leaves out a hook.
    pub(super) fn does_something(&self) -> bool {
        !self.hooks.is_empty() || !self.overrides.is_empty()
    }
}

/// Reads configuration files.
#[derive(Debug, Default)]
#[must_use = "nothing is read until `load`"]
pub struct Loader {
    catalog: Catalog,
    commands: Commands,
    builtins: Builtins,
    types: HookTypes,
    packs: Vec<Pack>,
    search_path: Option<OsString>,
    layer: Layer,
    packs_in_force: Vec<String>,
    permissions_in_force: LayeredPermissions,
    lints: bool,
    may_be_empty: bool,
    sources: Vec<Result<Input, Box<Problem>>>,
}

/// One text, or a part of one, and the folder at which its relative paths begin.
#[derive(Debug)]
struct Input {
    source: Arc<Source>,
    /// The part; `None` for the whole text.
    part: Option<tree::Node>,
    folder: PathBuf,
}

/// What the functions that read one file need to know.
pub(super) struct LoadContext<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) folder: &'a Path,
    /// If this is a pack: its hooks that the extending file changes.
    pub(super) changed: &'a [ChangedHook],
    pub(super) names: &'a mut Names,
    pub(super) commands: &'a Commands,
    pub(super) builtins: &'a Builtins,
    pub(super) types: &'a HookTypes,
    /// Where lints search for programs, in the form of `PATH`.
    pub(super) search_path: Option<&'a OsStr>,
    /// Whether this is a configuration of MassGen, where a `handler` without a `type` is python.
    pub(super) is_massgen: bool,
    pub(super) may_be_empty: bool,
    pub(super) layer: Layer,
}

impl LoadContext<'_> {
    /// Whether a hook can have this key, in any spelling.
    pub(super) fn is_hook_key(&self, key: &str) -> bool {
        let key = keys::canonical(key);
        keys::HOOK.contains(&&*key) || self.types.has_key(&key)
    }
}

impl Loader {
    /// A loader for the events of this catalog.
    pub fn new(catalog: Catalog) -> Self {
        Self { catalog, ..Self::default() }
    }

    /// Adds a file. An error in reading it is reported by [`load`](Self::load).
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let name = path.display().to_string();
        self.sources.push(match fs::read(path) {
            Err(error) => Err(Box::new(unreadable(&name, &error.to_string()))),
            Ok(bytes) => {
                // Absolute: hooks run in the folder of their file, wherever the host runs.
                let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
                let folder = whole.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
                input(&name, bytes, folder)
            }
        });
        self
    }

    /// Adds bytes under a name, as if they were read from a file; relative paths in them begin at this folder.
    pub fn bytes(mut self, name: &str, bytes: Vec<u8>, folder: impl Into<PathBuf>) -> Self {
        self.sources.push(input(name, bytes, folder.into()));
        self
    }

    /// Adds a text under a name; relative paths in it begin at this folder.
    pub fn text(mut self, name: &str, text: &str, folder: impl Into<PathBuf>) -> Self {
        let source = Source::new(name, text);
        self.sources.push(Ok(Input { source, part: None, folder: folder.into() }));
        self
    }

    /// Adds a configuration that is a part of another text, such as a test case.
    pub fn part(mut self, source: &Arc<Source>, node: tree::Node, folder: impl Into<PathBuf>) -> Self {
        let source = Arc::clone(source);
        self.sources.push(Ok(Input { source, part: Some(node), folder: folder.into() }));
        self
    }

    /// Adds a command for `.arma` scripts and `run:` lines. A name that is taken is an error in
    /// [`load`](Self::load).
    pub fn slash_command(mut self, command: impl SlashCommand + 'static) -> Self {
        self.commands.add(Arc::new(command));
        self
    }

    /// Adds a ready-made hook that `type: builtin` can name.
    pub fn builtin(mut self, builtin: impl Builtin + 'static) -> Self {
        self.builtins.add(builtin);
        self
    }

    /// The ready-made hooks that a configuration may name, in the order they were registered.
    pub fn builtins(&self) -> impl Iterator<Item = &dyn Builtin> {
        self.builtins.all()
    }

    /// Adds a type of hook, a value of `type:`.
    pub fn hook_type(mut self, hook_type: impl HookType + 'static) -> Self {
        self.types.add(Arc::new(hook_type));
        self
    }

    /// Adds a pack that `extends:` can name.
    pub fn pack(mut self, pack: Pack) -> Self {
        self.packs.push(pack);
        self
    }

    /// The packs that `extends:` can name, in the order they were registered.
    #[must_use]
    pub fn packs(&self) -> &[Pack] {
        &self.packs
    }

    /// The keys that a configuration may have, including those of registered hook types, for schemas and
    /// documentation.
    #[must_use]
    pub fn keys(&self) -> KeyTables {
        KeyTables::new(self.types.all())
    }

    /// Sets the layer of the files. Settings such as `log` and `daemon` are errors in the layers of a
    /// project.
    pub fn layer(mut self, layer: Layer) -> Self {
        self.layer = layer;
        self
    }

    /// Sets the packs that earlier layers extend, from [`Config::packs`]. Their hooks are not added again,
    /// and these files cannot change them: a changed hook is added next to the original.
    pub fn packs_in_force(mut self, packs: Vec<String>) -> Self {
        self.packs_in_force = packs;
        self
    }

    /// Sets the permissions of earlier layers, from [`Config::permissions`]. Those of these files are added: they
    /// count for `/perms check` in every layer, and the strictest one counts.
    pub fn permissions_in_force(mut self, permissions: LayeredPermissions) -> Self {
        self.permissions_in_force = permissions;
        self
    }

    /// Sets where the programs of hooks are found, in the form of `PATH`, so that [`lint`](Self::lint) can
    /// report missing ones.
    pub fn search_path(mut self, path: impl Into<OsString>) -> Self {
        self.search_path = Some(path.into());
        self
    }

    /// Also warns about what is allowed but probably not intended, and checks files on disk. Off by default: a host
    /// that loads its configuration for every event has no time for it.
    pub fn lint(mut self) -> Self {
        self.lints = true;
        self
    }

    /// Accepts a text in which nothing is configured, for texts that a program generates. If such a text has
    /// unknown keys, it is still an error.
    pub fn may_be_empty(mut self) -> Self {
        self.may_be_empty = true;
        self
    }

    /// Reads all files in order.
    ///
    /// # Errors
    /// All problems of all files, when there is an error among them.
    pub fn load(self) -> Result<Config, Problems> {
        let mut problems = Problems::new();
        let mut config = Config::default();
        let mut names = Names::default();
        let mut packs = Packs {
            catalog: &self.catalog,
            types: &self.types,
            registered: &self.packs,
            read: Vec::new(),
            in_force: &self.packs_in_force,
        };
        let mut documents: Vec<Document> = Vec::with_capacity(self.sources.len());
        for input in &self.sources {
            match input {
                Err(problem) => problems.push(problem.as_ref().clone()),
                Ok(input) => match input.part.clone().map_or_else(|| parse_document(&input.source), Ok) {
                    Err(found) => problems.extend(found),
                    Ok(node) => {
                        let source = &input.source;
                        let mut reader = Reader { source, problems: &mut problems, lints: self.lints };
                        documents.extend(packs.expand(&mut reader, node, &input.folder));
                    }
                },
            }
        }
        // Permissions of all files are read first: a script line may use one that a later file sets.
        let mut permissions = Permissions::default();
        for Document { source, node, .. } in &documents {
            let mut reader = Reader { source, problems: &mut problems, lints: self.lints };
            node.get("permissions").into_iter().for_each(|node| permissions.read(&mut reader, node));
        }
        config.permissions = self.permissions_in_force.clone();
        let commands = self.commands.complete(config.permissions.add(permissions), &mut problems);
        for Document { source, node, folder, changed } in &documents {
            let mut reader = Reader { source, problems: &mut problems, lints: self.lints };
            let mut context = LoadContext {
                catalog: &self.catalog,
                folder,
                changed,
                names: &mut names,
                commands: &commands,
                builtins: &self.builtins,
                types: &self.types,
                search_path: self.search_path.as_deref(),
                is_massgen: is_massgen(node),
                may_be_empty: self.may_be_empty,
                layer: self.layer,
            };
            file(&mut reader, &mut context, node, &mut config);
        }
        if matches!(self.layer, Layer::Managed | Layer::User) {
            let inputs = self.sources.iter().flatten().map(|input| input.source.name.as_str());
            config.files = referenced::files(&documents, inputs);
        }
        config.packs = packs.read.into_iter().map(|(name, _)| name).collect();
        let limit = config.max_hooks_per_point.unwrap_or(DEFAULT_MAX_HOOKS);
        names.check_limit(limit, &mut problems);
        if self.lints {
            lint::shadowed(&config, &names, &mut problems);
        }
        config.declared = names.into_hooks();
        if problems.iter().any(|problem| problem.severity() == Severity::Error) {
            return Err(problems);
        }
        config.warnings = problems;
        Ok(config)
    }
}

/// Whether this is a configuration of MassGen: it has an orchestrator, or agents with a backend.
fn is_massgen(node: &tree::Node) -> bool {
    let has_backend = |agent: &tree::Node| agent.get("backend").is_some();
    let agents = node.get("agents").and_then(tree::Node::as_list).unwrap_or_default();
    node.get("orchestrator").is_some()
        || node.get("agent").is_some_and(has_backend)
        || agents.iter().any(has_backend)
}

fn input(name: &str, bytes: Vec<u8>, folder: PathBuf) -> Result<Input, Box<Problem>> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Input { source: Source::new(name, text), part: None, folder }),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(Box::new(unreadable(name, &format!("it is not UTF-8 text (byte {at})"))))
        }
    }
}

fn unreadable(name: &str, why: &str) -> Problem {
    Problem::error(&Source::new(name, ""), Span::at(0), format!("the file cannot be read: {why}"))
}

impl Settings {
    /// Whether the section sets anything.
    pub(super) fn is_set(&self) -> bool {
        self.timeout.is_some()
            || self.on_error.is_some()
            || self.max_hooks_per_point.is_some()
            || self.enforcement.is_some()
    }

    /// Applies the section's defaults to a hook that does not set these values.
    pub(super) fn apply(&self, timeout: &mut Option<Duration>, on_error: &mut Option<OnError>) {
        *timeout = timeout.or(self.timeout);
        *on_error = on_error.or(self.on_error);
    }
}

#[cfg(test)]
#[path = "loader_tests.rs"]
mod tests;
