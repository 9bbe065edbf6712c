//! `crosier import`: the hooks that an agent has already, as a configuration.

use std::path::PathBuf;

use clap::Args;
use crosier_dialect::import::import;

use super::Run;
use crate::environment;
use crate::exit::{Exit, Failed, Result};
use crate::print;

#[derive(Debug, Args)]
#[command(after_help = "What cannot be said in a crosier.yaml is listed on stderr.

Example:
  crosier import claude > crosier.yaml")]
pub(crate) struct ImportArgs {
    /// The agent: claude, codex or gemini
    agent: String,
    /// Its file with hooks (default: that of this folder, else that of the user)
    file: Option<PathBuf>,
}

/// Where agents keep their hooks, in a project and in the home folder.
const FILES: [(&str, &str); 3] = [
    ("claude", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json"),
];

impl Run for ImportArgs {
    fn run(&self) -> Result {
        let known = FILES.iter().find(|(name, _)| *name == self.agent);
        let (Some((_, usual)), Some(agent)) = (known, crosier_dialect::find(&self.agent)) else {
            let message = format!("cannot import from `{}`: there are claude, codex, gemini", self.agent);
            return Err(Failed::new(Exit::Usage, message));
        };
        let home = || environment::folder("HOME").map(|home| home.join(usual));
        let here = || Some(PathBuf::from(usual)).filter(|file| file.exists());
        let file = self.file.clone().or_else(here).or_else(home).unwrap_or_else(|| PathBuf::from(usual));
        let failed = |why: String| Failed::new(Exit::BadInput, format!("{}: {why}", file.display()));
        let text = std::fs::read_to_string(&file).map_err(|error| failed(error.to_string()))?;
        let imported = import(agent, &text).map_err(failed)?;
        for missing in &imported.missing {
            print::note(&print::plain(&format!("not imported: {missing}")));
        }
        if imported.hooks == 0 {
            let message = format!("{}: no hook that could be imported", file.display());
            return Err(Failed::new(Exit::Failed, message));
        }
        print::data(&imported.yaml)?;
        Ok(Exit::Done)
    }
}
