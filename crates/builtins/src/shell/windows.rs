//! Lines of PowerShell and cmd: their commands and words, as far as a list of commands needs them.
//!
//! These languages have another grammar; here a line is split where commands can begin, quotes are removed, texts that
//! are joined by `+` and variables that the line sets are put together, and everything else is left as it is. Nothing in
//! it is a doubt.

use std::iter::Peekable;
use std::str::Chars;

use super::model::{Command, Input, Script};
use super::word::Word;

/// The maximum number of variables of a line that are remembered.
const MAX_VARIABLES: usize = 64;

impl Script {
    /// Parses a line of PowerShell or cmd.
    pub(crate) fn parse_windows(line: &str) -> Self {
        let mut reader = Reader::default();
        let mut rest = line.chars().peekable();
        while let Some(c) = rest.next() {
            reader.take(c, &mut rest);
        }
        reader.finish(false);
        reader.script
    }
}

#[derive(Default)]
struct Reader {
    script: Script,
    words: Vec<Word>,
    word: String,
    quote: Option<char>,
    /// The command after this one gets what this one prints.
    piped: bool,
    /// After `&`, which runs what a text names.
    calls: bool,
    /// In the brackets after it: `& ('a'+'b') x`.
    in_call: bool,
    variables: Vec<(String, String)>,
    /// In brackets around one text of a list.
    in_list: bool,
}

impl Reader {
    fn take(&mut self, c: char, rest: &mut Peekable<Chars<'_>>) {
        match self.quote {
            Some(open) if c == open => self.quote = joined_quote(rest),
            Some(_) => self.word.push(c),
            None if matches!(c, '"' | '\'') => self.quote = Some(c),
            // They only keep the next character from its meaning.
            None if matches!(c, '`' | '^') => {
                if let Some(mark) = rest.next_if(|next| matches!(next, '|' | '&' | '<' | '>' | '^' | '`')) {
                    self.word.push(mark);
                }
            }
            // `$a = 'push', ('--' + 'force')`: a list of texts.
            None if c == '(' && self.is_list() => self.in_list = true,
            // `@('push', '--force')`
            None if c == '(' && self.word == "@" => {
                self.word.clear();
                self.in_list = true;
            }
            None if c == ')' && self.in_list => {
                self.in_list = false;
                if self.words.get(1).and_then(Word::known) != Some("=") {
                    let texts = std::mem::take(&mut self.word);
                    self.words.extend(
                        texts.split(',').map(str::trim).filter(|text| !text.is_empty()).map(Word::literal),
                    );
                }
            }
            None if c == '(' && self.calls && self.words.is_empty() && self.word.is_empty() => {
                self.in_call = true;
            }
            None if c == ')' && self.in_call => {
                self.in_call = false;
                self.finish_word();
            }
            None if matches!(c, ';' | '|' | '&' | '\n' | '\r' | '(' | ')' | '{' | '}') => {
                let is_pipe = c == '|' && rest.peek() != Some(&'|');
                self.finish(is_pipe);
                self.calls = c == '&';
            }
            None if c.is_whitespace() => self.finish_word(),
            None => self.word.push(c),
        }
    }

