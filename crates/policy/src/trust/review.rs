//! What a person reviews before trusting a project, and how their decision is recorded.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crosier::{Entry, Handler, Program};
use crosier_layers::{Person, project_folders};
use sha2::{Digest, Sha256};

use super::collect::{self, Collected, Untrustable};
use super::diff;
use super::project::{TrustState, trust_states};
use super::record::{Record, RecordedFile, Records};
use super::stamp::{Kind, hex};
use super::trusted_folders;
use crate::request::Request;
use crate::show;
use crate::state::{self, StateFolder};

/// The largest file whose content is kept, to show what changed.
const MOST_KEPT: usize = 1024 * 1024;

/// Everything that there is to trust in a project.
#[derive(Debug)]
#[non_exhaustive]
pub struct Review {
    /// Folder by folder, the outermost first.
    pub folders: Vec<Reviewed>,
    state: PathBuf,
    config: Option<PathBuf>,
    person: Person,
}

/// One folder with a configuration.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reviewed {
    /// The folder, by its real path.
    pub folder: PathBuf,
    /// Its hooks.
    pub hooks: Vec<HookLine>,
    /// Every file that it runs: its path relative to the folder, its digest, and a remark.
    pub files: Vec<(String, String, String)>,
    /// Code that could not be found statically.
    pub unseen: Vec<String>,
    /// What changed since it was trusted; none when it never was.
    pub changes: Option<Vec<Change>>,
    /// A folder where the same content is already trusted, and since when (seconds since 1970).
    pub twin: Option<(PathBuf, u64)>,
    collected: Collected,
    before: Option<Record>,
}

/// A hook, for people.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookLine {
    /// Its event.
    pub event: String,
    /// Its name.
    pub name: String,
    /// Its matcher.
    pub matcher: String,
    /// What it runs.
    pub runs: String,
    /// What it is given or runs with: `env`, `env_pass`, `python`.
    pub with: Vec<String>,
}

/// A file that has changed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Change {
    /// Its path, relative to the folder.
    pub path: String,
    /// What happened to it.
    pub what: String,
    /// The lines that differ, if they are known.
    pub diff: Vec<String>,
}

/// Collects everything to trust, from this project folder up to its repository's root. Nothing is run.
///
/// # Errors
/// Why there is nothing to trust, in words for a person.
pub fn review(request: &Request) -> Result<Review, String> {
    let state = match state::state_folder(request) {
        StateFolder::Usable(state) => state,
        StateFolder::Refused(why) => return Err(why),
        StateFolder::Missing => request.homes.state.clone().ok_or_else(|| {
            "there is no home folder to remember it in: name one with --state-home DIR".to_owned()
        })?,
    };
    let real = fs::canonicalize(&request.project)
        .map_err(|error| format!("{}: {error}", show::path(&request.project)))?;
    let records = Records::new(&state);
    let listed = trusted_folders::read(request.homes.config.as_deref(), request.person)?;
    let known =
        real.ancestors().filter(|above| records.has(above) || listed.iter().any(|path| path == above));
    let known: Vec<PathBuf> = known.map(Path::to_owned).collect();
    let folders = project_folders(&request.places(&real, known.clone()));
    let mut reviewed = Vec::new();
    for folder in folders {
        match collect::collect(&folder, &request.homes) {
            Ok(collected) => reviewed.push(Reviewed::new(folder, collected, &records)),
            Err(Untrustable::Nothing) => {}
            Err(Untrustable::Problems(problems)) => {
                return Err(format!(
                    "the configuration of {} has errors:\n\n{problems}",
                    show::path(&folder)
                ));
            }
            Err(Untrustable::File(why)) => return Err(why),
        }
    }
    if reviewed.is_empty() {
        let why = match real.parent() {
            _ if known.contains(&real) => format!(
                "there is no crosier.yaml left in {}, which was trusted; to forget it: crosier trust --revoke {}",
                show::path(&real),
                show::argument(&real)
            ),
            None => "the root folder is never a project".to_owned(),
            _ => format!(
                "there is no crosier.yaml to trust in {} (nor in its repository); the home folder, / and folders that others can write to do not count",
                show::path(&real)
            ),
        };
        return Err(why);
    }
    Ok(Review { folders: reviewed, state, config: request.homes.config.clone(), person: request.person })
}

impl Review {
    /// One digest over all files and their paths relative to the outermost folder, so two clones have the same digest.
    #[must_use]
    pub fn digest(&self) -> String {
        let all: Vec<(PathBuf, Vec<RecordedFile>)> =
            self.folders.iter().map(|one| (one.folder.clone(), one.collected.files.clone())).collect();
        digest_of(&all)
    }

