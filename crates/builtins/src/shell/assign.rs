//! Commands that change variables: `read`, `set --`, `printf -v`, `unset`, `eval`; and commands whose words are
//! a choice of values.

use super::model::{Command, Input};
use super::parser::Parser;
use super::printed::{KnownText, formatted, of_shown, unescaped};
use super::variables::{ARGUMENTS, Value, as_value};
use super::word::{Origin, Word, joined};
use super::wrapper::Meaning;

/// The maximum number of values of one command's words that are checked one by one.
const MAX_CHOICES: usize = 32;

impl Parser {
    /// `name=value`, `name+=value`, `name=(…)`, `name[…]=value`
    pub(super) fn assign(&mut self, name: &str, value: Word, array: Option<Vec<Word>>, appends: bool) {
        if let Some((name, index)) = name.split_once('[') {
            return self.assign_element(name, index.trim_end_matches(']'), value);
        }
        let old = if appends { self.variables.get(name).cloned() } else { None };
        if appends && old.is_none() {
            return self.variables.forget(name);
        }
        let value = match (array, old) {
            (Some(words), old) => match (Value::array(words), old) {
                (Some(value), None) => value,
                (Some(Value::List(words)), Some(old @ (Value::One(_) | Value::List(_)))) => {
                    Value::List(old.all().into_iter().chain(words).collect())
                }
                (Some(Value::Map(more)), Some(Value::Map(mut elements))) => {
                    elements.retain(|(key, _)| !more.iter().any(|(other, _)| other == key));
                    elements.extend(more);
                    Value::Map(elements)
                }
                _ => return self.variables.forget(name),
            },
            (None, None) => as_value(value),
            (None, Some(Value::One(old))) => {
                let pieces = old.pieces.into_iter().chain(value.pieces).collect();
                Value::One(Word { pieces: joined(pieces), plain: 0 })
            }
            (None, Some(_)) => return self.variables.forget(name),
        };
        self.variables.set(name, value);
    }

    fn assign_element(&mut self, name: &str, index: &str, value: Word) {
        if let Some(Value::Map(elements)) = self.variables.get(name) {
            let key = index.trim_matches(['"', '\'']);
            let mut elements = elements.clone();
            elements.retain(|(other, _)| other != key);
            elements.push((key.to_owned(), value));
            return self.variables.set(name, Value::Map(elements));
        }
        let old = self.variables.get(name).map(Value::all).unwrap_or_default();
        match index.parse::<usize>() {
            // Array elements are tracked only when they are assigned in order.
            Ok(at) if at <= old.len() && (at > 0 || !old.is_empty() || self.variables.is_empty()) => {
                let mut words = old;
                words.truncate(at.max(words.len().min(at)));
                words.push(value);
                self.variables.set(name, Value::List(words));
            }
            Ok(0) => self.variables.set(name, Value::List(vec![value])),
            _ => self.variables.forget(name),
        }
    }

    /// What the command at `at` does to the variables of the shell that runs it.
    pub(super) fn change_variables(&mut self, at: usize) {
        let command = &self.script.commands[at];
        if command.words.is_empty() {
            return;
        }
        let Some(name) = command.name() else {
            // An unknown program can be anything, including `read` and `eval`.
            self.variables = Default::default();
            return;
        };
        match name {
            "set" => self.set_arguments(at),
            "shift" => self.shift(at),
            "read" => self.read(at),
            "mapfile" | "readarray" => self.read_lines(at),
            "printf" => self.printf(at),
            "unset" | "getopts" | "wait" | "let" => {
                let names: Vec<String> =
                    command.arguments().iter().map(|word| word.show().into_owned()).collect();
                for name in names {
                    self.variables.forget(name.split(['[', '=', '+', '-']).next().unwrap_or_default());
                }
            }
            "source" | "." => self.variables = Default::default(),
            "eval" => self.eval(at),
            "export" | "declare" | "typeset" | "readonly" | "local" => self.forget_declared(at),
            name => {
                if let Some(Meaning::Function { after, .. }) = self.names.get(name) {
                    self.variables = self.variables.merged(after);
                }
            }
        }
    }

    /// `declare -i x` changes what later assignments mean.
    fn forget_declared(&mut self, at: usize) {
        let words = self.script.commands[at].arguments();
        let has = |letters: &[char]| {
            words.iter().any(|word| word.head().starts_with('-') && word.head().contains(letters))
        };
        if has(&['i', 'l', 'u', 'c']) {
            self.variables = Default::default();
        } else if has(&['n']) {
            self.refer(at);
        } else if has(&['A']) {
            let is_name = |word: &&Word| word.is_plain() && !word.head().contains(['-', '=', '+']);
            let names: Vec<String> =
                words.iter().filter(is_name).map(|word| word.head().to_owned()).collect();
            for name in names {
                if self.variables.get(&name).is_none() {
                    self.variables.set(&name, Value::Map(Vec::new()));
                }
            }
        }
    }

