//! Code in other languages as tokens: texts in quotes, names, numbers and marks. All languages share these rules, as far
//! as a search for texts needs them.

/// A token of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A text in quotes, without its escapes.
    Text(String),
    Name(String),
    Number(u32),
    /// Any other character; a line break is one, too.
    Mark(char),
}

/// Stands for the home folder.
pub(super) const HOME: char = '\u{1}';

/// Expressions that are the home folder.
const HOMES: [&str; 26] = [
    "pathlib.Path.home()",
    "Path.home()",
    "require('os').homedir()",
    "require(\"os\").homedir()",
    "os.homedir()",
    "homedir()",
    "process.env.HOME",
    "process.env['HOME']",
    "os.environ['HOME']",
    "os.environ[\"HOME\"]",
    "os.environ.get('HOME')",
    "os.environ.get(\"HOME\")",
    "os.getenv('HOME')",
    "os.getenv(\"HOME\")",
    "os.path.expanduser('~')",
    "os.path.expanduser(\"~\")",
    "ENV.fetch('HOME')",
    "ENV['HOME']",
    "ENV[\"HOME\"]",
    "Dir.home",
    "$ENV{HOME}",
    "$ENV{'HOME'}",
    "$ENV{\"HOME\"}",
    "getenv('HOME')",
    "getenv(\"HOME\")",
    "$_SERVER['HOME']",
];

/// The tokens of code; no more of them than a person would write on a line.
pub(super) fn tokens(code: &str, language: &str) -> Vec<Token> {
    const MOST: usize = 6_000;
    let replaced = with_homes(code);
    let chars: Vec<char> = replaced.chars().collect();
    let has_slashes = matches!(language, "node" | "nodejs" | "deno" | "bun" | "php");
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if all.len() > MOST {
            break;
        }
        let next = chars.get(at + 1).copied();
        let is_comment = match c {
            '#' => next.is_none_or(|next| next == ' ' || next == '!'),
            '/' => has_slashes && next == Some('/') && at.checked_sub(1).is_none_or(|at| chars[at] != ':'),
            _ => false,
        };
        if is_comment {
            at += chars[at..].iter().take_while(|c| **c != '\n').count();
        } else if matches!(c, '\'' | '"' | '`') {
            let is_long = c != '`' && next == Some(c) && chars.get(at + 2) == Some(&c);
            let quotes = if is_long { 3 } else { 1 };
            let (text, end) = text(&chars, at + quotes, c, quotes);
            // A prefix of Python is no name: `f'…'`.
            if matches!(all.last(), Some(Token::Name(name)) if is_prefix(name))
                && !chars[at - 1].is_whitespace()
            {
                all.pop();
            }
            all.push(Token::Text(text));
            at = end;
        } else if let Some((words, length)) = list_of_words(&chars[at..]) {
            // A sum, so that it is looked at as a whole.
            all.extend([Token::Text(String::new()), Token::Mark('+'), Token::Text(words)]);
            at += length;
        } else if c == HOME {
            all.push(Token::Text("~".to_owned()));
            at += 1;
        } else if c.is_ascii_digit() {
            let digits: String = chars[at..].iter().take_while(|c| c.is_ascii_alphanumeric()).collect();
            at += digits.len();
            let number = match digits.strip_prefix("0x") {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => digits.parse(),
            };
            all.push(Token::Number(number.unwrap_or(0)));
        } else if c.is_alphabetic() || matches!(c, '_' | '$' | '@') {
            let name: String = chars[at..]
                .iter()
                .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '@'))
                .collect();
            at += name.chars().count();
            all.push(Token::Name(name));
        } else {
            if c == '\n' || !c.is_whitespace() {
                all.push(Token::Mark(c));
            }
            at += 1;
        }
    }
    all
}

/// Ruby's `%w[rm -rf /]`, and how long it is.
fn list_of_words(chars: &[char]) -> Option<(String, usize)> {
    let ['%', 'w' | 'W', open @ ('[' | '(' | '{'), rest @ ..] = chars else { return None };
    let close = match open {
        '[' => ']',
        '(' => ')',
        _ => '}',
    };
    let length = rest.iter().position(|c| *c == close)?;
    Some((rest[..length].iter().collect(), length + 4))
}

fn with_homes(code: &str) -> String {
    let lower = code.to_ascii_lowercase();
    if !lower.contains("home") && !code.contains("expanduser") {
        return code.to_owned();
    }
    let mut code = code.to_owned();
    for home in HOMES {
        code = code.replace(home, &HOME.to_string());
    }
    code
}

fn is_prefix(name: &str) -> bool {
    name.len() <= 2 && name.bytes().all(|byte| b"rRbBfFuU".contains(&byte))
}

/// The text up to the quotes that end it, and where the code goes on.
fn text(chars: &[char], start: usize, quote: char, quotes: usize) -> (String, usize) {
    let mut text = String::new();
    let mut at = start;
    while let Some(&c) = chars.get(at) {
        if c == quote && chars.get(at..at + quotes).is_some_and(|end| end.iter().all(|c| *c == quote)) {
            return (text, at + quotes);
        }
        if c == '\\' {
            let (decoded, length) = escape(&chars[at + 1..]);
            text.extend(decoded);
            at += 1 + length;
        } else {
            text.push(c);
            at += 1;
        }
    }
    (text, at)
}

/// The character of an escape, and how long the escape is.
fn escape(rest: &[char]) -> (Option<char>, usize) {
    let code = |start: usize, length: usize, radix: u32| {
        let digits: String = rest.get(start..start + length)?.iter().collect();
        char::from_u32(u32::from_str_radix(&digits, radix).ok()?)
    };
    match rest.first() {
        Some('x') if code(1, 2, 16).is_some() => (code(1, 2, 16), 3),
        Some('u') if code(1, 4, 16).is_some() => (code(1, 4, 16), 5),
        Some('0'..='3') if code(0, 3, 8).is_some() => (code(0, 3, 8), 3),
        Some('n') => (Some('\n'), 1),
        Some('t') => (Some('\t'), 1),
        Some('\n') => (None, 1),
        Some(other) => (Some(*other), 1),
        None => (None, 0),
    }
}
