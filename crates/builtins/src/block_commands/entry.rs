//! Entries of the list, and how they are read from a file or from options.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use crosier::Decision;
use crosier::config::{Node, Problem, Problems, Source, Value, parse_document};
use crosier::protocol::nearest::nearest;

use crate::names::NameMap;
use crate::shell::Command;
use crate::token::{WildcardSet, Wildcards, lowered};

/// The list that comes with Crosier.
const LIST: &str = include_str!("commands.yaml");

/// One command that is stopped.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(super) programs: Vec<Wildcards>,
    pub(super) words: Vec<Vec<Wildcards>>,
    pub(super) flags: Vec<Vec<String>>,
    pub(super) targets: Vec<Target>,
    pub(super) operands: Vec<Wildcards>,
    pub(super) text: Vec<Wildcards>,
    pub(super) reads: WildcardSet,
    pub(super) writes: WildcardSet,
    pub(super) from: Vec<Wildcards>,
    pub(super) except: Vec<Wildcards>,
    pub(super) unless: Vec<Vec<String>>,
    pub(super) special: Option<Special>,
    pub(crate) decision: Decision,
    pub(crate) reason: String,
    pub(crate) instead: String,
    /// A line that it stops, and one like it that it does not.
    pub(crate) stops: String,
    pub(crate) passes: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// One of the listed places, a home folder or a parent of the current folder, or everything in it; as this operand.
    Top(Operand),
    /// Something below a folder of the system.
    System,
    /// A folder directly inside a home folder.
    HomeFolder,
    /// An absolute path in a container or on another machine.
    Elsewhere,
    /// Everything in the folder where it runs.
    Here,
    /// A path that is known only at run time.
    Unknown,
    Path(Wildcards),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    Any,
    Last,
    NotLast,
}

/// A check that goes beyond comparing words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    ForkBomb,
    Power,
    KillAll,
    /// SQL that drops, or changes every row.
    Sql,
    /// A file with secrets, or the environment, goes to another machine.
    Exfiltration,
    /// Code of another language that would be stopped as a command.
    Code,
    /// Code that a program makes when the line runs.
    MadeCode,
    /// A program that the line itself has downloaded.
    Fetched,
}

/// The names of the special checks in a list.
const SPECIALS: [(&str, Special); 8] = [
    ("fork-bomb", Special::ForkBomb),
    ("power", Special::Power),
    ("kill-all", Special::KillAll),
    ("sql", Special::Sql),
    ("exfiltration", Special::Exfiltration),
    ("code", Special::Code),
    ("made-code", Special::MadeCode),
    ("fetched", Special::Fetched),
];

/// A whole list.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(super) places: Vec<String>,
    pub(super) entries: Vec<Entry>,
    pub(super) index: Index,
}

/// The places of entries in the list, by their programs. Each row is in the order of the list.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    /// All that can be about a program of this name.
    names: NameMap<String, Vec<usize>>,
    /// Names of programs with wildcards.
    globs: Vec<(Wildcards, usize)>,
    /// All that can be about a program that is not known.
    unknown: Vec<usize>,
    /// Those that name no program.
    others: Vec<usize>,
}

impl Index {
    pub(super) fn new(entries: &[Entry]) -> Self {
        let mut index = Self::default();
        for (place, entry) in entries.iter().enumerate() {
            for program in &entry.programs {
                match program.plain() {
                    Some(name) => index.names.entry(name.to_owned()).or_default().push(place),
                    None => index.globs.push((program.clone(), place)),
                }
            }
            if entry.programs.is_empty() {
                index.others.push(place);
                index.unknown.push(place);
            } else if !entry.flags.is_empty() && !entry.targets.is_empty() {
                // Any program can be this one; that is worth a word only when the rest speaks for it.
                index.unknown.push(place);
            }
        }
        for (name, places) in &mut index.names {
            places.extend(by_glob(&index.globs, name).chain(index.others.iter().copied()));
            places.sort_unstable();
            places.dedup();
        }
        index
    }