    /// Whether everything is already trusted in its current state.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        self.folders.iter().all(|one| one.changes.as_ref().is_some_and(Vec::is_empty))
    }

    /// Records what was reviewed. `keep_older` keeps the older contents trusted too.
    ///
    /// # Errors
    /// Why it cannot be recorded.
    pub fn trust(&self, keep_older: bool) -> Result<(), String> {
        let records = Records::new(&self.state);
        state::make(&self.state).map_err(|error| format!("{}: {error}", show::path(&self.state)))?;
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        for one in &self.folders {
            let folder = one.folder.to_str().ok_or("the name of the folder is not UTF-8")?;
            let mut record =
                Record::new(folder, at, one.collected.files.clone(), one.collected.globs.clone());
            if let Some(before) = one.before.as_ref().filter(|_| keep_older) {
                let olds = before.contents().filter(|(files, _)| !is_same(files, &record.files));
                (record.older, record.older_globs) =
                    olds.map(|(files, globs)| (files.clone(), globs.to_vec())).unzip();
            }
            // Write the list first: a folder that is on it and has no record is closed, not forgotten.
            if let Some(config) = &self.config {
                trusted_folders::change(config, self.person, &one.folder, true)?;
            }
            let failed = |error: std::io::Error| format!("the record cannot be written: {error}");
            records.write(&record).map_err(failed)?;
            keep(&records, &one.collected).map_err(failed)?;
        }
        Ok(())
    }
}

impl Reviewed {
    fn new(folder: PathBuf, collected: Collected, records: &Records) -> Self {
        let before = records.read(&folder).ok();
        let changes = before.as_ref().map(|record| changes(record, &collected, records));
        let twin = match &before {
            Some(_) => None,
            None => records
                .all()
                .into_iter()
                .find(|record| is_same(&record.files, &collected.files))
                .map(|record| (PathBuf::from(record.folder), record.at)),
        };
        let file = |file: &RecordedFile| {
            let note = match (file.kind, file.executable) {
                (Kind::Absent, _) => "not there",
                (Kind::Venv, _) => "a virtual environment, as one unit",
                (Kind::Link, _) => "a link",
                (Kind::File, true) => "executable",
                (Kind::File, false) => "",
            };
            (file.path.clone(), file.sha256.clone(), note.to_owned())
        };
        Self {
            hooks: collected.hooks.iter().map(|entry| hook_line(entry)).collect(),
            files: collected.files.iter().map(file).collect(),
            unseen: collected.unseen.clone(),
            folder,
            changes,
            twin,
            collected,
            before,
        }
    }
}

fn is_same(a: &[RecordedFile], b: &[RecordedFile]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b))
}

fn hook_line(entry: &Entry) -> HookLine {
    let mut with = Vec::new();
    let mut variables = |env: &[(String, String)], pass: &[String]| {
        with.extend(env.iter().map(|(name, value)| format!("env {name}={value}")));
        if !pass.is_empty() {
            with.push(format!("env_pass {}", pass.join(", ")));
        }
    };
    let runs = match &entry.handler {
        Handler::Command(spec) => {
            variables(&spec.env, &spec.env_pass);
            match &spec.program {
                Program::Shell(line) => line.clone(),
                Program::Argv(words) => format!("{words:?}"),
                _ => String::new(),
            }
        }
        Handler::Python(spec) => {
            variables(&spec.env, &spec.env_pass);
            with.push(format!("python {}", spec.interpreter));
            format!("{}.{}", spec.module, spec.function)
        }
        _ => entry.type_word().to_owned(),
    };
    let matcher = if entry.matcher.is_all() { "*" } else { entry.matcher.text() };
    HookLine {
        event: entry.kind.name.to_owned(),
        name: entry.name.to_string(),
        matcher: matcher.to_owned(),
        runs,
        with,
    }
}

/// What changed since a record was written.
fn changes(record: &Record, now: &Collected, records: &Records) -> Vec<Change> {
    let mut changes = Vec::new();
    let old_of = |path: &str| record.files.iter().find(|file| file.path == path);
    for file in &now.files {
        let old = old_of(&file.path);
        let what = match old {
            Some(old) if old.is_same(file) => continue,
            None if file.kind == Kind::Absent => continue,
            None => "is new",
            Some(old) if old.kind == Kind::Absent => "is new",
            Some(_) if file.kind == Kind::Absent => "is gone",
            Some(old) if old.sha256 != file.sha256 => "changed",
            Some(old) if old.kind != file.kind => "became a link, or was one",
            Some(_) if file.executable => "became executable",
            Some(_) => "is no longer executable",
        };
        let before = old.map(|old| kept(records, &old.sha256)).unwrap_or_default();
        let diff = match (before, now.contents.get(&file.path)) {
            (None, Some(_)) if old.is_some_and(|old| old.kind != Kind::Absent) => {
                vec!["(the old content is not available)".to_owned()]
            }
            (before, after) => diff::lines(&text(before.as_deref()), &text(after.map(Vec::as_slice))),
        };
        changes.push(Change { path: file.path.clone(), what: what.to_owned(), diff });
    }
    for old in &record.files {
        if !now.files.iter().any(|file| file.path == old.path) {
            let what = if old.kind == Kind::Absent { continue } else { "is no longer run, or is gone" };
            changes.push(Change { path: old.path.clone(), what: what.to_owned(), diff: Vec::new() });
        }
    }
    changes
}

