//! Applies rules to files, both as written and with links resolved.

use crosier::Decision;

use super::decide::{RuleContext, verb};
use super::rule::Rule;
use super::verdict::Verdict;
use crate::path::{PathGlob, Places, Resolved};
use crate::tool::Access;

impl<'a> RuleContext<'a> {
    /// Whether a deny or ask rule names this file, as written or with links resolved.
    pub(super) fn names(&self, rule: &Rule, access: Access, file: &Resolved) -> bool {
        let Places { cwd, home } = self.places;
        rule.files(access).is_some_and(|glob| {
            glob.matches_tree(&file.lexical, cwd, home) || glob.matches_tree(&file.real, cwd, home)
        })
    }

    /// The rule that allows this file, both as written and with links resolved.
    pub(super) fn covering_file(&self, access: Access, file: &Resolved) -> Option<&'a Rule> {
        let Places { cwd, home } = self.places;
        self.rules.allow.iter().find(|rule| {
            rule.files(access)
                .is_some_and(|glob| glob.matches(&file.lexical, cwd, home) && self.really(glob, file))
        })
    }

    /// The base of a relative pattern may itself be reached through a symlink.
    fn really(&self, glob: &PathGlob, file: &Resolved) -> bool {
        let Places { cwd, home } = self.places;
        let real = self.places.resolve(".").real;
        glob.matches(&file.real, cwd, home) || glob.matches(&file.real, &real, home)
    }

    /// What the rules say about these files.
    pub(super) fn files(&self, access: Access, paths: &[String]) -> Verdict {
        // A search without a folder is done in the folder of the event.
        let here = [".".to_owned()];
        let paths = if paths.is_empty() { &here } else { paths };
        let resolved: Vec<Resolved> = paths.iter().map(|path| self.places.resolve(path)).collect();
        for (rules, decision) in [(&self.rules.deny, Decision::Deny), (&self.rules.ask, Decision::Ask)] {
            for (path, file) in paths.iter().zip(&resolved) {
                if let Some(rule) = self
                    .conditional_rules(rules)
                    .find(|rule| self.names(rule, access, file) || self.own(rule, file))
                {
                    let reason = format!("the rule {} {} the file `{path}`", rule.text(), verb(decision));
                    return Verdict::new(decision, Some(rule.text()), reason);
                }
            }
        }
        if let Some(rule) = self.unconditional_rule(&self.rules.allow) {
            return self.allowed(&[rule]);
        }
        let mut rules = Vec::new();
        for (path, file) in paths.iter().zip(&resolved) {
            let own = || {
                self.conditional_rules(&self.rules.allow).find(|rule| {
                    rule.family().is_none()
                        && self.glob(rule).is_some_and(|glob| {
                            glob.matches(&file.lexical, self.places.cwd, self.places.home)
                                && self.really(glob, file)
                        })
                })
            };
            let Some(rule) = self.covering_file(access, file).or_else(own) else {
                return Verdict::none(format!("no rule covers the file `{path}`"));
            };
            rules.push(rule);
        }
        self.allowed(&rules)
    }

    fn glob<'r>(&self, rule: &'r Rule) -> Option<&'r PathGlob> {
        rule.pattern.as_ref()?.path.as_ref().ok()
    }

    /// Whether a rule that names the tool itself (not `Read`, `Edit` or `Write`) names this file.
    fn own(&self, rule: &Rule, file: &Resolved) -> bool {
        let Places { cwd, home } = self.places;
        self.glob(rule).is_some_and(|glob| {
            glob.matches_tree(&file.lexical, cwd, home) || glob.matches_tree(&file.real, cwd, home)
        })
    }
}
