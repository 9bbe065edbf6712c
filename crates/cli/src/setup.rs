//! From configuration files to an engine.

use std::path::{Path, PathBuf};

use crosier::Engine;
use crosier::config::{Config, Loader};

use crate::environment;
use crate::exit::{Exit, Failed};

/// The file that is used when none is named.
pub(crate) const DEFAULT_CONFIG: &str = "crosier.yaml";

/// The named files, or the default one.
pub(crate) fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failed> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let default = Path::new(DEFAULT_CONFIG);
    if !default.exists() {
        let message =
            format!("no configuration: there is no {DEFAULT_CONFIG} in this folder; name one with -c FILE");
        return Err(Failed::new(Exit::BadConfig, message));
    }
    Ok(vec![default.to_owned()])
}

/// Reads the files; what is wrong is said in full.
pub(crate) fn load(files: &[PathBuf]) -> Result<Config, Failed> {
    let mut loader = Loader::new(crosier::Catalog::default());
    for file in files {
        loader = loader.file(file);
    }
    loader.load().map_err(|problems| {
        let count = problems.errors();
        let errors = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
        Failed::new(Exit::BadConfig, format!("bad configuration, {errors}\n\n{problems}"))
    })
}

/// An engine for a configuration, in the current folder and with our environment.
pub(crate) fn engine(config: Config) -> Result<Engine, Failed> {
    builder(config).build().map_err(|error| Failed::new(Exit::BadConfig, error.to_string()))
}

pub(crate) fn builder(config: Config) -> crosier::Builder {
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    Engine::builder().config(config).folder(folder).environment(environment::all()).timing()
}
