//! Lines of PowerShell and cmd: their commands and words, as far as a list of commands needs them.
//!
//! These languages have another grammar; here a line is split where commands can begin, quotes are removed, and
//! everything else is left as it is. Nothing in it is a doubt.

use super::model::{Command, Script};
use super::word::Word;

impl Script {
    /// Parses a line of PowerShell or cmd.
    pub(crate) fn parse_windows(line: &str) -> Self {
        let mut script = Self::default();
        let mut words: Vec<Word> = Vec::new();
        let mut word = String::new();
        let mut quote: Option<char> = None;
        for c in line.chars() {
            match quote {
                Some(open) if c == open => quote = None,
                Some(_) => word.push(c),
                None if matches!(c, '"' | '\'') => quote = Some(c),
                None if matches!(c, ';' | '|' | '&' | '\n' | '\r' | '(' | ')' | '{' | '}') => {
                    finish_word(&mut words, &mut word);
                    finish(&mut script, &mut words);
                }
                None if c.is_whitespace() => finish_word(&mut words, &mut word),
                None => word.push(c),
            }
        }
        finish_word(&mut words, &mut word);
        finish(&mut script, &mut words);
        script
    }
}

fn finish_word(words: &mut Vec<Word>, word: &mut String) {
    if !word.is_empty() {
        words.push(Word::literal(std::mem::take(word)));
    }
}

fn finish(script: &mut Script, words: &mut Vec<Word>) {
    if !words.is_empty() {
        let mut words = std::mem::take(words);
        // In cmd `type` prints a file; in the shells that the other lists are about it does not.
        if words[0].known().is_some_and(|name| name.eq_ignore_ascii_case("type")) {
            words[0] = Word::literal("get-content");
        }
        script.commands.push(Command { words, certain: true, ..Command::default() });
    }
}
