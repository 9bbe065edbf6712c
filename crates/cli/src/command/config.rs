//! `crosier config`: which configuration files are in force here, and what each adds.

use std::path::PathBuf;

use clap::Args;
use crosier::Layer;
use crosier::config::{Config, Problems};
use crosier_layers::{LayerFile, Layers, Person, Places};
use serde_json::{Value, json};

use super::Run;
use crate::exit::{Exit, Failed, Result};
use crate::setup::{self, count};
use crate::{environment, print, table};

#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 when all is well, 78 when a file is refused or has errors.

Example:
  crosier config --json")]
pub(crate) struct ConfigCommandArgs {
    /// The project folder (default: the current folder)
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run for ConfigCommandArgs {
    fn run(&self) -> Result {
        let layers = Layers::discover(&places(self.project.clone())?);
        let loaded = layers.load(setup::loader);
        if self.json {
            print::data(&format!("{:#}", as_json(&layers, &loaded)))?;
        } else {
            text(&layers, &loaded)?;
        }
        Ok(if loaded.is_err() || !layers.refused.is_empty() { Exit::BadConfig } else { Exit::Done })
    }
}

type Loaded = std::result::Result<Vec<(Layer, Config)>, Problems>;

/// Where this program looks for configuration files.
pub(crate) fn places(project: Option<PathBuf>) -> std::result::Result<Places, Failed> {
    let project = match project {
        Some(project) => std::path::absolute(project),
        None => std::env::current_dir(),
    };
    let project = project
        .map_err(|error| Failed::new(Exit::Failed, format!("the project folder cannot be found: {error}")))?;
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    // By convention a group that has the number of its user has nobody else in it.
    let mut places = Places::new(project, Person::new(user, (user == group).then_some(group)));
    places.home = environment::folder("HOME");
    let config = environment::folder("XDG_CONFIG_HOME");
    let config = config.or_else(|| Some(environment::folder("HOME")?.join(".config")));
    places.config_home = config.map(|folder| folder.join("crosier"));
    Ok(places)
}

/// What one file adds to its layer.
fn added(file: &LayerFile, loaded: &Loaded) -> Option<usize> {
    let name = file.path.display().to_string();
    let (_, config) = loaded.as_ref().ok()?.iter().find(|(layer, _)| *layer == file.layer)?;
    Some(config.declared.iter().filter(|hook| hook.source.name == name).count())
}

fn text(layers: &Layers, loaded: &Loaded) -> std::result::Result<(), Failed> {
    if layers.is_empty() {
        return print::data("no configuration is in force here; `crosier.yaml` in this folder would be");
    }
    let mut drawn = table::table(["LAYER", "FILE", "ADDS"]);
    for file in &layers.files {
        let adds = added(file, loaded).map_or_else(|| "-".to_owned(), |hooks| count(hooks, "hook"));
        drawn.add_row([file.layer.to_string(), print::one_line(&file.path.display().to_string()), adds]);
    }
    for file in &layers.refused {
        let path = print::one_line(&file.path.display().to_string());
        drawn.add_row([file.layer.to_string(), path, format!("refused: {}", print::one_line(&file.why))]);
    }
    table::print(&drawn)?;
    match loaded {
        Ok(_) => Ok(()),
        Err(problems) => print::data(&format!("\n{problems}")),
    }
}

fn as_json(layers: &Layers, loaded: &Loaded) -> Value {
    let files: Vec<Value> = layers
        .files
        .iter()
        .map(|file| {
            json!({
                "layer": file.layer.to_string(),
                "path": file.path.display().to_string(),
                "hooks": added(file, loaded),
            })
        })
        .collect();
    let refused: Vec<Value> = layers
        .refused
        .iter()
        .map(|file| {
            json!({ "layer": file.layer.to_string(), "path": file.path.display().to_string(), "why": file.why })
        })
        .collect();
    let errors = loaded.as_ref().err().map(|problems| problems.to_string());
    json!({ "files": files, "refused": refused, "errors": errors })
}
