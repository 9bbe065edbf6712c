//! What a case expects, read and compiled once.

use std::sync::{Arc, LazyLock};

use crosier::config::{Node, Problem, Problems, Source, Span, Value as Tree};
use crosier::protocol::event::TABLE;
use crosier::protocol::nearest::nearest;
use crosier::{EventKind, Outcome};
use regex::Regex;

/// Keys that are derived from the reports.
pub(super) const DERIVED: [&str; 4] = ["ran", "skipped", "failed", "ignored"];
/// The key that expects loading or reading to fail.
const ERROR: &str = "error";

/// The keys that an outcome has in JSON.
static OUTCOME: LazyLock<Vec<String>> = LazyLock::new(|| {
    let entries = Outcome::new(EventKind::Static(&TABLE[0])).to_json().entries();
    entries.unwrap_or_default().into_iter().map(|(key, _)| key).collect()
});

/// What a case expects.
#[derive(Debug, Clone)]
pub(crate) enum Expect {
    /// That there is no outcome, because of this error.
    Error(Expected),
    /// That the outcome has these values.
    Outcome(Vec<(String, Expected)>),
}

/// One expected value.
#[derive(Debug, Clone)]
pub(crate) enum Expected {
    /// `/…/`: a regular expression for a text.
    Pattern(Regex),
    Text(String),
    Map(Vec<(String, Expected)>),
    List(Vec<Expected>),
    /// `null`, a boolean or a number, as JSON.
    Plain(String),
}

/// Reads `expect`. `None` when it cannot be used; the problems say why.
pub(super) fn read(source: &Arc<Source>, node: &Node, problems: &mut Problems) -> Option<Expect> {
    let mut problem = |span: Span, message: String| problems.push(Problem::error(source, span, message));
    let Some(entries) = node.as_map() else {
        problem(node.span, format!("`expect` must be a mapping, but it is {}", node.kind_word()));
        return None;
    };
    if entries.is_empty() {
        problem(node.span, "`expect` is empty: this case could never fail".to_owned());
        return None;
    }
    let known = || OUTCOME.iter().map(String::as_str).chain(DERIVED).chain([ERROR]);
    let mut expected = Vec::with_capacity(entries.len());
    let mut is_good = true;
    for entry in entries {
        let key = entry.key.as_str();
        if !known().any(|known| known == key) {
            let near = nearest(key, known()).map(|near| format!(", did you mean `{near}`?"));
            problem(entry.key_span, format!("an outcome has no `{key}`{}", near.unwrap_or_default()));
            is_good = false;
        } else if key == ERROR && entries.len() > 1 {
            problem(entry.key_span, "nothing else can be expected beside `error`".to_owned());
            is_good = false;
        }
        match value(&entry.value) {
            Ok(value) => expected.push((entry.key.clone(), value)),
            Err((span, message)) => {
                problem(span, message);
                is_good = false;
            }
        }
    }
    if !is_good {
        return None;
    }
    match expected.pop_if(|(key, _)| key == ERROR) {
        Some((_, error)) => Some(Expect::Error(error)),
        None => Some(Expect::Outcome(expected)),
    }
}

fn value(node: &Node) -> Result<Expected, (Span, String)> {
    Ok(match &node.value {
        Tree::Text(text) => match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
            None => Expected::Text(text.clone()),
            Some(expression) => Expected::Pattern(Regex::new(expression).map_err(|error| {
                // The last line of the message is the reason; the others show the expression.
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                (node.span, format!("bad regular expression {text}: {why}"))
            })?),
        },
        Tree::List(items) => Expected::List(items.iter().map(value).collect::<Result<_, _>>()?),
        Tree::Map(entries) => {
            let entries = entries.iter().map(|entry| Ok((entry.key.clone(), value(&entry.value)?)));
            Expected::Map(entries.collect::<Result<_, _>>()?)
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => Expected::Plain(node.to_json()),
    })
}

impl Expected {
    /// How it is shown to people: text as it is, anything else as JSON.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Pattern(regex) => format!("/{regex}/"),
            _ => self.json(),
        }
    }

    fn json(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Self::Plain(json) => json.clone(),
            Self::Text(text) => quoted(text),
            Self::Pattern(regex) => quoted(&format!("/{regex}/")),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::json).collect::<Vec<_>>().join(","))
            }
            Self::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| format!("{}:{}", quoted(key), value.json()));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
            }
        }
    }
}
