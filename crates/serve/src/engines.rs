//! One connection's own hooks, scopes and switches, and its engines, which have them. Other connections do not see
//! them.
//!
//! The configuration of a location is read when it is first needed, and again when one of its files changed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use crosier::{Engine, Entry, Hook, Json, Layer, Mode, Scope, ScopeHandle};

use crate::connection::Connection;
use crate::error::{ErrorKind, RpcError};
use crate::host::{Closed, ConfigLocation, Fault, Loaded};
use crate::server::Server;
use crate::updates::Relay;

/// The maximum number of engines that a connection keeps: one for each location and environment that it fires with.
const MAX_ENGINES: usize = 8;
/// The longest time that a background hook may run after its connection was closed.
const MAX_LINGER: Duration = Duration::from_secs(600);

/// Environment variables of hooks.
pub(crate) type Variables = Arc<Vec<(String, String)>>;

/// What a fire depends on besides its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FireContext {
    pub(crate) location: ConfigLocation,
    pub(crate) env: Variables,
    pub(crate) cwd: PathBuf,
}

/// The hooks, scopes and switches that are one connection's own, and the engines that have them: one for each fire
/// context, kept for the next fire.
#[derive(Debug, Default)]
pub(crate) struct ConnectionEngines {
    registered: Vec<Registered>,
    scopes: Vec<(String, Scope)>,
    switched: Vec<SwitchedHook>,
    /// The most recently used engine comes first.
    engines: Vec<KeptEngine>,
}

#[derive(Debug, Clone)]
struct Registered {
    hook: Hook,
    agent: Option<String>,
    display_name: String,
}

/// A hook that was switched.
#[derive(Debug)]
struct SwitchedHook {
    name: String,
    on: bool,
    /// Whether the connection registered it.
    is_own: bool,
}

#[derive(Debug)]
struct KeptEngine {
    fire_context: FireContext,
    engine: Engine,
    stamps: Vec<(PathBuf, Stamp)>,
    files: Vec<PathBuf>,
    problems: Json,
    not_trusted_notice: Option<String>,
    scopes: Vec<(String, ScopeHandle)>,
    relay: Option<Arc<Relay>>,
}

/// Metadata that changes when a file or a folder does; `None` if it does not exist.
type Stamp = Option<FileStamp>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    /// When its content was modified, in nanoseconds.
    modified: i64,
    /// Only the nanosecond part of the time when its metadata changed: two changes hardly have the same.
    changed_nanos: i64,
    size: u64,
    inode: u64,
}

/// An engine to fire with.
#[derive(Debug, Clone)]
pub(crate) struct ReadyEngine {
    pub(crate) engine: Engine,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) problems: Json,
    /// Why no hook is in force, if a person has never trusted those that there are.
    pub(crate) not_trusted_notice: Option<String>,
    pub(crate) relay: Option<Arc<Relay>>,
}

impl ReadyEngine {
    /// That no event can be judged here, if the only hooks that there are may not run.
    pub(crate) fn trusted(self) -> Result<Self, RpcError> {
        match &self.not_trusted_notice {
            Some(why) => Err(RpcError::new(ErrorKind::Untrusted, why).with("problems", self.problems)),
            None => Ok(self),
        }
    }
}

impl ConnectionEngines {
    /// The engine for a fire context, with the configuration as it is now.
    pub(crate) fn engine(
        &mut self,
        fire_context: &FireContext,
        server: &Arc<Server>,
        owner: &Weak<Connection>,
        listens: bool,
    ) -> Result<ReadyEngine, RpcError> {
        let found = self.engines.iter().position(|kept| kept.fire_context == *fire_context);
        let fresh = found.filter(|&at| self.engines.get(at).is_some_and(KeptEngine::is_current));
        match fresh {
            Some(0) => {}
            Some(at) => {
                let kept = self.engines.remove(at);
                self.engines.insert(0, kept);
            }
            None => {
                let kept = self.build(fire_context, server)?;
                if let Some(old) = found {
                    linger(self.engines.remove(old).engine);
                }
                self.engines.insert(0, kept);
                for old in self.engines.drain(MAX_ENGINES.min(self.engines.len())..) {
                    linger(old.engine);
                }
            }
        }
        let has_own = self.count() > 0;
        let Some(kept) = self.engines.first_mut() else {
            return Err(RpcError::new(ErrorKind::Internal, "the engine is gone"));
        };
        if listens && kept.relay.is_none() {
            let listener = kept.engine.subscribe(4096);
            kept.relay = Some(Relay::start(listener, owner.clone(), Arc::downgrade(server)));
        } else if !listens {
            kept.relay = None;
        }
        let KeptEngine { engine, files, problems, not_trusted_notice, relay, .. } = kept;
        Ok(ReadyEngine {
            engine: engine.clone(),
            files: files.clone(),
            problems: problems.clone(),
            not_trusted_notice: not_trusted_notice.clone().filter(|_| !has_own),
            relay: relay.clone(),
        })
    }

