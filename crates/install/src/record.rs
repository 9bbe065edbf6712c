//! What was installed, and the previous content of the files: stored in the state folder.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::codex;
use crate::file::{self, digest};
use crate::json::Document;
use crate::places::Places;
use crate::plan::{Change, Plan, Refused, Scope, config_of_codex, content, is_ours_whole, refused, text};
use crate::table::{Form, Row};
use crate::toml;

/// One file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Written {
    agent: String,
    path: PathBuf,
    /// The name of the backup; `None` when there was no file.
    backup: Option<String>,
    /// The SHA-256 of what was written.
    sha256: String,
    /// Folders that were created for it.
    #[serde(default)]
    folders: Vec<PathBuf>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    files: Vec<Written>,
}

/// While this exists, no other process installs or uninstalls.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the lock is released when the file is closed")] fs::File);

/// The folder with the records of the installer.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The records in this state folder.
    #[must_use]
    pub fn in_folder(state: &Path) -> Self {
        Self { folder: state.join("install") }
    }

    /// Waits until no other process installs or uninstalls with these records. It must be held from before a plan is
    /// made until it is applied, or two processes could overwrite each other's changes.
    ///
    /// # Errors
    /// When the state folder cannot be written.
    pub fn lock(&self) -> Result<Lock, Refused> {
        let path = self.folder.with_extension("lock");
        let failed = |error: io::Error| refused(&path)(format!("it cannot be locked: {error}"));
        if let Some(state) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(state).map_err(failed)?;
        }
        let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut open = OpenOptions::new();
        open.create(true).truncate(false).write(true).mode(0o600).custom_flags(flags);
        let file = open.open(&path).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(Lock(file))
    }

    /// Whether something was installed for this agent and not uninstalled yet.
    #[must_use]
    pub fn has_record_of(&self, agent: &str) -> bool {
        self.read().is_ok_and(|record| record.files.iter().any(|file| file.agent == agent))
    }

    /// Why the agent would not call Crosier with this settings file as it is now. `None` when nothing was installed
    /// there, or when it was uninstalled.
    #[must_use]
    pub fn why_not_called(&self, row: &Row, path: &Path) -> Option<String> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let files = self.read().map(|record| record.files).unwrap_or_default();
        let is_known = files.iter().any(|file| file.agent == row.agent && real(&file.path) == real(path));
        let Form::Json { nesting, .. } = row.form else { return None };
        let text = match content(path) {
            Ok(there) => there.and_then(|there| String::from_utf8(there.bytes).ok()).unwrap_or_default(),
            Err(_) => String::new(),
        };
        if let Some(key) = row.switch_in(&text) {
            return Some(format!("`{key}` switches hooks off"));
        }
        let found =
            Document::parse(&text, nesting, row.agent).map(|document| document.found()).unwrap_or_default();
        let is_before_action = |event: &str| {
            let entry = row.dialect().and_then(|agent| agent.named(event));
            entry.is_some_and(|entry| entry.event == "PreToolUse")
        };
        let is_there = found.iter().any(|found| is_before_action(&found.event) && !found.is_narrow());
        (is_known && !is_there).then(|| "the entry that calls Crosier before a tool runs is gone".to_owned())
    }

    /// Applies the plan of [`Row::install_plan`]. The previous content of each file is kept first.
    ///
    /// # Errors
    /// When a file cannot be written; the files before it are already written.
    pub fn install(&self, agent: &str, plan: &Plan) -> Result<(), Refused> {
        for change in &plan.changes {
            let failed = |error: io::Error| refused(&change.path)(format!("it cannot be written: {error}"));
            let now = content(&change.path)?;
            if now.map(|content| content.bytes) != change.before {
                return Err(refused(&change.path)("it was changed meanwhile; run it again".to_owned()));
            }
            let Some(after) = &change.after else { continue };
            // Checked before it is recorded: what was not written is not installed.
            file::replaceable(&change.path).map_err(failed)?;
            self.remember(agent, change, after).map_err(failed)?;
            file::write(&change.path, after, change.mode).map_err(failed)?;
        }
        Ok(())
    }

    fn remember(&self, agent: &str, change: &Change, after: &[u8]) -> io::Result<()> {
        let mut record = self.read()?;
        let before =
            record.files.iter().find(|file| file.agent == agent && file.path == change.path).cloned();
        let unchanged =
            |written: &&Written| change.before.as_deref().map(digest).as_ref() == Some(&written.sha256);
        let (backup, folders) = match before.as_ref().filter(unchanged) {
            // The file is as it was last written, so its original is already known.
            Some(written) => (written.backup.clone(), written.folders.clone()),
            None => {
                let original = change.original.as_ref().or(change.before.as_ref());
                let backup = original.map(|bytes| self.keep(&change.path, bytes)).transpose()?;
                let mut folders = file::missing_folders(&change.path);
                folders.extend(before.map(|written| written.folders).unwrap_or_default());
                // A folder that was created for several files is removed with the last of them.
                let others = record.files.iter().flat_map(|file| &file.folders);
                folders.extend(others.filter(|folder| change.path.starts_with(folder)).cloned());
                folders.sort();
                folders.dedup();
                (backup, folders)
            }
        };
        record.files.retain(|file| !(file.agent == agent && file.path == change.path));
        let path = change.path.clone();
        record.files.push(Written { agent: agent.to_owned(), path, backup, sha256: digest(after), folders });
        self.write(&record)
    }

    /// What would change so that this agent does not call Crosier: a file that was not edited gets its previous content
    /// back; from any other, exactly Crosier's entries are removed.
    ///
    /// # Errors
    /// When a file cannot be read or edited.
    pub fn uninstall_plan(&self, row: &Row, places: &Places) -> Result<Plan, Refused> {
        let record = self.read().map_err(|error| refused(&self.folder)(error.to_string()))?;
        let written: Vec<&Written> = record.files.iter().filter(|file| file.agent == row.agent).collect();
        let mut paths: Vec<PathBuf> = written.iter().map(|file| file.path.clone()).collect();
        for path in row.files(places) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let mut plan = Plan::default();
        for path in paths {
            let known = written.iter().find(|file| file.path == path);
            plan.changes.extend(self.taken_out(row, places, &path, known.copied())?);
        }
        Ok(plan)
    }

    fn taken_out(
        &self,
        row: &Row,
        places: &Places,
        path: &Path,
        known: Option<&Written>,
    ) -> Result<Option<Change>, Refused> {
        let Some(there) = content(path)? else { return Ok(None) };
        let original =
            known.map(|written| self.original(written)).transpose().map_err(refused(path))?.flatten();
        let change = |after: Option<Vec<u8>>| {
            let before = Some(there.bytes.clone());
            let change = Change { path: path.to_owned(), before, after, mode: there.mode, original: None };
            (change.before != change.after).then_some(change)
        };
        if known.is_some_and(|written| written.sha256 == digest(&there.bytes)) {
            return Ok(change(original));
        }
        if matches!(row.form, Form::Programs | Form::Plugin) {
            return Ok(if is_ours_whole(&there.bytes, row.agent) { change(original) } else { None });
        }
        let was_there = known.is_none_or(|written| written.backup.is_some());
        let before = original.and_then(|bytes| String::from_utf8(bytes).ok());
        let now = text(path, Some(&there))?;
        let edited = edit(row, places, path, &now, before.as_deref()).map_err(refused(path))?;
        Ok(match edited {
            Edited::Same => None,
            Edited::Bare(_) if !was_there => change(None),
            Edited::Bare(text) | Edited::Text(text) => change(Some(text.into_bytes())),
        })
    }

    /// Applies the plan of [`uninstall_plan`](Self::uninstall_plan), and forgets the agent.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn uninstall(&self, agent: &str, plan: &Plan) -> Result<(), Refused> {
        let failed = |path: &Path, error: io::Error| refused(path)(format!("it cannot be written: {error}"));
        for change in &plan.changes {
            file::replaceable(&change.path).map_err(|error| failed(&change.path, error))?;
        }
        let mut record = self.read().map_err(|error| failed(&self.folder, error))?;
        // Forgotten first, so that a concurrent check allows the entries to be removed.
        let (forgotten, kept) = record.files.drain(..).partition::<Vec<_>, _>(|file| file.agent == agent);
        record.files = kept;
        self.write(&record).map_err(|error| failed(&self.folder, error))?;
        for change in &plan.changes {
            let now = content(&change.path)?;
            if now.map(|content| content.bytes) != change.before {
                return Err(refused(&change.path)("it was changed meanwhile; run it again".to_owned()));
            }
            let done = match &change.after {
                Some(after) => file::write(&change.path, after, change.mode),
                None => fs::remove_file(file::target(&change.path)),
            };
            done.map_err(|error| failed(&change.path, error))?;
        }
        for written in &forgotten {
            // Removes only folders that are empty.
            written.folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
            if let Some(backup) = &written.backup {
                let _ = fs::remove_file(self.backups().join(backup));
            }
        }
        if record.files.is_empty() {
            let _ = fs::remove_file(self.file());
            let _ = fs::remove_dir(self.backups());
            let _ = fs::remove_dir(&self.folder);
        }
        Ok(())
    }

    fn original(&self, written: &Written) -> Result<Option<Vec<u8>>, String> {
        let Some(name) = &written.backup else { return Ok(None) };
        let path = self.backups().join(name);
        let bytes =
            fs::read(&path).map_err(|error| format!("its backup {} is gone: {error}", path.display()))?;
        // The name contains the digest of the content.
        match name.ends_with(&digest(&bytes)) {
            true => Ok(Some(bytes)),
            false => Err(format!("its backup {} was changed", path.display())),
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.join("record.json")
    }

    fn backups(&self) -> PathBuf {
        self.folder.join("backup")
    }

    fn read(&self) -> io::Result<Record> {
        match fs::read(self.file()) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                io::Error::other(format!("{} is not valid: {error}", self.file().display()))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Record::default()),
            Err(error) => Err(error),
        }
    }

    fn write(&self, record: &Record) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(self.backups())?;
        file::write(&self.file(), &serde_json::to_vec_pretty(record)?, 0o600)
    }

    /// Stores bytes under the name of their file and their digest.
    fn keep(&self, path: &Path, bytes: &[u8]) -> io::Result<String> {
        DirBuilder::new().recursive(true).mode(0o700).create(self.backups())?;
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let place = digest(path.as_os_str().as_encoded_bytes());
        let name = format!("{file}.{}.{}", &place[..8], digest(bytes));
        let path = self.backups().join(&name);
        let mut out = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)?;
        out.write_all(bytes)?;
        out.sync_all()?;
        Ok(name)
    }
}