    /// The entries that can be about this command.
    pub(super) fn of(&self, command: &Command) -> Cow<'_, [usize]> {
        let Some(name) = command.name() else {
            return Cow::Borrowed(if command.words.is_empty() { &self.others } else { &self.unknown });
        };
        let name = lowered(Cow::Borrowed(name));
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        if let Some(places) = self.names.get(name) {
            return Cow::Borrowed(places);
        }
        let mut found: Vec<usize> = by_glob(&self.globs, name).collect();
        if found.is_empty() {
            return Cow::Borrowed(&self.others);
        }
        found.extend(&self.others);
        found.sort_unstable();
        found.dedup();
        Cow::Owned(found)
    }
}

fn by_glob<'a>(globs: &'a [(Wildcards, usize)], name: &'a str) -> impl Iterator<Item = usize> + 'a {
    globs.iter().filter(|(glob, _)| glob.matches(name)).map(|(_, place)| *place)
}

const KEYS: [&str; 18] = [
    "id", "programs", "words", "flags", "targets", "operands", "text", "reads", "writes", "from", "except",
    "unless", "special", "decision", "reason", "instead", "stops", "passes",
];

/// The list that comes with Crosier, read once.
pub(crate) fn standard() -> Result<&'static List, String> {
    static STANDARD: LazyLock<Result<List, String>> = LazyLock::new(|| {
        let source = Source::new("commands.yaml", LIST);
        List::read(&source).map(List::indexed).map_err(|problems| problems.to_string())
    });
    STANDARD.as_ref().map_err(Clone::clone)
}

impl List {
    /// Builds the index; call it after the last change to the entries.
    pub(super) fn indexed(mut self) -> Self {
        self.index = Index::new(&self.entries);
        self
    }

    /// Reads a list with `commands:` and perhaps `places:`.
    pub(crate) fn read(source: &Arc<Source>) -> Result<Self, Problems> {
        let node = parse_document(source)?;
        let mut reader = Reader { source, problems: Problems::new() };
        let mut list = Self::default();
        let mut found = false;
        for entry in node.as_map().unwrap_or_default() {
            match entry.key.as_str() {
                "places" => list.places = reader.texts("places", &entry.value),
                "commands" => {
                    found = true;
                    list.entries = reader.entries(&entry.value);
                }
                other => reader.error(&entry.value, format!("a list of commands has no key `{other}`")),
            }
        }
        if !found {
            reader.error(&node, "a list of commands has the key `commands`".to_owned());
        }
        if reader.problems.is_empty() { Ok(list) } else { Err(reader.problems) }
    }

    /// Reads entries from a configuration. The errors are sentences.
    pub(crate) fn entries_of(node: &Node) -> Result<Vec<Entry>, Vec<String>> {
        let source = Source::new("", "");
        let mut reader = Reader { source: &source, problems: Problems::new() };
        let entries = reader.entries(node);
        let sentences: Vec<String> =
            reader.problems.iter().map(|problem| problem.message().to_owned()).collect();
        if sentences.is_empty() { Ok(entries) } else { Err(sentences) }
    }
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    problems: Problems,
}

