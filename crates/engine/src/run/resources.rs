//! What all hooks of an engine share.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Processes;
use super::environment::Environment;
use super::runtime::OwnRuntime;

#[derive(Debug)]
pub(crate) struct Resources {
    pub(super) environment: Environment,
    pub(super) runtime: OwnRuntime,
    pub(crate) processes: Processes,
}

impl Resources {
    pub(crate) fn new(
        inherited: Option<Vec<(OsString, OsString)>>,
        project: Option<PathBuf>,
        processes: Processes,
    ) -> Self {
        let environment = Environment::new(inherited, project);
        Self { environment, runtime: OwnRuntime::default(), processes }
    }
}
