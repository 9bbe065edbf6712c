//! Commands that show which variables a file like `.env` has, and none of their values: `cut -d= -f1 .env`.

use crate::shell::{Command, Direction, Input, Redirection, Script, Word};

/// What of a file with variables can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Whether there is a variable of a name that the command has.
    Presence,
    /// The names of the variables.
    Names,
}

/// What the command at this place shows of its files, when it is not more than the names in them.
pub(super) fn shown(script: &Script, at: usize) -> Option<Shown> {
    /// `cat .env | grep -v '^#' | sort | cut -d= -f1`
    const LONGEST: usize = 5;
    let mut at = at;
    for _ in 0..LONGEST {
        let command = script.commands.get(at)?;
        if let Some(shown) = shown_by(command) {
            return Some(shown);
        }
        let writes = |direction| matches!(direction, Direction::Write | Direction::Both);
        let passes_on =
            matches!(command.name(), Some("cat" | "grep" | "egrep" | "sort" | "head" | "tail" | "uniq"))
                && !command.redirections.iter().any(|one| one.descriptor != 2 && writes(one.direction));
        if !passes_on {
            return None;
        }
        at = reader(script, at)?;
    }
    None
}

/// The command that reads what the one at this place prints, or what the program around it prints: `time cat .env | …`.
fn reader(script: &Script, at: usize) -> Option<usize> {
    const MOST: usize = 4;
    let mut at = at;
    for _ in 0..MOST {
        let reads = |next: &&Command| matches!(&next.input, Input::Pipe(range) if range.contains(&at));
        let mut others = script.commands.iter().enumerate().skip(at + 1);
        if let Some((next, _)) = others.find(|(_, next)| reads(next)) {
            return Some(next);
        }
        at = script.commands.get(at)?.wrapper?;
        let writes = |one: &Redirection| {
            one.descriptor != 2 && matches!(one.direction, Direction::Write | Direction::Both)
        };
        if script.commands[at].redirections.iter().any(writes) {
            return None;
        }
    }
    None
}

fn shown_by(command: &Command) -> Option<Shown> {
    let words: Vec<&str> = command.arguments().iter().filter_map(Word::known).collect();
    if words.len() != command.arguments().len() {
        return None;
    }
    let is_names = match command.name()? {
        // `grep KEY .env | wc -l`
        "wc" => return Some(Shown::Presence),
        "cut" => first_field(&words),
        "awk" | "gawk" | "mawk" => first_word(&words),
        "sed" | "gsed" => without_values(&words),
        "grep" | "egrep" | "ggrep" => return found(&words),
        _ => false,
    };
    is_names.then_some(Shown::Names)
}

/// `cut -d= -f1`
fn first_field(words: &[&str]) -> bool {
    let all = words.join(" ");
    let all =
        all.replace("--delimiter", "-d").replace("--fields", "-f").replace("-d ", "-d").replace("-f ", "-f");
    let is_one = |option: &str| all.split(' ').any(|word| word == option);
    is_one("-d=")
        && (is_one("-f1") || is_one("-f=1"))
        && all.matches('-').count() == 2 + all.matches("--").count()
}

/// `awk -F= '{print $1}'`
fn first_word(words: &[&str]) -> bool {
    let rest = match words {
        ["-F=", rest @ ..] | ["-F", "=", rest @ ..] => rest,
        _ => return false,
    };
    let Some(code) = rest.first() else { return false };
    let Some((pattern, body)) = code.split_once('{') else { return false };
    let first = body.matches("$1").count();
    let is_other = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    // `{print $1 "=…"}`
    let quoted: Vec<&str> = body.split('"').collect();
    let body: String = quoted.iter().step_by(2).copied().collect();
    !pattern.contains(['$', '(', ';'])
        && quoted.len() % 2 == 1
        && code.matches('{').count() == 1
        && body.contains("print")
        && !body.contains(['(', '|', '>'])
        && first > 0
        && body.matches('$').count() == first
        && !body.split("$1").skip(1).any(is_other)
}

/// `sed 's/=.*//'`
fn without_values(words: &[&str]) -> bool {
    let mut cuts = false;
    for word in words.iter().filter(|word| !matches!(**word, "-E" | "-r" | "-e")) {
        if word.starts_with('-') {
            return false;
        }
        for part in word.split(';').map(str::trim) {
            if let Some(rest) = part.strip_prefix('s')
                && let Some(mark) = rest.chars().next().filter(char::is_ascii_punctuation)
            {
                let fields: Vec<&str> = rest.split(mark).collect();
                let [_, pattern, text, _flags] = fields[..] else { return false };
                if !cuts_value(pattern, text) {
                    return false;
                }
                cuts = true;
            } else if part.starts_with('/') && !part.ends_with('d') {
                return false;
            }
        }
    }
    cuts
}

/// Whether all after the `=` is replaced, and the text instead shows no part of it: `s/=.*/=x/`, `s/^(KEY=).*/\1x/`.
fn cuts_value(pattern: &str, text: &str) -> bool {
    let pattern = pattern.trim_end_matches('$');
    let Some(front) = [".*", ".+", ".\\+"].iter().find_map(|end| pattern.strip_suffix(end)) else {
        return false;
    };
    let Some((name, after)) = front.split_once('=') else { return false };
    let is_name = |part: &str| !part.contains(['.', '|']) && !part.replace("[^=]", "").contains("[^");
    // A group that ends right behind the sign.
    let closes = matches!(after.replace([' ', '*'], "").as_str(), "" | ")" | "\\)");
    let groups = front.matches('(').count();
    is_name(name) && closes && !text.contains('&') && groups <= 1 && !text.replace("\\1", "").contains('\\')
}

/// `grep -q KEY`, `grep -c .`, `grep -oE '^[A-Z_]+='`
fn found(words: &[&str]) -> Option<Shown> {
    let letters = || words.iter().filter(|word| word.starts_with('-') && !word.starts_with("--"));
    let has = |letter: char, long: &[&str]| {
        letters().any(|word| word.contains(letter)) || words.iter().any(|word| long.contains(word))
    };
    if has('f', &["--file"]) || has('A', &[]) || has('B', &[]) || has('C', &[]) {
        return None;
    }
    let pattern = words.iter().find(|word| !word.starts_with('-'))?;
    if has('q', &["--quiet", "--silent"]) || has('c', &["--count"]) {
        let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let name = pattern.trim_start_matches('^').trim_end_matches('=');
        return Some(if is_name(name) { Shown::Presence } else { Shown::Names });
    }
    if has('l', &["--files-with-matches"]) || has('L', &["--files-without-match"]) {
        return Some(Shown::Names);
    }
    let only = has('o', &["--only-matching"]);
    // What begins the line, and does not go beyond the `=`.
    let inner = pattern.strip_suffix('=').unwrap_or(pattern).replace("[^=]", "");
    let is_name = pattern.starts_with('^') && !inner.contains(['.', '=', '$', '|']) && !inner.contains("[^");
    (only && is_name).then_some(Shown::Names)
}
