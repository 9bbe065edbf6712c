//! The builder of an engine.

#[cfg(feature = "process")]
use std::any::Any;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use crosier_protocol::{Catalog, EventKind, EventRow, Failure};

use super::fire::{Engine, Shared};
use super::scope::Scope;
#[cfg(feature = "config")]
use crate::config::Config;
use crate::ingest;
use crate::plan::Planner;
#[cfg(feature = "config")]
use crate::registry::Sources;
use crate::registry::{
    DEFAULT_TIMEOUT, Hook, HookSet, HookedEvents, Layer, Limits, OnError, RegisterError, Registry,
};
#[cfg(feature = "process")]
use crate::run::ProcessGuard;
#[cfg(feature = "python")]
use crate::run::PythonRunner;
use crate::run::{BackgroundJob, Launcher, Processes, Resources};

/// The default maximum of hooks per event, layer and scope.
const DEFAULT_MAX_HOOKS: usize = 50;

/// Makes an [`Engine`].
#[must_use = "nothing happens until `build`"]
pub struct Builder {
    catalog: Catalog,
    hooks: Vec<Hook>,
    scopes: Vec<Scope>,
    max_hooks_per_point: usize,
    max_in_layers: Vec<(Layer, usize)>,
    timeout: Duration,
    on_error: OnError,
    timing: bool,
    session_id: Option<String>,
    folder: PathBuf,
    environment: Option<Vec<(OsString, OsString)>>,
    project: Option<PathBuf>,
    launcher: Option<Box<Launcher>>,
    #[cfg(feature = "process")]
    process_guard: Option<ProcessGuard>,
    #[cfg(feature = "python")]
    runner: Option<Arc<dyn PythonRunner>>,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("hooks", &self.hooks)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            catalog: Catalog::default(),
            hooks: Vec::new(),
            scopes: Vec::new(),
            max_hooks_per_point: DEFAULT_MAX_HOOKS,
            max_in_layers: Vec::new(),
            timeout: DEFAULT_TIMEOUT,
            on_error: OnError::Log,
            timing: false,
            session_id: None,
            folder: PathBuf::from("/"),
            environment: None,
            project: None,
            launcher: None,
            #[cfg(feature = "process")]
            process_guard: None,
            #[cfg(feature = "python")]
            runner: None,
        }
    }
}

impl Builder {
    /// Adds a row that the host defines to the event table, and returns it for making hooks and events.
    ///
    /// # Errors
    /// When its name or alias is taken, or one of its fields is invalid.
    pub fn event(&mut self, row: EventRow) -> Result<EventKind, RegisterError> {
        self.catalog.add(row).map_err(|detail| RegisterError::InvalidRow { detail })
    }

    /// Uses the events of this catalog instead of the built-in ones.
    pub fn events(mut self, catalog: Catalog) -> Self {
        self.catalog = catalog;
        self
    }

    /// The events that hooks can be registered for.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Adds a base hook.
    pub fn hook(mut self, hook: Hook) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Adds base hooks.
    pub fn hooks(mut self, hooks: impl IntoIterator<Item = Hook>) -> Self {
        self.hooks.extend(hooks);
        self
    }

