//! `crosier enable` and `crosier disable`: switch hooks on and off without changing the configuration.
//!
//! What is switched off is stored in the state folder, by the configuration file that declares the hook.

use std::path::{Path, PathBuf};

use clap::Args;
use crosier::Layer;
use crosier::config::DeclaredHook;
use crosier::protocol::nearest::nearest;
use crosier_policy::{Request, Switch, SwitchResult, Switches};

use super::Run;
use crate::args::ConfigArgs;
use crate::exit::{Exit, Failed, Result};
use crate::{describe, logbook, person, print, setup};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  crosier enable no-rm -c hooks.yaml")]
pub(crate) struct EnableArgs {
    /// The hook, by its name as `crosier list` shows it
    name: String,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The hook is switched off for the configuration file that declares it, on this machine only: a
project's hook in this project, a hook of your own crosier.yaml everywhere. `crosier enable` undoes
it, and `crosier list` shows what is off. The choice is stored in the state folder; test cases
ignore it. The command refuses to run inside an agent. Managed hooks and hooks with `system: true`
cannot be disabled.

Example:
  crosier disable no-rm -c hooks.yaml"
)]
pub(crate) struct DisableArgs {
    /// The hook, by its name as `crosier list` shows it; required unless --migrate is given
    #[arg(required_unless_present = "migrate")]
    name: Option<String>,
    /// Import what an earlier version wrote to FILE.state.json beside the configuration, and remove that file
    #[arg(long, conflicts_with = "name")]
    migrate: bool,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Run for EnableArgs {
    fn run(&self) -> Result {
        let request = self.config.request();
        let hooks = Hooks::find_all(&request)?;
        let state = state(&request)?;
        let (is_there, owner, name) = match hooks.find(&self.name) {
            Ok(hook) => (true, hook.owner.clone(), hook.name(&self.name)),
            // A name whose hook is gone can still be removed.
            Err(unknown) => (false, hooks.stale_owner(state, &self.name)?.ok_or(unknown)?, self.name.clone()),
        };
        let change = switch(state, &owner, &name, Switch::On)?;
        if let Some(key) = hooks.disabling_key(&self.name).filter(|_| is_there) {
            let message =
                format!("`{}` is off in {} itself, by `{key}`; change it there", self.name, owner.display());
            return Err(Failed::new(Exit::Failed, message));
        }
        if change == SwitchResult::Stored {
            logbook::command(state, "enable", &format!("enabled {} of {}", self.name, owner.display()));
        }
        print::data(&match change {
            SwitchResult::Stored => format!("enabled {}", self.name),
            SwitchResult::Unchanged => format!("{} is already enabled", self.name),
        })?;
        Ok(Exit::Done)
    }
}

impl Run for DisableArgs {
    fn run(&self) -> Result {
        person::require("disable")?;
        let request = self.config.request();
        let hooks = Hooks::find_all(&request)?;
        let state = state(&request)?;
        match &self.name {
            Some(name) => disable(&hooks, state, name)?,
            None => migrate(&hooks, state)?,
        }
        Ok(Exit::Done)
    }
}

fn disable(hooks: &Hooks, state: &Path, name: &str) -> std::result::Result<(), Failed> {
    let hook = hooks.find(name)?;
    if hook.declared.system || hook.layer == Layer::Managed {
        let at = hook.declared.source.position(hook.declared.span.start);
        let kind = if hook.declared.system { "system" } else { "managed" };
        let message = format!(
            "`{name}` is a {kind} hook ({}:{}) and cannot be disabled",
            hook.declared.source.name, at.line
        );
        return Err(Failed::new(Exit::Failed, message));
    }
    let change = switch(state, &hook.owner, &hook.name(name), Switch::Off)?;
    if change == SwitchResult::Stored {
        logbook::command(state, "disable", &format!("disabled {name} of {}", hook.owner.display()));
    }
    print::data(&match change {
        SwitchResult::Stored => format!("disabled {name}, in {}", Switches::file(state).display()),
        SwitchResult::Unchanged => format!("{name} is already disabled"),
    })
}

/// Imports the state files that earlier versions wrote beside configurations. Done only when a person asks for it: a
/// repository could contain such a file.
fn migrate(hooks: &Hooks, state: &Path) -> std::result::Result<(), Failed> {
    let mut found = false;
    for file in &hooks.files {
        let old = old_state(file);
        let Ok(text) = std::fs::read_to_string(&old) else { continue };
        found = true;
        let names: Option<Vec<String>> =
            serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|state| {
                state["disabled"].as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
            });
        let Some(names) = names else {
            let message = format!("{} is not valid; remove it", print::one_line(&old.display().to_string()));
            return Err(Failed::new(Exit::Failed, message));
        };
        for name in names {
            match disable(hooks, state, &name) {
                Ok(()) => {}
                Err(failed) => print::note(&print::plain(&format!("left out: {}", failed.message))),
            }
        }
        std::fs::remove_file(&old).map_err(|error| {
            Failed::new(Exit::Failed, format!("{} cannot be removed: {error}", old.display()))
        })?;
        print::data(&format!("removed {}", print::one_line(&old.display().to_string())))?;
    }
    if !found {
        print::data("there is nothing to import")?;
    }
    Ok(())
}

