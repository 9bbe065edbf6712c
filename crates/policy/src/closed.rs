//! A policy that cannot be relied on: every action is denied.

use crosier::config::Problems;
use crosier::{Answer, Builder, Engine, Hook, Layer, Reply};
use crosier_dialect::say::{DENIED_WHEN_CLOSED, TOLD_WHEN_CLOSED};

use crate::in_force::Loaded;
use crate::loader::catalog;

/// Whether the person is told at this event when the policy cannot be relied on.
#[must_use]
pub fn is_told_when_closed(event: &str) -> bool {
    TOLD_WHEN_CLOSED.contains(&event)
}

/// No decision can be relied on: actions are denied, the person is told, and other events get no opinion. The layers
/// that are not at fault still apply.
#[derive(Debug)]
#[non_exhaustive]
pub struct Closed {
    /// Why, and what to do, in one line that a person can copy.
    pub why: String,
    /// What is at fault.
    pub fault: Fault,
    /// The hooks of the layers that are not at fault, if there are any.
    pub remaining: Option<Box<Loaded>>,
}

/// What is at fault when a policy cannot be relied on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Fault {
    /// A configuration has errors.
    Configuration(Box<Problems>),
    /// A file of a layer, or the state folder, is not safe to use.
    Refused,
    /// The project has changed since it was trusted.
    Trust,
}

impl Closed {
    pub(crate) fn new(fault: Fault, why: impl Into<String>) -> Self {
        Self { why: why.into(), fault, remaining: None }
    }

    /// An engine that denies actions, with the hooks that are not at fault.
    pub fn builder(self) -> Builder {
        let mut builder = match self.remaining {
            Some(remaining) => remaining.builder(),
            None => Engine::builder().events(catalog()),
        };
        for name in DENIED_WHEN_CLOSED.iter().chain(&TOLD_WHEN_CLOSED) {
            let Some(kind) = builder.catalog().find(name) else { continue };
            let (why, denies) = (self.why.clone(), DENIED_WHEN_CLOSED.contains(name));
            // A denial ends the walk. The notice comes before all hooks. The denial comes after the hooks of the
            // managed and user layers and before those of projects, so that its reason is shown, not that of a
            // project's hook.
            let (layer, priority) = if denies { (Layer::User, i32::MAX) } else { (Layer::Managed, i32::MIN) };
            let hook = Hook::on_event(kind).named(format!("closed:{name}")).system().priority(priority);
            let hook = hook.callback(move |_| -> Answer {
                if denies {
                    Reply::deny(why.clone()).into()
                } else {
                    Reply::none().notify(why.clone()).into()
                }
            });
            builder = builder.hook(hook.in_layer(layer));
        }
        builder
    }
}
