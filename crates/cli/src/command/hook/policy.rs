//! The policy in force for an event.

use crosier_policy::{Notices, Policy as Found, Request, StateFolder};

use crate::command::fire::background;
use crate::print;
use crate::setup::Hooks;

/// What judges an event.
#[derive(Debug)]
pub(super) enum Policy {
    /// These hooks.
    Loaded(Box<Hooks>, Notices),
    /// Nothing: no configuration is in force.
    None(Notices),
    /// No decision can be made, for this reason; the hooks, if any, deny, and include those that are not at fault.
    Closed(String, Option<Box<Hooks>>),
}

/// The reason that an agent gets when no decision can be made.
pub(super) fn reason(why: &str) -> String {
    format!("crosier cannot decide: {why}")
}

/// Loads the policy.
pub(super) fn in_force(request: &Request, state: &StateFolder) -> Policy {
    match crosier_policy::in_force_in(request, state) {
        Found::Loaded(mut loaded) => {
            let notices = std::mem::take(&mut loaded.notices);
            let launch = background::launcher(request);
            match Hooks::of(*loaded, request, |builder| builder.launcher(launch)) {
                Ok(hooks) => Policy::Loaded(Box::new(hooks), notices),
                Err(failed) => Policy::Closed(print::one_line(&failed.message), None),
            }
        }
        Found::Closed(mut closed) => {
            let why = print::one_line(&closed.why);
            if closed.remaining.is_none() {
                return Policy::Closed(why, None);
            }
            closed.why = reason(&why);
            let launch = background::launcher(request);
            let hooks = Hooks::closed(closed, request, |builder| builder.launcher(launch));
            Policy::Closed(why, hooks.ok().map(Box::new))
        }
        Found::None(notices) => Policy::None(notices),
        _ => Policy::Closed("this kind of policy is not supported".to_owned(), None),
    }
}
