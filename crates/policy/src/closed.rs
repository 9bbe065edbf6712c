//! A policy that cannot be relied on: every action is denied.

use crosier::config::Problems;
use crosier::{Answer, Builder, Engine, Hook, Reply};

use crate::loader::catalog;

/// The events before an action, which are denied when the policy cannot be relied on.
const ACTS: [&str; 4] = ["PreToolUse", "PermissionRequest", "PreGitWrite", "PreAgentSpawn"];
/// The events at which the person is told.
const TELLS: [&str; 2] = ["UserPromptSubmit", "SessionStart"];

/// No decision can be made: actions are denied, the person is told, and other events get no opinion.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Closed {
    /// Why, and what to do, in one line that a person can copy.
    pub why: String,
    /// What is at fault.
    pub fault: Fault,
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
        Self { why: why.into(), fault }
    }

    /// An engine that answers in this way.
    pub fn builder(&self) -> Builder {
        let mut builder = Engine::builder().events(catalog());
        for name in ACTS.iter().chain(&TELLS) {
            let Some(kind) = builder.catalog().find(name) else { continue };
            let (why, acts) = (self.why.clone(), ACTS.contains(name));
            let hook = Hook::on_event(kind).named(format!("closed:{name}")).system();
            let hook = hook.callback(move |_| -> Answer {
                if acts { Reply::deny(why.clone()).into() } else { Reply::none().notify(why.clone()).into() }
            });
            builder = builder.hook(hook);
        }
        builder
    }
}
