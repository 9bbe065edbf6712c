//! Which folders of a project count, and whether they are unchanged since a person trusted them.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crosier::{Entry, PythonSources, Sources};
use crosier_layers::{FILE, LOCAL_FILE, LayerFile, Places, project_folders};

use super::collect::{self, Untrustable};
use super::compare;
use super::record::{Record, RecordedFile, Records, UncheckedDigests, Unusable};
use super::review;
use super::stamp::{self, Finder, Kind, Stamp};
use super::trusted_folders;
use crate::closed::{Closed, Fault};
use crate::in_force::{Notice, Notices};
use crate::request::{Request, Venvs};
use crate::show;
use crate::state::{self, StateFolder};

/// The trust state of a folder with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustState {
    /// It was never trusted: its hooks do not run.
    Never,
    /// It is unchanged since it was trusted.
    Trusted,
    /// It was trusted and cannot be relied on, for this reason: actions are denied.
    Closed(String),
}

/// The part of a project that is in force.
#[derive(Debug, Default)]
pub(crate) struct Project {
    /// The folders that are trusted, the outermost first.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) trusted: Trusted,
    pub(crate) notices: Notices,
    /// Why a folder that was trusted is left out.
    pub(crate) closed: Option<Closed>,
}

impl Project {
    fn closed(closed: Closed) -> Self {
        Self { closed: Some(closed), ..Self::default() }
    }
}

/// Files as they were recorded.
#[derive(Debug)]
pub(crate) struct Trusted {
    folders: Vec<TrustedFolder>,
    /// Where Python programs that commands start keep compiled modules.
    python_caches: PathBuf,
}

/// The files of one folder's record.
#[derive(Debug)]
struct TrustedFolder {
    folder: PathBuf,
    /// The folder in which only recorded files may be loaded.
    root: PathBuf,
    files: Vec<RecordedFile>,
    /// The stamps that they had when they matched the record, in the same order.
    stamps: Vec<Option<Stamp>>,
    /// Where the digests are that `files` does not have.
    digests: Option<UncheckedDigests>,
}

impl TrustedFolder {
    fn new(folder: &Path, home: Option<&Path>, files: Vec<RecordedFile>, stamps: Vec<Option<Stamp>>) -> Self {
        Self { folder: folder.to_owned(), root: collect::root_of(folder, home), files, stamps, digests: None }
    }

    /// The files with all their digests. Those that cannot be relied on are left out, so that nothing is loaded.
    fn complete_files(&self) -> Cow<'_, [RecordedFile]> {
        let Some(digests) = &self.digests else { return Cow::Borrowed(&self.files) };
        let mut record = Record::new("", 0, self.files.clone(), Vec::new());
        match digests.add_to(&mut record) {
            Some(()) => Cow::Owned(record.files),
            None => Cow::Owned(Vec::new()),
        }
    }

    /// The first of these files whose stamp is not the one that it had. That is enough to refuse it: it may have been
    /// changed and changed back.
    fn changed_file(&self, is_wanted: impl Fn(&RecordedFile) -> bool) -> Option<&RecordedFile> {
        let mut finder = Finder::new(&self.folder);
        let mut files = self.files.iter().zip(&self.stamps).filter(|(file, _)| is_wanted(file));
        let changed = files.find(|(file, stamp)| match file.kind {
            Kind::Venv => compare::compare_file(&mut finder, &self.folder, file, Venvs::InFull).is_err(),
            _ => finder.find(&file.path).map(|found| found.map(|found| found.stamp)) != Ok(**stamp),
        });
        changed.map(|(file, _)| file)
    }

    fn path_of(&self, file: &RecordedFile) -> PathBuf {
        collect::clean(&self.folder.join(&file.path))
    }
}

impl Default for Trusted {
    fn default() -> Self {
        // A path that cannot exist: modules are compiled anew in every run.
        Self { folders: Vec::new(), python_caches: PathBuf::from("/dev/null/pycache") }
    }
}

impl Sources for Trusted {
    /// Compares all files, because it is not known which of them a script runs.
    fn check(&self, _: &Entry) -> Result<(), String> {
        let found = |folder: &TrustedFolder| {
            let file = folder.changed_file(|_| true)?;
            Some(changed(&folder.folder, &file.path, "changed since you trusted it").why)
        };
        self.folders.iter().find_map(found).map_or(Ok(()), Err)
    }

