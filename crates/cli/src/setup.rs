//! Builds an engine from the command line.

use std::path::{Path, PathBuf};

use crosier::config::{Config, Loader, Problems};
use crosier::{Builder, Catalog, Engine, Handler};
use crosier_agent::agent::AgentHooks;
use crosier_policy::{Closed, Fault, Loaded, Notices, Policy, Request};

use crate::agent::scopes;
use crate::command::serve;
use crate::exit::{Exit, Failed};
use crate::homes::{self, Homes};
use crate::{environment, lifeline, print, search_path};

/// The name of a configuration file.
pub(crate) const DEFAULT_CONFIG: &str = "crosier.yaml";

/// Loads the files; the error lists all problems.
pub(crate) fn load(files: &[PathBuf]) -> Result<Config, Failed> {
    with_files(files).load().map_err(|problems| bad("configuration", &problems))
}

fn with_files(files: &[PathBuf]) -> Loader {
    files.iter().fold(loader(), |loader, file| loader.file(file))
}

/// Every event: those of the core, and those that only some agents have.
pub(crate) fn catalog() -> Catalog {
    crosier_policy::catalog()
}

/// A loader that knows everything that this program lets a configuration name.
pub(crate) fn loader() -> Loader {
    crosier_policy::loader(&homes::of_environment())
}

/// The request for the policy in the current folder: with these files, or else those that are found.
pub(crate) fn request(named: &[PathBuf], homes: Homes) -> Request {
    let mut request = request_before_project(named, homes);
    homes::use_home_outside_project(&mut request);
    request
}

/// The same, for a caller that finds the project itself and then calls [`homes::use_home_outside_project`].
pub(crate) fn request_before_project(named: &[PathBuf], homes: Homes) -> Request {
    let mut request = Request::new(here());
    request.named = named.to_vec();
    request.homes = homes;
    request.program = std::env::current_exe().ok();
    request
}

/// The configuration in this folder, if it is in force.
pub(crate) fn trusted_file() -> Result<Vec<PathBuf>, Failed> {
    let own = here().join(DEFAULT_CONFIG);
    let is_own = |file: &PathBuf| std::fs::canonicalize(file).ok() == std::fs::canonicalize(&own).ok();
    match loaded(&request(&[], homes::of_environment()))?.files.iter().any(is_own) {
        true => Ok(vec![PathBuf::from(DEFAULT_CONFIG)]),
        false => Err(nothing(&Notices::new())),
    }
}

/// The current folder.
pub(crate) fn here() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))
}

/// The hooks in force, ready to run.
#[derive(Debug)]
pub(crate) struct Hooks {
    pub(crate) engine: Engine,
    /// The files that they come from.
    pub(crate) files: Vec<PathBuf>,
    /// Whether decisions are logged.
    pub(crate) is_logged: bool,
    /// The display names of the hooks that a person disabled.
    disabled_by_person: Vec<String>,
}

impl Hooks {
    pub(crate) fn is_disabled_by_person(&self, name: &str) -> bool {
        self.disabled_by_person.iter().any(|other| other == name)
    }

    /// The hooks of an engine that was built elsewhere.
    pub(crate) fn with_engine(engine: Engine) -> Self {
        Self::without_files(engine)
    }

    /// Builds the engine of the policy in force.
    pub(crate) fn of(
        mut loaded: Loaded,
        request: &Request,
        more: impl FnOnce(Builder) -> Builder,
    ) -> Result<Self, Failed> {
        let runner = serve::runner(&request.homes, &loaded.settings);
        let mut hooks = loaded.layers.iter().flat_map(|(_, config)| &config.hooks);
        if let Some(runner) = &runner
            && hooks.any(|hook| matches!(hook.handler(), Handler::Python(_)))
        {
            // The daemon answers while the engine is built.
            runner.greet();
        }
        let disabled_by_person = std::mem::take(&mut loaded.disabled_by_person);
        let files = std::mem::take(&mut loaded.files);
        let is_logged = loaded.settings.log != Some(false);
        let variables = search_path::without_project(environment::all(), request, &loaded);
        let builder = loaded.builder().folder(&request.project).environment(variables).timing();
        let builder = more(lifeline::kill_hooks_on_death(builder));
        let builder = runner.into_iter().fold(builder, |builder, runner| builder.python_runner(runner));
        let engine = build(builder)?;
        Ok(Self { engine, files, is_logged, disabled_by_person })
    }

