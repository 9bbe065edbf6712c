//! Applies rules to a line of shell: every command in it, and every file that it redirects.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crosier::Decision;

use super::command::is_risky;
use super::decide::{RuleContext, verb};
use super::effect;
use super::rule::Rule;
use super::verdict::Verdict;
use crate::path::{Places, expand_glob};
use crate::shell::{Command, Direction, Effect, Origin, Script, Word};
use crate::token::Fit;
use crate::tool::Access;

/// More files than this in one line are not looked up.
const MAX_FILES: usize = 2_000;

impl<'a> RuleContext<'a> {
    /// What the rules say about these lines.
    pub(super) fn shell(&self, scripts: &[Script]) -> Verdict {
        let mut perhaps = None;
        for rule in self.conditional_rules(&self.rules.deny) {
            for command in scripts.iter().flat_map(|script| &script.commands) {
                match fit(rule, command) {
                    Fit::Yes => {
                        let reason = format!("the rule {} denies `{}`", rule.text(), command.show());
                        return Verdict::new(Decision::Deny, Some(rule.text()), reason);
                    }
                    Fit::Perhaps if command.certain => perhaps = perhaps.or(Some((rule, command))),
                    _ => {}
                }
            }
        }
        if let Some(verdict) = self.redirected(&self.rules.deny, Decision::Deny, scripts) {
            return verdict;
        }
        if let Some((rule, command)) = perhaps {
            let reason = format!(
                "the rule {} may deny `{}`: parts of it are known only at run time",
                rule.text(),
                command.show()
            );
            return Verdict::perhaps(Some(rule.text()), reason);
        }
        for rule in self.conditional_rules(&self.rules.ask) {
            for command in scripts.iter().flat_map(|script| &script.commands) {
                let fit = fit(rule, command);
                if fit == Fit::Yes || (fit == Fit::Perhaps && command.certain) {
                    let reason = format!("the rule {} asks about `{}`", rule.text(), command.show());
                    return Verdict::new(Decision::Ask, Some(rule.text()), reason);
                }
            }
        }
        if let Some(verdict) = self.redirected(&self.rules.ask, Decision::Ask, scripts) {
            return verdict;
        }
        if let Some(doubt) = scripts.iter().flat_map(|script| &script.doubts).next() {
            return self.unclear(&doubt.why);
        }
        if let Some(rule) = self.unconditional_rule(&self.rules.allow) {
            return self.allowed(&[rule]);
        }
        self.covered(scripts)
    }

    /// Whether every command is covered by a rule that allows it.
    fn covered(&self, scripts: &[Script]) -> Verdict {
        let mut rules = Vec::new();
        let all: Vec<_> = scripts.iter().map(|script| (script, script.folders(self.places))).collect();
        let commands = all.iter().flat_map(|(script, folders)| {
            script.commands.iter().enumerate().map(move |(at, command)| (*script, folders, at, command))
        });
        for (script, folders, at, command) in commands.filter(|(.., command)| command.certain) {
            if command.words.is_empty() {
                if let Some(risky) = command.assignments.iter().find(|assignment| is_risky(&assignment.name))
                {
                    return Verdict::none(format!("no rule covers setting `{}`", risky.name));
                }
            } else if !command.transparent {
                let covering = self.conditional_rules(&self.rules.allow).filter(|rule| covers(rule, command));
                let here = folders.of(script, at);
                let mut refused = None;
                let rule = covering.into_iter().find(|rule| match self.exceeds(rule, command, &here) {
                    Some(why) => {
                        refused = Some(why);
                        false
                    }
                    None => true,
                });
                let Some(rule) = rule else {
                    let why = refused.unwrap_or_else(|| format!("no rule covers `{}`", command.show()));
                    return Verdict::none(why);
                };
                rules.push(rule);
            }
            for target in written(command) {
                let covering = self.covering_target(target, &folders.of(script, at));
                let Some(rule) = covering else {
                    return Verdict::none("no rule covers a file that it writes; a Write rule can allow it");
                };
                rules.push(rule);
            }
        }
        if rules.is_empty() { self.no_decision() } else { self.allowed(&rules) }
    }

    /// What a command does beyond the rule that covers its words: it runs another program with an option,
    /// or a program that reads files writes one.
    fn exceeds(&self, rule: &Rule, command: &Command, folders: &[Option<&Path>]) -> Option<String> {
        let pattern = rule.pattern.as_ref().and_then(|pattern| pattern.command.as_ref().ok())?;
        if let Some(option) = effect::unnamed_run(pattern, command) {
            return Some(format!(
                "the rule {} does not cover `{option}`, which can run a program",
                rule.text()
            ));
        }
        let writes = effect::unnamed_writes(pattern, command);
        let refused = writes.iter().find(|target| self.covering_target(target, folders).is_none())?;
        Some(format!(
            "the rule {} does not cover writing `{}`; a Write rule can allow it",
            rule.text(),
            refused.show()
        ))
    }

