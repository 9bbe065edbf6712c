//! Which project an event belongs to.
//!
//! The project that the agent names is used; the folder of the event is used only if it names none: an agent's
//! `cd` must not remove the policy. If an agent sends only its current folder, the folder of the session's first
//! event is stored in the state folder, and so is every project that it enters later: a later folder can add a project,
//! but not remove one.

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crosier_dialect::Call;
use crosier_policy::{Request, StateFolder};

use super::session;
use crate::environment;

/// How long a stored folder is kept after the last event of its session.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 3600);
/// How often its file gets a new time.
const RENEWAL: Duration = Duration::from_secs(3600);
/// How many folders of a session are stored.
const MAX_FOLDERS: usize = 64;

/// Fills in the project folder of a request.
pub(super) fn find(call: &Call, request: &mut Request) {
    let absolute = |folder: String| Some(PathBuf::from(folder)).filter(|folder| folder.is_absolute());
    // A deleted folder is still the project: its trusted files then count as missing, and the policy is closed.
    if let Some(project) = call.named_project(environment::text).and_then(absolute) {
        // A variable can name a folder that never existed, too: then the event's own folder counts besides.
        if !project.exists() {
            request.entered_folders.extend(call.folder().and_then(absolute));
        }
        request.project = project;
        return;
    }
    request.project = call.folder().and_then(absolute).unwrap_or_else(|| request.project.clone());
    // A folder that somebody else may have written must not name projects, and nothing is written to it.
    let state = match crosier_policy::state_folder(request) {
        StateFolder::Refused(_) => None,
        _ => request.homes.state.clone(),
    };
    let Some(path) = state.as_deref().and_then(|state| path_of(state, call)) else { return };
    let Ok(mut folders) = folders_of(&path, &request.project) else { return };
    if !folders.contains(&request.project) && folders.len() < MAX_FOLDERS && adds_project(request, &folders) {
        let _ = add(&path, &request.project);
        folders.push(request.project.clone());
    }
    let here = std::mem::take(&mut request.project);
    let mut folders = folders.into_iter();
    request.project = folders.next().unwrap_or_else(|| here.clone());
    request.entered_folders = folders.chain([here]).collect();
    let first = request.project.clone();
    request.entered_folders.retain(|folder| *folder != first);
    request.entered_folders.dedup();
}

fn path_of(state: &Path, call: &Call) -> Option<PathBuf> {
    Some(state.join("pin").join(session::name_of(call)?))
}

/// Whether the project folder has or had a policy that does not already apply to one of these other folders.
fn adds_project(request: &Request, others: &[PathBuf]) -> bool {
    let is_new = |folder: &PathBuf| !others.iter().any(|other| other.starts_with(folder));
    crosier_policy::trust::configured(request).map_or(true, |all| all.iter().any(is_new))
}

/// The folders of the session: that of its first event, and the projects that were entered since.
fn folders_of(path: &Path, here: &Path) -> io::Result<Vec<PathBuf>> {
    match crosier_policy::read_file(path) {
        Ok(bytes) => {
            keep(path);
            return Ok(parse(&bytes));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    sweep(folder);
    // The first process writes it; concurrent ones read it.
    let beside = folder.join(format!("{}.new", std::process::id()));
    let mut file =
        fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&beside)?;
    file.write_all(here.as_os_str().as_bytes())?;
    let linked = fs::hard_link(&beside, path);
    let _ = fs::remove_file(&beside);
    match linked {
        Ok(()) => Ok(vec![here.to_owned()]),
        Err(_) => crosier_policy::read_file(path).map(|bytes| parse(&bytes)),
    }
}

/// Notes that a session is in use, so that its folders are kept however long it lasts.
fn keep(path: &Path) {
    let age = fs::metadata(path).and_then(|meta| meta.modified()).map(|at| at.elapsed().unwrap_or_default());
    if age.is_ok_and(|age| age > RENEWAL)
        && let Ok(file) = fs::OpenOptions::new().append(true).open(path)
    {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Paths, separated by a byte that no path contains.
fn parse(bytes: &[u8]) -> Vec<PathBuf> {
    let paths = bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    paths.map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path))).collect()
}

/// Adds a folder, in one write, because other processes may add theirs at the same time.
fn add(path: &Path, folder: &Path) -> io::Result<()> {
    let line = [b"\0", folder.as_os_str().as_bytes()].concat();
    fs::OpenOptions::new().append(true).open(path)?.write_all(&line)
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
