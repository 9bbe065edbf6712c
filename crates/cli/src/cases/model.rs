//! Reads case files, with all problems at once.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crosier::config::{Node, Problem, Problems, Source, Span, Value as Tree, parse_document};
use crosier::protocol::nearest::nearest;

use super::expect::{self, Expect};
use crate::exit::{Exit, Failed};
use crate::print;

/// The longest case file that is read, like the longest configuration.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

const KEYS: [&str; 9] =
    ["name", "seed", "config", "agent", "disable", "event", "input", "expect", "description"];

/// One case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) source: Arc<Source>,
    pub(crate) span: Span,
    /// The folder of the case file.
    pub(crate) folder: PathBuf,
    pub(crate) config: Configuration,
    pub(crate) agent: Option<String>,
    pub(crate) disable: Vec<String>,
    pub(crate) event: String,
    pub(crate) input: Option<Node>,
    pub(crate) expect: Expect,
}

/// The hooks of a case.
#[derive(Debug, Clone)]
pub(crate) enum Configuration {
    /// Written in the case itself.
    Part(Node),
    /// Paths, relative to the case file.
    Files(Vec<String>),
}

impl Case {
    /// File and line.
    pub(crate) fn place(&self) -> (&str, usize) {
        (&self.source.name, self.source.position(self.span.start).line)
    }
}

/// Reads every case of these files and folders.
pub(crate) fn load(paths: &[PathBuf]) -> Result<Vec<Case>, Failed> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, None, &mut files)
            .map_err(|error| Failed::new(Exit::BadInput, format!("{}: {error}", path.display())))?;
    }
    let mut problems = Problems::new();
    let mut cases = Vec::new();
    for (file, named_by) in files {
        let text = read_text(&file)
            .map_err(|error| Failed::new(Exit::BadInput, format!("{}: {error}", file.display())))?;
        let source = Source::new(file.display().to_string(), text);
        match parse_document(&source) {
            // Cases are often beside the configuration that they test.
            Ok(node) if named_by == NamedBy::Folder && is_configuration(&node) => {}
            Ok(node) => list(&file, &source, &node, &mut cases, &mut problems),
            Err(found) => problems.extend(found),
        }
    }
    if problems.errors() > 0 {
        return Err(Failed::new(Exit::BadInput, format!("bad case files\n\n{problems}")));
    }
    Ok(cases)
}

/// Whether a person named a file itself, or a folder that contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedBy {
    Person,
    Folder,
}

/// The text of a file, if it is one and not longer than a configuration may be.
fn read_text(path: &Path) -> std::io::Result<String> {
    // Opening a named pipe would block until something is written to it.
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    let mut text = String::new();
    fs::File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 {
        0..=MAX_BYTES => Ok(text),
        _ => Err(std::io::Error::other("it is larger than 4 MiB, too large for a case file")),
    }
}

/// The folder that a person named, or the repository that it is in: links are followed inside of it.
fn root_of(folder: &Path) -> std::io::Result<PathBuf> {
    let real = fs::canonicalize(folder)?;
    Ok(real.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&real).to_owned())
}

/// Collects files in the order of their names, so that the order is always the same. `root` is where links may lead;
/// without it a person named this very path.
fn collect(path: &Path, root: Option<&Path>, files: &mut Vec<(PathBuf, NamedBy)>) -> std::io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        let named_by = if root.is_some() { NamedBy::Folder } else { NamedBy::Person };
        files.push((path.to_owned(), named_by));
        return Ok(());
    }
    let root = root.map_or_else(|| root_of(path), |root| Ok(root.to_owned()))?;
    let mut inside: Vec<fs::DirEntry> = fs::read_dir(path)?.collect::<std::io::Result<_>>()?;
    inside.sort_by_key(fs::DirEntry::file_name);
    for entry in inside {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_case = [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
        let is_wanted = match entry.file_type()? {
            // A link to a folder is not followed: it could be a loop.
            kind if kind.is_symlink() => is_case && entry.path().is_file() && is_below(&entry.path(), &root)?,
            kind => kind.is_dir() || is_case,
        };
        if is_wanted && !name.starts_with('.') && !name.ends_with(".state.json") {
            collect(&entry.path(), Some(&root), files)?;
        }
    }
    Ok(())
}