    fn python(&self) -> PythonSources {
        let mut sources = PythonSources::new(self.folders.iter().map(|folder| folder.root.clone()));
        for folder in &self.folders {
            for file in folder.complete_files().iter() {
                match (file.kind, stamp::from_hex(&file.sha256)) {
                    (Kind::Venv, _) => sources = sources.unit(folder.path_of(file)),
                    (Kind::File | Kind::Link, Some(sha256)) => {
                        sources = sources.file(folder.path_of(file), sha256)
                    }
                    _ => {}
                }
            }
        }
        sources
    }

    /// Python would load a module from `__pycache__` beside it, which is not recorded.
    fn variables(&self) -> Vec<(OsString, OsString)> {
        vec![("PYTHONPYCACHEPREFIX".into(), self.python_caches.clone().into())]
    }
}

impl Trusted {
    fn files(&self) -> impl Iterator<Item = (&TrustedFolder, &RecordedFile)> {
        self.folders.iter().flat_map(|folder| folder.files.iter().map(move |file| (folder, file)))
    }

    /// Every recorded path.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.files().map(|(folder, file)| folder.path_of(file))
    }

    /// Checks that the configuration that was read is the recorded one.
    pub(crate) fn check_bytes(&self, file: &LayerFile) -> Result<(), Closed> {
        let is_it = |(folder, known): &(&TrustedFolder, &RecordedFile)| {
            file.path.strip_prefix(&folder.folder).is_ok_and(|path| path == Path::new(&known.path))
        };
        match self.files().find(is_it) {
            Some((_, known)) if known.sha256 == stamp::digest(&file.bytes) => Ok(()),
            Some((folder, known)) => {
                Err(changed(&folder.folder, &known.path, "changed since you trusted it"))
            }
            None => {
                let folder = file.path.parent().unwrap_or(Path::new("/"));
                Err(changed(folder, &show::path(&file.path), "is new since you trusted the project"))
            }
        }
    }

    /// Checks that the files that the loader read have not changed since they were compared.
    pub(crate) fn check_loaded(&self) -> Result<(), Closed> {
        for folder in &self.folders {
            if let Some(file) = folder.changed_file(|file| file.loads) {
                return Err(changed(&folder.folder, &file.path, "changed while it was loaded"));
            }
        }
        Ok(())
    }
}

fn changed(folder: &Path, path: &str, what: &str) -> Closed {
    let why = format!(
        "{} {what}; to review it: crosier trust --diff {}",
        show::one_line(path),
        show::argument(folder)
    );
    Closed::new(Fault::Trust, why)
}

/// The folders that count, and which of them were ever trusted.
struct Candidates {
    folders: Vec<PathBuf>,
    known: Vec<PathBuf>,
    records: Option<Records>,
    /// Folders with a configuration that is never used, for example because others can write to them.
    unusable: Vec<PathBuf>,
}

fn find(request: &Request, places: &Places, state: &StateFolder) -> Result<Candidates, Closed> {
    let refused = |why: String| Closed::new(Fault::Trust, why);
    let records = match state {
        StateFolder::Usable(folder) => Some(Records::new(folder)),
        StateFolder::Missing => None,
        StateFolder::Refused(why) => return Err(Closed::new(Fault::Refused, why.clone())),
    };
    let listed = trusted_folders::read(request.homes.config.as_deref(), request.person).map_err(refused)?;
    let mut found = Candidates { folders: Vec::new(), known: Vec::new(), records, unusable: Vec::new() };
    for folder in std::iter::once(&request.project).chain(&request.entered_folders) {
        let real = match *folder == places.project {
            true => places.real_project(),
            false => fs::canonicalize(folder).unwrap_or_else(|_| folder.clone()),
        };
        let is_known = |above: &&Path| {
            listed.iter().any(|path| path == above)
                || found.records.as_ref().is_some_and(|records| records.has(above))
        };
        let known: Vec<PathBuf> = real.ancestors().filter(is_known).map(Path::to_owned).collect();
        // A trusted folder that was moved away and replaced by a link must not lose its policy.
        let named = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        if let Some(link) = named.ancestors().find(|above| !real.starts_with(above) && is_known(above)) {
            let (shown, word) = (show::path(link), show::argument(link));
            return Err(refused(format!(
                "{shown} was trusted and is now a link to another folder; to forget it: crosier trust --revoke {word}"
            )));
        }
        let folders = project_folders(&places.of_folder(&real, known.clone()));
        // Making a trusted folder writable by others must not remove its policy.
        if let Some(open) = known.iter().find(|known| !folders.contains(known)) {
            return Err(refused(format!(
                "others can write to the trusted folder {}; to prevent it: chmod go-w {}",
                show::path(open),
                show::argument(open)
            )));
        }
        if has_configuration(&real) && real.parent().is_some() && !folders.contains(&real) {
            found.unusable.push(real);
        }
        found.folders.extend(folders);
        found.known.extend(known);
    }
    // Outermost first; duplicates count once.
    found.folders.sort_by_key(|folder| folder.components().count());
    let mut seen = Vec::new();
    found.folders.retain(|folder| {
        let is_new = !seen.contains(folder);
        seen.push(folder.clone());
        is_new
    });
    Ok(found)
}

