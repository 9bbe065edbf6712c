//! Texts that code puts together before it uses them: `'r' + 'm -rf /'`, `''.join(['r', 'm'])`, `'%s -rf /' % 'rm'`,
//! `Path.home() / '.bashrc'`. Sums, joins, formats and variables with one known value are followed; loops and functions
//! are not.

use super::names::COPIES;
use super::token::{HOME, Token, tokens};
use crate::names::NameMap;

/// What code puts together.
#[derive(Debug, Default)]
pub(super) struct Folded {
    /// Texts, and lists of them as one with spaces between.
    pub(super) texts: Vec<String>,
    /// The texts among them that are sums of several: `'sys' + 'tem'`.
    pub(super) sums: Vec<String>,
    /// Calls with two paths that move, copy or link a file: the last part of the call's name, and the paths.
    pub(super) transfers: Vec<(String, Option<String>, Option<String>)>,
}

#[derive(Debug, Clone)]
enum Value {
    Text(String),
    List(Vec<String>),
}

impl Value {
    fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::List(items) => items.join(" "),
        }
    }
}

/// A value, whether more than one text is in it, and the place after it.
type Found = (Value, bool, usize);

struct Folder {
    tokens: Vec<Token>,
    variables: NameMap<String, Value>,
    found: Folded,
}

/// What this code puts together.
pub(super) fn folded(code: &str, language: &str) -> Folded {
    let tokens = tokens(code, language);
    let mut folder = Folder { tokens, variables: NameMap::default(), found: Folded::default() };
    let mut at = 0;
    while at < folder.tokens.len() {
        at = folder.statement(at).max(at + 1);
    }
    folder.found
}

impl Folder {
    fn is(&self, at: usize, mark: char) -> bool {
        self.tokens.get(at) == Some(&Token::Mark(mark))
    }

    /// The place after line breaks.
    fn after_lines(&self, at: usize) -> usize {
        at + self.tokens[at.min(self.tokens.len())..]
            .iter()
            .take_while(|token| **token == Token::Mark('\n'))
            .count()
    }

