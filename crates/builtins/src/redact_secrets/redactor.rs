//! Text in, text without secrets out.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use crosier::config::Source;

use super::check::is_secret;
use super::rule::{self, Before, Check, Rule};

/// The rules that come with Crosier.
const RULES: &str = include_str!("rules.yaml");

/// What takes the place of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// As many `*` as the secret has characters; line breaks stay, so that the text keeps its shape.
    #[default]
    Mask,
    /// `[redacted github-token]`
    Label,
}

/// Finds secrets and takes them out. Made once, used often.
#[derive(Debug)]
pub struct Redactor {
    rules: Vec<Rule>,
    literals: AhoCorasick,
    /// Which rules to try at a literal: its own, and those of literals that it begins with.
    by_literal: Vec<Vec<usize>>,
    style: Style,
}

/// A secret that was found: where, and by which rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// The rule's id.
    pub rule: Arc<str>,
}

impl Redactor {
    /// The redactor with the rules that come with Crosier. The error says what is wrong with them; a test sees to
    /// it that there is none.
    ///
    /// # Errors
    /// When the rules that come with Crosier are broken.
    pub fn standard() -> Result<Arc<Self>, String> {
        static STANDARD: LazyLock<Result<Arc<Redactor>, String>> =
            LazyLock::new(|| Redactor::with_rules(&[], &[], Style::Mask).map(Arc::new));
        STANDARD.clone()
    }