    fn build(&self, fire_context: &FireContext, server: &Arc<Server>) -> Result<KeptEngine, RpcError> {
        let before = SystemTime::now();
        let Loaded { builder, files, watched, disabled_by_person, problems, not_trusted_notice } =
            server.host().load(&fire_context.location).map_err(closed)?;
        let stamps = watched.into_iter().map(|path| (path.clone(), stamp_before(&path, before))).collect();
        let env = fire_context.env.iter().map(|(name, value)| (name.into(), value.into()));
        let builder =
            builder.folder(&fire_context.cwd).environment(env).timing().python_runner(server.workers());
        let engine = builder
            .build()
            .map_err(|error| RpcError::new(ErrorKind::Config, format!("bad configuration: {error}")))?;
        for name in disabled_by_person {
            // A hook that the engine refuses to disable stays enabled.
            let _ = engine.disable(&name);
        }
        let mut kept = KeptEngine {
            fire_context: fire_context.clone(),
            engine,
            stamps,
            files,
            problems,
            not_trusted_notice,
            scopes: Vec::new(),
            relay: None,
        };
        // Before the connection's own hooks are registered: one of them may have the same name.
        let mut later: Vec<&SwitchedHook> = self.switched.iter().collect();
        later.retain(|one| one.is_own || kept.switch(&one.name, one.on).is_err());
        for one in &self.registered {
            kept.register(one)?;
        }
        for (agent, scope) in &self.scopes {
            kept.enter(agent, scope)?;
        }
        for one in later {
            let name = if one.is_own { kept.name_of(&one.name) } else { one.name.clone() };
            let _ = kept.switch(&name, one.on);
        }
        Ok(kept)
    }

    /// How many hooks and scopes are the connection's own.
    pub(crate) fn count(&self) -> usize {
        self.registered.len() + self.scopes.len()
    }

    /// Registers a hook in every engine of the connection; returns its display name.
    pub(crate) fn register(&mut self, hook: Hook, agent: Option<String>) -> Result<String, RpcError> {
        let name = hook.name().unwrap_or_default();
        let display_name = agent.as_ref().map_or_else(|| name.to_owned(), |agent| format!("{agent}/{name}"));
        if self.registered.iter().any(|one| one.display_name == display_name) {
            return Err(registration(format!("a hook named `{display_name}` is registered already")));
        }
        let one = Registered { hook, agent, display_name: display_name.clone() };
        self.change(|kept| kept.register(&one))?;
        self.registered.push(one);
        Ok(self.engines.first().map_or(display_name.clone(), |kept| kept.name_of(&display_name)))
    }

    /// Removes a hook that this connection registered.
    pub(crate) fn remove(&mut self, display_name: &str) -> bool {
        let Some(at) = self.registered.iter().position(|one| one.is_named(display_name)) else {
            return false;
        };
        let one = self.registered.remove(at);
        self.switched.retain(|other| !other.is_own || other.name != one.display_name);
        self.engines.iter().for_each(|kept| {
            kept.engine.unregister(&kept.name_of(&one.display_name));
        });
        true
    }

    /// Enters a scope.
    pub(crate) fn enter(&mut self, agent: &str, scope: Scope) -> Result<(), RpcError> {
        if self.scopes.iter().any(|(other, _)| other == agent) {
            return Err(registration(format!("the scope `{agent}` was entered already; leave it first")));
        }
        self.change(|kept| kept.enter(agent, &scope))?;
        self.scopes.push((agent.to_owned(), scope));
        Ok(())
    }

    /// Leaves a scope, with all hooks that this connection has in it.
    pub(crate) fn leave(&mut self, agent: &str) -> bool {
        let mine: Vec<String> = self
            .registered
            .iter()
            .filter(|one| one.agent.as_deref() == Some(agent))
            .map(|one| one.display_name.clone())
            .collect();
        for display_name in &mine {
            self.remove(display_name);
        }
        let before = self.scopes.len();
        let inside = format!("{agent}/");
        self.switched.retain(|one| !one.name.starts_with(&inside));
        self.scopes.retain(|(other, _)| other != agent);
        for kept in &mut self.engines {
            kept.scopes.retain(|(other, _)| other != agent);
        }
        before != self.scopes.len() || !mine.is_empty()
    }

    /// Switches a hook of this connection's engines on or off.
    pub(crate) fn switch(&mut self, name: &str, on: bool) -> Result<(), RpcError> {
        let first = self.engines.first();
        let is_other =
            first.and_then(|kept| kept.engine.entry(name)).is_some_and(|entry| is_configured(&entry));
        let own = self
            .registered
            .iter()
            .find(|one| !is_other && one.is_named(name))
            .map(|one| one.display_name.clone());
        self.change(|kept| match &own {
            Some(own) => kept.switch(&kept.name_of(own), on),
            None => kept.switch(name, on),
        })?;
        let (name, is_own) = (own.as_deref().unwrap_or(name), own.is_some());
        self.switched.retain(|other| other.is_own != is_own || other.name != name);
        self.switched.push(SwitchedHook { name: name.to_owned(), on, is_own });
        Ok(())
    }

