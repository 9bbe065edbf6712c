//! Paths with wildcards that match nothing yet, or on another machine: which protected files they can mean.

use std::borrow::Cow;
use std::path::{Component, Path};

use super::defaults::AGENT_FOLDERS;
use super::protected::{Objection, Protected};
use crate::shell::Effect;
use crate::token::{Token, lowered, meets, of_text, of_wildcards};

/// A name of a path, with its wildcards.
struct Name<'a> {
    text: Cow<'a, str>,
    tokens: Vec<Token>,
    is_pattern: bool,
}

impl Name<'_> {
    /// Whether it says enough to mean this name: `*.yaml` is for other files than `crosier.yaml`.
    fn can_be(&self, name: &str) -> bool {
        let is_other = self.text.bytes().next() != name.bytes().next() && !name.starts_with(['*', '?']);
        if is_other {
            return false;
        }
        match self.is_pattern {
            true => says_enough(&self.text) && meets(&self.tokens, &of_wildcards(name)),
            false => meets(&of_text(&self.text), &of_wildcards(name)),
        }
    }
}

/// Whether a pattern begins with two letters, or has a fixed length and three.
fn says_enough(pattern: &str) -> bool {
    let is_wild = |c: char| matches!(c, '*' | '?' | '[');
    let start = pattern.chars().take_while(|c| !is_wild(*c)).count();
    let letters = pattern.chars().filter(|c| !is_wild(*c)).count();
    start >= 2 || (start > 0 && letters >= 3 && !pattern.contains('*'))
}

impl Protected {
    /// The question about a path with wildcards, such as `~/.s*/id_*` or `.clau*`, that protected files may have.
    pub(super) fn question_about_pattern(
        &self,
        shown: &str,
        path: &Path,
        effect: Effect,
    ) -> Option<Objection> {
        let is_pattern = |text: &str| text.contains(['*', '?']);
        let patterns = shown.split('/').filter(|name| is_pattern(name));
        if !patterns.into_iter().any(says_enough) {
            return None;
        }
        let components = path.components().filter_map(|component| match component {
            Component::Normal(name) => Some(lowered(name.to_string_lossy())),
            _ => None,
        });
        let name = |text: Cow<'static, str>| {
            let is_pattern = is_pattern(&text);
            let tokens = if is_pattern { of_wildcards(&text) } else { Vec::new() };
            Name { text, tokens, is_pattern }
        };
        let names: Vec<Name<'_>> = components.map(|text| name(Cow::Owned(text.into_owned()))).collect();
        // A name alone that has a wildcard itself, such as `*.pem`, is met by too much.
        let is_named = |pattern: &&str| pattern.contains('/') || !is_pattern(pattern);
        let fixed = || self.no_write.texts().filter(is_named).find(|pattern| is_in(&names, pattern));
        let (what, found) = match effect {
            Effect::Read => {
                let files = self.no_read_files.texts().filter(|pattern| is_at_end(&names, pattern));
                let trees = self.no_read.texts().filter(|pattern| is_in(&names, pattern));
                ("read", files.chain(trees).find(is_named))
            }
            Effect::Write => ("changed", fixed()),
            Effect::Delete => {
                let folders = AGENT_FOLDERS.iter().copied().filter(|_| self.guards_wiring);
                let folder = folders.into_iter().find(|folder| is_at_end(&names, folder));
                ("removed", folder.or_else(fixed))
            }
            Effect::Stat | Effect::Unknown => return None,
        };
        let found = found?;
        Some(Objection::Question(format!(
            "`{shown}` can match `{found}`, which is protected; should it be {what}?"
        )))
    }
}

/// The names of a protected pattern, and whether it begins at the root.
fn parts(pattern: &str) -> (bool, impl Iterator<Item = &str>) {
    let is_special = |name: &&str| !matches!(*name, "" | "**" | "~" | ".");
    (pattern.starts_with('/'), pattern.split('/').filter(is_special))
}

/// Whether the path ends with names that can be those of the pattern.
fn is_at_end(names: &[Name<'_>], pattern: &str) -> bool {
    let count = parts(pattern).1.count();
    names.len() >= count && fits_from(names, names.len() - count, pattern)
}

/// Whether names of the path, one of them a pattern, can be those of a protected file or of a folder that it is in.
fn is_in(names: &[Name<'_>], pattern: &str) -> bool {
    let (is_absolute, mut own) = parts(pattern);
    let Some(first) = own.next() else { return false };
    let starts = if is_absolute { 0..names.len().min(1) } else { 0..names.len() };
    starts.into_iter().any(|start| names[start].can_be(first) && fits_from(names, start, pattern))
}

fn fits_from(names: &[Name<'_>], start: usize, pattern: &str) -> bool {
    let (is_absolute, own) = parts(pattern);
    if is_absolute && start > 0 {
        return false;
    }
    let mut has_pattern = false;
    for (at, wanted) in (start..).zip(own) {
        let Some(name) = names.get(at).filter(|name| name.can_be(wanted)) else { return false };
        has_pattern |= name.is_pattern;
    }
    has_pattern
}

#[cfg(test)]
mod tests {
    use super::says_enough;

    #[test]
    fn patterns_that_say_enough_are_told_from_others() {
        for pattern in [".clau*", ".c*", "id_*", ".?laude", "crosier*", ".claud?"] {
            assert!(says_enough(pattern), "{pattern}");
        }
        for pattern in ["*", "*.yaml", ".*", ".???", "a*", "?laude", "???.env"] {
            assert!(!says_enough(pattern), "{pattern}");
        }
    }
}
