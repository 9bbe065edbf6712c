//! Applies all rules to one call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crosier::{Decision, Json};

use super::field::Extent;
use super::rule::{Rule, RuleError};
use super::verdict::Verdict;
use crate::path::Places;
use crate::tool::{self, Subject};

/// Rules as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleLists {
    /// Rules for what may happen without asking.
    pub allow: Vec<String>,
    /// Rules for what a person decides.
    pub ask: Vec<String>,
    /// Rules for what never happens.
    pub deny: Vec<String>,
}

/// A set of rules.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub(super) deny: Vec<Rule>,
    pub(super) ask: Vec<Rule>,
    pub(super) allow: Vec<Rule>,
    home: Option<PathBuf>,
}

impl Rules {
    /// Reads rules.
    ///
    /// # Errors
    /// Every invalid rule, with what to write instead.
    pub fn parse(lists: &RuleLists) -> Result<Self, Vec<RuleError>> {
        let mut errors = Vec::new();
        let mut read = |rules: &[String]| -> Vec<Rule> {
            let parsed = rules.iter().map(|rule| Rule::parse(rule));
            parsed.filter_map(|rule| rule.map_err(|error| errors.push(error)).ok()).collect()
        };
        let (allow, ask, deny) = (read(&lists.allow), read(&lists.ask), read(&lists.deny));
        if errors.is_empty() { Ok(Self { deny, ask, allow, home: None }) } else { Err(errors) }
    }

    /// Says which folder `~` is. Without it, `~/…` means any home folder.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Adds a rule.
    pub fn add(&mut self, effect: Decision, rule: Rule) {
        match effect {
            Decision::Allow => self.allow.push(rule),
            Decision::Ask => self.ask.push(rule),
            Decision::Deny => self.deny.push(rule),
        }
    }

    /// Every rule, the strictest first.
    pub fn iter(&self) -> impl Iterator<Item = (Decision, &Rule)> {
        let with = |effect| move |rule| (effect, rule);
        let deny = self.deny.iter().map(with(Decision::Deny));
        deny.chain(self.ask.iter().map(with(Decision::Ask)))
            .chain(self.allow.iter().map(with(Decision::Allow)))
    }

    /// What the rules say about a call of this tool with this input in this folder.
    #[must_use]
    pub fn decide(&self, tool_name: &str, tool_input: &Json, cwd: &Path) -> Verdict {
        let case =
            RuleContext { rules: self, tool: tool_name, places: Places { cwd, home: self.home.as_deref() } };
        if let Some(rule) = case.unconditional_rule(&self.deny) {
            return Verdict::new(
                Decision::Deny,
                Some(rule.text()),
                format!("the rule {} denies {tool_name}", rule.text()),
            );
        }
        let verdict = match tool::subject(tool_name, tool_input) {
            Subject::Shell(scripts) => case.shell(&scripts),
            Subject::Files(access, paths) => case.files(access, &paths),
            Subject::Other => case.fields(tool_input),
            Subject::Unreadable(why) => case.unclear(why),
        };
        if verdict.is_denied() {
            return verdict;
        }
        match (case.unconditional_rule(&self.ask), verdict.decision) {
            (Some(rule), None | Some(Decision::Allow)) => Verdict::new(
                Decision::Ask,
                Some(rule.text()),
                format!("the rule {} asks about {tool_name}", rule.text()),
            ),
            _ => verdict,
        }
    }
}

/// One call and the rules about its tool.
pub(super) struct RuleContext<'a> {
    pub(super) rules: &'a Rules,
    tool: &'a str,
    pub(super) places: Places<'a>,
}

impl<'a> RuleContext<'a> {
    /// The rule about every call of the tool.
    pub(super) fn unconditional_rule(&self, rules: &'a [Rule]) -> Option<&'a Rule> {
        rules.iter().find(|rule| rule.pattern.is_none() && rule.is_about(self.tool))
    }

    /// The rules about some calls of the tool.
    pub(super) fn conditional_rules<'r>(&'r self, rules: &'r [Rule]) -> impl Iterator<Item = &'r Rule> {
        rules.iter().filter(|rule| rule.pattern.is_some() && rule.is_about(self.tool))
    }

    pub(super) fn has_patterns(&self, rules: &'a [Rule]) -> bool {
        self.conditional_rules(rules).next().is_some()
    }

    /// A call that cannot be inspected is left to a person, unless no rule would have inspected it.
    pub(super) fn unclear(&self, why: &str) -> Verdict {
        let allowed = self.unconditional_rule(&self.rules.allow);
        let stricter = self.has_patterns(&self.rules.deny) || self.has_patterns(&self.rules.ask);
        match allowed {
            Some(rule) if !stricter => self.allowed(&[rule]),
            None if !stricter && !self.has_patterns(&self.rules.allow) => self.no_decision(),
            _ => Verdict {
                perhaps_denied: self.has_patterns(&self.rules.deny),
                ..Verdict::new(Decision::Ask, None, format!("a person has to decide: {why}"))
            },
        }
    }

    pub(super) fn allowed(&self, rules: &[&Rule]) -> Verdict {
        let mut texts: Vec<&Arc<str>> = Vec::new();
        for rule in rules {
            if !texts.contains(&rule.text()) {
                texts.push(rule.text());
            }
        }
        let text: Arc<str> = match texts.as_slice() {
            [one] => Arc::clone(one),
            all => all.iter().map(|text| &***text).collect::<Vec<_>>().join(", ").into(),
        };
        let reason = format!("allowed by {text}");
        Verdict::new(Decision::Allow, Some(&text), reason)
    }

    pub(super) fn no_decision(&self) -> Verdict {
        Verdict::none(format!("no rule matches this call of {}", self.tool))
    }

    fn fields(&self, input: &Json) -> Verdict {
        for (rules, decision) in [(&self.rules.deny, Decision::Deny), (&self.rules.ask, Decision::Ask)] {
            for rule in self.conditional_rules(rules) {
                let Some(pattern) = &rule.pattern else { continue };
                match pattern.field.matches(input, Extent::Any) {
                    Some(false) => {}
                    Some(true) => {
                        let reason = format!("the rule {} {} this call", rule.text(), verb(decision));
                        return Verdict::new(decision, Some(rule.text()), reason);
                    }
                    None => return self.unclear("its input is nested too deeply to be checked"),
                }
            }
        }
        let covers = |rule: &&Rule| {
            rule.pattern
                .as_ref()
                .is_none_or(|pattern| pattern.field.matches(input, Extent::All) == Some(true))
        };
        let mut about = self.rules.allow.iter().filter(|rule| rule.is_about(self.tool));
        match about.find(covers) {
            Some(rule) => self.allowed(&[rule]),
            None => self.no_decision(),
        }
    }
}

pub(super) fn verb(decision: Decision) -> &'static str {
    match decision {
        Decision::Deny => "denies",
        Decision::Ask => "asks about",
        Decision::Allow => "allows",
    }
}
