//! The search for all literals at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// After this many bytes of text, the faster automaton is worth its construction.
const MUCH: usize = 1 << 20;

/// Two automata for the same literals: a program that looks at one short text builds only the one that is built quickly.
#[derive(Debug)]
pub(super) struct Literals {
    texts: Vec<String>,
    for_little: AhoCorasick,
    for_much: OnceLock<Option<AhoCorasick>>,
    searched: AtomicUsize,
}

impl Literals {
    pub(super) fn new(texts: Vec<String>) -> Result<Self, String> {
        let for_little = automaton(&texts, AhoCorasickKind::NoncontiguousNFA)
            .map_err(|error| format!("the literals of the rules cannot be compiled: {error}"))?;
        Ok(Self { texts, for_little, for_much: OnceLock::new(), searched: AtomicUsize::new(0) })
    }

    /// The automaton for searching this many bytes.
    pub(super) fn automaton(&self, bytes: usize) -> &AhoCorasick {
        if let Some(built) = self.for_much.get() {
            return built.as_ref().unwrap_or(&self.for_little);
        }
        match self.searched.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) {
            much if much > MUCH => self.for_much_text(),
            _ => &self.for_little,
        }
    }

    /// The automaton that is quick once it is built.
    pub(super) fn for_much_text(&self) -> &AhoCorasick {
        let built = self.for_much.get_or_init(|| automaton(&self.texts, AhoCorasickKind::DFA).ok());
        built.as_ref().unwrap_or(&self.for_little)
    }
}

fn automaton(texts: &[String], kind: AhoCorasickKind) -> Result<AhoCorasick, aho_corasick::BuildError> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(kind))
        .build(texts)
}