    /// The rule that allows writing this file, in every folder in which the command can run.
    fn covering_target(&self, target: &Word, folders: &[Option<&Path>]) -> Option<&'a Rule> {
        let path = target.known()?;
        let mut covering = None;
        for folder in folders {
            let places = Places { cwd: (*folder)?, home: self.places.home };
            covering = Some(self.covering_file(Access::Write, &places.resolve(path))?);
        }
        covering
    }

    /// The files that a word of a command can be; none when that is unknown. A word whose last name is known is at
    /// least that name.
    fn paths_of(&self, word: &Word, folders: &[Option<&Path>]) -> Option<Vec<PathBuf>> {
        let shown = word.show();
        if word.unknowns().next().is_some() {
            let name = shown.rsplit_once('/').map(|(_, name)| name)?;
            let is_plain = !name.is_empty() && !name.contains(['$', '*', '?', '`']) && name != "..";
            return is_plain.then(|| vec![self.places.lexical(name)]);
        }
        let mut paths = Vec::new();
        for folder in folders {
            let here = folder.unwrap_or(self.places.cwd);
            let path = Places { cwd: here, home: self.places.home }.lexical(&shown);
            if word.has_wildcard() {
                paths.extend(expand_glob(&path)?);
            }
            paths.push(path);
        }
        Some(paths)
    }

    /// Rules about files that a command reads or writes.
    fn redirected(&self, rules: &[Rule], decision: Decision, scripts: &[Script]) -> Option<Verdict> {
        if !rules.iter().any(|rule| rule.files(Access::Read).or(rule.files(Access::Write)).is_some()) {
            return None;
        }
        let mut seen: HashSet<(PathBuf, &[Access])> = HashSet::new();
        let mut perhaps = None;
        for script in scripts {
            let folders = script.folders(self.places);
            for (at, command) in script.commands.iter().enumerate() {
                for file in command.files() {
                    let accesses: &[Access] = match file.effect {
                        Effect::Stat => continue,
                        Effect::Read => &[Access::Read],
                        Effect::Write | Effect::Delete => &[Access::Write],
                        Effect::Unknown => &[Access::Read, Access::Write],
                    };
                    let could = |access: &Access| rules.iter().find(|rule| rule.files(*access).is_some());
                    let is_redirected =
                        command.redirections.iter().any(|redirection| redirection.target == *file.path);
                    let paths = self.paths_of(&file.path, &folders.of(script, at));
                    let is_open = is_redirected && file.path.known().is_none();
                    if is_open || (paths.is_none() && is_chosen_elsewhere(command, &file.path)) {
                        perhaps = perhaps.or_else(|| accesses.iter().find_map(could));
                    }
                    let paths = paths.unwrap_or_default();
                    for path in paths {
                        if !seen.insert((path.clone(), accesses)) {
                            continue;
                        }
                        if seen.len() > MAX_FILES {
                            return Some(self.unclear("it reads and writes too many files to look at"));
                        }
                        let found = self.places.resolve(&path.to_string_lossy());
                        for access in accesses {
                            let Some(rule) = rules.iter().find(|rule| self.names(rule, *access, &found))
                            else {
                                continue;
                            };
                            // What a program that is not in the table does to its words is unknown.
                            if file.effect == Effect::Unknown {
                                perhaps = perhaps.or(Some(rule));
                                continue;
                            }
                            let shown = file.path.show();
                            let reason =
                                format!("the rule {} {} the file `{shown}`", rule.text(), verb(decision));
                            return Some(Verdict::new(decision, Some(rule.text()), reason));
                        }
                    }
                }
            }
        }
        let rule = perhaps?;
        let reason = format!(
            "the rule {} may apply to a file of the command, which is known only at run time",
            rule.text()
        );
        Some(match decision {
            Decision::Deny => Verdict::perhaps(Some(rule.text()), reason),
            Decision::Ask | Decision::Allow => Verdict::new(Decision::Ask, Some(rule.text()), reason),
        })
    }
}

/// Whether a variable or the output of a command determines which file it is; what `find` and `xargs` pass on is judged
/// where they look.
fn is_chosen_elsewhere(command: &Command, word: &Word) -> bool {
    word.unknowns().any(|unknown| match unknown.from {
        Origin::Variable(_) => true,
        Origin::Output(_) => command.wrapper.is_none(),
        _ => false,
    })
}

fn fit(rule: &Rule, command: &Command) -> Fit {
    let pattern = rule.pattern.as_ref().and_then(|pattern| pattern.command.as_ref().ok());
    pattern.map_or(Fit::No, |pattern| pattern.fits(command))
}

fn covers(rule: &Rule, command: &Command) -> bool {
    let pattern = rule.pattern.as_ref().and_then(|pattern| pattern.command.as_ref().ok());
    pattern.is_some_and(|pattern| pattern.covers(command))
}

/// The files that a command writes to with `>`.
fn written(command: &Command) -> impl Iterator<Item = &Word> {
    const SINKS: [&str; 5] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2"];
    let writes = |direction: Direction| matches!(direction, Direction::Write | Direction::Both);
    let files = command.redirections.iter().filter(move |redirection| writes(redirection.direction));
    files
        .map(|redirection| &redirection.target)
        .filter(|target| !target.known().is_some_and(|text| SINKS.contains(&text)))
}
