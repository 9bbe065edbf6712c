//! `crosier config`: which configuration files are in force here, and what each adds.

use std::path::PathBuf;

use clap::Args;
use crosier::Layer;
use crosier_layers::{LayerFile, RefusedFile};
use crosier_policy::Inspection;
use crosier_policy::trust::TrustState;
use serde_json::{Value, json};

use super::Run;
use crate::exit::{Exit, Failed, Result};
use crate::homes::HomeArgs;
use crate::setup::{self, count};
use crate::{print, table};

#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 when all is well, 78 when a file is refused or has errors.

Example:
  crosier config --json")]
pub(crate) struct ConfigCommandArgs {
    /// The project folder (default: the current folder)
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
    #[command(flatten)]
    homes: HomeArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run for ConfigCommandArgs {
    fn run(&self) -> Result {
        let mut request = setup::request(&[], self.homes.find());
        if let Some(project) = &self.project {
            let absolute = std::path::absolute(project);
            request.project = absolute.map_err(|error| {
                Failed::new(Exit::Failed, format!("the project folder cannot be found: {error}"))
            })?;
        }
        let found = crosier_policy::inspect(&request, |loader| loader);
        if self.json {
            print::json(&format!("{:#}", as_json(&found)))?;
        } else {
            text(&found)?;
        }
        let is_bad = found.loaded.is_err() || !found.layers.refused.is_empty();
        Ok(if is_bad { Exit::BadConfig } else { Exit::Done })
    }
}

/// The trust state of a file's project; `None` for files that need no trust.
fn trust_state<'a>(file: &LayerFile, found: &'a Inspection) -> Option<&'a TrustState> {
    if !matches!(file.layer, Layer::Project(_) | Layer::Local) {
        return None;
    }
    let all = found.trust_states.as_ref().ok()?;
    all.iter()
        .find(|(folder, _)| Some(folder.as_path()) == file.path.parent())
        .map(|(_, trust_state)| trust_state)
}

/// How many hooks one file adds to its layer; if it is the only file of the layer, with those of its packs.
fn added(file: &LayerFile, found: &Inspection) -> Option<usize> {
    let name = file.path.display().to_string();
    let is_only = found.layers.files.iter().filter(|other| other.layer == file.layer).count() == 1;
    let (_, config) = found.loaded.as_ref().ok()?.iter().find(|(layer, _)| *layer == file.layer)?;
    Some(config.declared.iter().filter(|hook| is_only || hook.source.name == name).count())
}

fn text(found: &Inspection) -> std::result::Result<(), Failed> {
    if found.layers.is_empty() {
        return print::data("no configuration is in force here; `crosier init` writes one");
    }
    let mut drawn = table::table(["LAYER", "FILE", "ADDS"]);
    for file in &found.layers.files {
        let adds = added(file, found).map_or_else(|| "-".to_owned(), |hooks| count(hooks, "hook"));
        let adds = match trust_state(file, found) {
            Some(TrustState::Never) => format!("{adds}, not in force: not trusted (crosier trust)"),
            Some(TrustState::Closed(why)) => format!("closed: {}", print::one_line(why)),
            _ => adds,
        };
        drawn.add_row([file.layer.to_string(), print::one_line(&file.path.display().to_string()), adds]);
    }
    for file in &found.layers.refused {
        let path = print::one_line(&file.path.display().to_string());
        drawn.add_row([file.layer.to_string(), path, format!("refused: {}", print::one_line(&file.why))]);
    }
    table::print(&drawn)?;
    if let Err(closed) = &found.trust_states {
        print::data(&print::plain(&closed.why))?;
    }
    match &found.loaded {
        Ok(_) => Ok(()),
        Err(problems) => print::data(&format!("\n{}", print::plain(&problems.to_string()))),
    }
}

fn as_json(found: &Inspection) -> Value {
    let file = |file: &LayerFile| {
        let trust_state = trust_state(file, found);
        let (trust, why) = match trust_state {
            None => (None, None),
            Some(TrustState::Trusted) => (Some("trusted"), None),
            Some(TrustState::Closed(why)) => (Some("closed"), Some(why)),
            Some(_) => (Some("never"), None),
        };
        json!({
            "layer": file.layer.to_string(),
            "path": file.path.display().to_string(),
            "hooks": added(file, found),
            "trust": trust,
            "why": why,
            "in_force": matches!(trust_state, None | Some(TrustState::Trusted)),
        })
    };
    let refused = |file: &RefusedFile| json!({ "layer": file.layer.to_string(), "path": file.path.display().to_string(), "why": file.why });
    let errors = found.loaded.as_ref().err().map(|problems| problems.to_string());
    let files: Vec<Value> = found.layers.files.iter().map(file).collect();
    let refused: Vec<Value> = found.layers.refused.iter().map(refused).collect();
    json!({ "files": files, "refused": refused, "errors": errors })
}
