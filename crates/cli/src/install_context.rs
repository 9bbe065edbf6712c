//! What installing needs to know: where agents are, which program their entries call, which policy is in force.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crosier::protocol::nearest::nearest;
use crosier_install::plan::Request;
use crosier_install::{Places, table};
use crosier_install::{Program, Row, Scope, Store};
use crosier_policy::Policy;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::{Exit, Failed};
use crate::homes::Homes;
use crate::{environment, logbook, setup};

/// Variables that name folders of agents.
const VARIABLES: [&str; 5] =
    ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "KIMI_SHARE_DIR"];

/// Everything that an installation needs.
#[derive(Debug)]
pub(crate) struct InstallContext {
    pub(crate) places: Places,
    pub(crate) program: Program,
    pub(crate) store: Store,
    pub(crate) homes: Homes,
    /// The events of the hooks in force here.
    pub(crate) in_force: Vec<String>,
}

impl InstallContext {
    /// Collects it from this process.
    pub(crate) fn find(homes: Homes) -> Result<Self, Failed> {
        let missing = |what: &str| Failed::new(Exit::Failed, format!("there is no {what}: set HOME"));
        let home = homes.home.clone().ok_or_else(|| missing("home folder"))?;
        let config_home = homes.config.clone().ok_or_else(|| missing("folder for configurations"))?;
        let state_home = homes.state.clone().ok_or_else(|| missing("folder for state"))?;
        let program = std::env::current_exe().and_then(|program| program.canonicalize());
        let program = program.map_err(|error| {
            Failed::new(Exit::Failed, format!("the path of this program is unknown: {error}"))
        })?;
        let mut places = Places::new(home, setup::here());
        if let Some(config) = environment::folder("XDG_CONFIG_HOME") {
            places.config = config;
        }
        let variable = |name: &str| Some((name.to_owned(), resolved(&environment::folder(name)?)));
        places.variables = VARIABLES.iter().filter_map(|name| variable(name)).collect();
        places.search_path = std::env::split_paths(&environment::path()).collect();
        let store = Store::in_folder(&state_home);
        let program =
            Program { program, config_home: resolved(&config_home), state_home: resolved(&state_home) };
        let in_force = events_in_force(&homes);
        Ok(Self { places, program, store, homes, in_force })
    }

    /// The request to the installer.
    pub(crate) fn request(&self, scope: Scope, trust: bool) -> Request<'_> {
        let mut request = Request::new(&self.places, &self.program);
        (request.scope, request.trust, request.in_force) = (scope, trust, &self.in_force);
        request
    }

    /// Logs what a person did.
    pub(crate) fn did(&self, command: &str, what: &str) {
        logbook::command(&self.program.state_home, command, what);
    }

    /// A path as people write it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.places.home).ok();
        let shown =
            below.map_or_else(|| path.display().to_string(), |below| format!("~/{}", below.display()));
        crate::print::one_line(&shown)
    }
}

/// The rows of these agents.
pub(crate) fn rows(names: &[String]) -> Result<Vec<&'static Row>, Failed> {
    let mut rows: Vec<&'static Row> = Vec::new();
    for name in names {
        let row = table::find(name).ok_or_else(|| unknown_agent(name))?;
        if !rows.iter().any(|other| other.agent == row.agent) {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The error for an unknown agent.
pub(crate) fn unknown_agent(name: &str) -> Failed {
    let names = || table::ALL.iter().map(|row| row.agent);
    let shown = crate::print::one_line(name);
    let near = nearest(name, names());
    let near = near.map_or("; there are".to_owned(), |near| format!(", did you mean `{near}`? There are"));
    let all = names().collect::<Vec<_>>().join(", ");
    Failed::new(Exit::Usage, format!("no agent is called `{shown}`{near} {all}"))
}

/// While this exists, signals do not end the process, so that files are written completely; one that comes meanwhile
/// ends it afterwards.
#[derive(Debug)]
pub(crate) struct SignalHold(&'static SignalState);

#[derive(Debug, Default)]
struct SignalState {
    /// Whether a signal ends the process at once.
    ends_at_once: Arc<AtomicBool>,
    seen: Arc<AtomicUsize>,
}

/// Keeps signals from ending the process.
pub(crate) fn hold_signals() -> SignalHold {
    static HELD: OnceLock<SignalState> = OnceLock::new();
    let held = HELD.get_or_init(|| {
        let held = SignalState::default();
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or_default();
            let _ = signal_hook::flag::register_usize(signal, Arc::clone(&held.seen), number);
            let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(&held.ends_at_once));
        }
        held
    });
    held.ends_at_once.store(false, Ordering::SeqCst);
    SignalHold(held)
}

impl Drop for SignalHold {
    fn drop(&mut self) {
        self.0.ends_at_once.store(true, Ordering::SeqCst);
        let seen = i32::try_from(self.0.seen.load(Ordering::SeqCst)).unwrap_or_default();
        if seen != 0 {
            let _ = signal_hook::low_level::emulate_default_handler(seen);
        }
    }
}

/// The events of the hooks in force here.
fn events_in_force(homes: &Homes) -> Vec<String> {
    let request = setup::request(&[], homes.clone());
    let Policy::Loaded(loaded) = crosier_policy::in_force(&request) else { return Vec::new() };
    let declared = loaded.layers.iter().flat_map(|(_, config)| &config.declared);
    let mut events: Vec<String> = declared.map(|hook| hook.event.to_owned()).collect();
    events.sort_unstable();
    events.dedup();
    events
}

/// The path without links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    for folder in path.ancestors() {
        if let Ok(real) = folder.canonicalize() {
            return missing.iter().rev().fold(real, |path, name| path.join(name));
        }
        missing.extend(folder.file_name());
    }
    path.to_owned()
}