fn has_configuration(folder: &Path) -> bool {
    [FILE, LOCAL_FILE].iter().any(|name| fs::symlink_metadata(folder.join(name)).is_ok())
}

/// Finds the part of a project that is in force. A folder that was trusted and cannot be relied on is left out.
pub(crate) fn project(request: &Request, places: &Places, state: &StateFolder) -> Project {
    let found = match find(request, places, state) {
        Ok(found) => found,
        Err(closed) => return Project::closed(closed),
    };
    if let Some(digest) = &request.trust {
        return by_digest(request, &found, digest).unwrap_or_else(Project::closed);
    }
    let mut project = Project::default();
    if let StateFolder::Usable(state) = state {
        project.trusted.python_caches = state.join("pycache");
    }
    // A file in the home folder is not meant as a project's configuration.
    let open = found.unusable.iter().filter(|folder| places.real_home().as_ref() != Some(folder));
    project.notices.extend(open.map(|folder| Notice {
        subject: format!("trust:{}", show::path(folder)),
        text: format!(
            "the hooks of {} do not run, because others can write to this folder; to prevent it: chmod go-w {}",
            show::path(folder),
            show::argument(folder)
        ),
    }));
    for folder in &found.folders {
        if found.known.contains(folder) {
            match compare_with_record(&found, folder, request.venvs) {
                Ok((files, stamps, digests)) => {
                    let home = request.homes.home.as_deref();
                    let trusted = TrustedFolder::new(folder, home, files, stamps);
                    project.trusted.folders.push(TrustedFolder { digests, ..trusted });
                    project.folders.push(folder.clone());
                }
                Err(why) => {
                    project.closed.get_or_insert_with(|| Closed::new(Fault::Trust, why));
                }
            }
        } else if has_configuration(folder) {
            project.notices.push(never(folder, state));
        }
    }
    project
}

/// Files that match their record, their stamps, and the digests that they do not have yet.
type Matching = (Vec<RecordedFile>, Vec<Option<Stamp>>, Option<UncheckedDigests>);

/// Compares a folder with its record; returns the files that match.
fn compare_with_record(found: &Candidates, folder: &Path, venvs: Venvs) -> Result<Matching, String> {
    let (shown, word) = (show::path(folder), show::argument(folder));
    let gone = || {
        format!("{shown} was trusted, and its trust record is gone; to trust it again: crosier trust {word}")
    };
    let records = found.records.as_ref().ok_or_else(gone)?;
    let unusable = |unusable| match unusable {
        Unusable::Missing => gone(),
        Unusable::Bad(why) => {
            format!(
                "the trust record of {shown} is not valid ({why}); to trust it again: crosier trust {word}"
            )
        }
    };
    let index = records.read_index(folder).map_err(unusable)?;
    if let Some(stamps) = compare::compare_stamps(&index.record, venvs) {
        // The other contents are not needed, but the digests are those of all contents.
        let has_older = !index.record.older.is_empty();
        return match has_older {
            true => Ok((index.complete().map_err(unusable)?.files, stamps, None)),
            false => Ok((index.record.files, stamps, Some(index.digests))),
        };
    }
    let mut record = index.complete().map_err(unusable)?;
    let compared = compare::compare(&mut record, venvs).map_err(|difference| {
        // From now on every comparison finds it.
        if record.forget_venv(&difference.path) {
            records.remember(&record);
        }
        format!(
            "{} {}; to review it: crosier trust --diff {word}",
            show::one_line(&difference.path),
            show::one_line(&difference.what)
        )
    })?;
    if compared.learned {
        records.remember(&record);
    }
    Ok((record.into_content(compared.content), compared.stamps, None))
}

