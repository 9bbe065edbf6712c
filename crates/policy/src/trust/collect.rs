//! Which files a configuration runs: every file inside the project that a person's trust must cover.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crosier::config::{Config, Node, Source, Value, parse_document, python_files};
use crosier::{Cwd, Engine, Entry, Handler, Layer, Program};
use crosier_builtins::shell::{Command, Origin, Piece, Script, Word, base_name};
use crosier_layers::{FILE, LOCAL_FILE};

use super::glob;
use super::record::RecordedFile;
use super::stamp::{self, Kind};
use crate::foreign;
use crate::loader::{catalog, loader};
use crate::request::Homes;
use crate::show;

/// The most files that one project can have in its record.
const MOST_FILES: usize = 20_000;
/// Programs that run the file that follows their options.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "python", "node", "bun", "deno", "ruby", "perl", "php", "source",
    ".", "tsx", "lua",
];
/// Built-in hooks whose files are content, not rules.
const CONTENT: &[&str] = &["context-files", "audit", "inbox"];

/// Everything to trust in one folder.
#[derive(Debug)]
pub(crate) struct Collected {
    /// The files, by their paths relative to the folder.
    pub(crate) files: Vec<RecordedFile>,
    /// The patterns of `trust:`: a new file that matches one is a change.
    pub(crate) globs: Vec<String>,
    /// The hooks, for display.
    pub(crate) hooks: Vec<Arc<Entry>>,
    /// Code that could not be found statically, for display.
    pub(crate) unseen: Vec<String>,
    /// The content of the files, to show what changed.
    pub(crate) contents: BTreeMap<String, Vec<u8>>,
}

/// Why a folder cannot be trusted as it is.
#[derive(Debug)]
pub(crate) enum Untrustable {
    /// There is no configuration in it.
    Nothing,
    /// Its configuration has errors.
    Problems(Box<crosier::config::Problems>),
    /// One of its files cannot be recorded.
    File(String),
}

/// Collects what the configuration of a folder runs, without running any of it.
pub(crate) fn collect(folder: &Path, homes: &Homes) -> Result<Collected, Untrustable> {
    let mut files = Files {
        folder,
        root: root_of(folder, homes.home.as_deref()),
        found: BTreeMap::new(),
        unseen: Vec::new(),
        globs: Vec::new(),
    };
    let mut entries = Vec::new();
    let mut found = false;
    for (name, layer) in [(FILE, Layer::Project(0)), (LOCAL_FILE, Layer::Local)] {
        let path = folder.join(name);
        if fs::symlink_metadata(&path).is_err() {
            files.found.insert(path, Use::MAY_BE_ABSENT);
            continue;
        }
        found = true;
        let (_, _, bytes) =
            stamp::read(&path).map_err(|why| Untrustable::File(format!("{}: {why}", show::path(&path))))?;
        let shown = path.display().to_string();
        let config = loader(homes).layer(layer).bytes(&shown, bytes.clone(), folder).load();
        let config = config.map_err(|problems| {
            Untrustable::Problems(Box::new(foreign::hide(&problems, &files.root, |_| false)))
        })?;
        files.found.insert(path, Use::LOADED);
        files.document(&Source::new(shown, String::from_utf8_lossy(&bytes)), folder);
        files.globs(&config.settings.trust)?;
        entries.extend(files.hooks(config)?);
    }
    if !found {
        return Err(Untrustable::Nothing);
    }
    files.record(entries)
}

/// The folder that counts as the project: the repository, or the folder itself. A repository that contains the home
/// folder does not count.
pub(crate) fn root_of(folder: &Path, home: Option<&Path>) -> PathBuf {
    let repository = folder.ancestors().find(|above| fs::symlink_metadata(above.join(".git")).is_ok());
    let is_usable = |root: &&Path| root.parent().is_some() && home.is_none_or(|home| !home.starts_with(root));
    repository.filter(is_usable).unwrap_or(folder).to_owned()
}

/// How a file is used, which decides how it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Use {
    /// Read by the configuration loader itself, so it must not change between the comparison and the loading.
    loads: bool,
    is_venv: bool,
    /// Recorded even when it does not exist: it would run if somebody created it.
    may_be_absent: bool,
}

