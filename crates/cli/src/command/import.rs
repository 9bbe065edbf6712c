//! `crosier import`: an agent's existing hooks, as a configuration.

use std::path::{Path, PathBuf};

use clap::Args;
use crosier_dialect::import::{Imported, import};

use super::Run;
use crate::environment;
use crate::exit::{Exit, Failed, Result};
use crate::print;

#[derive(Debug, Args)]
#[command(after_help = "What cannot be expressed in a crosier.yaml is listed on stderr.

Example:
  crosier import claude > crosier.yaml")]
pub(crate) struct ImportArgs {
    /// The agent: claude, codex or gemini
    agent: String,
    /// Its file with hooks (default: the one in this folder, else the user's)
    file: Option<PathBuf>,
}

/// Where agents keep their hooks, in a project and in the home folder.
const FILES: [(&str, &str); 3] = [
    ("claude", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json"),
];

/// The files in this folder, else the user's. Codex also has hooks in its settings.
fn usual_files(usual: &str) -> Vec<PathBuf> {
    let settings = usual.strip_suffix("hooks.json").map(|folder| format!("{folder}config.toml"));
    let names: Vec<&str> = std::iter::once(usual).chain(settings.as_deref()).collect();
    let home = environment::folder("HOME");
    let below = |folder: &Path| -> Vec<PathBuf> {
        names.iter().map(|name| folder.join(name)).filter(|file| file.exists()).collect()
    };
    let here = below(Path::new(""));
    let there = if here.is_empty() { home.as_deref().map(below).unwrap_or_default() } else { here };
    if there.is_empty() {
        vec![home.map_or_else(|| PathBuf::from(usual), |home| home.join(usual))]
    } else {
        there
    }
}

/// The hooks of a TOML file, as a JSON file would have them.
fn of_toml(text: &str) -> std::result::Result<String, String> {
    let mut all = crosier_install::toml::as_json(text)?;
    let hooks = all.get_mut("hooks").and_then(|hooks| hooks.as_object_mut()).ok_or("it has no `hooks`")?;
    // `state` is what Codex remembers about hooks, and not an event.
    hooks.remove("state");
    Ok(all.to_string())
}

impl Run for ImportArgs {
    fn run(&self) -> Result {
        let known = FILES.iter().find(|(name, _)| *name == self.agent);
        let (Some((_, usual)), Some(agent)) = (known, crosier_dialect::find(&self.agent)) else {
            let message = format!("cannot import from `{}`, only from claude, codex and gemini", self.agent);
            return Err(Failed::new(Exit::Usage, message));
        };
        let files = match &self.file {
            Some(file) => vec![file.clone()],
            None => usual_files(usual),
        };
        let shown = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
        let failed =
            |file: &Path, why: String| Failed::new(Exit::BadInput, format!("{}: {why}", file.display()));
        let mut imported = Imported::default();
        for file in &files {
            let text = std::fs::read_to_string(file).map_err(|error| failed(file, error.to_string()))?;
            let is_toml = file.extension().is_some_and(|end| end == "toml");
            let text = if is_toml { of_toml(&text).map_err(|why| failed(file, why))? } else { text };
            match import(agent, &text) {
                Ok(one) if imported.hooks == 0 => imported = one,
                Ok(one) if one.hooks == 0 => imported.missing.extend(one.missing),
                // Codex runs the hooks of both.
                Ok(one) => imported.merge(one),
                // A settings file must have hooks only if a person named it.
                Err(_) if is_toml && self.file.is_none() => {}
                Err(why) => return Err(failed(file, why)),
            }
        }
        for missing in &imported.missing {
            print::note(&print::plain(&format!("not imported: {missing}")));
        }
        if imported.hooks == 0 {
            let message = format!("{shown}: no hook that could be imported");
            return Err(Failed::new(Exit::Failed, message));
        }
        print::data(&imported.yaml)?;
        Ok(Exit::Done)
    }
}
