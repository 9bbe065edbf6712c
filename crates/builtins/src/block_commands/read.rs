//! Entries that a file or the options of a configuration bring.

use std::borrow::Cow;
use std::sync::Arc;

use crosier::Decision;
use crosier::config::{Node, Problem, Problems, Source, Value, parse_document};
use crosier::protocol::nearest::nearest;

use super::entry::{EntrySource, Special};
use super::list::Row;
use super::spare::SPARES;

const KEYS: [&str; 19] = [
    "id", "programs", "words", "flags", "targets", "operands", "text", "reads", "writes", "from", "except",
    "unless", "spare", "special", "decision", "reason", "instead", "stops", "passes",
];

/// The names of the special checks in a list.
const SPECIALS: [(&str, Special); 36] = [
    ("fork-bomb", Special::ForkBomb),
    ("power", Special::Power),
    ("kill-all", Special::KillAll),
    ("sql", Special::Sql),
    ("exfiltration", Special::Exfiltration),
    ("shown-key", Special::ShownKey),
    ("code", Special::Code),
    ("made-code", Special::MadeCode),
    ("fetched", Special::Fetched),
    ("runs-input", Special::RunsInput),
    ("shared-branch", Special::SharedBranch),
    ("cloned", Special::Cloned),
    ("remote-input", Special::RemoteInput),
    ("remote-environment", Special::RemoteEnvironment),
    ("environment", Special::Environment),
    ("written-code", Special::WrittenCode),
    ("found", Special::Found),
    ("any-found", Special::AnyFound),
    ("remote-call", Special::RemoteCall),
    ("verb", Special::Verb),
    ("empties-many", Special::EmptiesMany),
    ("endless", Special::Endless),
    ("endless-input", Special::EndlessInput),
    ("huge", Special::Huge),
    ("as-root", Special::AsRoot),
    ("root-shell", Special::RootShell),
    ("unchecked", Special::Unchecked),
    ("package-address", Special::PackageAddress),
    ("net-file", Special::NetFile),
    ("forge-change", Special::ForgeChange),
    ("sent-file", Special::SentFile),
    ("all-sources", Special::AllSources),
    ("own-diff", Special::OwnDiff),
    ("untracked", Special::Untracked),
    ("broad-search", Special::BroadSearch),
    ("desktop", Special::Desktop),
];

/// What a file adds to the list.
#[derive(Debug, Default)]
pub(super) struct ListAddition {
    pub(super) places: Vec<Cow<'static, str>>,
    pub(super) rows: Vec<Row>,
}

/// Reads a list with `commands:` and perhaps `places:`.
pub(super) fn read(source: &Arc<Source>) -> Result<ListAddition, Problems> {
    let node = parse_document(source)?;
    let mut reader = Reader { source, problems: Problems::new() };
    let mut more = ListAddition::default();
    let mut found = false;
    for entry in node.as_map().unwrap_or_default() {
        match entry.key.as_str() {
            "places" => {
                let places = reader.texts("places", &entry.value);
                more.places = places.into_iter().map(|place| Cow::Owned(place.to_owned())).collect();
            }
            "commands" => {
                found = true;
                more.rows = reader.rows(&entry.value);
            }
            other => reader.error(&entry.value, format!("a list of commands has no key `{other}`")),
        }
    }
    if !found {
        reader.error(&node, "a list of commands has the key `commands`".to_owned());
    }
    if reader.problems.is_empty() { Ok(more) } else { Err(reader.problems) }
}

/// Reads entries from a configuration. The errors are sentences.
pub(super) fn rows_of(node: &Node) -> Result<Vec<Row>, Vec<String>> {
    let source = Source::new("", "");
    let mut reader = Reader { source: &source, problems: Problems::new() };
    let rows = reader.rows(node);
    let sentences: Vec<String> = reader.problems.iter().map(|problem| problem.message().to_owned()).collect();
    if sentences.is_empty() { Ok(rows) } else { Err(sentences) }
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    problems: Problems,
}

impl Reader<'_> {
    fn error(&mut self, node: &Node, message: String) {
        self.problems.push(Problem::error(self.source, node.span, message));
    }

    fn texts<'n>(&mut self, key: &str, node: &'n Node) -> Vec<&'n str> {
        let mut texts = Vec::new();
        for item in items(node) {
            match (item.as_text(), item.as_number()) {
                (Some(text), _) | (None, Some(text)) if !text.is_empty() => texts.push(text),
                _ => self.error(
                    item,
                    format!("`{key}` must be a list of texts, but this is {}", item.kind_word()),
                ),
            }
        }
        texts
    }

    fn rows(&mut self, node: &Node) -> Vec<Row> {
        match node.as_list() {
            Some(items) => items.iter().filter_map(|item| self.row(item)).collect(),
            None => {
                self.error(node, format!("`commands` must be a list, but it is {}", node.kind_word()));
                Vec::new()
            }
        }
    }

    fn row(&mut self, node: &Node) -> Option<Row> {
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
        let (programs, words, targets) = (list("programs"), list("words"), list("targets"));
        let (operands, text) = (list("operands"), list("text"));
        let (reads, writes, from, except) = (list("reads"), list("writes"), list("from"), list("except"));
        let (flags, unless) = (self.groups("flags", node), self.groups("unless", node));
        let flags: Vec<&[&str]> = flags.iter().map(Vec::as_slice).collect();
        let unless: Vec<&[&str]> = unless.iter().map(Vec::as_slice).collect();
        let one = |key: &str| node.get(key).and_then(Node::as_text);
        let decision = match one("decision") {
            None | Some("deny") => Decision::Deny,
            Some("ask") => Decision::Ask,
            Some(other) => {
                self.error(node, format!("`decision` is deny or ask, not `{other}`"));
                return None;
            }
        };
        let special = match one("special") {
            None => None,
            Some(name) => match SPECIALS.iter().find(|(other, _)| *other == name) {
                Some((_, special)) => Some(*special),
                None => {
                    self.error(node, format!("`special` has no value `{name}`"));
                    return None;
                }
            },
        };
        let spare = match one("spare") {
            None => None,
            Some(name) => match SPARES.iter().find(|(other, _)| *other == name) {
                Some((_, spare)) => Some(*spare),
                None => {
                    self.error(node, format!("`spare` has no value `{name}`"));
                    return None;
                }
            },
        };
        let (Some(id), Some(reason)) = (one("id"), one("reason")) else {
            self.error(node, "a command needs an `id` and a `reason`".to_owned());
            return None;
        };
        if programs.is_empty() && writes.is_empty() && reads.is_empty() && special.is_none() {
            self.error(node, format!("the command `{id}` names no `programs` and no `writes`"));
            return None;
        }
        Some(Row::read(&EntrySource {
            id,
            reason,
            instead: one("instead").unwrap_or_default(),
            stops: one("stops").unwrap_or_default(),
            passes: one("passes").unwrap_or_default(),
            programs: &programs,
            words: &words,
            targets: &targets,
            operands: &operands,
            text: &text,
            reads: &reads,
            writes: &writes,
            from: &from,
            except: &except,
            flags: &flags,
            unless: &unless,
            decision,
            special,
            spare,
        }))
    }

    /// A list of groups; a group is a list of names, or one name.
    fn groups<'n>(&mut self, key: &str, node: &'n Node) -> Vec<Vec<&'n str>> {
        let groups = node.get(key).map(items).unwrap_or_default();
        groups.iter().map(|group| self.texts(key, group)).collect()
    }
}

/// The items of a list; anything else is its only item.
fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}