    /// `declare -n other=name`
    fn refer(&mut self, at: usize) {
        let words = self.script.commands[at].arguments();
        // Not every shell has it.
        let pairs: Option<Vec<(String, String)>> = words
            .iter()
            .filter(|word| !word.head().starts_with('-'))
            .map(|word| {
                let (name, target) = word.known()?.split_once('=')?;
                Some((name.to_owned(), target.to_owned()))
            })
            .collect();
        self.unknown("a variable refers to another one by name");
        match pairs {
            Some(pairs) => pairs.iter().for_each(|(name, target)| self.variables.refer(name, target)),
            None => self.variables = Default::default(),
        }
    }

    /// `set -- a b`, `set a b`
    fn set_arguments(&mut self, at: usize) {
        let words = self.script.commands[at].arguments();
        let dashes = words.iter().position(|word| word.known() == Some("--"));
        let first = words.iter().position(|word| !word.head().starts_with(['-', '+']));
        let from = match (dashes, first) {
            (Some(dashes), first) if first.is_none_or(|first| dashes <= first) => dashes + 1,
            // `set -o pipefail` sets no arguments.
            (_, Some(first)) if first > 0 && words[first - 1].head().ends_with('o') => return,
            (_, Some(first)) => first,
            _ => return,
        };
        let words = words[from..].to_vec();
        if words.iter().any(Word::may_split) {
            self.variables.forget(ARGUMENTS);
        } else {
            self.variables.set(ARGUMENTS, Value::List(words));
        }
    }

    fn shift(&mut self, at: usize) {
        let Some(Value::List(words)) = self.variables.get(ARGUMENTS).cloned() else { return };
        let count = match self.script.commands[at].arguments() {
            [] => Some(1),
            [count] => count.known().and_then(|text| text.parse().ok()),
            _ => None,
        };
        match count {
            Some(count) if count <= words.len() => {
                self.variables.set(ARGUMENTS, Value::List(words[count..].to_vec()));
            }
            _ => self.variables.forget(ARGUMENTS),
        }
    }

    /// `read a b <<< "x y"`, `echo rm | while read a; do …`
    fn read(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let words: Vec<String> = command.arguments().iter().map(|word| word.show().into_owned()).collect();
        let mut names = Vec::new();
        let (mut list, mut skip) = (false, false);
        for word in &words {
            if std::mem::take(&mut skip) {
                continue;
            }
            match word.strip_prefix('-') {
                Some(letters) => {
                    list |= letters.contains('a');
                    skip = letters.ends_with(['p', 'd', 'n', 'N', 't', 'u', 'i']);
                }
                None => names.push(word.clone()),
            }
        }
        let here = matches!(command.input, Input::Text(_));
        let text = match &command.input {
            // The text of a here-document has not been read yet.
            Input::Here(_) => KnownText::Unknown,
            Input::Inherited => self.text_of(&self.input, 0),
            input => self.text_of(input, 0),
        };
        let text = match text {
            KnownText::Perhaps(text) if here => {
                self.unknown("a part of what it reads cannot be known");
                Some(text)
            }
            text => text.text(),
        };
        let separators = match self.script.commands[at].variables.get("IFS") {
            None => Some(" \t\n".to_owned()),
            Some(value) => value.first().known().map(str::to_owned),
        };
        let (Some(text), Some(separators)) = (text, separators) else {
            let input = match &self.script.commands[at].input {
                Input::Inherited => self.input.clone(),
                input => input.clone(),
            };
            let origin = match input {
                Input::Pipe(range) => Origin::Output(range),
                _ => Origin::Other,
            };
            let value = Word::unknown().coming_from(&origin);
            names.iter().for_each(|name| self.variables.set(name, Value::One(value.clone())));
            return;
        };
        let lines: Vec<Vec<&str>> = text
            .lines()
            .take(if here { 1 } else { MAX_CHOICES })
            .map(|line| split_line(line, &separators, if list { usize::MAX } else { names.len() }))
            .collect();
        match (list, names.as_slice()) {
            (true, [name, ..]) => {
                let words = lines.first().map(|words| words.iter().map(|word| of_shown(word)).collect());
                self.variables.set(name, Value::List(words.unwrap_or_default()));
            }
            _ => {
                for (number, name) in names.iter().enumerate() {
                    let values: Vec<Word> = lines
                        .iter()
                        .map(|words| of_shown(words.get(number).copied().unwrap_or_default()))
                        .collect();
                    let value = match values.as_slice() {
                        [one] => Value::One(one.clone()),
                        _ => Value::choice(values),
                    };
                    self.variables.set(name, value);
                }
            }
        }
    }