    fn finish_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let value_of = |word: &str| {
            self.variables.iter().rfind(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, value)| value)
        };
        // `git @a`: the texts of a list, as words.
        if let Some(list) = word.strip_prefix('@').and_then(|name| value_of(&format!("${name}"))) {
            let texts = list.split(',').map(str::trim).filter(|text| !text.is_empty());
            return self.words.extend(texts.map(Word::literal));
        }
        match value_of(&word) {
            Some(value) => self.words.push(Word::literal(value.as_str())),
            None => self.words.push(Word::literal(self.with_values(&word))),
        }
    }

    /// A word with the variables of cmd in it: `!a!`, `%a%`.
    fn with_values(&self, word: &str) -> String {
        let mut text = word.to_owned();
        if !word.contains(['!', '%']) {
            return text;
        }
        for (name, value) in self.variables.iter().filter(|(name, _)| !name.starts_with('$')) {
            for mark in ['!', '%'] {
                let wanted = format!("{mark}{name}{mark}").to_ascii_lowercase();
                while let Some(at) = text.to_ascii_lowercase().find(&wanted).filter(|_| !value.contains(mark))
                {
                    text.replace_range(at..at + wanted.len(), value);
                }
            }
        }
        text
    }

    /// Whether the words are the beginning of a list that a variable gets.
    fn is_list(&self) -> bool {
        let first = self.words.first().and_then(Word::known).is_some_and(|name| name.starts_with('$'));
        first
            && self.words.get(1).and_then(Word::known) == Some("=")
            && (self.word.ends_with(',') || self.ends_with_comma())
    }

    fn ends_with_comma(&self) -> bool {
        self.word.is_empty() && self.words.last().is_some_and(|word| word.show().ends_with(','))
    }

    /// Ends a command; `is_pipe` says whether the next one gets what it prints.
    fn finish(&mut self, is_pipe: bool) {
        self.finish_word();
        self.in_call = false;
        let piped = std::mem::replace(&mut self.piped, is_pipe);
        if self.words.is_empty() {
            return;
        }
        let mut words = std::mem::take(&mut self.words);
        self.remember(&words);
        // In batch files it runs what follows.
        if words.len() > 1 && words[0].known().is_some_and(|name| name.eq_ignore_ascii_case("call")) {
            words.remove(0);
        }
        let name = words[0].known().unwrap_or_default();
        // In cmd `type` prints a file; in the shells that the other lists are about it does not.
        if name.eq_ignore_ascii_case("type") {
            words[0] = Word::literal("get-content");
        } else if let Some((_, last)) = name.rsplit_once('\\').filter(|(_, last)| !last.is_empty()) {
            words[0] = Word::literal(last);
        }
        let at = self.script.commands.len();
        let input = if piped && at > 0 { Input::Pipe(at - 1..at) } else { Input::Inherited };
        self.script.commands.push(Command { words, input, certain: true, ..Command::default() });
    }

    /// `$name = 'text'`, `$name='text'`
    fn remember(&mut self, words: &[Word]) {
        let text = |word: &Word| word.known().unwrap_or_default().to_owned();
        let (name, value) = match words {
            [one] => match one.known().and_then(|text| text.split_once('=')) {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                None => return,
            },
            [name, sign, value] if sign.known() == Some("=") => (text(name), text(value)),
            // `$a = 'push', 'origin'`
            [name, sign, values @ ..] if sign.known() == Some("=") && text(&values[0]).contains(',') => {
                (text(name), values.iter().map(text).collect::<Vec<_>>().join(""))
            }
            // `set a=rd`
            [set, pair] if set.known().is_some_and(|set| set.eq_ignore_ascii_case("set")) => {
                let Some((name, value)) = pair.known().and_then(|text| text.split_once('=')) else { return };
                if !name.is_empty() && !name.contains(['!', '%', '$']) && self.variables.len() < MAX_VARIABLES
                {
                    self.variables.push((name.to_owned(), value.to_owned()));
                }
                return;
            }
            _ => return,
        };
        let is_name = name.len() > 1 && name.starts_with('$');
        // `@` begins a table of parameters.
        if is_name && !value.is_empty() && value != "@" && self.variables.len() < MAX_VARIABLES {
            self.variables.push((name, value));
        }
    }
}

/// The quote of the text that a `+` joins to the one that has just ended: `'Rem' + 'ove-Item'`.
fn joined_quote(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let mut ahead = rest.clone();
    let mut has_plus = false;
    let mut steps = 0;
    loop {
        let c = ahead.next()?;
        steps += 1;
        match c {
            '+' if !has_plus => has_plus = true,
            '"' | '\'' if has_plus => {
                rest.by_ref().take(steps).for_each(drop);
                return Some(c);
            }
            // Whoever writes more than this in between writes for no person.
            c if c.is_whitespace() && steps < 32 => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::Script;

    fn lines(line: &str) -> Vec<String> {
        Script::parse_windows(line).commands.iter().map(|command| command.show()).collect()
    }

    #[test]
    fn texts_and_variables_are_put_together() {
        assert_eq!(lines("& ('Rem'+'ove-Item') -Recurse x"), ["Remove-Item -Recurse x"]);
        assert_eq!(lines("$c = 'Remove-Item'; & $c -Force x")[1], "Remove-Item -Force x");
        assert_eq!(lines("R`emove-It`em x"), ["Remove-Item x"]);
        assert_eq!(lines("gps node | spps"), ["gps node", "spps"]);
        assert_eq!(lines("$a = 'x','y',('--'+'z'); & git @a")[1], "git x y --z");
        assert_eq!(lines("$a = @('x', 'y'); & git @a")[1], "git x y");
        assert_eq!(lines("git @('x','y') z"), ["git x y z"]);
        assert_eq!(lines("set a=rd&& !a! /s b")[1], "rd /s b");
        assert_eq!(lines("echo a^|b"), ["echo a|b"]);
    }
}