    /// Changes the engine that was used last, which decides whether the change is possible, and then the others. One
    /// that fails is rebuilt when it is needed.
    fn change(&mut self, change: impl Fn(&mut KeptEngine) -> Result<(), RpcError>) -> Result<(), RpcError> {
        if let Some(first) = self.engines.first_mut() {
            change(first)?;
        }
        let mut others = self.engines.split_off(1.min(self.engines.len()));
        others.retain_mut(|kept| change(kept).is_ok());
        self.engines.append(&mut others);
        Ok(())
    }

    /// Ends the engines of a closed connection, except for background hooks.
    pub(crate) fn close(&mut self) {
        self.registered.clear();
        self.scopes.clear();
        for kept in self.engines.drain(..) {
            linger(kept.engine);
        }
    }
}

impl Registered {
    fn is_named(&self, name: &str) -> bool {
        self.display_name == name || name.strip_prefix("host:") == Some(&self.display_name)
    }
}

impl KeptEngine {
    /// The display name of one of the connection's own hooks: with its layer, if a configured hook has the same name.
    fn name_of(&self, display_name: &str) -> String {
        match self.engine.entry(display_name) {
            Some(entry) if !is_configured(&entry) => display_name.to_owned(),
            _ => format!("host:{display_name}"),
        }
    }

    fn is_current(&self) -> bool {
        self.stamps.iter().all(|(path, known)| stamp(path) == *known)
    }

    fn switch(&self, name: &str, on: bool) -> Result<(), RpcError> {
        let entry = self.engine.entry(name);
        // The engine itself refuses system hooks and managed ones, and says why.
        let is_guard = |entry: &Entry| entry.guard && !entry.system && entry.layer != Layer::Managed;
        if !on && entry.is_some_and(|entry| is_guard(&entry) && is_configured(&entry)) {
            return Err(registration(format!("`{name}` is a guard of a configuration and stays on")));
        }
        let switched = if on { self.engine.enable(name) } else { self.engine.disable(name) };
        switched.map_err(|error| registration(error.to_string()))
    }

    fn register(&mut self, one: &Registered) -> Result<(), RpcError> {
        let hook = one.hook.clone();
        // A hook of a file that the host named is in the host's layer too.
        let is_taken = self
            .engine
            .entry(&one.display_name)
            .is_some_and(|entry| entry.layer == Layer::Host && is_configured(&entry));
        let registered = match &one.agent {
            None if is_taken => {
                self.engine.register(hook.renamed(format!("host:{}", one.display_name))).map(|_| ())
            }
            None => self.engine.register(hook).map(|_| ()),
            Some(agent) => self.engine.register_scoped(agent, [hook]),
        };
        registered.map_err(|error| registration(error.to_string()))
    }

    fn enter(&mut self, agent: &str, scope: &Scope) -> Result<(), RpcError> {
        let handle = self.engine.enter(scope.clone()).map_err(|error| registration(error.to_string()))?;
        self.scopes.push((agent.to_owned(), handle));
        Ok(())
    }
}

/// Whether a hook comes from a configuration, and not from the connection.
fn is_configured(entry: &Entry) -> bool {
    entry.layer != Layer::Host || entry.origin.is_some()
}

pub(crate) fn registration(message: String) -> RpcError {
    RpcError::new(ErrorKind::Registration, message)
}

fn closed(closed: Closed) -> RpcError {
    let kind = match closed.fault {
        Fault::Configuration => ErrorKind::Config,
        Fault::UnsafeFile | Fault::Trust => ErrorKind::Untrusted,
    };
    RpcError::new(kind, closed.why).with("problems", closed.problems)
}

fn stamp(path: &Path) -> Stamp {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(path).ok()?;
    Some(FileStamp {
        modified: meta.mtime() * 1_000_000_000 + meta.mtime_nsec(),
        changed_nanos: meta.ctime_nsec(),
        size: meta.size(),
        inode: meta.ino(),
    })
}

/// The stamp of a file that was read after `moment`. A file that changed after it, or within the clock's resolution
/// before it, may have been read in the middle of a change: its stamp is made to differ, so that it is read again.
fn stamp_before(path: &Path, moment: SystemTime) -> Stamp {
    let settled = moment.checked_sub(Duration::from_millis(20)).unwrap_or(moment);
    let is_young = std::fs::metadata(path).and_then(|meta| meta.modified()).is_ok_and(|at| at >= settled);
    stamp(path).map(|stamp| if is_young { FileStamp { modified: 0, ..stamp } } else { stamp })
}

/// Keeps an engine alive while its background hooks may run: dropping it would kill them.
fn linger(engine: Engine) {
    let entries = engine.entries();
    let background = entries.iter().filter(|entry| entry.mode == Mode::Background);
    if let Some(longest) = background.map(|entry| entry.timeout).max() {
        tokio::spawn(async move {
            tokio::time::sleep((longest + Duration::from_secs(1)).min(MAX_LINGER)).await;
            drop(engine);
        });
    }
}