/// What remains of a file without Crosier's entries.
enum Edited {
    /// There were none.
    Same,
    /// Nothing except what a new file begins with.
    Bare(String),
    Text(String),
}

fn edit(
    row: &Row,
    places: &Places,
    path: &Path,
    now: &str,
    original: Option<&str>,
) -> Result<Edited, String> {
    let done = |text: String, is_bare: bool| match () {
        () if text == now => Edited::Same,
        () if is_bare => Edited::Bare(text),
        () => Edited::Text(text),
    };
    match row.form {
        Form::Json { .. } if path == config_of_codex(places) => {
            // Codex writes to this file too: only hashes of entries that are in hooks.json now are known to be
            // Crosier's.
            let mut document = toml::parse(now)?;
            for scope in [Scope::User, Scope::Project] {
                let Ok(hooks) = row.path(places, scope) else { continue };
                let text =
                    file::read(&hooks).ok().flatten().and_then(|there| String::from_utf8(there.bytes).ok());
                let Form::Json { nesting, .. } = row.form else { continue };
                let found =
                    text.and_then(|text| Some(Document::parse(&text, nesting, row.agent).ok()?.found()));
                codex::distrust(&mut document, &codex::trusted_hooks(&hooks, &found.unwrap_or_default()));
            }
            let is_bare = document.is_empty() && document.to_string().trim().is_empty();
            Ok(done(toml::edited(now, &document), is_bare))
        }
        Form::Json { nesting, first, .. } => {
            let document = Document::parse(now, nesting, row.agent)?;
            let original = original.and_then(|text| Document::parse(text, nesting, row.agent).ok());
            document.remove_entries(original.as_ref());
            Ok(done(document.text(), document.is_bare(&first())))
        }
        _ => {
            let mut document = toml::parse(now)?;
            toml::remove_entries(&mut document, row.agent);
            Ok(done(toml::edited(now, &document), document.to_string().trim().is_empty()))
        }
    }
}

impl Row {
    /// Every file that may have entries of Crosier for this agent.
    #[must_use]
    pub fn files(&self, places: &Places) -> Vec<PathBuf> {
        let scopes = [Scope::User, Scope::Project].into_iter();
        let mut files = Vec::new();
        for path in scopes.filter_map(|scope| self.path(places, scope).ok()) {
            match self.form {
                Form::Programs => {
                    let all = self.dialect().map(|agent| agent.events).unwrap_or_default();
                    files.extend(all.iter().map(|event| path.join(event.name())));
                }
                _ => files.push(path),
            }
        }
        files.dedup();
        files
    }
}