fn never(folder: &Path, state: &StateFolder) -> Notice {
    let shown = show::path(folder);
    let remedy = match state {
        StateFolder::Missing | StateFolder::Usable(_) => {
            format!("to use them: crosier trust {}", show::argument(folder))
        }
        StateFolder::Refused(why) => why.clone(),
    };
    Notice {
        subject: format!("trust:{shown}"),
        text: format!("the hooks of {shown} do not run, because they are not trusted; {remedy}"),
    }
}

/// The project that a person trusts by its digest: it matches, or the policy is closed.
fn by_digest(request: &Request, found: &Candidates, digest: &str) -> Result<Project, Closed> {
    let folders: Vec<PathBuf> = found
        .folders
        .iter()
        .filter(|folder| found.known.contains(folder) || has_configuration(folder))
        .cloned()
        .collect();
    let mut project = Project::default();
    if folders.is_empty() {
        return Ok(project);
    }
    let closed = |why: String| Closed::new(Fault::Trust, why);
    let mut all = Vec::new();
    for folder in &folders {
        let collected =
            collect::collect(folder, &request.homes).map_err(|untrustable| match untrustable {
                Untrustable::Problems(problems) => crate::in_force::bad(*problems),
                Untrustable::Nothing => changed(folder, FILE, "is gone since you trusted it"),
                Untrustable::File(why) => closed(why),
            })?;
        all.push((folder.clone(), collected.files));
    }
    let now = review::digest_of(&all);
    if now != digest {
        let shown = show::one_line(digest);
        return Err(closed(format!(
            "the digest of this project is {now}, but the trusted one is {shown}; crosier trust --digest prints the current one"
        )));
    }
    for (folder, files) in all {
        let mut finder = Finder::new(&folder);
        let compared =
            files.iter().map(|file| compare::compare_file(&mut finder, &folder, file, Venvs::InFull));
        let stamps = compared
            .collect::<Result<Vec<_>, _>>()
            .map_err(|difference| changed(&folder, &difference.path, &difference.what))?;
        let home = request.homes.home.as_deref();
        project.trusted.folders.push(TrustedFolder::new(&folder, home, files, stamps));
        project.folders.push(folder);
    }
    Ok(project)
}

/// Every file in the trust records of a project, whether it has changed or not.
#[must_use]
pub fn recorded(request: &Request) -> Vec<PathBuf> {
    let places = request.places(&request.project, Vec::new()).resolved();
    let Ok(found) = find(request, &places, &state::state_folder(request)) else { return Vec::new() };
    let Some(records) = &found.records else { return Vec::new() };
    let all = found.known.iter().filter_map(|folder| Some((folder, records.read(folder).ok()?)));
    all.flat_map(|(folder, record)| {
        record.files.into_iter().map(|file| collect::clean(&folder.join(file.path)))
    })
    .collect()
}

/// The trust state of every folder of a project that has or had a configuration.
///
/// # Errors
/// When it cannot be determined for any of them.
pub fn trust_states(request: &Request) -> Result<Vec<(PathBuf, TrustState)>, Closed> {
    let state = state::state_folder(request);
    let found = find(request, &request.places(&request.project, Vec::new()).resolved(), &state)?;
    let mut trust_states = Vec::new();
    for folder in &found.folders {
        if found.known.contains(folder) {
            let trust_state = match compare_with_record(&found, folder, Venvs::InFull) {
                Ok(_) => TrustState::Trusted,
                Err(why) => TrustState::Closed(why),
            };
            trust_states.push((folder.clone(), trust_state));
        } else if has_configuration(folder) {
            trust_states.push((folder.clone(), TrustState::Never));
        }
    }
    Ok(trust_states)
}

/// The folders of a project that have or had a configuration, without a look at their trust.
///
/// # Errors
/// When they cannot be determined.
pub fn configured(request: &Request) -> Result<Vec<PathBuf>, Closed> {
    let places = request.places(&request.project, Vec::new()).resolved();
    let mut found = find(request, &places, &state::state_folder(request))?;
    found.folders.retain(|folder| found.known.contains(folder) || has_configuration(folder));
    Ok(found.folders)
}