    /// Builds the engine of a policy that cannot be relied on. The layers that are not at fault still apply.
    pub(crate) fn closed(
        mut closed: Closed,
        request: &Request,
        more: impl FnOnce(Builder) -> Builder,
    ) -> Result<Self, Failed> {
        let mut hooks = (Vec::new(), Vec::new(), true);
        if let Some(still) = &mut closed.remaining {
            let (files, off) =
                (std::mem::take(&mut still.files), std::mem::take(&mut still.disabled_by_person));
            hooks = (files, off, still.settings.log != Some(false));
        }
        let (files, disabled_by_person, is_logged) = hooks;
        // No worker is borrowed, because the folder with the daemon's key may be at fault.
        let variables = match &closed.remaining {
            Some(still) => search_path::without_project(environment::all(), request, still),
            None => environment::all(),
        };
        let builder = closed.builder().folder(&request.project).environment(variables).timing();
        let engine = build(more(lifeline::kill_hooks_on_death(builder)))?;
        Ok(Self { engine, files, is_logged, disabled_by_person })
    }

    fn without_files(engine: Engine) -> Self {
        Self { engine, files: Vec::new(), is_logged: true, disabled_by_person: Vec::new() }
    }
}

/// The hooks in force. Notices for the person are written to stderr.
pub(crate) fn hooks(request: &Request, more: impl FnOnce(Builder) -> Builder) -> Result<Hooks, Failed> {
    match crosier_policy::in_force(request) {
        Policy::Loaded(mut loaded) => {
            tell(&std::mem::take(&mut loaded.notices));
            Hooks::of(*loaded, request, more)
        }
        Policy::Closed(closed) => {
            refuse_bad(&closed)?;
            print::error(&print::plain(&closed.why));
            Hooks::closed(closed, request, more)
        }
        Policy::None(notices) => Err(nothing(&notices)),
        _ => Err(nothing(&Notices::new())),
    }
}

/// The layers in force, for display.
pub(crate) fn loaded(request: &Request) -> Result<Box<Loaded>, Failed> {
    match crosier_policy::in_force(request) {
        Policy::Loaded(mut loaded) => {
            tell(&std::mem::take(&mut loaded.notices));
            Ok(loaded)
        }
        Policy::Closed(closed) => {
            refuse_bad(&closed)?;
            Err(Failed::new(Exit::BadConfig, print::plain(&closed.why)))
        }
        Policy::None(notices) => Err(nothing(&notices)),
        _ => Err(nothing(&Notices::new())),
    }
}

fn refuse_bad(closed: &Closed) -> Result<(), Failed> {
    match &closed.fault {
        Fault::Configuration(problems) => Err(bad("configuration", problems)),
        _ => Ok(()),
    }
}

pub(crate) fn tell(notices: &Notices) {
    notices.iter().for_each(|notice| print::note(&format!("crosier: {}", print::plain(&notice.text))));
}

/// The error when no configuration is in force.
pub(crate) fn nothing(notices: &Notices) -> Failed {
    let message = match notices.first() {
        Some(notice) => format!("no configuration is in force: {}", print::plain(&notice.text)),
        None => {
            format!("no configuration: there is no {DEFAULT_CONFIG} in this folder; name one with -c FILE")
        }
    };
    Failed::new(Exit::BadConfig, message)
}

/// The same for a session, in which agents start and end: their hooks are returned separately. Without a configuration
/// there are none.
pub(crate) fn session(request: &Request) -> Result<(Hooks, Box<AgentHooks>), Failed> {
    match crosier_policy::in_force(request) {
        Policy::Loaded(mut loaded) => {
            tell(&std::mem::take(&mut loaded.notices));
            let agents = take_agents(&mut loaded);
            Ok((Hooks::of(*loaded, request, |builder| builder)?, agents))
        }
        Policy::Closed(mut closed) => {
            refuse_bad(&closed)?;
            print::error(&print::plain(&closed.why));
            let agents = match &mut closed.remaining {
                Some(still) => take_agents(still),
                None => scopes::take(&mut [], |_| None),
            };
            Ok((Hooks::closed(closed, request, |builder| builder)?, agents))
        }
        Policy::None(notices) => {
            tell(&notices);
            let engine =
                build(with_process_environment(Engine::builder().events(catalog()), &request.project))?;
            Ok((Hooks::without_files(engine), scopes::take(&mut [], |_| None)))
        }
        _ => Err(nothing(&Notices::new())),
    }
}

/// Removes the hooks of all agents but the main one from the policy in force, and returns them.
fn take_agents(loaded: &mut Loaded) -> Box<AgentHooks> {
    let mut layers = std::mem::take(&mut loaded.layers);
    let agents = scopes::take(&mut layers, |layer| loaded.sources(layer));
    loaded.layers = layers;
    agents
}

/// An engine in the current folder, with the environment of this process.
pub(crate) fn builder(config: Config) -> Builder {
    with_process_environment(Engine::builder().events(catalog()).config(config), &here())
}

pub(crate) fn with_process_environment(builder: Builder, folder: &Path) -> Builder {
    lifeline::kill_hooks_on_death(builder.folder(folder).environment(environment::all()).timing())
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
