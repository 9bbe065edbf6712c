//! Patterns of file names, as regular expressions on paths relative to a folder.
//!
//! `*` and `?` stop at `/`, `**` between slashes is any number of folders, `[a-z]` and `[!a-z]` are one character,
//! `{a,b}` is one or the other (not in `.gitignore`), `\` escapes the next character. A pattern without a
//! `/` matches names at any depth, one with a `/` matches the path from its folder.

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

/// The maximum size of a compiled pattern.
const COMPILED_LIMIT: usize = 4 * 1024 * 1024;

/// The syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Glob,
    Gitignore,
}

/// A pattern from the model.
#[derive(Debug)]
pub(super) struct PathPattern(Regex);

impl PathPattern {
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("the pattern `{pattern}` {why}");
        if pattern.is_empty() {
            return Err(wrong("is empty"));
        }
        let stripped = pattern.strip_prefix("./").unwrap_or(pattern);
        let expression = expression(stripped, Dialect::Glob).map_err(wrong)?;
        let compiled = RegexBuilder::new(&expression).size_limit(COMPILED_LIMIT).build();
        compiled.map(Self).map_err(|_| wrong("has an invalid range in `[…]`, or is too long"))
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

/// The lines of one `.gitignore`.
#[derive(Debug)]
pub(super) struct Ignores {
    set: RegexSet,
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    keeps: bool,
    folders_only: bool,
}

/// What a `.gitignore` says about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Ignored,
    Kept,
}

impl Ignores {
    /// Reads a `.gitignore`. A line that is not a pattern is left out, as in git.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut expressions = Vec::new();
        let mut rules = Vec::new();
        for line in text.lines() {
            let line = trim_end(line);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (line, keeps) = line.strip_prefix('!').map_or((line, false), |rest| (rest, true));
            let (line, folders_only) = line.strip_suffix('/').map_or((line, false), |rest| (rest, true));
            let Ok(expression) = expression(line, Dialect::Gitignore) else { continue };
            if Regex::new(&expression).is_ok() {
                expressions.push(expression);
                rules.push(Rule { keeps, folders_only });
            }
        }
        let set = RegexSetBuilder::new(expressions).size_limit(16 * COMPILED_LIMIT).build().ok()?;
        Some(Self { set, rules })
    }

    /// The verdict of the last line that matches.
    pub(super) fn consult(&self, path: &str, is_folder: bool) -> Option<Verdict> {
        let matched = self.set.matches(path);
        let rule =
            matched.iter().rev().map(|at| &self.rules[at]).find(|rule| is_folder || !rule.folders_only)?;
        Some(if rule.keeps { Verdict::Kept } else { Verdict::Ignored })
    }
}

/// Removes spaces at the end, unless the last one is escaped.
fn trim_end(line: &str) -> &str {
    let trimmed = line.trim_end_matches([' ', '\t', '\r']);
    if trimmed.ends_with('\\') && trimmed.len() < line.len() { &line[..=trimmed.len()] } else { trimmed }
}

fn expression(pattern: &str, dialect: Dialect) -> Result<String, &'static str> {
    let anchored = pattern.contains('/');
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    if pattern.is_empty() {
        return Err("is empty");
    }
    let mut out = String::from(if anchored { "(?s)^" } else { "(?s)^(?:.*/)?" });
    let mut braces = 0usize;
    let mut rest = pattern;
    let mut after_slash = true;
    while let Some(next) = rest.chars().next() {
        let mut taken = next.len_utf8();
        match next {
            '*' if after_slash && rest.starts_with("**/") => {
                out.push_str("(?:.*/)?");
                rest = &rest[3..];
                continue;
            }
            '*' if after_slash && rest == "**" => {
                out.push_str(".*");
                taken = 2;
            }
            '*' => {
                out.push_str("[^/]*");
                taken = rest.len() - rest.trim_start_matches('*').len();
            }
            '?' => out.push_str("[^/]"),
            '[' => match class(rest) {
                Some((class, length)) => {
                    out.push_str(&class);
                    taken = length;
                }
                None if dialect == Dialect::Gitignore => out.push_str("\\["),
                None => return Err("has a `[` without its `]`"),
            },
            '{' if dialect == Dialect::Glob => {
                braces += 1;
                out.push_str("(?:");
            }
            '}' if braces > 0 => {
                braces -= 1;
                out.push(')');
            }
            ',' if braces > 0 => out.push('|'),
            '\\' => {
                let escaped = rest[1..].chars().next().ok_or("ends in a `\\`")?;
                out.push_str(&regex::escape(escaped.encode_utf8(&mut [0; 4])));
                taken = 1 + escaped.len_utf8();
            }
            other => out.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
        after_slash = next == '/';
        rest = &rest[taken..];
    }
    if braces > 0 {
        return Err("has a `{` without its `}`");
    }
    out.push('$');
    Ok(out)
}

/// A `[…]` at the start of a text, as a regular expression, and its length.
fn class(text: &str) -> Option<(String, usize)> {
    let inside = text.strip_prefix('[')?;
    let (inside, negated) = inside.strip_prefix(['!', '^']).map_or((inside, false), |inside| (inside, true));
    // A `]` that comes first is one of the characters.
    let first = inside.chars().next()?.len_utf8();
    let end = first + inside[first..].find(']')?;
    let mut out = String::from(if negated { "[^/" } else { "[" });
    let mut escaped = false;
    for character in inside[..end].chars() {
        match character {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            '-' if !escaped => out.push('-'),
            other => out.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
        escaped = false;
    }
    out.push(']');
    let length = text.len() - inside.len() + end + 1;
    Some((out, length))
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
