//! Slash commands: what a script line does.
//!
//! Standard commands and those of the host work the same way: a name, a check of the arguments when a file is
//! loaded, and code that runs when an event is fired. Invalid arguments must be reported by
//! [`SlashCommand::check`], not when the command runs.

use std::fmt;
use std::sync::Arc;

use crosier_protocol::nearest::nearest;
use crosier_protocol::{Answer, EventRow};

use super::super::tree::{Problem, Problems, Source, Span};
use super::permission::PermissionsOfLayer;
use super::standard;
use super::variable::Argument;
use crate::registry::Call;

/// A command for `.arma` scripts and `run:` lines.
///
/// ```
/// use crosier::config::{Argument, ArgumentProblem, Loader, SlashCommand, expect_arguments};
/// use crosier::{Answer, Call, Catalog, Reply};
///
/// struct Page;
///
/// impl SlashCommand for Page {
///     fn name(&self) -> &str {
///         "page"
///     }
///     fn check(&self, args: &[Argument]) -> Result<(), ArgumentProblem> {
///         expect_arguments(args, &["WHO", "TEXT"])
///     }
///     fn run(&self, args: &[String], call: Call<'_>) -> Answer {
///         Reply::none().notify(format!("{}: {}", args.join(" "), call.event.name())).into()
///     }
/// }
///
/// let config = "hooks: {Stop: [{run: '/page me \"it is done\"'}]}";
/// let loaded = Loader::new(Catalog::default()).slash_command(Page).text("c", config, "/").load();
/// assert!(loaded.is_ok());
/// ```
pub trait SlashCommand: Send + Sync {
    /// The name that lines use, without the slash.
    fn name(&self) -> &str;

    /// Checks the arguments when a file is loaded. An error is reported with its position.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    fn check(&self, args: &[Argument]) -> Result<(), ArgumentProblem>;

    /// Returns warnings about what is allowed but probably not intended at this event.
    fn lint(&self, args: &[Argument], event: &EventRow) -> Vec<ArgumentProblem> {
        let _ = (args, event);
        Vec::new()
    }

    /// Runs in place when an event is fired; it must not block. There are as many arguments as were checked.
    fn run(&self, args: &[String], call: Call<'_>) -> Answer;
}

/// A mistake in the arguments of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentProblem {
    pub(super) argument: Option<usize>,
    pub(super) message: String,
    pub(super) help: String,
}

impl ArgumentProblem {
    /// A problem with the whole line.
    pub fn new(message: impl Into<String>) -> Self {
        Self { argument: None, message: message.into(), help: String::new() }
    }

    /// Points at an argument, counted from 0. A missing argument is shown at the end of the line.
    #[must_use]
    pub fn at_argument(mut self, argument: usize) -> Self {
        self.argument = Some(argument);
        self
    }

    /// Adds a hint on how to fix it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
}

impl From<String> for ArgumentProblem {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for ArgumentProblem {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

/// Checks that there are as many arguments as names.
///
/// # Errors
/// The first argument that is missing, or the first one too many.
pub fn expect_arguments(args: &[Argument], names: &[&str]) -> Result<(), ArgumentProblem> {
    let all = names.join(" and ");
    if let Some(missing) = names.get(args.len()) {
        let message = if names.len() == 1 {
            format!("{missing} is missing")
        } else {
            format!("it takes {all}, and {missing} is missing")
        };
        return Err(ArgumentProblem::new(message)
            .at_argument(args.len())
            .with_help(format!("add {missing} here")));
    }
    if args.len() > names.len() {
        let message = if names.is_empty() {
            "it takes no arguments".to_owned()
        } else {
            format!("it takes {all}, and this is more")
        };
        let complaint = ArgumentProblem::new(message).at_argument(names.len());
        return Err(complaint.with_help("put text with spaces in quotes"));
    }
    Ok(())
}

/// Checks that an argument is one of these words, without variables. The error suggests the most similar one.
pub(super) fn one_of(
    args: &[Argument],
    at: usize,
    name: &str,
    words: &[&str],
) -> Result<(), ArgumentProblem> {
    let Some(argument) = args.get(at) else { return Ok(()) };
    let all = match words {
        [word] => format!("write `{word}`"),
        _ => format!("use one of {}", words.join(", ")),
    };
    let Some(word) = argument.literal() else {
        let complaint = ArgumentProblem::new(format!("{name} must be written out")).at_argument(at);
        return Err(complaint.with_help(all));
    };
    if words.contains(&word) {
        return Ok(());
    }
    let help = match nearest(word, words.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => all,
    };
    let shown = super::super::tree::shorten(word);
    Err(ArgumentProblem::new(format!("unknown {name} `{shown}`")).at_argument(at).with_help(help))
}

/// The commands that lines can call.
#[derive(Clone, Default)]
pub(in super::super) struct Commands(Vec<Arc<dyn SlashCommand>>);

impl fmt::Debug for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|command| bare(command.name()))).finish()
    }
}

impl Commands {
    pub(in super::super) fn add(&mut self, command: Arc<dyn SlashCommand>) {
        self.0.push(command);
    }

    /// The standard commands and those of the host. An unusable or duplicate name is a problem: a guard must
    /// not be replaced silently.
    pub(in super::super) fn complete(
        &self,
        permissions: PermissionsOfLayer,
        problems: &mut Problems,
    ) -> Self {
        let mut all = Self(standard::all(permissions));
        for command in &self.0 {
            let name = bare(command.name());
            let unusable =
                |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '\\' | '/');
            let why = if name.is_empty() || name.contains(unusable) {
                "is a name that no line can call"
            } else if all.find(name).is_some() {
                "exists already"
            } else {
                all.0.push(Arc::clone(command));
                continue;
            };
            let message = format!("the host's slash command `/{name}` {why}");
            let problem = Problem::error(&Source::new("slash commands", ""), Span::at(0), message);
            problems.push(problem.with_help("register it under another name"));
        }
        all
    }

    pub(super) fn find(&self, name: &str) -> Option<&Arc<dyn SlashCommand>> {
        self.0.iter().find(|command| bare(command.name()) == name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|command| bare(command.name()))
    }
}

/// The name without its slash, which a host may include.
fn bare(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
