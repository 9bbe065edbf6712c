//! Which project an event belongs to.
//!
//! The project that the agent names is used; the folder of the event is used only if it names none: an agent's
//! `cd` must not remove the policy. If an agent sends only its current folder, the folder of the session's first
//! event is stored in the state folder. A later folder can add a project, but not remove one.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crosier_dialect::Call;
use crosier_policy::Request;

use super::session;
use crate::environment;

/// How long a stored folder is kept after the last event of its session.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 3600);

/// Fills in the project folder of a request.
pub(super) fn find(call: &Call, request: &mut Request) {
    let absolute = |folder: String| Some(PathBuf::from(folder)).filter(|folder| folder.is_absolute());
    // A deleted folder is still the project: its trusted files then count as missing, and the policy is closed.
    if let Some(project) = call.named_project(environment::text).and_then(absolute) {
        request.project = project;
        return;
    }
    let here = call.folder().and_then(absolute).unwrap_or_else(|| request.project.clone());
    let pinned = request.homes.state.as_deref().and_then(|state| pin(state, call, &here).ok());
    match pinned {
        Some(pinned) if pinned != here => {
            request.project = pinned;
            request.also = vec![here];
        }
        _ => request.project = here,
    }
}

/// The folder of the session's first event.
fn pin(state: &Path, call: &Call, here: &Path) -> io::Result<PathBuf> {
    let name = session::name_of(call).ok_or_else(|| io::Error::other("there is no session"))?;
    let folder = state.join("pin");
    let path = folder.join(name);
    match crosier_policy::read_file(&path) {
        Ok(bytes) => return Ok(PathBuf::from(std::ffi::OsStr::from_bytes(&bytes))),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    sweep(&folder);
    // The first process writes it; concurrent ones read it.
    let beside = folder.join(format!("{}.new", std::process::id()));
    fs::write(&beside, here.as_os_str().as_bytes())?;
    let linked = fs::hard_link(&beside, &path);
    let _ = fs::remove_file(&beside);
    match linked {
        Ok(()) => Ok(here.to_owned()),
        Err(_) => {
            crosier_policy::read_file(&path).map(|bytes| PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)))
        }
    }
}

/// Removes the stored folders of old sessions, when a new one begins.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(1000) {
        let age =
            entry.metadata().and_then(|meta| meta.modified()).map(|at| at.elapsed().unwrap_or_default());
        if age.is_ok_and(|age| age > RETENTION) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
