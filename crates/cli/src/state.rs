//! Which hooks were switched off from the command line.
//!
//! The state of `crosier.yaml` is `crosier.yaml.state.json` beside it, `{"disabled": ["name"]}`, readable by
//! its owner only. It can only leave out hooks that have a name of their own and are not `system`; a file
//! that makes no sense is an error, never a reason to leave out more. Cases do not look at it: a test says
//! the same on every machine.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crosier::Engine;
use crosier::config::{Config, DeclaredHook};
use crosier::config::{Node, Problem, Problems, Source, Span, parse_document};

/// The state of one configuration file.
#[derive(Debug)]
pub(crate) struct State {
    /// The configuration file, as it was named.
    config: PathBuf,
    source: Arc<Source>,
    /// Names as shown, and their places.
    disabled: Vec<(String, Span)>,
}

/// The state file of a configuration file.
pub(crate) fn path_of(config: &Path) -> PathBuf {
    let mut name = config.file_name().map(OsString::from).unwrap_or_default();
    name.push(".state.json");
    config.with_file_name(name)
}

/// The states of these configuration files; most have none.
///
/// # Errors
/// What is wrong with the files that cannot be understood.
pub(crate) fn read_all(configs: &[PathBuf]) -> Result<Vec<State>, Problems> {
    let mut problems = Problems::new();
    let mut states = Vec::new();
    for config in configs {
        match State::read(config) {
            Ok(state) => states.extend(state),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(states) } else { Err(problems) }
}

impl State {
    fn read(config: &Path) -> Result<Option<Self>, Problems> {
        let path = path_of(config);
        let name = path.display().to_string();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let message = format!("the state file cannot be read: {error}");
                return Err(Problem::error(&Source::new(name, ""), Span::at(0), message).into());
            }
        };
        let source = Source::new(name, text);
        let disabled = names(&source)?;
        Ok(Some(Self { config: config.to_owned(), source, disabled }))
    }

    /// The configuration file whose state it is.
    pub(crate) fn config(&self) -> &Path {
        &self.config
    }

    /// The names in it, as shown.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &str> {
        self.disabled.iter().map(|(name, _)| name.as_str())
    }

    /// Whether it has this name.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.disabled.iter().any(|(disabled, _)| disabled == name)
    }

    /// Whether this state leaves out a hook.
    fn disables(&self, hook: &DeclaredHook, configs: &[PathBuf]) -> bool {
        shown(hook).is_some_and(|name| {
            !hook.system && owner(hook, configs) == Some(&self.config) && self.names(&name)
        })
    }

    /// What in it has no effect: names that nobody has, that are no names, that may not be switched off.
    pub(crate) fn stale(&self, config: &Config, configs: &[PathBuf]) -> Problems {
        let warning = |(name, span): &(String, Span)| {
            let mine = config.declared.iter().filter(|hook| owner(hook, configs) == Some(&self.config));
            let hook = mine.into_iter().find(|hook| shown(hook).as_deref() == Some(name));
            let (message, help) = match hook {
                Some(hook) if hook.system => (
                    format!("`{name}` is a system hook and stays on"),
                    format!("run `crosier enable {name}` to forget about it"),
                ),
                Some(_) => return None,
                None => (
                    format!("no hook of {} is named `{name}`", self.config.display()),
                    format!("it was renamed or removed; run `crosier enable {name}` to forget about it"),
                ),
            };
            Some(Problem::warning(&self.source, *span, message).with_help(help))
        };
        self.disabled.iter().filter_map(warning).collect()
    }
}

/// Switches off what these states say, and gives the names back.
pub(crate) fn apply(
    states: &[State],
    declared: &[DeclaredHook],
    configs: &[PathBuf],
    engine: &Engine,
) -> Vec<String> {
    let wanted = declared.iter().filter(|hook| states.iter().any(|state| state.disables(hook, configs)));
    // A name that the engine does not switch off stays on.
    wanted.filter_map(shown).filter(|name| engine.disable(name).is_ok()).collect()
}

/// The name as shown, of a hook that was given one.
pub(crate) fn shown(hook: &DeclaredHook) -> Option<String> {
    let name = hook.name.as_deref()?;
    Some(hook.agent.as_deref().map_or_else(|| name.to_owned(), |agent| format!("{agent}/{name}")))
}

/// The configuration file that a hook belongs to: the one that it stands in, or the first for what stands in
/// a script.
pub(crate) fn owner<'a>(hook: &DeclaredHook, configs: &'a [PathBuf]) -> Option<&'a PathBuf> {
    let stands_in = |config: &&PathBuf| config.display().to_string() == hook.source.name;
    configs.iter().find(stands_in).or_else(|| configs.first())
}

/// What a change came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Made,
    NotNeeded,
}

/// Adds a name to the state of a configuration file, or takes it out.
///
/// # Errors
/// What is wrong with the state that is there, or why it cannot be written.
pub(crate) fn switch(config: &Path, name: &str, on: Switch) -> Result<Change, SwitchFailure> {
    // Two of us at once must not lose a name; the configuration is there to be locked, the state may not be.
    let held = File::open(config)?;
    held.lock()?;
    let state = State::read(config)?;
    let mut names: Vec<String> =
        state.map(|state| state.disabled.into_iter().map(|(name, _)| name).collect()).unwrap_or_default();
    let is_off = names.iter().any(|other| other == name);
    match on {
        Switch::On if is_off => names.retain(|other| other != name),
        Switch::Off if !is_off => names.push(name.to_owned()),
        Switch::On | Switch::Off => return Ok(Change::NotNeeded),
    }
    write(&path_of(config), &names)?;
    Ok(Change::Made)
}

/// Whether a hook is switched on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    On,
    Off,
}

/// Why a state could not be changed.
#[derive(Debug)]
pub(crate) enum SwitchFailure {
    Bad(Problems),
    Io(io::Error),
}

impl From<Problems> for SwitchFailure {
    fn from(problems: Problems) -> Self {
        Self::Bad(problems)
    }
}

impl From<io::Error> for SwitchFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// All of it or nothing: whoever reads meanwhile gets the old state or the new one.
fn write(path: &Path, names: &[String]) -> io::Result<()> {
    if names.is_empty() {
        return fs::remove_file(path);
    }
    let text = format!("{:#}\n", crosier::protocol::json!({ "disabled": names }));
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let written =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, path)
        });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn names(source: &Arc<Source>) -> Result<Vec<(String, Span)>, Problems> {
    let node = parse_document(source)?;
    let help = "it is written by `crosier disable`; mend it, or remove it to switch every hook on again";
    let bad =
        |node: &Node, message: String| Err(Problem::error(source, node.span, message).with_help(help).into());
    let Some([entry]) = node.as_map().filter(|entries| entries.iter().all(|entry| entry.key == "disabled"))
    else {
        return bad(&node, "a state file is {\"disabled\": [names]}, and nothing else".to_owned());
    };
    let Some(items) = entry.value.as_list() else {
        return bad(
            &entry.value,
            format!("`disabled` must be a list, but it is {}", entry.value.kind_word()),
        );
    };
    let mut names = Vec::with_capacity(items.len());
    for item in items {
        match item.as_text() {
            Some(name) => names.push((name.to_owned(), item.span)),
            None => return bad(item, format!("a name must be text, but this is {}", item.kind_word())),
        }
    }
    Ok(names)
}
