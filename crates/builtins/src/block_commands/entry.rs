//! Entries of the list, and how they are read from a file or from options.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use crosier::Decision;
use crosier::config::{Node, Problem, Problems, Source, Value, parse_document};
use crosier::protocol::nearest::nearest;

use crate::token::{Token, of_wildcards};

/// The list that comes with Crosier.
const LIST: &str = include_str!("commands.yaml");

/// One command that is stopped.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(super) programs: Vec<Vec<Token>>,
    pub(super) words: Vec<Vec<Vec<Token>>>,
    pub(super) flags: Vec<Vec<String>>,
    pub(super) targets: Vec<Target>,
    pub(super) operands: Vec<Vec<Token>>,
    pub(super) text: Vec<Vec<Token>>,
    pub(super) reads: Vec<Vec<Token>>,
    pub(super) writes: Vec<Vec<Token>>,
    pub(super) from: Vec<Vec<Token>>,
    pub(super) except: Vec<Vec<Token>>,
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
    /// One of the places, a home, or what this folder lies in; or everything in it; as which operand.
    Top(Operand),
    /// Something below a folder of the system.
    System,
    /// Everything in the folder where it runs.
    Here,
    /// A path that is known only at run time.
    Unknown,
    Path(Vec<Token>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    Any,
    Last,
    NotLast,
}

/// A shape that is more than words.
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
}

/// The names of shapes in a list.
const SPECIALS: [(&str, Special); 7] = [
    ("fork-bomb", Special::ForkBomb),
    ("power", Special::Power),
    ("kill-all", Special::KillAll),
    ("sql", Special::Sql),
    ("exfiltration", Special::Exfiltration),
    ("code", Special::Code),
    ("made-code", Special::MadeCode),
];

/// A whole list.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(super) places: Vec<String>,
    pub(super) entries: Vec<Entry>,
    pub(super) index: Index,
}

/// Entries by their programs.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    pub(super) names: HashMap<String, Vec<usize>>,
    pub(super) globs: Vec<(Vec<Token>, usize)>,
    /// Those that say enough beside the program.
    pub(super) telling: Vec<usize>,
    /// Those that name no program.
    pub(super) others: Vec<usize>,
}

impl Index {
    pub(super) fn new(entries: &[Entry]) -> Self {
        let mut index = Self::default();
        for (place, entry) in entries.iter().enumerate() {
            for program in &entry.programs {
                let plain: Option<String> = program
                    .iter()
                    .map(|token| if let Token::Char(c) = token { Some(*c) } else { None })
                    .collect();
                match plain {
                    Some(name) => index.names.entry(name).or_default().push(place),
                    None => index.globs.push((program.clone(), place)),
                }
            }
            if entry.programs.is_empty() {
                index.others.push(place);
            } else if !entry.flags.is_empty() && !entry.targets.is_empty() {
                index.telling.push(place);
            }
        }
        index
    }
}

const KEYS: [&str; 17] = [
    "id", "programs", "words", "flags", "targets", "operands", "text", "reads", "writes", "from", "except",
    "special", "decision", "reason", "instead", "stops", "passes",
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
    /// The list, ready for use: after the last change to its entries.
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

    /// Reads entries that stand in a configuration. The errors are sentences.
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
        let globs = |texts: Vec<String>| -> Vec<Vec<Token>> { texts.iter().map(|text| glob(text)).collect() };
        let words = list("words").iter().map(|word| alternatives(word)).collect();
        let target = |text: String| match text.as_str() {
            "TOP" => Target::Top(Operand::Any),
            "SYSTEM" => Target::System,
            "TOP_SOURCE" => Target::Top(Operand::NotLast),
            "TOP_LAST" => Target::Top(Operand::Last),
            "HERE" => Target::Here,
            "UNKNOWN" => Target::Unknown,
            text => Target::Path(of_wildcards(text)),
        };
        let (programs, operands) = (globs(list("programs")), globs(list("operands")));
        let (writes, from) = (globs(list("writes")), globs(list("from")));
        let (text, reads, except) = (globs(list("text")), globs(list("reads")), globs(list("except")));
        let targets = list("targets").into_iter().map(target).collect();
        let flags = node.get("flags").map(|value| self.flags(value)).unwrap_or_default();
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
            special,
            decision,
            reason,
            instead,
            stops,
            passes,
        })
    }

    /// A list of groups; a group is a list of names, or one name.
    fn flags(&mut self, node: &Node) -> Vec<Vec<String>> {
        let groups = match &node.value {
            Value::List(groups) => groups.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let bare = |name: String| name.trim_start_matches('-').to_owned();
        groups.iter().map(|group| self.texts("flags", group).into_iter().map(bare).collect()).collect()
    }
}

/// Letters in any case.
fn glob(text: &str) -> Vec<Token> {
    of_wildcards(&text.to_lowercase())
}

/// `{a,b}` is one of two.
fn alternatives(text: &str) -> Vec<Vec<Token>> {
    match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        Some(inside) => inside.split(',').map(|part| glob(part.trim())).collect(),
        None => vec![glob(text)],
    }
}
