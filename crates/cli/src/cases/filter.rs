//! Which cases to run.

use regex::Regex;

#[derive(Debug)]
pub(crate) enum Filter {
    Part(String),
    Regex(Regex),
}

impl Filter {
    /// Part of a name, or `/…/`, a regular expression that a name must match.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
            None => Ok(Self::Part(text.to_owned())),
            Some(expression) => Regex::new(expression)
                .map(Self::Regex)
                .map_err(|error| format!("bad regular expression {text}: {error}")),
        }
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Part(part) => name.contains(part.as_str()),
            Self::Regex(regex) => regex.is_match(name),
        }
    }
}
