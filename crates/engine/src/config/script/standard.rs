//! The commands that every script has: `/log`, `/notify`, `/perms`, `/deny`, `/context`.
//!
//! They use the same trait as a host's own commands. None of them can fail, and none allows anything that
//! would not be allowed without it.

use std::sync::Arc;

use crosier_protocol::nearest::nearest;
use crosier_protocol::{Answer, Capability, EventRow, Reply};

use super::super::tree::shorten;
use super::command::{ArgumentProblem, SlashCommand, expect_arguments, one_of};
use super::permission::{Permission, PermissionsOfLayer};
use super::variable::Argument;
use crate::registry::Call;

pub(super) fn all(permissions: PermissionsOfLayer) -> Vec<Arc<dyn SlashCommand>> {
    vec![Arc::new(Log), Arc::new(Notify), Arc::new(Perms(permissions)), Arc::new(Deny), Arc::new(Context)]
}

/// `/log LEVEL TEXT`.
struct Log;

impl SlashCommand for Log {
    fn name(&self) -> &str {
        "log"
    }

    fn check(&self, args: &[Argument]) -> Result<(), ArgumentProblem> {
        one_of(args, 0, "level", &["debug", "info", "warn", "error"])?;
        expect_arguments(args, &["LEVEL", "TEXT"])
    }

    fn run(&self, args: &[String], _: Call<'_>) -> Answer {
        Reply::none().log(text(args, 0), text(args, 1)).into()
    }
}

/// `/notify TEXT`.
struct Notify;

impl SlashCommand for Notify {
    fn name(&self) -> &str {
        "notify"
    }

    fn check(&self, args: &[Argument]) -> Result<(), ArgumentProblem> {
        expect_arguments(args, &["TEXT"])
    }

    fn run(&self, args: &[String], _: Call<'_>) -> Answer {
        Reply::none().notify(text(args, 0)).into()
    }
}

/// `/context TEXT`.
struct Context;

impl SlashCommand for Context {
    fn name(&self) -> &str {
        "context"
    }

    fn check(&self, args: &[Argument]) -> Result<(), ArgumentProblem> {
        expect_arguments(args, &["TEXT"])
    }

    fn lint(&self, _: &[Argument], event: &EventRow) -> Vec<ArgumentProblem> {
        lacks(event, &[Capability::Context], "it adds context").into_iter().collect()
    }

    fn run(&self, args: &[String], _: Call<'_>) -> Answer {
        Reply::none().context(text(args, 0)).into()
    }
}

/// `/deny REASON`.
struct Deny;

impl SlashCommand for Deny {
    fn name(&self) -> &str {
        "deny"
    }

    fn check(&self, args: &[Argument]) -> Result<(), ArgumentProblem> {
        expect_arguments(args, &["REASON"])?;
        if args.first().and_then(Argument::literal).is_some_and(|reason| reason.trim().is_empty()) {
            return Err(ArgumentProblem::new("the reason is empty")
                .at_argument(0)
                .with_help("say why, for the model or person that is denied"));
        }
        Ok(())
    }

    fn lint(&self, _: &[Argument], event: &EventRow) -> Vec<ArgumentProblem> {
        lacks(event, &STOPS, "it denies").into_iter().collect()
    }

    fn run(&self, args: &[String], _: Call<'_>) -> Answer {
        Reply::deny(text(args, 0)).into()
    }
}

/// `/perms check CAPABILITY`.
struct Perms(PermissionsOfLayer);

impl SlashCommand for Perms {
    fn name(&self) -> &str {
        "perms"
    }

    fn check(&self, args: &[Argument]) -> Result<(), ArgumentProblem> {
        one_of(args, 0, "action", &["check"])?;
        expect_arguments(args, &["`check`", "CAPABILITY"])
    }

    fn lint(&self, args: &[Argument], event: &EventRow) -> Vec<ArgumentProblem> {
        let mut found: Vec<ArgumentProblem> = lacks(event, &STOPS, "it can deny").into_iter().collect();
        let Some(capability) = args.get(1).and_then(Argument::literal) else { return found };
        let shown = shorten(capability);
        match self.0.of(capability) {
            None => {
                let complaint =
                    ArgumentProblem::new(format!("`permissions:` does not name `{shown}`: it is denied"));
                let help = match nearest(capability, self.0.names().iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("add it: `permissions: {{{shown}: ask}}`"),
                };
                found.push(complaint.at_argument(1).with_help(help));
            }
            Some(Permission::Ask) if asking(event) == Asking::Deny => {
                let message = format!("{} cannot ask, so `{shown}: ask` denies here", event.name);
                found.push(
                    ArgumentProblem::new(message)
                        .at_argument(1)
                        .with_help("`crosier events` shows where `ask` works"),
                );
            }
            Some(_) => {}
        }
        found
    }

    fn run(&self, args: &[String], call: Call<'_>) -> Answer {
        let capability = text(args, 1);
        let reply = match self.0.of(capability) {
            Some(Permission::Allow) => Reply::none(),
            Some(Permission::Ask) => match asking(call.event.kind()) {
                Asking::Ask => Reply::ask(format!("`{capability}` needs permission")),
                Asking::Deny => {
                    let event = call.event.name();
                    Reply::deny(format!("`{capability}` needs permission, and {event} cannot ask for it"))
                }
            },
            Some(Permission::Deny) => Reply::deny(format!("`{capability}` is denied by the permissions")),
            None => Reply::deny(format!("`{capability}` is not among the permissions")),
        };
        reply.into()
    }
}

#[derive(PartialEq, Eq)]
enum Asking {
    Ask,
    Deny,
}

/// What to reply for `ask`. If the event can be denied but has no ask, an ask would be ignored and the action
/// would happen without a question: so it is denied. An event that has allow but no ask (PermissionRequest)
/// is the question itself.
fn asking(event: &EventRow) -> Asking {
    let may = event.capabilities;
    let asked = may.has(Capability::Ask) || may.has(Capability::Allow) || !may.has(Capability::Deny);
    if asked { Asking::Ask } else { Asking::Deny }
}

/// The effects that a denial can have: at an event that can resume the loop, it resumes.
const STOPS: [Capability; 2] = [Capability::Deny, Capability::Resume];

/// The problem that an event has none of these capabilities.
fn lacks(event: &EventRow, any: &[Capability], does: &str) -> Option<ArgumentProblem> {
    let first = any.first().filter(|_| !any.iter().any(|capability| event.capabilities.has(*capability)))?;
    let message = format!("{does}, but {} has no {}", event.name, first.word());
    Some(ArgumentProblem::new(message).with_help("`crosier events` shows what each event allows"))
}

fn text(args: &[String], at: usize) -> &str {
    args.get(at).map_or("", String::as_str)
}