    /// A redactor with further rules (file name and text of each file) and without some of the standard ones.
    ///
    /// # Errors
    /// What is wrong with the rules, in sentences.
    pub fn with_rules(more: &[(String, String)], except: &[String], style: Style) -> Result<Self, String> {
        let source = Source::new("rules.yaml", RULES);
        let mut rules = rule::read(&source).map_err(|problems| problems.to_string())?;
        for (name, text) in more {
            let source = Source::new(name.as_str(), text.as_str());
            rules.extend(rule::read(&source).map_err(|problems| problems.to_string())?);
        }
        for id in except {
            if !rules.iter().any(|rule| *rule.id == **id) {
                return Err(format!("no rule has the id `{id}`"));
            }
            rules.retain(|rule| *rule.id != **id);
        }
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, rule) in rules.iter().enumerate() {
            for literal in &rule.literals {
                places.entry(literal.to_ascii_lowercase()).or_default().push(index);
            }
        }
        let mut literals: Vec<&String> = places.keys().collect();
        literals.sort();
        let by_literal = literals
            .iter()
            .map(|literal| {
                let mut found: Vec<usize> = places
                    .iter()
                    .filter(|(other, _)| literal.starts_with(other.as_str()))
                    .flat_map(|(_, rules)| rules.iter().copied())
                    .collect();
                found.sort_unstable();
                found.dedup();
                found
            })
            .collect();
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&literals)
            .map_err(|error| format!("the literals of the rules cannot be looked for: {error}"))?;
        Ok(Self { rules, literals: automaton, by_literal, style })
    }

    /// The search for the literals alone: what the whole work is measured against.
    #[doc(hidden)]
    #[must_use]
    pub fn literals(&self) -> &AhoCorasick {
        &self.literals
    }

    /// Where the secrets are, in order.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Secret> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some((secret, start)) = self.next(text, at..text.len()) {
            at = start + 1;
            let Some(secret) = secret else { continue };
            let secret = self.within(text, secret);
            at = at.max(secret.range.end);
            found.push(secret);
        }
        found
    }

    /// The next literal in a part of the text: where it begins, and the secret that it begins, if it does.
    fn next(&self, text: &str, part: Range<usize>) -> Option<(Option<Secret>, usize)> {
        let hit = self.literals.find(Input::new(text).span(part))?;
        let rules = &self.by_literal[hit.pattern().as_usize()];
        let secret = rules.iter().find_map(|index| self.try_rule(&self.rules[*index], text, hit.start()));
        Some((secret, hit.start()))
    }

    /// A rule that knows more: `TOKEN=ghp_…` is an assignment, and what is assigned has a form of its own.
    fn within(&self, text: &str, secret: Secret) -> Secret {
        match self.next(text, secret.range.clone()) {
            Some((Some(inner), _)) if inner.range.end == secret.range.end => inner,
            _ => secret,
        }
    }

    fn try_rule(&self, rule: &Rule, text: &str, start: usize) -> Option<Secret> {
        let bytes = text.as_bytes();
        if rule.before == Before::Word && start > 0 {
            let byte = bytes[start - 1];
            // `\n` in JSON or code ends with a letter that belongs to nothing.
            let escaped = start > 1 && bytes[start - 2] == b'\\' && matches!(byte, b'n' | b't' | b'r');
            if (byte.is_ascii_alphanumeric() || byte == b'_') && !escaped {
                return None;
            }
        }
        let end = text.floor_char_boundary(start.saturating_add(rule.window).min(text.len()));
        let captures = rule.pattern.captures(text.get(start..end)?)?;
        let secret = captures.name("secret").or_else(|| captures.get(0))?;
        let (mut from, mut to) = (start + secret.start(), start + secret.end());
        // Quotes that the pattern took along stay.
        let quote = bytes.get(from).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        if quote.is_some() {
            from += 1;
            to -= usize::from(to > from && bytes.get(to - 1).copied() == quote);
        }
        let quoted = quote.is_some() || (from > 0 && matches!(bytes[from - 1], b'"' | b'\'' | b'`'));
        let value = text.get(from..to)?;
        let good = !value.is_empty() && is_secret(rule.check, value, quoted, text[to..].chars().next());
        good.then(|| Secret { range: from..to, rule: Arc::clone(&rule.id) })
    }

    /// The text without its secrets.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.text_noting(text, &mut |_| {})
    }

    /// The text without its secrets; every rule that found one is told.
    pub(super) fn text_noting<'t>(&self, text: &'t str, note: &mut dyn FnMut(&Arc<str>)) -> Cow<'t, str> {
        let secrets = self.find(text);
        if secrets.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for secret in secrets {
            note(&secret.rule);
            out.push_str(&text[at..secret.range.start]);
            self.replace(&text[secret.range.clone()], &secret.rule, &mut out);
            at = secret.range.end;
        }
        out.push_str(&text[at..]);
        Cow::Owned(out)
    }

    fn replace(&self, secret: &str, rule: &str, out: &mut String) {
        match self.style {
            Style::Label => {
                out.push_str("[redacted ");
                out.push_str(rule);
                out.push(']');
            }
            Style::Mask => {
                // A line break that is written as two characters stays one.
                let mut chars = secret.chars().peekable();
                while let Some(c) = chars.next() {
                    match (c, chars.peek()) {
                        ('\\', Some(next @ ('n' | 'r'))) => {
                            out.push('\\');
                            out.push(*next);
                            chars.next();
                        }
                        ('\n' | '\r', _) => out.push(c),
                        _ => out.push('*'),
                    }
                }
            }
        }
    }

    /// A whole value that its name gives away: `{"password": "…"}`.
    pub(super) fn named_value(&self, name: &str, value: &str) -> Option<(String, Arc<str>)> {
        // As if it stood in a text: one set of rules for both.
        let line = format!("{name}=\"");
        let whole = format!("{line}{value}\"");
        let secret = self.find(&whole).into_iter().find(|secret| secret.range.start >= line.len())?;
        let rule = self.rules.iter().find(|rule| rule.id == secret.rule)?;
        if rule.check == Check::None || secret.range != (line.len()..line.len() + value.len()) {
            return None;
        }
        let mut out = String::with_capacity(value.len());
        self.replace(value, &secret.rule, &mut out);
        Some((out, secret.rule))
    }
}

/// The text without its secrets, by the rules that come with Crosier: for logs and whatever else leaves the house.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    match Redactor::standard() {
        Ok(redactor) => redactor.text(text),
        // Nothing gets out because the rules are broken.
        Err(_) => Cow::Borrowed("[not shown: the rules of redaction are broken]"),
    }
}
