//! The policy in force for an event.

use crosier_policy::{Notices, Policy as Found, Request};

use crate::command::fire::background;
use crate::print;
use crate::setup::Hooks;

/// What judges an event.
#[derive(Debug)]
pub(super) enum Policy {
    /// These hooks.
    Loaded(Box<Hooks>, Notices),
    /// Nothing: there is no configuration that counts.
    None(Notices),
    /// Nothing can be judged, for this reason.
    Closed(String),
}

/// Loads the policy.
pub(super) fn in_force(request: &Request) -> Policy {
    match crosier_policy::in_force(request) {
        Found::Loaded(mut loaded) => {
            let notices = std::mem::take(&mut loaded.notices);
            let launch = background::launcher(request);
            match Hooks::of(*loaded, request, |builder| builder.launcher(launch)) {
                Ok(hooks) => Policy::Loaded(Box::new(hooks), notices),
                Err(failed) => Policy::Closed(print::one_line(&failed.message)),
            }
        }
        Found::Closed(closed) => Policy::Closed(print::one_line(&closed.why)),
        Found::None(notices) => Policy::None(notices),
        _ => Policy::Closed("this program does not know what is in force".to_owned()),
    }
}
