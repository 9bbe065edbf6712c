//! Which hooks a person switched off, on this machine.
//!
//! One file in the state folder, `switches.json`: hook names, grouped by the configuration file that declares them. It
//! can only switch off hooks that have a name of their own and are neither `system` nor managed. A file that cannot be
//! read is an error, and switches nothing off.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crosier::Layer;
use crosier::config::{Config, DeclaredHook};

use crate::state;

const FILE: &str = "switches.json";

/// What is switched off: display names, by configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Switches(BTreeMap<String, Vec<String>>);

/// Whether a hook is switched on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// It runs.
    On,
    /// It does not run.
    Off,
}

/// The result of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchResult {
    /// It was stored.
    Stored,
    /// The hook was already in that state.
    Unchanged,
}

impl Switches {
    /// The file in which they are stored.
    #[must_use]
    pub fn file(state: &Path) -> PathBuf {
        state.join(FILE)
    }

    /// What is switched off.
    ///
    /// # Errors
    /// Why the file cannot be read.
    pub fn read(state: &Path) -> Result<Self, String> {
        let path = Self::file(state);
        let bytes = match state::read_file(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("{}: it cannot be read: {error}", crate::show::path(&path))),
        };
        serde_json::from_slice(&bytes).map(Self).map_err(|_| {
            let path = crate::show::path(&path);
            format!("{path}: its content is not valid; remove it to switch every hook on again")
        })
    }

    /// The hooks of this configuration file that are switched off.
    #[must_use]
    pub fn of(&self, config: &Path) -> &[String] {
        if self.0.is_empty() {
            return &[];
        }
        self.0.get(&key(config)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Switches one hook, by its display name, and stores the change.
    ///
    /// # Errors
    /// Why it cannot be stored.
    pub fn change(state: &Path, config: &Path, name: &str, to: Switch) -> Result<SwitchResult, String> {
        let failed = |error: io::Error| {
            format!("{} cannot be written: {error}", crate::show::path(&Self::file(state)))
        };
        let _held = state::lock(state).map_err(failed)?;
        let mut all = Self::read(state)?;
        let key = key(config);
        let names = all.0.entry(key.clone()).or_default();
        let is_off = names.iter().any(|other| other == name);
        match to {
            Switch::On if is_off => names.retain(|other| other != name),
            Switch::Off if !is_off => names.push(name.to_owned()),
            Switch::On | Switch::Off => return Ok(SwitchResult::Unchanged),
        }
        if names.is_empty() {
            all.0.remove(&key);
        }
        let written = if all.0.is_empty() {
            std::fs::remove_file(Self::file(state))
        } else {
            let text = serde_json::to_string_pretty(&all.0).map_err(|error| error.to_string())?;
            state::write_whole(&Self::file(state), text.as_bytes())
        };
        written.map(|()| SwitchResult::Stored).map_err(failed)
    }

    /// Removes the hooks of a layer that are switched off; returns their display names.
    pub(crate) fn apply(&self, layer: Layer, config: &mut Config, files: &[PathBuf]) -> Vec<String> {
        if self.0.is_empty() || layer == Layer::Managed {
            return Vec::new();
        }
        let off: Vec<DeclaredHook> =
            config.declared.iter().filter(|hook| self.has(hook, files)).cloned().collect();
        let mut names = Vec::new();
        for hook in &off {
            if config.disable_hook(hook.agent.as_deref(), hook.name.as_deref().unwrap_or_default()) {
                names.extend(shown(hook));
            }
        }
        names
    }

    fn has(&self, hook: &DeclaredHook, files: &[PathBuf]) -> bool {
        let Some(name) = shown(hook).filter(|_| !hook.system) else { return false };
        owner(hook, files).is_some_and(|file| self.of(file).contains(&name))
    }
}

/// The real path of a file, so that another path to the same file does not switch its hooks on again.
fn key(config: &Path) -> String {
    let real = std::fs::canonicalize(config);
    let real = real.or_else(|_| std::path::absolute(config)).unwrap_or_else(|_| config.to_owned());
    real.to_string_lossy().into_owned()
}

/// The display name of a hook that was given a name.
#[must_use]
pub fn shown(hook: &DeclaredHook) -> Option<String> {
    let name = hook.name.as_deref()?;
    Some(hook.agent.as_deref().map_or_else(|| name.to_owned(), |agent| format!("{agent}/{name}")))
}

/// The configuration file that a hook belongs to: the one that declares it, or the first one for hooks from a script or
/// a pack.
#[must_use]
pub fn owner<'a>(hook: &DeclaredHook, files: &'a [PathBuf]) -> Option<&'a PathBuf> {
    let stands_in = |file: &&PathBuf| file.display().to_string() == hook.source.name;
    files.iter().find(stands_in).or_else(|| files.first())
}