impl Use {
    /// A file that must exist: a module, an argument, input.
    const RUN: Self = Self { loads: false, is_venv: false, may_be_absent: false };
    const LOADED: Self = Self { loads: true, is_venv: false, may_be_absent: false };
    /// A configuration file, or a program or script that a hook starts: recorded as absent if it does not exist.
    const MAY_BE_ABSENT: Self = Self { loads: false, is_venv: false, may_be_absent: true };
    const VENV: Self = Self { loads: false, is_venv: true, may_be_absent: false };
}

/// The files of one folder's configuration.
struct Files<'a> {
    folder: &'a Path,
    /// Only files inside it are recorded.
    root: PathBuf,
    found: BTreeMap<PathBuf, Use>,
    unseen: Vec<String>,
    /// The patterns of `trust:`.
    globs: Vec<String>,
}

impl Files<'_> {
    fn add(&mut self, path: &Path, how: Use) {
        let path = clean(path);
        let is_inside = path.starts_with(&self.root)
            || fs::canonicalize(&path).is_ok_and(|real| real.starts_with(&self.root));
        if is_inside {
            let known = self.found.entry(path).or_insert(how);
            known.loads |= how.loads;
        }
    }

    /// Adds a file if it exists.
    fn add_existing(&mut self, path: &Path, how: Use) -> bool {
        let is_file = path.is_file();
        if is_file {
            self.add(path, how);
        }
        is_file
    }

    /// Adds files that a document names besides its hooks: scripts, packs, files with rules.
    fn document(&mut self, source: &Arc<Source>, folder: &Path) {
        let Ok(node) = parse_document(source) else { return };
        for script in texts(node.get("scripts")) {
            self.add(&folder.join(script), Use::LOADED);
        }
        for pack in texts(node.get("extends")) {
            let path = folder.join(pack);
            if !pack.starts_with("crosier:") && self.add_existing(&path, Use::LOADED) {
                let text = fs::read_to_string(&path).unwrap_or_default();
                let below = path.parent().unwrap_or(folder).to_owned();
                self.document(&Source::new(path.display().to_string(), text), &below);
            }
        }
        self.rules(&node, folder);
    }

    /// Adds files that the options of built-in hooks name.
    fn rules(&mut self, node: &Node, folder: &Path) {
        let handler = node.get("handler").and_then(Node::as_text).unwrap_or_default();
        if let Some(options) = node.get("options").filter(|_| !CONTENT.contains(&handler)) {
            let mut named = Vec::new();
            leaves(options, &mut named);
            for text in named {
                self.add_existing(&folder.join(text), Use::LOADED);
            }
        }
        match &node.value {
            Value::Map(entries) => entries.iter().for_each(|entry| self.rules(&entry.value, folder)),
            Value::List(items) => items.iter().for_each(|item| self.rules(item, folder)),
            _ => {}
        }
    }

    /// Adds the files that `trust:` names.
    fn globs(&mut self, globs: &[String]) -> Result<(), Untrustable> {
        for pattern in globs {
            for file in glob::files(self.folder, pattern).map_err(Untrustable::File)? {
                self.add(&file, Use::RUN);
            }
            self.globs.push(pattern.clone());
        }
        Ok(())
    }

    /// Adds the files that hooks run; returns the hooks.
    fn hooks(&mut self, config: Config) -> Result<Vec<Arc<Entry>>, Untrustable> {
        let engine = Engine::builder().events(catalog()).config(config).build();
        let engine = engine.map_err(|error| Untrustable::File(format!("bad configuration: {error}")))?;
        let entries = engine.entries();
        for entry in &entries {
            match &entry.handler {
                Handler::Command(spec) => {
                    let base = match &spec.cwd {
                        Cwd::Folder(folder) => folder.clone(),
                        _ => spec.project_dir.clone(),
                    };
                    let script = match &spec.program {
                        Program::Shell(line) => Script::parse(line),
                        Program::Argv(words) => Script::from_words(words.iter().map(String::as_str)),
                        _ => continue,
                    };
                    self.script(&script, &base, &spec.project_dir, &entry.name);
                }
                Handler::Python(spec) => {
                    if spec.interpreter.contains('/') {
                        self.interpreter(Path::new(&spec.interpreter));
                    }
                    self.modules(&spec.module, &spec.paths);
                }
                _ => {}
            }
        }
        Ok(entries)
    }

    /// Adds a Python module in these folders, and everything that it imports.
    fn modules(&mut self, module: &str, folders: &[PathBuf]) {
        let found = python_files(module, folders);
        for file in &found.files {
            self.add(file, Use::RUN);
        }
        self.unseen.extend(found.unseen.iter().map(|(file, why)| format!("{}: {why}", show::path(file))));
    }

    /// Adds a program inside the project, with its virtual environment if it belongs to one.
    fn interpreter(&mut self, path: &Path) {
        let path = clean(path);
        let venv = path.ancestors().skip(1).take(3).find(|above| above.join("pyvenv.cfg").is_file());
        match venv {
            Some(venv) if venv.starts_with(&self.root) => self.add(venv, Use::VENV),
            _ => self.add(&path, Use::MAY_BE_ABSENT),
        }
    }

    fn script(&mut self, script: &Script, base: &Path, project: &Path, hook: &str) {
        let mut bases = vec![base.to_owned()];
        for command in &script.commands {
            if let (Some("cd"), Some(to)) = (command.name(), command.arguments().first()) {
                let to = text_of(to, project).map(|to| base.join(to));
                bases.extend(to);
            }
        }
        for command in &script.commands {
            self.command(command, &bases, project, hook);
        }
        if !script.doubts.is_empty() {
            let why = script.doubts.first().map(ToString::to_string).unwrap_or_default();
            self.unseen.push(format!("{hook}: Crosier cannot find everything that it runs: {why}"));
        }
    }

    fn command(&mut self, command: &Command, bases: &[PathBuf], project: &Path, hook: &str) {
        let words: Vec<Option<String>> = command.words.iter().map(|word| text_of(word, project)).collect();
        let name = words.first().cloned().flatten().unwrap_or_default();
        let plain = base_name(&name).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let runs_file = INTERPRETERS.contains(&plain) || INTERPRETERS.contains(&base_name(&name));
        let script =
            words.iter().skip(1).position(|word| word.as_deref().is_none_or(|word| !word.starts_with('-')));
        let is_inline = words.iter().flatten().any(|word| matches!(word.as_str(), "-c" | "-e" | "-m"));
        if is_inline && plain == "python" {
            self.python_module(&words, bases);
        }
        for (at, word) in words.iter().enumerate() {
            let is_script = runs_file && !is_inline && script.map(|script| script + 1) == Some(at);
            let is_program = (at == 0 && name.contains('/')) || is_script;
            let Some(word) = word else {
                if is_program || at == 0 {
                    self.unseen.push(format!("{hook}: what it runs is known only at run time"));
                }
                continue;
            };
            if at == 0 && !is_program {
                continue;
            }
            // An option such as `--rules=file` also names a file.
            let word = if is_program {
                word
            } else {
                word.split_once('=').map_or(word.as_str(), |(_, value)| value)
            };
            let found = bases.iter().find(|base| base.join(word).is_file());
            match found {
                Some(base) => {
                    let path = base.join(word);
                    match at {
                        0 => self.interpreter(&path),
                        _ if is_program => self.add(&path, Use::MAY_BE_ABSENT),
                        _ => self.add(&path, Use::RUN),
                    }
                    if is_program {
                        self.runs(&path);
                    }
                }
                None if is_program => {
                    if let Some(base) = bases.first() {
                        self.add(&base.join(word), Use::MAY_BE_ABSENT);
                    }
                }
                None => {}
            }
        }
        for redirection in &command.redirections {
            let reads = matches!(redirection.direction, crosier_builtins::shell::Direction::Read);
            if let Some(word) = text_of(&redirection.target, project).filter(|_| reads) {
                bases.iter().any(|base| self.add_existing(&base.join(&word), Use::RUN));
            }
        }
    }

    /// Adds what a script loads: for Python, its modules.
    fn runs(&mut self, path: &Path) {
        let is_python = path.extension().is_some_and(|end| end == "py");
        if let (true, Some(folder), Some(module)) = (is_python, path.parent(), path.file_stem()) {
            self.modules(&module.to_string_lossy(), &[folder.to_owned()]);
        }
    }

    /// `python -m module`: the module is searched in the folder that it runs in.
    fn python_module(&mut self, words: &[Option<String>], bases: &[PathBuf]) {
        let at = words.iter().position(|word| word.as_deref() == Some("-m"));
        let module = at.and_then(|at| words.get(at + 1)?.clone());
        if let Some(module) = module {
            self.modules(&module, bases);
            self.modules(&format!("{module}.__main__"), bases);
        }
    }

    /// Reads every file and computes its digest.
    fn record(self, hooks: Vec<Arc<Entry>>) -> Result<Collected, Untrustable> {
        if self.found.len() > MOST_FILES {
            return Err(Untrustable::File(format!("it runs more than {MOST_FILES} files")));
        }
        let mut collected = Collected {
            files: Vec::new(),
            globs: self.globs,
            hooks,
            unseen: self.unseen,
            contents: BTreeMap::new(),
        };
        collected.unseen.dedup();
        for (path, how) in &self.found {
            let failed = |why: String| Untrustable::File(format!("{}: {why}", show::path(path)));
            let from = from_folder(self.folder, path)
                .ok_or_else(|| failed("its name is not UTF-8; rename it".to_owned()))?;
            let mut file = RecordedFile {
                path: from,
                kind: Kind::Absent,
                executable: false,
                sha256: String::new(),
                loads: how.loads,
                seen: None,
            };
            if how.is_venv {
                file.kind = Kind::Venv;
                file.sha256 = stamp::digest_of_venv(path).map_err(failed)?;
            } else if let Some(found) = stamp::find(path).map_err(failed)? {
                let (stamp, digest, bytes) = stamp::read(path).map_err(failed)?;
                (file.kind, file.executable, file.sha256) = (found.kind, found.executable, digest);
                file.seen = Some(stamp).filter(|stamp| stamp.is_settled());
                collected.contents.insert(file.path.clone(), bytes);
            } else if !how.may_be_absent {
                return Err(failed("it does not exist".to_owned()));
            }
            collected.files.push(file);
        }
        Ok(collected)
    }
}