/// Where earlier versions stored what is switched off. Only `--migrate` reads it.
pub(crate) fn old_state(config: &Path) -> PathBuf {
    let mut name = config.as_os_str().to_owned();
    name.push(".state.json");
    PathBuf::from(name)
}

/// Every hook with the file that it belongs to.
struct Hooks {
    files: Vec<PathBuf>,
    all: Vec<Owned>,
    engine: crosier::Engine,
}

struct Owned {
    layer: Layer,
    declared: DeclaredHook,
    owner: PathBuf,
}

impl Owned {
    /// Its name without the layer.
    fn name(&self, named: &str) -> String {
        crosier_policy::shown(&self.declared).unwrap_or_else(|| named.to_owned())
    }
}

impl Hooks {
    fn find_all(request: &Request) -> std::result::Result<Self, Failed> {
        let mut inspection = crosier_policy::inspect(request, |loader| loader);
        let files = inspection.files(request);
        if files.is_empty() {
            return Err(setup::nothing(&Vec::new()));
        }
        let loaded = std::mem::replace(&mut inspection.loaded, Ok(Vec::new()));
        let layers = loaded.map_err(|problems| setup::bad("configuration", &problems))?;
        let mut all = Vec::new();
        for (layer, config) in &layers {
            let own = inspection.files_of(*layer, request);
            for declared in &config.declared {
                let Some(owner) = crosier_policy::owner(declared, &own).cloned() else { continue };
                all.push(Owned { layer: *layer, declared: declared.clone(), owner });
            }
        }
        let builder = crosier::Engine::builder().events(setup::catalog());
        let builder =
            layers.into_iter().fold(builder, |builder, (layer, config)| builder.layer(layer, config));
        Ok(Self { files, all, engine: setup::build(builder)? })
    }

    /// The hook of this name. If several layers have one, the last; the others are named `layer:name`.
    fn find(&self, name: &str) -> std::result::Result<&Owned, Failed> {
        let named = |hook: &&Owned| crosier_policy::shown(&hook.declared).as_deref() == Some(name);
        if let Some(hook) = self.all.iter().rev().find(named) {
            return Ok(hook);
        }
        let in_layer = |hook: &&Owned| {
            let plain = name.strip_prefix(&hook.layer.to_string()).and_then(|rest| rest.strip_prefix(':'));
            plain.is_some() && crosier_policy::shown(&hook.declared).as_deref() == plain
        };
        if let Some(hook) = self.all.iter().find(in_layer) {
            return Ok(hook);
        }
        let failed = |message: String| Err(Failed::new(Exit::Failed, message));
        // `PreToolUse[2]` would be another hook after one is added before it.
        if name.ends_with(']') && name.contains('[') {
            return failed(format!(
                "`{name}` is a position, not a name: it would mean another hook when the file changes; give the hook a `name:` first"
            ));
        }
        let names: Vec<String> =
            self.all.iter().filter_map(|hook| crosier_policy::shown(&hook.declared)).collect();
        let near = nearest(name, names.iter().map(String::as_str));
        let name = print::one_line(name);
        if name == "self-guard" {
            return failed(format!(
                "`{name}` is always on; `self_guard: off` in your own crosier.yaml switches it off"
            ));
        }
        failed(match near {
            Some(near) => format!("no hook is named `{name}`, did you mean `{}`?", print::one_line(near)),
            None => format!("no hook is named `{name}`; `crosier list` shows them"),
        })
    }

    /// The file that switches off a name which no hook has.
    fn stale_owner(&self, state: &Path, name: &str) -> std::result::Result<Option<PathBuf>, Failed> {
        let switches = Switches::read(state).map_err(|why| Failed::new(Exit::BadConfig, why))?;
        let has = |file: &&PathBuf| switches.of(file).iter().any(|other| other == name);
        Ok(self.files.iter().find(has).cloned())
    }

    /// What in the configuration disables a hook.
    fn disabling_key(&self, name: &str) -> Option<&'static str> {
        let entry = self.engine.entry(name).filter(|entry| !entry.enabled)?;
        Some(describe::disabling_key(&entry))
    }
}

fn state(request: &Request) -> std::result::Result<&Path, Failed> {
    request.homes.state.as_deref().ok_or_else(|| {
        let message = "there is no home folder to store it in: name one with --state-home DIR";
        Failed::new(Exit::Failed, message)
    })
}

fn switch(state: &Path, file: &Path, name: &str, to: Switch) -> std::result::Result<SwitchResult, Failed> {
    Switches::change(state, file, name, to).map_err(|why| Failed::new(Exit::Failed, why))
}
