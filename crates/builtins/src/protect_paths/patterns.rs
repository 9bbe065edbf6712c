//! Patterns for files, found by the names in a path: most paths have none of those that the patterns need.

use crate::names::NameMap;
use crate::path::{Names, PathGlob};

/// A pattern as it was written, and compiled.
pub(crate) type Pattern = (String, PathGlob);

/// Patterns in their order.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    all: Vec<Pattern>,
    /// The places of those that need a name to be in the path.
    by_name: NameMap<String, Vec<usize>>,
    /// The places of all others.
    others: Vec<usize>,
}

impl Patterns {
    /// The text of the first pattern that this file fits.
    pub(super) fn find_file(&self, paths: &[Names], base: &Names) -> Option<&str> {
        self.find(paths, |glob, path| glob.matches_names(path, base, None))
    }

    /// The text of the first pattern that this file, or a folder that it is in, fits.
    pub(super) fn find_tree(&self, paths: &[Names], base: &Names) -> Option<&str> {
        self.find(paths, |glob, path| glob.matches_tree_names(path, base, None))
    }

    /// The text of the first pattern for this name, wherever it is.
    pub(super) fn find_name(&self, name: &str) -> Option<&str> {
        self.texts().find(|(_, glob)| glob.matches_name(name)).map(|(text, _)| text.as_str())
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &Pattern> {
        self.all.iter()
    }

    fn find(&self, paths: &[Names], fits: impl Fn(&PathGlob, &Names) -> bool) -> Option<&str> {
        let is_found = |place: &usize| {
            let glob = self.all.get(*place).map(|(_, glob)| glob);
            glob.is_some_and(|glob| paths.iter().any(|path| fits(glob, path)))
        };
        let names = paths.iter().flat_map(Names::iter);
        let named = names.filter_map(|name| self.by_name.get(name)).flatten();
        let first = named.copied().filter(is_found).min();
        let other = self.others.iter().copied().take_while(|place| first.is_none_or(|first| *place < first));
        let first = other.filter(is_found).min().or(first)?;
        self.all.get(first).map(|(text, _)| text.as_str())
    }
}

impl From<Vec<Pattern>> for Patterns {
    fn from(all: Vec<Pattern>) -> Self {
        let mut patterns = Self::default();
        for (place, (_, glob)) in all.iter().enumerate() {
            match glob.key() {
                Some(name) => patterns.by_name.entry(name.to_owned()).or_default().push(place),
                None => patterns.others.push(place),
            }
        }
        patterns.all = all;
        patterns
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::path::Case;

    #[test]
    fn the_first_pattern_is_found() {
        let texts = ["*.pem", "**/.aws/config", ".aws", "/etc/shadow", "id_*"];
        let pattern = |text: &str| (text.to_owned(), PathGlob::new(text, Case::Folded).unwrap().anywhere());
        let patterns = Patterns::from(texts.map(pattern).to_vec());
        let names = |path: &str| [Names::new(Path::new(path), Case::Folded)];
        let base = Names::new(Path::new("/w"), Case::Folded);
        for (path, tree, file) in [
            ("/w/a/.aws/config", Some("**/.aws/config"), Some("**/.aws/config")),
            ("/w/a/.AWS/x", Some(".aws"), None),
            ("/w/.aws/config/a.pem", Some("*.pem"), Some("*.pem")),
            ("/w/.aws/id_x", Some(".aws"), Some("id_*")),
            ("/etc/shadow/x", Some("/etc/shadow"), None),
            ("/w/etc/shadow", None, None),
            ("/w/src/main.rs", None, None),
        ] {
            assert_eq!(patterns.find_tree(&names(path), &base), tree, "{path}");
            assert_eq!(patterns.find_file(&names(path), &base), file, "{path}");
        }
    }
}