/// The text of a word, with Crosier's variables for folders expanded; `None` when it is known only at run time.
fn text_of(word: &Word, project: &Path) -> Option<String> {
    let mut text = String::new();
    for piece in word.pieces() {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Unknown(unknown) => match &unknown.from {
                Origin::Variable(name)
                    if matches!(
                        &**name,
                        "CROSIER_PROJECT_DIR" | "CROSIER_CONFIG_DIR" | "CLAUDE_PROJECT_DIR" | "PWD"
                    ) =>
                {
                    text.push_str(project.to_str()?);
                }
                _ => return None,
            },
            _ => return None,
        }
    }
    Some(text)
}

/// A list of texts, or one text.
fn texts(node: Option<&Node>) -> Vec<&str> {
    match node.map(|node| (node, &node.value)) {
        Some((_, Value::List(items))) => items.iter().filter_map(Node::as_text).collect(),
        Some((node, _)) => node.as_text().into_iter().collect(),
        None => Vec::new(),
    }
}

fn leaves<'n>(node: &'n Node, found: &mut Vec<&'n str>) {
    match &node.value {
        Value::Map(entries) => entries.iter().for_each(|entry| leaves(&entry.value, found)),
        Value::List(items) => items.iter().for_each(|item| leaves(item, found)),
        _ => found.extend(node.as_text().filter(|text| text.len() < 4096 && !text.contains('\n'))),
    }
}

/// A path without `.` and `..`, resolved without looking at the file system.
pub(super) fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

/// A path relative to a folder, with `..` where it is not below it.
fn from_folder(folder: &Path, path: &Path) -> Option<String> {
    let mut up = PathBuf::new();
    for above in folder.ancestors() {
        if let Ok(rest) = path.strip_prefix(above) {
            return up.join(rest).to_str().map(str::to_owned);
        }
        up.push("..");
    }
    None
}