impl Reader<'_> {
    fn error(&mut self, node: &Node, message: String) {
        self.problems.push(Problem::error(self.source, node.span, message));
    }

    fn texts(&mut self, key: &str, node: &Node) -> Vec<String> {
        let items = match &node.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut texts = Vec::new();
        for item in items {
            match (item.as_text(), item.as_number()) {
                (Some(text), _) | (None, Some(text)) if !text.is_empty() => texts.push(text.to_owned()),
                _ => self.error(
                    item,
                    format!("`{key}` must be a list of texts, but this is {}", item.kind_word()),
                ),
            }
        }
        texts
    }

    fn entries(&mut self, node: &Node) -> Vec<Entry> {
        match node.as_list() {
            Some(items) => items.iter().filter_map(|item| self.entry(item)).collect(),
            None => {
                self.error(node, format!("`commands` must be a list, but it is {}", node.kind_word()));
                Vec::new()
            }
        }
    }

    fn entry(&mut self, node: &Node) -> Option<Entry> {
        let Some(map) = node.as_map() else {
            self.error(node, format!("a command is a mapping, but this is {}", node.kind_word()));
            return None;
        };
        for entry in map.iter().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
            let near =
                nearest(&entry.key, KEYS).map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
            self.error(&entry.value, format!("a command has no key `{}`{near}", entry.key));
        }
        let mut list = |key: &str| node.get(key).map(|value| self.texts(key, value)).unwrap_or_default();
        let globs = |texts: Vec<String>| -> Vec<Wildcards> { texts.iter().map(|text| glob(text)).collect() };
        let words = list("words").iter().map(|word| alternatives(word)).collect();
        let target = |text: String| match text.as_str() {
            "TOP" => Target::Top(Operand::Any),
            "SYSTEM" => Target::System,
            "HOME_FOLDER" => Target::HomeFolder,
            "ELSEWHERE" => Target::Elsewhere,
            "TOP_SOURCE" => Target::Top(Operand::NotLast),
            "TOP_LAST" => Target::Top(Operand::Last),
            "HERE" => Target::Here,
            "UNKNOWN" => Target::Unknown,
            text => Target::Path(Wildcards::new(text)),
        };
        let (programs, operands) = (globs(list("programs")), globs(list("operands")));
        let writes = WildcardSet::from(globs(list("writes")));
        let reads = WildcardSet::from(globs(list("reads")));
        let (text, from, except) = (globs(list("text")), globs(list("from")), globs(list("except")));
        let targets = list("targets").into_iter().map(target).collect();
        let mut groups = |key: &str| node.get(key).map(|value| self.flags(key, value)).unwrap_or_default();
        let (flags, unless) = (groups("flags"), groups("unless"));
        let one = |key: &str| node.get(key).and_then(Node::as_text).map(str::to_owned);
        let (id, reason, instead) = (one("id"), one("reason"), one("instead"));
        let (decision, special) = (one("decision"), one("special"));
        let (stops, passes) = (one("stops").unwrap_or_default(), one("passes").unwrap_or_default());
        let decision = match decision.as_deref() {
            None | Some("deny") => Decision::Deny,
            Some("ask") => Decision::Ask,
            Some(other) => {
                self.error(node, format!("`decision` is deny or ask, not `{other}`"));
                return None;
            }
        };
        let special = match special.as_deref() {
            None => None,
            Some(name) => match SPECIALS.iter().find(|(other, _)| *other == name) {
                Some((_, special)) => Some(*special),
                None => {
                    self.error(node, format!("`special` has no value `{name}`"));
                    return None;
                }
            },
        };
        let (Some(id), Some(reason)) = (id, reason) else {
            self.error(node, "a command needs an `id` and a `reason`".to_owned());
            return None;
        };
        if programs.is_empty() && writes.is_empty() && reads.is_empty() && special.is_none() {
            self.error(node, format!("the command `{id}` names no `programs` and no `writes`"));
            return None;
        }
        let instead = instead.unwrap_or_default();
        Some(Entry {
            id,
            programs,
            words,
            flags,
            targets,
            operands,
            text,
            reads,
            writes,
            from,
            except,
            unless,
            special,
            decision,
            reason,
            instead,
            stops,
            passes,
        })
    }

    /// A list of groups; a group is a list of names, or one name.
    fn flags(&mut self, key: &str, node: &Node) -> Vec<Vec<String>> {
        let groups = match &node.value {
            Value::List(groups) => groups.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let bare = |name: String| name.trim_start_matches('-').to_owned();
        groups.iter().map(|group| self.texts(key, group).into_iter().map(bare).collect()).collect()
    }
}

/// A glob that ignores case.
fn glob(text: &str) -> Wildcards {
    Wildcards::new(&text.to_lowercase())
}

/// Expands `{a,b}` into alternatives.
fn alternatives(text: &str) -> Vec<Wildcards> {
    match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        Some(inside) => inside.split(',').map(|part| glob(part.trim())).collect(),
        None => vec![glob(text)],
    }
}
