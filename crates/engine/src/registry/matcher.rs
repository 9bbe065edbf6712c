//! Matchers: which events of a kind a hook wants.
//!
//! # Syntax
//! Absent, empty or `*` matches all. `re:…` is a regular expression on the whole value. Anything else is
//! split on every `|`; each part is trimmed and is a glob ([`super::glob`]) on the whole value,
//! case-sensitive. An empty part, an unclosed `[`, a reversed range or a bad expression is an error.
//!
//! A matcher is compiled once, when its hook is made.

use std::sync::Arc;

use regex::Regex;

use super::glob::Glob;

/// A compiled matcher and the text it came from.
#[derive(Debug, Clone)]
pub struct Matcher {
    text: Arc<str>,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    All,
    Any(Arc<[Alternative]>),
    Regex(Arc<Regex>),
}

#[derive(Debug, Clone)]
enum Alternative {
    Exact(Box<str>),
    Glob(Glob),
}

impl Matcher {
    /// Matches everything.
    #[must_use]
    pub fn all() -> Self {
        Self { text: "".into(), form: Form::All }
    }

    /// Compiles a matcher.
    ///
    /// # Errors
    /// A message that says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        let form = if let Some(expression) = text.strip_prefix("re:") {
            // The group keeps `a|b` inside the anchors.
            let whole = format!("^(?:{expression})$");
            let bounded = regex::RegexBuilder::new(&whole).size_limit(1 << 20).build();
            // Compiled alone first: `a)(b` must not escape the group.
            regex::RegexBuilder::new(expression)
                .size_limit(1 << 20)
                .build()
                .and(bounded)
                .map(|regex| Form::Regex(Arc::new(regex)))
                .map_err(|error| format!("bad regular expression in `{text}`: {}", last_line(&error)))?
        } else if matches!(text.trim(), "" | "*") {
            Form::All
        } else {
            Form::Any(text.split('|').map(|part| alternative(part, text)).collect::<Result<_, _>>()?)
        };
        Ok(Self { text: text.into(), form })
    }

    /// The text that the matcher was made from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches everything.
    #[must_use]
    pub fn is_all(&self) -> bool {
        matches!(self.form, Form::All)
    }

    /// Whether it matches this value.
    #[must_use]
    pub fn matches(&self, value: &str) -> bool {
        match &self.form {
            Form::All => true,
            Form::Regex(regex) => regex.is_match(value),
            Form::Any(alternatives) => alternatives.iter().any(|alternative| match alternative {
                Alternative::Exact(exact) => **exact == *value,
                Alternative::Glob(glob) => glob.matches(value),
            }),
        }
    }

    /// The only values that match, if the matcher is a list of plain names.
    pub(crate) fn exact_values(&self) -> Option<impl Iterator<Item = &str>> {
        let Form::Any(alternatives) = &self.form else { return None };
        let exact = |alternative: &Alternative| matches!(alternative, Alternative::Exact(_));
        alternatives.iter().all(exact).then(|| {
            alternatives.iter().filter_map(|alternative| match alternative {
                Alternative::Exact(exact) => Some(&**exact),
                Alternative::Glob(_) => None,
            })
        })
    }
}

fn alternative(part: &str, whole: &str) -> Result<Alternative, String> {
    let part = part.trim();
    if part.is_empty() {
        return Err(format!("the matcher `{whole}` has an empty part; leave out the extra `|`"));
    }
    Ok(if part.contains(super::glob::SPECIAL) {
        Alternative::Glob(Glob::new(part)?)
    } else {
        Alternative::Exact(part.into())
    })
}

fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(matcher: &str, value: &str) -> bool {
        Matcher::new(matcher).unwrap().matches(value)
    }

    #[test]
    fn lists_globs_and_expressions_match_whole_values() {
        assert!(matches("Write|Edit", "Edit") && !matches("Write|Edit", "NotebookEdit"));
        assert!(matches(" Write | mcp__* ", "mcp__x"));
        assert!(matches("re:Edit.*|Write", "Editor") && !matches("re:Edit.*|Write", "NotebookEdit"));
        assert!(matches("", "x") && matches("*", "") && matches(" * ", "y"));
    }

    #[test]
    fn mistakes_are_errors_with_a_remedy() {
        assert!(Matcher::new("|").unwrap_err().contains("empty part"));
        assert!(Matcher::new("a||b").is_err());
        assert!(Matcher::new("re:(").unwrap_err().contains("bad regular expression"));
        assert!(Matcher::new("re:a)(b").is_err());
    }
}
