//! The search for all literals at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// After this many bytes of text, the faster automaton is worth its construction.
const LONG_TEXT: usize = 1 << 20;

/// Two automata for the same literals: a program that looks at one short text builds only the one that is built quickly.
#[derive(Debug)]
pub(super) struct Literals {
    texts: Vec<String>,
    for_short_text: AhoCorasick,
    for_long_text: OnceLock<Option<AhoCorasick>>,
    searched: AtomicUsize,
}

impl Literals {
    pub(super) fn new(texts: Vec<String>) -> Result<Self, String> {
        let for_short_text = automaton(&texts, AhoCorasickKind::NoncontiguousNFA)
            .map_err(|error| format!("the literals of the rules cannot be compiled: {error}"))?;
        Ok(Self { texts, for_short_text, for_long_text: OnceLock::new(), searched: AtomicUsize::new(0) })
    }

    /// The automaton for searching this many bytes.
    pub(super) fn automaton(&self, bytes: usize) -> &AhoCorasick {
        if let Some(built) = self.for_long_text.get() {
            return built.as_ref().unwrap_or(&self.for_short_text);
        }
        match self.searched.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) {
            much if much > LONG_TEXT => self.automaton_for_long_text(),
            _ => &self.for_short_text,
        }
    }

    /// The automaton that is quick once it is built.
    pub(super) fn automaton_for_long_text(&self) -> &AhoCorasick {
        let built = self.for_long_text.get_or_init(|| automaton(&self.texts, AhoCorasickKind::DFA).ok());
        built.as_ref().unwrap_or(&self.for_short_text)
    }
}

fn automaton(texts: &[String], kind: AhoCorasickKind) -> Result<AhoCorasick, aho_corasick::BuildError> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(kind))
        .build(texts)
}
