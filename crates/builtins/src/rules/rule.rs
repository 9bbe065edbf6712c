//! One rule: `Tool` or `Tool(pattern)`.

use std::fmt;
use std::sync::Arc;

use crosier::Matcher;

use super::command::CommandPattern;
use super::field::FieldPattern;
use crate::path::{Case, PathGlob};
use crate::tool::{self, Access};

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    text: Arc<str>,
    tool: Arc<str>,
    matcher: Matcher,
    pub(super) pattern: Option<Pattern>,
}

/// What is in the parentheses, for every kind of tool that the name can mean.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) command: Result<CommandPattern, String>,
    pub(super) path: Result<PathGlob, String>,
    pub(super) field: FieldPattern,
}

/// An invalid rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// The rule as it was written.
    pub rule: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the rule `{}` {}; {}", self.rule, self.problem, self.remedy)
    }
}

impl std::error::Error for RuleError {}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let error = |problem: &str, remedy: &str| RuleError {
            rule: text.to_owned(),
            problem: problem.to_owned(),
            remedy: remedy.to_owned(),
        };
        let (name, inside) = match text.split_once('(') {
            None if text.contains(')') => {
                return Err(error("closes a parenthesis that it never opens", "write it like Bash(git *)"));
            }
            None => (text, None),
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(inside) => (name, Some(inside.trim())),
                None => return Err(error("does not end with `)`", "write it like Bash(git *)")),
            },
        };
        let name = name.trim();
        if name.is_empty() {
            return Err(error("names no tool", "write it like Bash or Bash(git *)"));
        }
        if let Some(c) = name.chars().find(|c| c.is_whitespace() || matches!(c, ',' | ')' | '"' | '\'')) {
            let problem = format!("has `{c}` in the tool's name");
            return Err(error(&problem, "write one rule for each tool, like Bash(git *)"));
        }
        let wide =
            if name.starts_with("mcp__") && !name.contains(['*', '|']) && name.matches("__").count() == 1 {
                format!("{name}|{name}__*")
            } else {
                name.to_owned()
            };
        let matcher =
            Matcher::new(&wide).map_err(|why| error(&format!("names no tool: {why}"), "see matchers"))?;
        let pattern = match inside {
            None | Some("*" | ":*" | "**") => None,
            Some("") => {
                return Err(error("has nothing in its parentheses", "leave them out, or write a pattern"));
            }
            Some(inside) => Some(Pattern {
                command: CommandPattern::parse(inside),
                path: PathGlob::new(inside, Case::Exact),
                field: FieldPattern::parse(inside),
            }),
        };
        let rule = Self { text: text.into(), tool: name.into(), matcher, pattern };
        match rule.mistake() {
            Some(why) => Err(error(&why.0, why.1)),
            None => Ok(rule),
        }
    }

    /// What is wrong with the pattern, for the tool that the rule names.
    fn mistake(&self) -> Option<(String, &'static str)> {
        let pattern = self.pattern.as_ref()?;
        if tool::is_shell(&self.tool) {
            let why = pattern.command.as_ref().err()?;
            return Some((why.clone(), "a rule is about one simple command, like Bash(git *)"));
        }
        tool::file_access(&self.tool)?;
        let why = pattern.path.as_ref().err()?;
        Some((format!("has a bad pattern: {why}"), "write it like Read(./src/**)"))
    }

    /// The rule as it was written.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Whether it is about this tool. `Read(…)` is about every tool that reads files, `Edit(…)` and `Write(…)`
    /// about every tool that writes them.
    pub(super) fn is_about(&self, tool: &str) -> bool {
        if self.matcher.matches(tool) {
            return true;
        }
        self.pattern.is_some() && self.family().is_some_and(|family| tool::file_access(tool) == Some(family))
    }

    /// The kind of file access that the rule covers.
    pub(super) fn family(&self) -> Option<Access> {
        match &*self.tool {
            "Read" => Some(Access::Read),
            "Edit" | "Write" => Some(Access::Write),
            _ => None,
        }
    }

    /// The pattern for files, when it stands for tools of this kind.
    pub(super) fn files(&self, access: Access) -> Option<&PathGlob> {
        if self.family() != Some(access) {
            return None;
        }
        self.pattern.as_ref()?.path.as_ref().ok()
    }
}
