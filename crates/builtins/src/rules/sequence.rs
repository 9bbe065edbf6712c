//! Matches a sequence of words against a sequence of word patterns.

use super::command::PatternWord;
use crate::token::{Token, covers, meets};

/// The positions in a pattern that the words so far can have reached.
pub(super) struct States<'a> {
    words: &'a [PatternWord],
    open: bool,
    current: Vec<bool>,
    next: Vec<bool>,
}

impl<'a> States<'a> {
    pub(super) fn new(words: &'a [PatternWord], open: bool) -> Self {
        let mut current = vec![false; words.len() + 1];
        current[0] = true;
        let mut states = Self { words, open, next: current.clone(), current };
        states.pass_any();
        states
    }

    /// `*` can match no words at all.
    fn pass_any(&mut self) {
        for (at, word) in self.words.iter().enumerate() {
            if self.current[at] && matches!(word, PatternWord::Any) {
                self.current[at + 1] = true;
            }
        }
    }

    fn step(&mut self, mut takes: impl FnMut(&[Token]) -> bool) {
        self.next.fill(false);
        for (at, word) in self.words.iter().enumerate().filter(|(at, _)| self.current[*at]) {
            match word {
                PatternWord::Any => self.next[at] = true,
                PatternWord::Tokens(tokens) => self.next[at + 1] |= takes(tokens),
            }
        }
        let end = self.words.len();
        self.next[end] |= self.current[end] && self.open;
        std::mem::swap(&mut self.current, &mut self.next);
        self.pass_any();
    }

    /// Consumes a word that must match whatever its unknown parts turn out to be.
    pub(super) fn step_covering(&mut self, word: &[Token], splits: bool) {
        self.step(|tokens| !splits && covers(tokens, word));
    }

    /// Consumes a word that could match; one that splits could be many words, or none.
    pub(super) fn step_meeting(&mut self, word: &[Token], splits: bool) {
        if splits {
            let first = self.current.iter().position(|reached| *reached).unwrap_or(self.current.len());
            self.current.iter_mut().skip(first).for_each(|reached| *reached = true);
            return;
        }
        self.step(|tokens| meets(tokens, word));
    }

    pub(super) fn is_end(&self) -> bool {
        self.current[self.words.len()]
    }
}
