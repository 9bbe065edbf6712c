//! Parses rules and compiles them.

use std::sync::{Arc, OnceLock};

use crosier::config::{Node, Problem, Problems, Source, Span, Value, parse_document};
use crosier::protocol::nearest::nearest;
use regex::Regex;

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: Arc<str>,
    span: Span,
    pub(super) literals: Vec<String>,
    pub(super) pattern: Pattern,
    pub(super) before: Before,
    /// Words right in front of a match that rule it out.
    pub(super) not_after: Vec<String>,
    /// How many bytes in front of the literal the pattern begins.
    pub(super) back: usize,
    pub(super) check: Check,
    pub(super) window: usize,
}

/// A regular expression that is compiled on first use: most texts need very few of them.
#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    fn new(text: &str) -> Self {
        Self { text: format!(r"\A(?:{text})"), compiled: OnceLock::new() }
    }

    fn compile(&self) -> Result<Regex, regex::Error> {
        regex::RegexBuilder::new(&self.text).size_limit(4 << 20).build()
    }

    /// The expression; none when an unchecked pattern is invalid, and then the rule finds nothing.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| self.compile().ok()).as_ref()
    }

    /// Compiles it now, to report an error.
    fn check(&self) -> Result<(), regex::Error> {
        let compiled = self.compile()?;
        self.compiled.get_or_init(|| Some(compiled));
        Ok(())
    }
}

impl Rule {
    /// Whether the form alone identifies the secret, whatever is around it.
    pub(super) fn is_token(&self) -> bool {
        matches!(self.check, Check::Token | Check::Random)
    }
}

/// What may come right before a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Word,
    Any,
}

/// What a secret must be, in addition to its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Has the form of a token and is not a placeholder from a vendor's documentation.
    Token,
    /// A value that is assigned to a name: not a placeholder, and not code.
    Value,
    /// A value that is certainly a secret because of its name: not a placeholder.
    Named,
    /// Random letters and digits.
    Random,
    /// Base64 of `user:password`.
    UserPassword,
}

const KEYS: [&str; 8] = ["id", "literals", "pattern", "before", "not_after", "back", "check", "window"];
const CHECKS: [(&str, Check); 5] = [
    ("token", Check::Token),
    ("value", Check::Value),
    ("named", Check::Named),
    ("random", Check::Random),
    ("user-password", Check::UserPassword),
];
const WINDOW: usize = 1024;

/// A rule that comes with Crosier, as `rules.yaml` has it.
#[derive(Debug)]
pub(super) struct RuleSource<'a> {
    id: &'a str,
    literals: &'a [&'a str],
    pattern: &'a str,
    before: Before,
    not_after: &'a [&'a str],
    back: usize,
    check: Check,
    window: usize,
}

// The build makes these tables of `rules.yaml`.
include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// The rules that come with Crosier.
pub(super) fn standard() -> Vec<Rule> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let rule = |rule: &RuleSource<'_>| Rule {
        id: rule.id.into(),
        span: Span::at(0),
        literals: owned(rule.literals),
        pattern: Pattern::new(rule.pattern),
        before: rule.before,
        not_after: owned(rule.not_after),
        back: rule.back,
        check: rule.check,
        window: rule.window,
    };
    RULES.iter().map(rule).collect()
}

/// Reads a file of rules, and compiles every pattern.
pub(super) fn read_checked(source: &Arc<Source>) -> Result<Vec<Rule>, Problems> {
    let rules = read(source)?;
    let mut problems = Problems::new();
    for rule in &rules {
        if let Err(error) = rule.pattern.check() {
            let text = error.to_string();
            let why = text.lines().last().unwrap_or_default().trim();
            let message = format!("the pattern of `{}` is not a regular expression: {why}", rule.id);
            problems.push(Problem::error(source, rule.span, message));
        }
    }
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}

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
    let literals = texts(node, "literals");
    let literals =
        literals.filter(|list| !list.is_empty() && list.iter().all(|text| text.len() > 2 && text.is_ascii()));
    let literals = literals
        .ok_or_else(|| format!("the rule `{id}` needs `literals`: plain texts of three letters or more"))?;
    let pattern = text("pattern").ok_or_else(|| format!("the rule `{id}` needs a `pattern`"))?;
    let pattern = Pattern::new(pattern);
    let before = match text("before") {
        None | Some("word") => Before::Word,
        Some("any") => Before::Any,
        Some(other) => return Err(format!("`before` is word or any, not `{other}`")),
    };
    let check = match text("check") {
        None => Check::Token,
        Some(word) => {
            let known = CHECKS.iter().find(|(name, _)| *name == word).map(|(_, check)| *check);
            let names = CHECKS.map(|(name, _)| name).join(", ");
            known.ok_or_else(|| format!("`check` is one of {names}, not `{word}`"))?
        }
    };
    let not_after = match node.get("not_after") {
        None => Vec::new(),
        Some(_) => texts(node, "not_after").ok_or("`not_after` must be a list of words")?,
    };
    let not_after = not_after.iter().map(|word| word.to_ascii_lowercase()).collect();
    let back = number(node, "back")?.unwrap_or(0);
    let window = number(node, "window")?.unwrap_or(WINDOW);
    Ok(Rule { id: id.into(), span: node.span, literals, pattern, before, not_after, back, check, window })
}

fn texts(node: &Node, key: &str) -> Option<Vec<String>> {
    match &node.get(key)?.value {
        Value::List(items) => items.iter().map(|item| item.as_text().map(str::to_owned)).collect(),
        Value::Text(text) => Some(vec![text.clone()]),
        _ => None,
    }
}

fn number(node: &Node, key: &str) -> Result<Option<usize>, String> {
    let Some(node) = node.get(key) else { return Ok(None) };
    let number = node.as_number().and_then(|digits| digits.parse().ok());
    number.map(Some).ok_or_else(|| format!("`{key}` must be a number"))
}