fn text(bytes: Option<&[u8]>) -> String {
    bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

fn kept_at(records: &Records, sha256: &str) -> PathBuf {
    records.folder().join("content").join(sha256)
}

/// Stores the content of trusted files, to show later what changed.
fn keep(records: &Records, collected: &Collected) -> std::io::Result<()> {
    state::make(&records.folder().join("content"))?;
    for file in &collected.files {
        let path = kept_at(records, &file.sha256);
        if let Some(bytes) = collected.contents.get(&file.path).filter(|bytes| bytes.len() <= MOST_KEPT)
            && !path.exists()
        {
            state::write_whole(&path, bytes)?;
        }
    }
    Ok(())
}

fn kept(records: &Records, sha256: &str) -> Option<Vec<u8>> {
    let path = kept_at(records, sha256);
    let bytes = fs::read(path).ok().filter(|_| !sha256.is_empty())?;
    // Show only content that really is the old content.
    (super::stamp::digest(&bytes) == sha256).then_some(bytes)
}

/// One digest over all files of all folders and their paths relative to the outermost one.
pub(super) fn digest_of(folders: &[(PathBuf, Vec<RecordedFile>)]) -> String {
    let base = folders.first().map(|(folder, _)| folder.clone()).unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    for (folder, files) in folders {
        let below = folder.strip_prefix(&base).unwrap_or(folder);
        for file in files {
            let path = below.join(&file.path);
            let kind = match file.kind {
                Kind::Absent => "absent",
                Kind::File | Kind::Link | Kind::Venv => file.sha256.as_str(),
            };
            lines.push(format!("{}\0{}\0{kind}\n", path.display(), file.executable));
        }
    }
    lines.sort_unstable();
    lines.dedup();
    format!("sha256:{}", hex(&Sha256::digest(lines.concat())))
}

/// A project that is or was trusted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListedProject {
    /// The folder.
    pub folder: PathBuf,
    /// When it was trusted last, in seconds since 1970; none when its record is gone.
    pub at: Option<u64>,
    /// Its trust state.
    pub trust_state: TrustState,
}

/// Every project that is or was trusted.
///
/// # Errors
/// When the state folder or the list cannot be used.
pub fn list(request: &Request) -> Result<Vec<ListedProject>, String> {
    let records = match state::state_folder(request) {
        StateFolder::Usable(state) => Records::new(&state).all(),
        StateFolder::Missing => Vec::new(),
        StateFolder::Refused(why) => return Err(why),
    };
    let mut folders = trusted_folders::read(request.homes.config.as_deref(), request.person)?;
    folders.extend(records.iter().map(|record| PathBuf::from(&record.folder)));
    folders.sort();
    folders.dedup();
    let trust_state = |folder: PathBuf| {
        let mut one = request.clone();
        one.project.clone_from(&folder);
        let trust_state = match trust_states(&one) {
            Ok(all) => {
                all.into_iter().find(|(other, _)| *other == folder).map(|(_, trust_state)| trust_state)
            }
            Err(closed) => Some(TrustState::Closed(closed.why)),
        };
        let trust_state = trust_state
            .unwrap_or_else(|| TrustState::Closed("the folder is gone, or was replaced".to_owned()));
        let at = records.iter().find(|record| Path::new(&record.folder) == folder).map(|record| record.at);
        ListedProject { folder, at, trust_state }
    };
    Ok(folders.into_iter().map(trust_state).collect())
}

/// Forgets that a folder was trusted: it is "never trusted" again. Returns whether it was.
///
/// # Errors
/// Why it cannot be forgotten.
pub fn revoke(request: &Request) -> Result<bool, String> {
    let named = std::path::absolute(&request.project)
        .map_err(|error| format!("{}: {error}", show::path(&request.project)))?;
    // The folder itself, and the one that had this name before it became a link.
    let mut folders = vec![fs::canonicalize(&named).unwrap_or_else(|_| named.clone()), named];
    folders.dedup();
    let mut was_trusted = false;
    for folder in &folders {
        let was_listed =
            trusted_folders::read(request.homes.config.as_deref(), request.person)?.contains(folder);
        let had_record = match state::state_folder(request) {
            StateFolder::Usable(state) => Records::new(&state)
                .remove(folder)
                .map_err(|error| format!("the record cannot be removed: {error}"))?,
            StateFolder::Missing => false,
            StateFolder::Refused(why) => return Err(why),
        };
        if let Some(config) = request.homes.config.as_deref().filter(|_| was_listed) {
            trusted_folders::change(config, request.person, folder, false)?;
        }
        was_trusted |= was_listed || had_record;
    }
    Ok(was_trusted)
}
