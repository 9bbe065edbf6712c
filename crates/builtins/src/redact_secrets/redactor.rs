//! Masks secrets in text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, Input};
use crosier::Json;
use crosier::config::Source;

use super::check::is_secret;
use super::literals::Literals;
use super::rule::{self, Before, Rule};
use super::terminal::{self, Visible};
use super::{encoded, json, quick, wrapped};

static STANDARD: OnceLock<Result<Arc<Redactor>, String>> = OnceLock::new();

/// How many levels of encoding are decoded, such as base64 of something with `%41` in it.
const DEPTH: usize = 3;
const ESCAPE_CHAR: char = terminal::ESCAPE as char;

/// What takes the place of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// As many `*` as the secret has characters; line breaks stay, so that the text keeps its shape.
    #[default]
    Mask,
    /// `[redacted github-token]`
    Label,
}

/// Finds and masks secrets. Make it once and reuse it.
#[derive(Debug)]
pub struct Redactor {
    rules: Vec<Rule>,
    literals: Literals,
    /// Which rules to try at a literal: its own, and those of literals that are a prefix of it.
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
    /// The redactor with the rules that come with Crosier. The error says what is wrong with them; a test makes sure
    /// that there is none.
    ///
    /// # Errors
    /// When the rules that come with Crosier are broken.
    pub fn standard() -> Result<Arc<Self>, String> {
        STANDARD.get_or_init(|| Redactor::with_rules(&[], &[], Style::Mask).map(Arc::new)).clone()
    }

    /// Like [`standard`](Self::standard); `None` when this value cannot hold a secret and the rules, which take long to
    /// load, have not been needed yet.
    pub(super) fn standard_for(value: &Json) -> Option<Result<Arc<Self>, String>> {
        let needs_rules = STANDARD.get().is_some()
            || json::may_be_disguised(value.text())
            || quick::may_hold_secret(value.text());
        needs_rules.then(Self::standard)
    }

    /// A redactor with further rules (file name and text of each file) and without some of the standard ones.
    ///
    /// # Errors
    /// What is wrong with the rules, in sentences.
    pub fn with_rules(more: &[(String, String)], except: &[String], style: Style) -> Result<Self, String> {
        let mut rules = rule::standard();
        for (name, text) in more {
            let source = Source::new(name.as_str(), text.as_str());
            rules.extend(rule::read_checked(&source).map_err(|problems| problems.to_string())?);
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
        let literals = Literals::new(literals.into_iter().cloned().collect())?;
        Ok(Self { rules, literals, by_literal, style })
    }

    /// The search for the literals alone, as a baseline for benchmarks.
    #[doc(hidden)]
    #[must_use]
    pub fn literals(&self) -> &AhoCorasick {
        self.literals.automaton_for_long_text()
    }

    /// Where the secrets are, in order. Terminal colours do not hide them, and neither do base64, `%41` and
    /// `\\u0041`.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Secret> {
        if memchr::memchr(terminal::ESCAPE, text.as_bytes()).is_none() {
            return self.find_visible(text, DEPTH);
        }
        let visible = Visible::new(text);
        let mut found = self.find_visible(&visible.text, DEPTH);
        for secret in &mut found {
            secret.range = visible.in_original(&secret.range);
        }
        found
    }

    /// Whether there can be a secret in this text: cheap, and without false negatives.
    pub(super) fn may_contain_secret(&self, text: &str) -> bool {
        self.literals.automaton(text.len()).is_match(text)
            || encoded::next_escaped(text, 0).is_some()
            || encoded::next_base64(text, 0).is_some()
            || encoded::next_hex(text, 0).is_some()
    }

    fn find_visible(&self, text: &str, depth: usize) -> Vec<Secret> {
        let mut found = self.find_written(text);
        let Some(depth) = depth.checked_sub(1) else { return found };
        let written = found.len();
        let is_new = |found: &[Secret], range: &Range<usize>| {
            let next = found[..written].partition_point(|secret| secret.range.end <= range.start);
            found[..written].get(next).is_none_or(|secret| secret.range.start >= range.end)
        };
        for next in [encoded::next_base64, encoded::next_hex] {
            let mut at = 0;
            while let Some(part) = next(text, at) {
                at = part.range.end;
                if is_new(&found, &part.range)
                    && let Some(secret) = self.find_visible(&part.text, depth).into_iter().next()
                {
                    // The whole encoded text is masked: its parts cannot be separated.
                    found.push(Secret { range: part.range, rule: secret.rule });
                }
            }
        }
        let mut at = 0;
        while let Some(part) = encoded::next_escaped(text, at) {
            at = part.range.end;
            for secret in self.find_visible(&part.text, depth) {
                let range = part.in_original(&secret.range);
                if is_new(&found, &range) {
                    found.push(Secret { range, rule: secret.rule });
                }
            }
        }
        if found.len() > written {
            found.sort_by_key(|secret| (secret.range.start, std::cmp::Reverse(secret.range.end)));
            let mut end = 0;
            found.retain(|secret| {
                let apart = secret.range.start >= end;
                end = end.max(secret.range.end);
                apart
            });
        }
        found
    }

    /// The secrets that are in the text without any encoding.
    fn find_written(&self, text: &str) -> Vec<Secret> {
        let mut found: Vec<Secret> = Vec::new();
        let mut at = 0;
        let mut end = 0;
        while let Some((secret, start)) = self.next(text, at..text.len()) {
            at = start + 1;
            let Some(secret) = secret.filter(|secret| secret.range.start >= end) else { continue };
            let secret = self.within(text, secret);
            at = at.max(secret.range.end);
            end = secret.range.end;
            found.push(secret);
        }
        found
    }

