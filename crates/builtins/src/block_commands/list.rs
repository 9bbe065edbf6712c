//! The list: entries, and which of them can be about a command.
//!
//! The entries that come with Crosier are tables that the build makes of `commands.yaml`; one of them is prepared for
//! comparing when a command first needs it, because a program that judges one event needs but a few.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

use crosier::Decision;

use super::entry::{Entry, EntrySource, Special, glob};
use super::spare::Spare;
use crate::names::NameMap;
use crate::shell::Command;
use crate::token::{Wildcards, lowered};

include!(concat!(env!("OUT_DIR"), "/commands.rs"));

/// A whole list.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(super) places: Vec<Cow<'static, str>>,
    pub(super) rows: Vec<Row>,
    /// Programs of the rows after those that come with Crosier.
    more: Index,
}

/// An entry in its list.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) id: Cow<'static, str>,
    /// Nothing when the options leave it out.
    pub(super) decision: Option<Decision>,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    Listed(&'static EntrySource<'static>, OnceLock<Box<Entry>>),
    Read(Box<Entry>),
}

impl Row {
    fn listed(source: &'static EntrySource<'static>) -> Self {
        let body = Body::Listed(source, OnceLock::new());
        Self { id: Cow::Borrowed(source.id), decision: Some(source.decision), body }
    }

    pub(super) fn read(source: &EntrySource<'_>) -> Self {
        let body = Body::Read(Box::new(Entry::new(source)));
        Self { id: Cow::Owned(source.id.to_owned()), decision: Some(source.decision), body }
    }

    pub(super) fn entry(&self) -> &Entry {
        match &self.body {
            Body::Listed(source, entry) => entry.get_or_init(|| Box::new(Entry::new(source))),
            Body::Read(entry) => entry,
        }
    }

    pub(super) fn special(&self) -> Option<Special> {
        match &self.body {
            Body::Listed(source, _) => source.special,
            Body::Read(entry) => entry.special,
        }
    }

    pub(super) fn names_files(&self) -> FileKeys {
        match &self.body {
            Body::Listed(source, _) => {
                FileKeys { reads: !source.reads.is_empty(), writes: !source.writes.is_empty() }
            }
            Body::Read(entry) => {
                FileKeys { reads: !entry.reads.is_empty(), writes: !entry.writes.is_empty() }
            }
        }
    }
}

/// Which files an entry is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileKeys {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// The list that comes with Crosier.
pub(crate) fn standard() -> &'static Arc<List> {
    static STANDARD: LazyLock<Arc<List>> = LazyLock::new(|| {
        let places = PLACES.iter().map(|place| Cow::Borrowed(*place)).collect();
        Arc::new(List { places, rows: WRITTEN.iter().map(Row::listed).collect(), more: Index::default() })
    });
    &STANDARD
}

/// The entries that come with Crosier, as they are written.
pub(crate) fn sources() -> &'static [EntrySource<'static>] {
    WRITTEN
}

impl List {
    /// Adds a row after the others.
    pub(super) fn push(&mut self, row: Row) {
        self.more.add(self.rows.len(), row.entry());
        self.rows.push(row);
    }

    /// The rows that can be about this command, in the order of the list.
    pub(super) fn candidates(&self, command: &Command) -> impl Iterator<Item = &Row> {
        let numbers = match command.name() {
            Some(name) => {
                let name = lowered(Cow::Borrowed(name));
                self.named(name.strip_suffix(".exe").unwrap_or(&name))
            }
            None if command.words.is_empty() => joined(OTHERS, &self.more.others),
            None => joined(UNKNOWN, &self.more.unknown),
        };
        let rows = &self.rows;
        (0..numbers.len()).filter_map(move |at| rows.get(numbers[at]))
    }

    fn named(&self, name: &str) -> Cow<'static, [usize]> {
        let listed = NAMES.binary_search_by_key(&name, |(name, _)| name).map_or(OTHERS, |at| NAMES[at].1);
        let globs = listed_globs().iter().chain(&self.more.globs);
        let mut by_glob = globs.filter(|(glob, _)| glob.matches(name)).map(|(_, number)| *number).peekable();
        let more = self.more.names.get(name).map_or(&[][..], Vec::as_slice);
        if by_glob.peek().is_none() && more.is_empty() {
            return joined(listed, &self.more.others);
        }
        let mut all: Vec<usize> = listed.iter().chain(more).chain(&self.more.others).copied().collect();
        all.extend(by_glob);
        all.sort_unstable();
        all.dedup();
        Cow::Owned(all)
    }
}

/// Both lists as one in ascending order: the numbers in `more` are larger than all listed ones.
fn joined(listed: &'static [usize], more: &[usize]) -> Cow<'static, [usize]> {
    if more.is_empty() { Cow::Borrowed(listed) } else { Cow::Owned([listed, more].concat()) }
}

fn listed_globs() -> &'static [(Wildcards, usize)] {
    static COMPILED: LazyLock<Vec<(Wildcards, usize)>> =
        LazyLock::new(|| GLOBS.iter().map(|(text, number)| (glob(text), *number)).collect());
    &COMPILED
}

/// Numbers of rows, by the programs that they name.
#[derive(Debug, Clone, Default)]
struct Index {
    names: NameMap<String, Vec<usize>>,
    globs: Vec<(Wildcards, usize)>,
    /// All that can be about a program that is not known.
    unknown: Vec<usize>,
    /// Those that name no program.
    others: Vec<usize>,
}

impl Index {
    fn add(&mut self, number: usize, entry: &Entry) {
        for program in &entry.programs {
            match program.plain() {
                Some(name) => self.names.entry(name.to_owned()).or_default().push(number),
                None => self.globs.push((program.clone(), number)),
            }
        }
        if entry.programs.is_empty() {
            self.others.push(number);
        }
        // An unknown program could be any program; an entry applies to it only if its other conditions match.
        if entry.programs.is_empty() || (!entry.flags.is_empty() && !entry.targets.is_empty()) {
            self.unknown.push(number);
        }
    }
}
