//! `crosier enable` and `crosier disable`: hooks off and on, without touching the configuration.

use std::path::{Path, PathBuf};

use clap::Args;
use crosier::config::{Config, DeclaredHook};
use crosier::protocol::nearest::nearest;

use super::Run;
use crate::args::ConfigArgs;
use crate::exit::{Exit, Failed, Result};
use crate::state::{self, Change, Switch, SwitchFailure};
use crate::{print, setup};

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
    after_help = "It is remembered in FILE.state.json beside the configuration file; `fire`, `list` and `explain`
honour it, cases do not. A `system` hook cannot be disabled.

Example:
  crosier disable no-rm -c hooks.yaml"
)]
pub(crate) struct DisableArgs {
    /// The hook, by its name as `crosier list` shows it
    name: String,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Run for EnableArgs {
    fn run(&self) -> Result {
        let files = setup::files(&self.config.config)?;
        let config = setup::load(&files)?;
        let (hook, owner) = match find(&config, &files, &self.name) {
            Ok((hook, owner)) => (Some(hook), owner.to_owned()),
            // A name that is left over from a hook that is gone can be forgotten.
            Err(unknown) => (None, stale_owner(&files, &self.name)?.ok_or(unknown)?),
        };
        let change = switch(&owner, &self.name, Switch::On)?;
        let is_off = hook.is_some() && !setup::build(setup::builder(config))?.is_enabled(&self.name);
        if is_off {
            let message = format!(
                "`{}` is off in {} itself, by `enabled: false`; change it there",
                self.name,
                owner.display()
            );
            return Err(Failed::new(Exit::Failed, message));
        }
        print::data(&match change {
            Change::Made => format!("enabled {}", self.name),
            Change::NotNeeded => format!("{} is enabled already", self.name),
        })?;
        Ok(Exit::Done)
    }
}

impl Run for DisableArgs {
    fn run(&self) -> Result {
        let files = setup::files(&self.config.config)?;
        let config = setup::load(&files)?;
        let (hook, owner) = find(&config, &files, &self.name)?;
        if hook.system {
            let at = hook.source.position(hook.span.start);
            let message = format!(
                "`{}` is a system hook ({}:{}) and cannot be disabled",
                self.name, hook.source.name, at.line
            );
            return Err(Failed::new(Exit::Failed, message));
        }
        print::data(&match switch(owner, &self.name, Switch::Off)? {
            Change::Made => {
                format!("disabled {}, in {}", self.name, state::path_of(owner).display())
            }
            Change::NotNeeded => format!("{} is disabled already", self.name),
        })?;
        Ok(Exit::Done)
    }
}

/// The hook of this name, and the file whose state it is in.
fn find<'a>(
    config: &'a Config,
    files: &'a [PathBuf],
    name: &str,
) -> std::result::Result<(&'a DeclaredHook, &'a Path), Failed> {
    let named = config.declared.iter().find(|hook| state::shown(hook).as_deref() == Some(name));
    if let Some((hook, owner)) = named.and_then(|hook| Some((hook, state::owner(hook, files)?))) {
        return Ok((hook, owner));
    }
    let failed = |message: String| Err(Failed::new(Exit::Failed, message));
    // `PreToolUse[2]` is another hook as soon as somebody adds one before it.
    if name.ends_with(']') && name.contains('[') {
        return failed(format!(
            "`{name}` is a place, not a name: it would be another hook as soon as the file changes; give the hook a `name:` first"
        ));
    }
    let names: Vec<String> = config.declared.iter().filter_map(state::shown).collect();
    let near = nearest(name, names.iter().map(String::as_str));
    failed(match near {
        Some(near) => format!("no hook is named `{name}`, did you mean `{near}`?"),
        None => format!("no hook is named `{name}`; `crosier list` shows them"),
    })
}

/// The file whose state has a name that no hook has.
fn stale_owner(files: &[PathBuf], name: &str) -> std::result::Result<Option<PathBuf>, Failed> {
    let states = state::read_all(files).map_err(|problems| setup::bad("state", &problems))?;
    Ok(states.iter().find(|state| state.names(name)).map(|state| state.config().to_owned()))
}

fn switch(config: &Path, name: &str, to: Switch) -> std::result::Result<Change, Failed> {
    state::switch(config, name, to).map_err(|failure| match failure {
        SwitchFailure::Bad(problems) => setup::bad("state", &problems),
        SwitchFailure::Io(error) => {
            let path = state::path_of(config);
            Failed::new(Exit::Failed, format!("{} cannot be written: {error}", path.display()))
        }
    })
}
