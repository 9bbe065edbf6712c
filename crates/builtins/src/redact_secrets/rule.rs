//! Rules as they are written → rules that are compiled.

use std::sync::Arc;

use crosier::config::{Node, Problem, Problems, Source, Value, parse_document};
use crosier::protocol::nearest::nearest;
use regex::Regex;

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: Arc<str>,
    pub(super) literals: Vec<String>,
    pub(super) pattern: Regex,
    pub(super) before: Before,
    pub(super) check: Check,
    pub(super) window: usize,
}

/// What may stand in front of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Word,
    Any,
}

/// What a secret must be, beside its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    None,
    Value,
    Random,
}

const KEYS: [&str; 6] = ["id", "literals", "pattern", "before", "check", "window"];
const WINDOW: usize = 1024;

/// Reads a file of rules.
pub(super) fn read(source: &Arc<Source>) -> Result<Vec<Rule>, Problems> {
    let node = parse_document(source)?;
    let mut problems = Problems::new();
    let mut rules = Vec::new();
    match node.as_list() {
        Some(items) => {
            for item in items {
                match rule(item) {
                    Ok(rule) => rules.push(rule),
                    Err(why) => problems.push(Problem::error(source, item.span, why)),
                }
            }
        }
        None => problems.push(Problem::error(source, node.span, "a file of rules is a list")),
    }
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}

/// Reads one rule; the error is a sentence.
fn rule(node: &Node) -> Result<Rule, String> {
    let entries = node.as_map().ok_or("a rule is a mapping")?;
    for entry in entries {
        if !KEYS.contains(&entry.key.as_str()) {
            let near = nearest(&entry.key, KEYS).map(|near| format!(", did you mean `{near}`?"));
            return Err(format!("a rule has no key `{}`{}", entry.key, near.unwrap_or_default()));
        }
    }
    let text = |key: &str| node.get(key).and_then(Node::as_text);
    let id = text("id").ok_or("a rule needs an `id`")?;
    let literals: Option<Vec<String>> = match node.get("literals").map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().map(|item| item.as_text().map(str::to_owned)).collect(),
        Some(Value::Text(text)) => Some(vec![text.clone()]),
        _ => None,
    };
    let literals =
        literals.filter(|list| !list.is_empty() && list.iter().all(|text| text.len() > 2 && text.is_ascii()));
    let literals = literals
        .ok_or_else(|| format!("the rule `{id}` needs `literals`: plain texts of three letters or more"))?;
    let pattern = text("pattern").ok_or_else(|| format!("the rule `{id}` needs a `pattern`"))?;
    let compiled = regex::RegexBuilder::new(&format!(r"\A(?:{pattern})")).size_limit(4 << 20).build();
    let compiled = compiled.map_err(|error| {
        let text = error.to_string();
        format!(
            "the pattern of `{id}` is no regular expression: {}",
            text.lines().last().unwrap_or_default().trim()
        )
    })?;
    let before = match text("before") {
        None | Some("word") => Before::Word,
        Some("any") => Before::Any,
        Some(other) => return Err(format!("`before` is word or any, not `{other}`")),
    };
    let check = match text("check") {
        None => Check::None,
        Some("value") => Check::Value,
        Some("random") => Check::Random,
        Some(other) => return Err(format!("`check` is value or random, not `{other}`")),
    };
    let window = match node.get("window") {
        None => WINDOW,
        Some(node) => {
            node.as_number().and_then(|digits| digits.parse().ok()).ok_or("`window` must be a number")?
        }
    };
    Ok(Rule { id: id.into(), literals, pattern: compiled, before, check, window })
}
