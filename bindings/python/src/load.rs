//! From configuration to an engine.

use std::ffi::OsString;
use std::path::PathBuf;

use crosier::config::{Problems, Source, parse_document};
use crosier::{Builder, Engine, Mode};
use crosier_policy::{Fault, Homes, Policy, loader};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::python::error;

/// What to make an engine from.
#[derive(FromPyObject)]
pub struct Request {
    /// A configuration as JSON.
    #[pyo3(item)]
    pub config: Option<String>,
    /// Files to load; if the list is empty, the layers in force.
    #[pyo3(item)]
    pub files: Option<Vec<PathBuf>>,
    #[pyo3(item)]
    pub folder: PathBuf,
    #[pyo3(item)]
    pub environment: Vec<(OsString, OsString)>,
    #[pyo3(item)]
    pub timing: bool,
    /// The home folder, and Crosier's folders for configuration and state.
    #[pyo3(item)]
    pub homes: (Option<PathBuf>, Option<PathBuf>, Option<PathBuf>),
    /// The digest that a person trusts.
    #[pyo3(item)]
    pub trust: Option<String>,
}

/// The engine, and whether any of its hooks runs in the background.
pub fn engine(py: Python<'_>, request: Request) -> PyResult<(Engine, bool)> {
    let Request { config, files, folder, environment, timing, homes, trust } = request;
    let homes = Homes::new(homes.0, homes.1, homes.2);
    let builder = if let Some(config) = config {
        let reader = loader(&homes).may_be_empty().text("<config>", &config, &folder);
        let config = py.detach(|| reader.load()).map_err(|problems| config_error(py, &problems))?;
        Engine::builder().events(crosier_policy::catalog()).config(config)
    } else if let Some(files) = files {
        let mut asked = crosier_policy::Request::new(&folder);
        (asked.named, asked.homes, asked.trust) = (files, homes, trust);
        in_force(py, &asked)?
    } else {
        Engine::builder().events(crosier_policy::catalog())
    };
    finish(py, builder, folder, environment, timing)
}

/// The hooks of the layers in force, or of the named files and the managed layer.
fn in_force(py: Python<'_>, asked: &crosier_policy::Request) -> PyResult<Builder> {
    match py.detach(|| crosier_policy::in_force(asked)) {
        Policy::Loaded(loaded) => {
            match loaded.notices.iter().find(|notice| notice.text.contains("crosier trust")) {
                Some(untrusted) => Err(error(py, "Untrusted", (untrusted.text.clone(),))),
                None => Ok(loaded.builder()),
            }
        }
        Policy::Closed(closed) => Err(match &closed.fault {
            Fault::Configuration(problems) => config_error(py, problems),
            Fault::Trust => error(py, "Untrusted", (closed.why,)),
            _ => error(py, "ConfigError", (closed.why,)),
        }),
        Policy::None(notices) => Err(match notices.first() {
            Some(notice) => error(py, "Untrusted", (notice.text.clone(),)),
            None => {
                let folder = asked.project.display();
                let why =
                    format!("no configuration is in force in {folder}: run `crosier init`, or name a file");
                error(py, "ConfigError", (why,))
            }
        }),
        _ => Err(error(
            py,
            "ConfigError",
            ("the configuration in force is of a kind that this version does not know",),
        )),
    }
}

pub fn finish(
    py: Python<'_>,
    builder: Builder,
    folder: PathBuf,
    environment: Vec<(OsString, OsString)>,
    timing: bool,
) -> PyResult<(Engine, bool)> {
    let mut builder = builder.folder(folder).environment(environment);
    if timing {
        builder = builder.timing();
    }
    let engine = builder.build().map_err(|wrong| error(py, "ConfigError", (wrong.to_string(),)))?;
    let has_background = engine.entries().iter().any(|entry| entry.mode == Mode::Background);
    Ok((engine, has_background))
}

/// `crosier.ConfigError`, with each problem and its position.
pub fn config_error(py: Python<'_>, problems: &Problems) -> PyErr {
    let listed = || -> PyResult<Bound<'_, PyList>> {
        let list = PyList::empty(py);
        for problem in problems.iter() {
            let told = PyDict::new(py);
            told.set_item("severity", problem.severity().word())?;
            told.set_item("message", problem.message())?;
            told.set_item("path", problem.path())?;
            told.set_item("line", problem.line())?;
            told.set_item("column", problem.column())?;
            told.set_item("help", problem.help())?;
            list.append(told)?;
        }
        Ok(list)
    };
    match listed() {
        Ok(list) => error(py, "ConfigError", (problems.to_string(), list)),
        Err(error) => error,
    }
}

/// The name and line of every case of a case file. Errors in a case are reported when it is run.
#[pyfunction]
pub fn case_names(py: Python<'_>, path: &str, text: &str) -> PyResult<Vec<(String, usize)>> {
    let source = Source::new(path, text);
    let tree = parse_document(&source).map_err(|problems| config_error(py, &problems))?;
    let cases =
        tree.as_list().or_else(|| tree.get("cases").and_then(|cases| cases.as_list())).unwrap_or_default();
    let named = cases.iter().enumerate().map(|(at, case)| {
        let name = case.get("name").and_then(|name| name.as_text()).map(str::to_owned);
        (name.unwrap_or_else(|| format!("case {}", at + 1)), source.position(case.span.start).line)
    });
    Ok(named.collect())
}