    fn name(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// Reads what begins here; returns where to go on.
    fn statement(&mut self, at: usize) -> usize {
        const MOST: usize = 200;
        if self.found.texts.len() > MOST {
            return self.tokens.len();
        }
        if let Some(name) = self.name(at).map(str::to_owned) {
            if let Some(next) = self.assignment(at, &name) {
                return next;
            }
            // Perl and Ruby need no parentheses.
            let is_call = self.is(at + 1, '(');
            let is_plain = matches!(self.tokens.get(at + 1), Some(Token::Text(_)));
            if (is_call || is_plain) && COPIES.contains(&name.to_lowercase().as_str()) {
                let mut paths = self.two_arguments(at + 1 + usize::from(is_call)).into_iter();
                let (from, to) = (paths.next().flatten(), paths.next().flatten());
                self.found.transfers.push((name.to_lowercase(), from, to));
                return at + 1;
            }
        }
        self.run(at)
    }

    /// `name = value`, `name += value`, `name.append(value)`
    fn assignment(&mut self, at: usize, name: &str) -> Option<usize> {
        let adds = self.is(at + 1, '+') && self.is(at + 2, '=');
        let joins = self.is(at + 1, '.') && self.is(at + 2, '=');
        let appends = self.is(at + 1, '.')
            && matches!(self.name(at + 2), Some("append" | "push" | "extend"))
            && self.is(at + 3, '(');
        let sets = self.is(at + 1, '=') && !self.is(at + 2, '=') && !self.is(at + 2, '>');
        let start = match (sets, adds || joins, appends) {
            (true, ..) => at + 2,
            (_, true, _) => at + 3,
            (.., true) => at + 4,
            _ => return None,
        };
        let Some((value, is_sum, next)) = self.sum(start) else {
            self.variables.remove(name);
            return None;
        };
        let value = match (sets, self.variables.get(name)) {
            (true, _) => value,
            (false, Some(Value::Text(text))) => Value::Text(format!("{text}{}", value.shown())),
            (false, Some(Value::List(items))) => {
                let mut items = items.clone();
                match value {
                    Value::Text(text) => items.push(text),
                    Value::List(more) => items.extend(more),
                }
                Value::List(items)
            }
            (false, None) => return None,
        };
        if is_sum || !sets {
            self.keep(&value);
        }
        self.variables.insert(name.to_owned(), value);
        // The texts in a list are looked at on their own, too.
        Some(next)
    }

    fn keep(&mut self, value: &Value) {
        // More lines than this are the content of a file.
        const MOST_LINES: usize = 6;
        let text = value.shown();
        match value {
            Value::Text(text) => self.found.sums.push(text.clone()),
            Value::List(items) => self.found.sums.extend(items.iter().cloned()),
        }
        if !text.is_empty() && text.matches('\n').count() < MOST_LINES {
            self.found.texts.push(text);
        }
    }

    /// Values with commas between them: `"r" . "m", "-rf", "/"`.
    fn run(&mut self, at: usize) -> usize {
        let Some((value, mut is_sum, mut next)) = self.sum(at) else { return at };
        if is_sum {
            self.keep(&value);
        }
        let is_known = |folder: &Self, at: usize| {
            folder.name(at).is_some_and(|name| folder.variables.contains_key(name))
        };
        is_sum |= is_known(self, at);
        let mut words = vec![value.shown()];
        while self.is(next, ',') {
            let known = is_known(self, next + 1);
            let Some((value, is_more, after)) = self.sum(next + 1) else { break };
            if is_more {
                self.keep(&value);
            }
            is_sum |= is_more || known;
            words.push(value.shown());
            next = after;
        }
        if is_sum && words.len() > 1 {
            self.found.texts.push(words.join(" "));
        }
        next
    }

    fn two_arguments(&self, start: usize) -> Vec<Option<String>> {
        let mut all = Vec::new();
        let mut at = start;
        while all.len() < 2 {
            let value = self.sum(at).filter(|(.., next)| self.is(*next, ',') || self.is(*next, ')'));
            all.push(value.as_ref().map(|(value, ..)| value.shown()));
            let Some(next) = value.map(|(.., next)| next).or_else(|| self.end_of_argument(at)) else { break };
            if !self.is(next, ',') {
                break;
            }
            at = next + 1;
        }
        all
    }

    /// The place of the comma or parenthesis after an argument.
    fn end_of_argument(&self, start: usize) -> Option<usize> {
        const LONGEST: usize = 60;
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(start).take(LONGEST) {
            match token {
                Token::Mark('(' | '[' | '{') => depth += 1,
                Token::Mark(',' | ')') if depth == 0 => return Some(at),
                Token::Mark(')' | ']' | '}') => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        None
    }

    /// A sum of values.
    fn sum(&self, at: usize) -> Option<Found> {
        self.sum_within(at, 0)
    }

    fn sum_within(&self, at: usize, depth: usize) -> Option<Found> {
        const DEEPEST: usize = 8;
        if depth > DEEPEST {
            return None;
        }
        let (mut value, mut is_sum, mut next) = self.value(at, depth)?;
        loop {
            let after = self.after_lines(next);
            if matches!(self.tokens.get(after), Some(Token::Text(_) | Token::Mark('+'))) {
                next = after;
            }
            let skipped = match self.tokens.get(next) {
                Some(Token::Mark('.')) if self.is(next + 1, '.') => 2,
                Some(Token::Mark('<')) if self.is(next + 1, '>') => 2,
                Some(Token::Mark('+')) if self.is(next + 1, '+') => 2,
                Some(Token::Mark('+' | '.' | '&' | '~' | '/')) => 1,
                Some(Token::Text(_)) => 0,
                _ => break,
            };
            let Some((more, _, after)) = self.value(self.after_lines(next + skipped), depth) else { break };
            value = match (value, more, self.is(next, '/')) {
                // Paths of Python.
                (Value::Text(front), Value::Text(back), true) => Value::Text(format!("{front}/{back}")),
                (Value::Text(front), Value::Text(back), false) => Value::Text(front + &back),
                (Value::List(mut front), Value::List(back), false) => {
                    front.extend(back);
                    Value::List(front)
                }
                (value, ..) => return Some((value, is_sum, next)),
            };
            is_sum = true;
            next = after;
        }
        Some((value, is_sum, next))
    }

    /// One value, with what is done to it: `['a', 'b'].join('')`.
    fn value(&self, at: usize, depth: usize) -> Option<Found> {
        let (mut value, mut is_sum, mut next) = self.plain(at, depth)?;
        loop {
            let changed = self.method(&value, next, depth);
            let Some((new, after)) = changed else { return Some((value, is_sum, next)) };
            (value, is_sum, next) = (new, true, after);
        }
    }

    fn plain(&self, at: usize, depth: usize) -> Option<Found> {
        match self.tokens.get(at)? {
            Token::Text(text) => {
                let (text, is_filled) = self.filled(text);
                Some((Value::Text(text), is_filled, at + 1))
            }
            Token::Mark('(') => {
                let (value, is_sum, next) = self.sum_within(at + 1, depth + 1)?;
                self.is(next, ')').then_some((value, is_sum, next + 1))
            }
            Token::Mark('[') => {
                let (items, is_sum, next) = self.items(at + 1, ']', depth)?;
                Some((Value::List(items), is_sum, next))
            }
            Token::Name(name) => self.called(name, at + 1, depth).or_else(|| {
                let value = self.variables.get(name.as_str())?;
                (!self.is(at + 1, '(')).then(|| (value.clone(), false, at + 1))
            }),
            _ => None,
        }
    }

    /// `chr(114)`, `join("", "r", "m")`, `os.path.join(a, b)`, `Path("a")`
    fn called(&self, name: &str, after: usize, depth: usize) -> Option<Found> {
        // Modules in front: `String.fromCharCode`, `os.path.join`.
        if matches!(name, "os" | "path" | "String" | "File" | "pathlib" | "string") && self.is(after, '.') {
            return self.called(self.name(after + 1)?, after + 2, depth);
        }
        let is_bracketed = self.is(after, '(');
        let start = if is_bracketed { after + 1 } else { after };
        if matches!(name, "chr" | "fromCharCode" | "char") && is_bracketed {
            let mut text = String::new();
            let mut at = start;
            while let Some(Token::Number(number)) = self.tokens.get(at) {
                text.push(char::from_u32(*number)?);
                at += 1;
                if self.is(at, ',') {
                    at += 1;
                }
            }
            return (self.is(at, ')') && !text.is_empty()).then_some((Value::Text(text), true, at + 1));
        }
        if matches!(name, "expanduser" | "Path" | "expand_path" | "resolve" | "str") && is_bracketed {
            let (value, is_sum, next) = self.sum_within(start, depth + 1)?;
            return self.is(next, ')').then_some((value, is_sum, next + 1));
        }
        if !matches!(name, "join" | "implode" | "sprintf" | "format") || !is_bracketed {
            return None;
        }
        let (items, _, next) = self.items(start, ')', depth)?;
        let (first, rest) = items.split_first()?;
        let text = match name {
            "sprintf" | "format" => formatted(first, rest),
            // A path, unless the first text is what stands between the others.
            "join" if first.starts_with(['/', '~', '.']) => items.join("/"),
            _ => rest.join(first),
        };
        Some((Value::Text(text), true, next))
    }

    /// Values with commas between them up to a mark; lists in them are flattened.
    fn items(&self, start: usize, end: char, depth: usize) -> Option<(Vec<String>, bool, usize)> {
        const MOST: usize = 64;
        let mut items = Vec::new();
        let (mut at, mut is_sum) = (self.after_lines(start), false);
        while !self.is(at, end) {
            let (value, is_more, next) = self.sum_within(at, depth + 1)?;
            is_sum |= is_more || matches!(self.tokens[at], Token::Name(_));
            match value {
                Value::Text(text) => items.push(text),
                Value::List(more) => items.extend(more),
            }
            at = self.after_lines(next);
            if self.is(at, ',') {
                at = self.after_lines(at + 1);
            } else if !self.is(at, end) || items.len() > MOST {
                return None;
            }
        }
        Some((items, is_sum, at + 1))
    }

    /// What is done to a value after it.
    fn method(&self, value: &Value, at: usize, depth: usize) -> Option<(Value, usize)> {
        if let (Value::Text(text), true) = (value, self.is(at, '%')) {
            let (more, _, next) = match self.is(at + 1, '(') {
                true => self
                    .items(at + 2, ')', depth)
                    .map(|(items, _, next)| (Value::List(items), false, next))?,
                false => self.value(at + 1, depth + 1)?,
            };
            let items = match more {
                Value::Text(text) => vec![text],
                Value::List(items) => items,
            };
            return text.contains('%').then(|| (Value::Text(formatted(text, &items)), next));
        }
        let is_reversed = self.is(at, '[')
            && self.is(at + 1, ':')
            && self.is(at + 2, ':')
            && self.is(at + 3, '-')
            && self.is(at + 5, ']');
        if let (Value::Text(text), true) = (value, is_reversed) {
            return Some((Value::Text(text.chars().rev().collect()), at + 6));
        }
        if !self.is(at, '.') {
            return None;
        }
        let name = self.name(at + 1)?;
        let arguments = self.is(at + 2, '(').then(|| self.items(at + 3, ')', depth)).flatten();
        let next = arguments.as_ref().map_or(at + 2, |(.., next)| *next);
        let arguments = arguments.map(|(items, ..)| items).unwrap_or_default();
        let first = || arguments.first().cloned().unwrap_or_default();
        let new = match (value, name) {
            (Value::Text(text), "join") => Value::Text(arguments.join(text)),
            (Value::List(items), "join") => Value::Text(items.join(&first())),
            (Value::List(items), "reverse" | "reversed") => {
                Value::List(items.iter().rev().cloned().collect())
            }
            (Value::Text(text), "format") => Value::Text(formatted(text, &arguments)),
            (Value::Text(text), "concat") => Value::Text(format!("{text}{}", arguments.concat())),
            (Value::Text(text), "reverse") => Value::Text(text.chars().rev().collect()),
            (Value::Text(text), "split") if first().is_empty() => {
                Value::List(text.chars().map(String::from).collect())
            }
            (Value::Text(text), "replace") if arguments.len() == 2 => {
                Value::Text(text.replace(&arguments[0], &arguments[1]))
            }
            (Value::Text(text), "decode" | "encode" | "toString" | "strip" | "trim") => {
                Value::Text(text.clone())
            }
            _ => return None,
        };
        Some((new, next))
    }

    /// A text with the values that it names: `{name}`, `${name}`, `#{name}`, `{'rm'}`.
    fn filled(&self, text: &str) -> (String, bool) {
        const LONGEST: usize = 4 << 10;
        if text.len() > LONGEST || !text.contains(['{', '$', HOME]) {
            return (text.to_owned(), false);
        }
        let mut filled = text.to_owned();
        for open in ["#{", "${", "{"] {
            filled = filled.replace(&format!("{open}{HOME}}}"), "~");
        }
        filled = filled.replace(HOME, "~");
        for quote in ['\'', '"', '`'] {
            for open in ["#{", "${", "{"] {
                while let Some((front, rest)) = filled.split_once(&format!("{open}{quote}"))
                    && let Some((inner, back)) = rest.split_once(&format!("{quote}}}"))
                {
                    filled = format!("{front}{inner}{back}");
                }
            }
        }
        for (name, value) in &self.variables {
            let Value::Text(value) = value else { continue };
            let plain = name.trim_start_matches('$');
            if !filled.contains(plain) || value.len() > 200 {
                continue;
            }
            for pattern in [format!("#{{{plain}}}"), format!("${{{plain}}}"), format!("{{{plain}}}")] {
                filled = filled.replace(&pattern, value);
            }
            if name.starts_with('$') {
                filled = filled.replace(name.as_str(), value);
            }
        }
        let is_filled = filled != text;
        (filled, is_filled)
    }
}

/// A format with its values: `%s`, `{}`.
fn formatted(format: &str, items: &[String]) -> String {
    let mut text = format.to_owned();
    for (number, item) in items.iter().enumerate() {
        let numbered = format!("{{{number}}}");
        let marks = ["%s", "{}", "%d", numbered.as_str()];
        let Some(mark) =
            marks.into_iter().filter(|mark| text.contains(mark)).min_by_key(|mark| text.find(mark))
        else {
            continue;
        };
        text = text.replacen(mark, item, 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_put_together() {
        for (code, wanted) in [
            ("os.system('r' + 'm -rf /')", "rm -rf /"),
            ("os.system(''.join(['r','m',' -rf',' /']))", "rm -rf /"),
            ("os.system('%s -rf %s' % ('rm', '/'))", "rm -rf /"),
            ("os.system('{} -rf {}'.format('rm', '/'))", "rm -rf /"),
            ("os.system(f\"{'rm'} -rf /\")", "rm -rf /"),
            ("cmd = 'r' + 'm'\nos.system(cmd + ' -rf /')", "rm -rf /"),
            ("a = ['rm']\na.append('-rf')\na.append('/x')\nrun(a)", "rm -rf /x"),
            ("os.system('mr'[::-1] + ' -rf /')", "rm -rf /"),
            ("os.system(chr(114)+chr(109)+' -rf /')", "rm -rf /"),
            ("system \"r\".\"m\", \"-rf\", \"/\"", "rm -rf /"),
            ("exec join(' ', 'rm', '-rf', '/')", "rm -rf /"),
            ("run(['rm','-rf','/'].join(' '))", "rm -rf /"),
            ("const c='rm'; run(`${c} -rf /`)", "rm -rf /"),
            ("$c='rm'; system(\"$c -rf /\")", "rm -rf /"),
            ("p = Path.home() / '.bashrc'", "~/.bashrc"),
            ("open(os.path.join(os.environ['HOME'], '.zshrc'))", "~/.zshrc"),
            ("open F, \">>$ENV{HOME}/.bashrc\"", ">>~/.bashrc"),
            ("File.write(\"#{Dir.home}/.zshrc\", x)", "~/.zshrc"),
            ("'\\x72\\x6d' + ' x'", "rm x"),
            ("f(['r'+'m', '-rf', '/'])", "rm -rf /"),
            ("f('rm ' +\n  '-rf /')", "rm -rf /"),
        ] {
            let found = folded(code, "python");
            assert!(found.texts.iter().any(|text| text == wanted), "{code}: {:?}", found.texts);
        }
    }

    #[test]
    fn plain_texts_are_no_sums() {
        for code in ["f('a', 'b')", "x = {'a': 'b'}", "# don't\nprint('a')", "f(x['a'], 1)"] {
            let found = folded(code, "python");
            assert!(found.texts.is_empty(), "{code}: {:?}", found.texts);
        }
    }

    #[test]
    fn transfers_are_found() {
        let found = folded("shutil.move(os.path.expanduser('~/a'), \"/tmp/b\")", "python");
        let paths = (Some("~/a".to_owned()), Some("/tmp/b".to_owned()));
        assert_eq!(found.transfers, [("move".to_owned(), paths.0, paths.1)]);
    }
}