    /// The next literal in a part of the text: where it begins, and the secret that it begins, if it does.
    fn next(&self, text: &str, part: Range<usize>) -> Option<(Option<Secret>, usize)> {
        let hit = self.literals.automaton(part.len()).find(Input::new(text).span(part))?;
        let rules = &self.by_literal[hit.pattern().as_usize()];
        let secret = rules.iter().find_map(|index| self.try_rule(&self.rules[*index], text, hit.start()));
        Some((secret, hit.start()))
    }

    /// A more specific rule inside a match: `TOKEN=ghp_…` is an assignment whose value is a known kind of token.
    fn within(&self, text: &str, secret: Secret) -> Secret {
        match self.next(text, secret.range.clone()) {
            Some((Some(inner), _)) if inner.range.end >= secret.range.end => inner,
            _ => secret,
        }
    }

    fn try_rule(&self, rule: &Rule, text: &str, literal: usize) -> Option<Secret> {
        let bytes = text.as_bytes();
        if !may_begin(rule, &bytes[..literal]) {
            return None;
        }
        let start = text.floor_char_boundary(literal.saturating_sub(rule.back));
        let end = text.floor_char_boundary(start.saturating_add(rule.window).min(text.len()));
        let (pattern, window) = (rule.pattern.regex()?, text.get(start..end)?);
        // Few literals begin a secret, and `is_match` is cheaper than capturing groups.
        let captures = if pattern.is_match(window) { pattern.captures(window) } else { None };
        let secret = captures.and_then(|captures| captures.name("secret").or_else(|| captures.get(0)));
        let (mut from, mut to) = match secret {
            Some(secret) => (start + secret.start(), start + secret.end()),
            None if rule.is_token() => wrapped::find(rule, text, start)?,
            None => return None,
        };
        // Quotes that are part of the match are kept.
        let quote = bytes.get(from).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        if quote.is_some() {
            from += 1;
            to -= usize::from(to > from && bytes.get(to - 1).copied() == quote);
        }
        let quoted = quote.is_some() || (from > 0 && matches!(bytes[from - 1], b'"' | b'\'' | b'`'));
        let value = text.get(from..to)?;
        if value.is_empty() || !is_secret(rule.check, value, quoted, text[to..].chars().next()) {
            return None;
        }
        if secret.is_some() && rule.is_token() && matches!(bytes.get(to), Some(b'\n' | b'\r' | b'\\')) {
            to = wrapped::find(rule, text, start).map_or(to, |(_, longer)| longer);
        }
        Some(Secret { range: from..to, rule: Arc::clone(&rule.id) })
    }

    /// The text without its secrets.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.text_noting(text, &mut |_| {})
    }

    /// The text without its secrets; `note` is called with every rule that found one.
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
                let mut rest = secret;
                while let Some(c) = rest.chars().next() {
                    // Line breaks stay, with the indent after them, including those that are written as two
                    // characters; and so do colours.
                    let kept = match c {
                        '\n' | '\r' => 1 + rest[1..].len() - rest[1..].trim_start_matches([' ', '\t']).len(),
                        '\\' if rest[1..].starts_with(['n', 'r']) => 2,
                        ESCAPE_CHAR => terminal::sequence_len(rest),
                        _ => 0,
                    };
                    if kept == 0 {
                        out.push('*');
                    } else {
                        out.push_str(&rest[..kept]);
                    }
                    rest = &rest[kept.max(c.len_utf8())..];
                }
            }
        }
    }

    /// Masks a whole value because of its name: `{"password": "…"}`.
    pub(super) fn named_value(&self, name: &str, value: &str) -> Option<(String, Arc<str>)> {
        // Written as an assignment, so that the same rules apply. Characters that would end the value there are part of
        // it here.
        let line = format!("{name}=\"");
        let plain = |c: char| if matches!(c, '"' | '\\' | '\n' | '\r') { '_' } else { c };
        let whole: String = line.chars().chain(value.chars().map(plain)).chain(['"']).collect();
        let secret = self.find_written(&whole).into_iter().find(|secret| secret.range.start >= line.len())?;
        let by_name = self.rules.iter().any(|rule| rule.id == secret.rule && !rule.is_token());
        if !by_name || secret.range != (line.len()..line.len() + value.len()) {
            return None;
        }
        let mut out = String::with_capacity(value.len());
        self.replace(value, &secret.rule, &mut out);
        Some((out, secret.rule))
    }
}

/// Whether a secret of this rule can begin after these bytes.
fn may_begin(rule: &Rule, front: &[u8]) -> bool {
    if rule.before == Before::Word
        && let Some(byte) = front.last()
    {
        // In `\n` of JSON or code, the letter is not part of the word after it.
        let escaped =
            front.len() > 1 && front[front.len() - 2] == b'\\' && matches!(byte, b'n' | b't' | b'r');
        if (byte.is_ascii_alphanumeric() || *byte == b'_') && !escaped {
            return false;
        }
    }
    !rule.not_after.iter().any(|word| {
        let start = front.len().saturating_sub(word.len());
        front[start..].eq_ignore_ascii_case(word.as_bytes())
    })
}

/// The text without its secrets, by the rules that come with Crosier: for logs and any other output.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    if !quick::may_hold_secret(text) {
        return Cow::Borrowed(text);
    }
    match Redactor::standard() {
        Ok(redactor) => redactor.text(text),
        // If the rules are broken, nothing is shown.
        Err(_) => Cow::Borrowed("[not shown: the redaction rules are invalid]"),
    }
}