    /// `mapfile -t name < <(…)`: each line is an element.
    fn read_lines(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let words: Vec<String> = command.arguments().iter().map(|word| word.show().into_owned()).collect();
        let is_plain = words.iter().filter(|word| word.starts_with('-')).all(|word| word == "-t");
        let name = words.iter().rfind(|word| !word.starts_with('-')).map_or("MAPFILE", String::as_str);
        let input = match &command.input {
            Input::Inherited => self.input.clone(),
            input => input.clone(),
        };
        let text = match self.text_of(&input, 0) {
            _ if !is_plain || matches!(input, Input::Here(_)) => None,
            KnownText::Text(text) => Some(text),
            KnownText::Perhaps(text) => {
                self.unknown("a part of what it reads cannot be known");
                Some(text)
            }
            _ => None,
        };
        match text {
            Some(text) => self.variables.set(name, Value::List(text.lines().map(of_shown).collect())),
            None => {
                let origin = match input {
                    Input::Pipe(range) => Origin::Output(range),
                    _ => Origin::Other,
                };
                let value = Word::unknown().coming_from(&origin);
                self.variables.set(name, Value::One(value));
            }
        }
    }

    /// `printf -v name '%s' value`
    fn printf(&mut self, at: usize) {
        let words = self.script.commands[at].arguments();
        let [flag, name, format, values @ ..] = words else { return };
        if flag.known() != Some("-v") {
            return;
        }
        let name = name.show().into_owned();
        let values: Option<Vec<&str>> = values.iter().map(Word::known).collect();
        match (format.known(), values) {
            (Some(format), Some(values)) => {
                let text = unescaped(&formatted(format, &values));
                self.variables.set(&name, Value::text(text));
            }
            _ => self.variables.forget(&name),
        }
    }

    /// Applies what `eval` assigns to the commands after it. Its own commands are inspected later, with all others.
    fn eval(&mut self, at: usize) {
        let words = self.script.commands[at].arguments();
        let texts: Option<Vec<&str>> = words.iter().map(Word::known).collect();
        match texts.map(|texts| texts.join(" ")) {
            Some(code) if !code.contains('=') && !code.contains("read") && !code.contains("set") => {}
            Some(code) if code.len() < 1 << 10 && self.has_budget(code.len() * 4) => {
                let (commands, doubts) = (self.script.commands.len(), self.script.doubts.len());
                self.nested(code, Self::program);
                self.script.commands.truncate(commands);
                self.script.doubts.truncate(doubts);
            }
            _ => self.variables = Default::default(),
        }
    }

    /// Adds a copy of the command for each value that its words can have: used to forbid, never to allow.
    pub(super) fn add_choices(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let targets = command.redirections.iter().map(|redirection| &redirection.target);
        let count =
            command.words.iter().chain(targets).map(Word::choices).max().unwrap_or(0).min(MAX_CHOICES);
        if count == 0 {
            return;
        }
        let command = command.clone();
        for number in 0..count {
            if !self.has_budget((command.words.len() + 2) * 32) {
                return;
            }
            let mut one = command.clone();
            one.words = chosen_words(&command, number);
            for redirection in &mut one.redirections {
                redirection.target = redirection.target.chosen(number);
            }
            one.certain = false;
            self.script.commands.push(one);
        }
    }
}

/// The words with a value in place of each choice; an unquoted choice alone can become several words.
fn chosen_words(command: &Command, number: usize) -> Vec<Word> {
    let mut words = Vec::with_capacity(command.words.len());
    for word in &command.words {
        let chosen = word.chosen(number);
        match chosen.known() {
            Some(text) if word.may_split() && word.choices() > 0 => {
                words.extend(text.split_whitespace().map(wildcards));
            }
            _ => words.push(chosen),
        }
    }
    words
}

/// A word from a value, with its wildcards active.
fn wildcards(text: &str) -> Word {
    let mut draft = super::word::Draft::new();
    super::variables::fields(&mut draft, text, "");
    draft.finish()
}

/// The fields of a line: the last one gets the rest.
fn split_line<'a>(line: &'a str, separators: &str, most: usize) -> Vec<&'a str> {
    let is_separator = |c: char| separators.contains(c);
    let mut rest = line.trim_matches(|c: char| is_separator(c) && c.is_whitespace());
    let mut words = Vec::new();
    while !rest.is_empty() {
        match rest.find(is_separator).filter(|_| words.len() + 1 < most) {
            Some(end) => {
                words.push(&rest[..end]);
                let skip = rest[end..].chars().next().map_or(1, char::len_utf8);
                rest = rest[end + skip..].trim_start_matches(|c: char| is_separator(c) && c.is_whitespace());
            }
            None => {
                words.push(rest);
                rest = "";
            }
        }
    }
    words
}
