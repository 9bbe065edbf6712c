//! Permissions, from the command line.

use clap::Args;
use clap::builder::PossibleValuesParser;
use crosier::Matcher;
use crosier::protocol::nearest::nearest;
use crosier_agent::permission::{PermissionMode, Permissions};
use crosier_agent::tool::Tool;
use crosier_builtins::rules::{RuleLists, Rules};
use std::sync::Arc;

use crate::environment;
use crate::exit::{Exit, Failed};

fn modes() -> PossibleValuesParser {
    PermissionMode::WORDS.map(|(word, _)| word).into()
}

// Permissions, from the command line. (Not a doc comment: clap would take it for the command's.)
#[derive(Debug, Args)]
pub(crate) struct PermissionArgs {
    /// How permissions are handled
    #[arg(long, value_name = "MODE", default_value = "default", value_parser = modes())]
    permission_mode: String,
    /// Run what this rule matches without asking: 'Bash(git *)', Read, 'Write(src/**)'
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Never run what this rule matches, whatever else allows it
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
    /// Never run this tool; a pattern like mcp__* names several
    #[arg(long, value_name = "TOOL")]
    disable_tool: Vec<String>,
}

impl PermissionArgs {
    pub(crate) fn read(&self) -> Result<Permissions, Failed> {
        let usage = |message: String| Failed::new(Exit::Usage, message);
        let lists = RuleLists { allow: self.allow.clone(), ask: Vec::new(), deny: self.deny.clone() };
        let rules = Rules::parse(&lists)
            .map_err(|errors| usage(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
        let rules = match environment::folder("HOME") {
            Some(home) => rules.home(home),
            None => rules,
        };
        let mode = PermissionMode::WORDS.iter().find(|(word, _)| *word == self.permission_mode);
        let disabled = self
            .disable_tool
            .iter()
            .map(|tool| Matcher::new(tool).map_err(|error| usage(format!("--disable-tool {tool}: {error}"))));
        Ok(Permissions {
            mode: mode.map(|(_, mode)| *mode).unwrap_or_default(),
            disabled: disabled.collect::<Result<_, _>>()?,
            rules,
            ..Permissions::default()
        })
    }
}

/// Refuses to disable an unknown tool: the one that was meant would run.
pub(crate) fn check_disabled(permissions: &Permissions, tools: &[Arc<dyn Tool>]) -> Result<(), Failed> {
    let names: Vec<&str> = tools.iter().map(|tool| tool.spec().name.as_str()).collect();
    let Some(wrong) = permissions.disabled.iter().find(|one| !names.iter().any(|name| one.matches(name)))
    else {
        return Ok(());
    };
    let near = nearest(wrong.text(), names.iter().copied());
    let near = near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
    let message = format!(
        "--disable-tool {}: there is no such tool{near}\nThe tools: {}",
        wrong.text(),
        names.join(", ")
    );
    Err(Failed::new(Exit::Usage, message))
}
