//! What a hook answers.
//!
//! Input: what a hook wrote (`decode`) or how its process ended (`exit`). Output: one [`Reply`], or a
//! [`Failure`] when anything is ambiguous. The engine's `fold` module decides what a reply does to an event.

mod decode;
mod exit;
mod keys;
mod stderr;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use exit::{CommandExit, Output, answer_of};
pub use keys::REPLY_KEYS;

use crate::failure::Failure;
use crate::json::Json;
use crate::outcome::{Notice, NoticeKind};

/// A decision. A later variant is stricter than an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Let it happen without asking a person.
    Allow,
    /// Have a person decide.
    Ask,
    /// Do not let it happen.
    Deny,
}

impl Decision {
    /// The word on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A decision and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opinion {
    /// What the hook decided.
    pub decision: Decision,
    /// Why, in its own words.
    pub reason: Option<String>,
}

impl Opinion {
    /// A decision, with or without a reason.
    #[must_use]
    pub fn new(decision: Decision, reason: Option<String>) -> Self {
        Self { decision, reason }
    }
}

/// Where injected text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// At the end of the tool result, after a newline.
    ToolResult,
    /// A message of its own after the result.
    UserMessage,
}

impl Strategy {
    /// The word on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ToolResult => "tool_result",
            Self::UserMessage => "user_message",
        }
    }
}

/// One text to inject.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Injection {
    /// Where it goes.
    pub strategy: Strategy,
    /// The text.
    pub content: String,
}

impl Injection {
    /// A text, and where it goes.
    #[must_use]
    pub fn new(strategy: Strategy, content: impl Into<String>) -> Self {
        Self { strategy, content: content.into() }
    }
}

/// Which field a rewrite is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The rewritable field of a *pre* event.
    Input,
    /// The rewritable field of a *post* event.
    Output,
    /// A payload field by its name.
    Field(String),
}

/// One replaced value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rewrite {
    /// The field.
    pub target: Target,
    /// Its new value.
    pub value: Json,
}

impl Rewrite {
    /// A new value of this field.
    #[must_use]
    pub fn new(target: Target, value: impl Into<Json>) -> Self {
        Self { target, value: value.into() }
    }
}

/// Everything that a reply can contain.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Effects {
    /// The strictest decision in the reply.
    pub opinion: Option<Opinion>,
    /// `continue`: false halts the host's loop, true resumes it when it is about to stop.
    pub proceed: Option<bool>,
    /// Why the loop is to stop or to continue.
    pub stop_reason: Option<String>,
    /// Whether to hide the output.
    pub suppress: bool,
    /// Whether a denial also stops the loop.
    pub interrupt: bool,
    /// Text for the next model call.
    pub context: Vec<String>,
    /// Replaced values; a later one for the same field wins.
    pub rewrites: Vec<Rewrite>,
    /// Texts to inject.
    pub inject: Vec<Injection>,
    /// Permission updates for the host.
    pub permissions: Option<Json>,
    /// Things to log or to tell a person.
    pub notices: Vec<Notice>,
    /// Set when the hook wants to be called once more, with this deadline.
    pub again: Option<Duration>,
    /// Unknown keys, which have no effect.
    pub unknown: Vec<String>,
}

/// One hook's answer. The usual case, no opinion, allocates nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply(Option<Box<Effects>>);

impl Reply {
    /// No opinion.
    #[must_use]
    pub const fn none() -> Self {
        Self(None)
    }