    /// Adds a scope that lasts as long as the engine.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scopes.push(scope);
        self
    }

    /// Adds everything in a configuration, as part of the host's layer.
    #[cfg(feature = "config")]
    pub fn config(self, config: Config) -> Self {
        self.layer(Layer::Host, config)
    }

    /// Adds everything in the configuration of one layer. A later layer only adds to the earlier ones,
    /// whatever the order of these calls.
    #[cfg(feature = "config")]
    pub fn layer(self, layer: Layer, config: Config) -> Self {
        self.add_layer(layer, config, None)
    }

    /// Like [`layer`](Self::layer), but its commands and python functions run only while their files are
    /// unchanged from this record.
    #[cfg(feature = "config")]
    pub fn layer_with(self, layer: Layer, config: Config, sources: Arc<dyn Sources>) -> Self {
        self.add_layer(layer, config, Some(sources))
    }

    #[cfg(feature = "config")]
    fn add_layer(mut self, layer: Layer, config: Config, sources: Option<Arc<dyn Sources>>) -> Self {
        let in_layer = |mut hooks: Vec<Hook>| {
            for hook in &mut hooks {
                (hook.layer, hook.sources) = (layer, sources.clone());
            }
            hooks
        };
        // Usually these are all the hooks: a long list should not be copied.
        if self.hooks.is_empty() {
            self.hooks = in_layer(config.hooks);
        } else {
            self.hooks.extend(in_layer(config.hooks));
        }
        for agent in config.agents {
            let mut scope = Scope::new(agent.id).hooks(in_layer(agent.hooks));
            for (event, ..) in agent.overrides {
                scope = scope.overriding_in(layer, event);
            }
            self.scopes.push(scope);
        }
        match (layer, config.max_hooks_per_point) {
            (_, None) => {}
            (Layer::Host, Some(max)) => self.max_hooks_per_point = max,
            (layer, Some(max)) => self.max_in_layers.push((layer, max)),
        }
        self
    }

    /// Limits the hooks per event (also called a point), layer and scope. The default is 50.
    pub fn max_hooks_per_point(mut self, limit: usize) -> Self {
        self.max_hooks_per_point = limit;
        self
    }

    /// Sets the timeout of hooks that set none. The default is 30 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets `on_error` for hooks that do not set it. The default is to log and continue.
    pub fn on_error(mut self, on_error: OnError) -> Self {
        self.on_error = on_error;
        self
    }

    /// Also measures how long callbacks take. Costs two clock reads per hook.
    pub fn timing(mut self) -> Self {
        self.timing = true;
        self
    }

    /// Sets the session of events that name none. By default the engine makes an id.
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Sets the folder of events that name none. The default is `/`: the library does not read the current
    /// directory.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Sets the project's folder, which hooks get in `CROSIER_PROJECT_DIR`. By default they get the folder of
    /// their configuration.
    pub fn project(mut self, folder: impl Into<PathBuf>) -> Self {
        self.project = Some(folder.into());
        self
    }

    /// Sets the environment that hooks inherit, except credentials and loader variables. Without it a hook
    /// has `PATH=/usr/bin:/bin` and the variables that describe the event.
    pub fn environment(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.environment = Some(variables.into_iter().collect());
        self
    }

    /// Passes background hooks to the host instead of running them, for hosts that exit before such hooks are
    /// done.
    pub fn launcher(
        mut self,
        launch: impl Fn(&BackgroundJob) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Self {
        self.launcher = Some(Box::new(launch));
        self
    }

    /// Calls this for every process that is started for a hook, right after its start, with its process id,
    /// which is also the id of its process group. The returned value is dropped when the process has ended,
    /// before it is reaped: until then no other process can have that id.
    ///
    /// The program `crosier` uses it so that the kernel kills hooks when `crosier` itself is killed. By
    /// default, hooks of a killed host run to their end.
    #[cfg(feature = "process")]
    pub fn process_guard<T: Any + Send + Sync>(
        mut self,
        make: impl Fn(u32) -> T + Send + Sync + 'static,
    ) -> Self {
        self.process_guard = Some(ProcessGuard::new(move |process| Box::new(make(process))));
        self
    }

    /// Offers every call of a python hook to this runner, before the engine starts a worker of its own.
    #[cfg(feature = "python")]
    pub fn python_runner(mut self, runner: Arc<dyn PythonRunner>) -> Self {
        self.runner = Some(runner);
        self
    }

    /// Makes the engine.
    ///
    /// # Errors
    /// The first problem with a hook: a bad matcher, a duplicate name, too many hooks.
    pub fn build(self) -> Result<Engine, RegisterError> {
        let events = self.catalog.len();
        let limits = Limits {
            max_hooks_per_point: self.max_hooks_per_point,
            max_in_layers: self.max_in_layers,
            timeout: self.timeout,
            on_error: self.on_error,
            catalog: self.catalog,
            hooked: HookedEvents::new(events),
        };
        let mut registry = Registry::new(events);
        let mut base = HookSet::new(None, events);
        for hook in self.hooks {
            base.add(hook, &limits)?;
        }
        registry = registry.with_base(base);
        for scope in self.scopes {
            registry = scope.add_to(&registry, &limits)?.0;
        }
        let folder = self.folder.to_string_lossy().into_owned();
        #[cfg(not(feature = "process"))]
        let processes = Processes;
        #[cfg(feature = "process")]
        let processes = Processes::new(self.process_guard);
        #[cfg(feature = "python")]
        let processes = processes.with_runner(self.runner);
        let resources = Resources::new(self.environment, self.project, processes);
        Ok(Engine::new(Shared {
            planner: ArcSwap::from_pointee(Planner::new(registry, events)),
            changing: Mutex::new(()),
            limits,
            defaults: ingest::defaults(self.session_id, folder),
            timing: self.timing,
            bus: Arc::default(),
            resources: Arc::new(resources),
            deferred: Arc::default(),
            launcher: self.launcher,
        }))
    }
}