/// Whether a link stays below a folder. One that does not could name any file of the person, whose lines an error would
/// quote; that it is left out is said.
fn is_below(link: &Path, root: &Path) -> std::io::Result<bool> {
    let is_below = fs::canonicalize(link)?.starts_with(root);
    if !is_below {
        let shown = print::shown_path(link);
        print::note(&format!(
            "{shown}: a link out of the project is not followed; to run it, name the file itself"
        ));
    }
    Ok(is_below)
}

fn is_configuration(node: &Node) -> bool {
    ["hooks", "agents", "scripts"].iter().any(|key| node.get(key).is_some())
}

/// Reads the cases of one text; adds what is wrong with it to the problems.
pub(crate) fn read(file: &Path, text: String, cases: &mut Vec<Case>, problems: &mut Problems) {
    let source = Source::new(file.display().to_string(), text);
    match parse_document(&source) {
        Ok(node) => list(file, &source, &node, cases, problems),
        Err(found) => problems.extend(found),
    }
}

fn list(file: &Path, source: &Arc<Source>, node: &Node, cases: &mut Vec<Case>, problems: &mut Problems) {
    let folder = std::path::absolute(file).ok().and_then(|file| file.parent().map(Path::to_owned));
    let folder = folder.unwrap_or_else(|| PathBuf::from("."));
    if node.is_null() {
        return;
    }
    let Some(items) = node.as_list() else {
        let message = format!("a case file is a list of cases, but this is {}", node.kind_word());
        return problems.push(Problem::error(source, node.span, message));
    };
    cases.extend(items.iter().filter_map(|item| case(source, &folder, item, problems)));
}

fn case(source: &Arc<Source>, folder: &Path, node: &Node, problems: &mut Problems) -> Option<Case> {
    let mut problem = |span: Span, message: String| problems.push(Problem::error(source, span, message));
    let Some(entries) = node.as_map() else {
        problem(node.span, format!("a case is a mapping, but this is {}", node.kind_word()));
        return None;
    };
    for entry in entries.iter().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
        let near =
            nearest(&entry.key, KEYS).map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
        problem(entry.key_span, format!("unknown key `{}` of a case{near}", entry.key));
    }
    for key in ["name", "event", "expect"] {
        if node.get(key).is_none_or(Node::is_null) {
            problem(Span::at(node.span.start), format!("a case needs `{key}`"));
        }
    }
    if node.get("config").is_none_or(Node::is_null) {
        let message = "a case needs `config`: `config: {hooks: {…}}`, or the path of a file";
        problem(Span::at(node.span.start), message.to_owned());
    }
    let mut text = |key: &str| {
        let value = node.get(key).filter(|value| !value.is_null())?;
        if value.as_text().is_none() {
            problem(value.span, format!("`{key}` must be text, but it is {}", value.kind_word()));
        }
        value.as_text().map(str::to_owned)
    };
    let (name, event, agent) = (text("name"), text("event"), text("agent"));
    let mut texts = |key: &str| match node.get(key) {
        None => Vec::new(),
        Some(list) => {
            let items = list.as_list().unwrap_or(std::slice::from_ref(list));
            for item in items.iter().filter(|item| item.as_text().is_none()) {
                problem(
                    item.span,
                    format!("`{key}` must be a list of texts, but here is {}", item.kind_word()),
                );
            }
            items.iter().filter_map(Node::as_text).map(str::to_owned).collect()
        }
    };
    let disable = texts("disable");
    let config = node.get("config").filter(|config| !config.is_null()).map(|node| match &node.value {
        Tree::Text(_) => Configuration::Files(texts("config")),
        Tree::List(files) if files.iter().all(|file| file.as_text().is_some()) => {
            Configuration::Files(texts("config"))
        }
        // Also a value that is not a configuration: a case can expect the error.
        _ => Configuration::Part(node.clone()),
    });
    let expect = node.get("expect").filter(|expect| !expect.is_null());
    let expect = expect.and_then(|expect| expect::read(source, expect, problems));
    Some(Case {
        name: name?,
        source: Arc::clone(source),
        span: node.span,
        folder: folder.to_owned(),
        config: config?,
        agent,
        disable,
        event: event?,
        input: node.get("input").filter(|input| !input.is_null()).cloned(),
        expect: expect?,
    })
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