    /// Do not let it happen.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::none().opinion(Decision::Deny, reason)
    }

    /// Have a person decide.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::none().opinion(Decision::Ask, reason)
    }

    /// Let it happen without asking a person.
    pub fn allow(reason: impl Into<String>) -> Self {
        Self::none().opinion(Decision::Allow, reason)
    }

    /// Stop the host's loop.
    pub fn halt(reason: impl Into<String>) -> Self {
        Self::none().with(|effects| {
            effects.proceed = Some(false);
            effects.stop_reason = Some(reason.into());
        })
    }

    /// Keep the loop going although it was about to stop.
    pub fn resume(reason: impl Into<String>) -> Self {
        Self::none().with(|effects| {
            effects.proceed = Some(true);
            effects.stop_reason = Some(reason.into());
        })
    }

    /// Call the hook once more, with this deadline (at most ten minutes), and use that answer.
    #[must_use]
    pub fn again(within: Duration) -> Self {
        Self::none().with(|effects| effects.again = Some(within.min(decode::MAX_AGAIN)))
    }

    /// Replaces the rewritable field of a *pre* event.
    #[must_use]
    pub fn rewrite_input(self, value: impl Into<Json>) -> Self {
        self.with(|effects| effects.rewrites.push(Rewrite::new(Target::Input, value)))
    }

    /// Replaces the rewritable field of a *post* event.
    #[must_use]
    pub fn rewrite_output(self, value: impl Into<Json>) -> Self {
        self.with(|effects| effects.rewrites.push(Rewrite::new(Target::Output, value)))
    }

    /// Adds text to the next model call.
    #[must_use]
    pub fn context(self, text: impl Into<String>) -> Self {
        self.with(|effects| effects.context.push(text.into()))
    }

    /// Adds text to the tool result, or a message after it.
    #[must_use]
    pub fn inject(self, strategy: Strategy, content: impl Into<String>) -> Self {
        self.with(|effects| effects.inject.push(Injection::new(strategy, content)))
    }

    /// Hides the output.
    #[must_use]
    pub fn suppress(self) -> Self {
        self.with(|effects| effects.suppress = true)
    }

    /// Stops the loop together with a denial.
    #[must_use]
    pub fn interrupt(self) -> Self {
        self.with(|effects| effects.interrupt = true)
    }

    /// Asks the host to log something at a level (`debug`, `info`, `warn`, `error`).
    #[must_use]
    pub fn log(self, level: &str, text: impl Into<String>) -> Self {
        self.notice(NoticeKind::Log, level, text.into())
    }

    /// Asks the host to tell a person something.
    #[must_use]
    pub fn notify(self, text: impl Into<String>) -> Self {
        self.notice(NoticeKind::Notify, "info", text.into())
    }

    fn notice(self, kind: NoticeKind, level: &str, text: String) -> Self {
        self.with(|effects| {
            effects.notices.push(Notice::new(kind, level, text));
        })
    }

    fn opinion(self, decision: Decision, reason: impl Into<String>) -> Self {
        self.with(|effects| effects.opinion = Some(Opinion { decision, reason: Some(reason.into()) }))
    }

    /// Changes the effects in place.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Effects)) -> Self {
        change(self.0.get_or_insert_default());
        self
    }

    /// What the reply asks for; `None` when it asks for nothing.
    #[must_use]
    pub fn effects(&self) -> Option<&Effects> {
        self.0.as_deref()
    }

    /// The effects of the reply, by value.
    #[must_use]
    pub fn into_effects(self) -> Option<Effects> {
        self.0.map(|effects| *effects)
    }

    /// Whether the reply denies.
    #[must_use]
    pub fn denies(&self) -> bool {
        self.effects()
            .and_then(|effects| effects.opinion.as_ref())
            .is_some_and(|opinion| opinion.decision == Decision::Deny)
    }

    /// The denial of this reply without its other effects; `None` when it does not deny.
    #[must_use]
    pub fn denial_only(self) -> Option<Self> {
        let opinion = self.into_effects()?.opinion?;
        (opinion.decision == Decision::Deny)
            .then(|| Self::none().with(|effects| effects.opinion = Some(opinion)))
    }

    /// Decodes what a hook wrote in reply to an event of this row.
    ///
    /// # Errors
    /// The failure `bad_output`, with a message that says what is wrong.
    pub fn decode(bytes: &[u8], row: &crate::event::EventRow) -> Result<Self, Failure> {
        decode::reply(bytes, row)
    }
}

/// The result of one run of a hook: a reply, a failure, or both.
///
/// A hook that denied and then failed has both: the denial counts, and the failure is reported. The type is two
/// pointers wide, so that it is passed in registers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// What the hook said.
    pub reply: Reply,
    /// How it failed.
    pub failure: Option<Box<Failure>>,
}

const _: () = assert!(size_of::<Answer>() == 2 * size_of::<usize>());

impl Answer {
    /// A hook that replied and then failed.
    #[must_use]
    pub fn failed(reply: Reply, failure: Failure) -> Self {
        Self { reply, failure: Some(Box::new(failure)) }
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self { reply, failure: None }
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self::failed(Reply::none(), failure)
    }
}

impl From<()> for Answer {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl From<Option<Reply>> for Answer {
    fn from(reply: Option<Reply>) -> Self {
        reply.unwrap_or_default().into()
    }
}

/// An error that is a [`Failure`] keeps its kind; any other error is the failure `error`.
impl<T: Into<Answer>, E: std::error::Error + 'static> From<Result<T, E>> for Answer {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(answer) => answer.into(),
            Err(error) => match (&error as &dyn std::error::Error).downcast_ref::<Failure>() {
                Some(failure) => failure.clone().into(),
                None => Failure::error(error.to_string()).into(),
            },
        }
    }
}
