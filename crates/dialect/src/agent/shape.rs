//! Replies that several agents share: most of them take those of Claude Code, or something close.

use crate::table::AnswerPart::{Key, Status, Stderr};
use crate::table::AnswerValue::{Event, Input, Is, Text, Word};
use crate::table::{AnswerPart, Effect, EffectSupport, Way};

/// The event's name, which accompanies every reply that is specific to an event.
pub(super) const EVENT: AnswerPart = Key("hookSpecificOutput.hookEventName", Event);
/// `continue: false`, with the reason.
pub(super) const STOP: [AnswerPart; 2] = [Key("continue", Is(false)), Key("stopReason", Text)];

/// A tool does not run.
pub(super) const DENY: Way = Way::Send(&[
    EVENT,
    Key("hookSpecificOutput.permissionDecision", Word("deny")),
    Key("hookSpecificOutput.permissionDecisionReason", Text),
]);
/// A person is asked.
pub(super) const ASK: Way = Way::Send(&[
    EVENT,
    Key("hookSpecificOutput.permissionDecision", Word("ask")),
    Key("hookSpecificOutput.permissionDecisionReason", Text),
]);
/// A tool runs without a question.
pub(super) const ALLOW: Way =
    Way::Send(&[EVENT, Key("hookSpecificOutput.permissionDecision", Word("allow"))]);
/// A tool runs with another input.
pub(super) const REWRITE: Way = Way::Send(&[EVENT, Key("hookSpecificOutput.updatedInput", Input)]);
/// Text for the model.
pub(super) const CONTEXT: Way = Way::Send(&[EVENT, Key("hookSpecificOutput.additionalContext", Text)]);
/// Text for the person.
pub(super) const TELL: Way = Way::Send(&[Key("systemMessage", Text)]);
/// The agent stops.
pub(super) const HALT: Way = Way::Send(&STOP);
/// `decision: block`, with the reason.
pub(super) const BLOCK: Way = Way::Send(&[Key("decision", Word("block")), Key("reason", Text)]);
/// The same, with no other keys.
pub(super) const BLOCK_ALONE: Way = Way::Alone(&[Key("decision", Word("block")), Key("reason", Text)]);
/// Exit status 2, with the reason on stderr.
pub(super) const EXIT: Way = Way::Send(&[Status(2), Stderr(Text)]);
/// The agent stops, and the tool does not run: a halt alone lets it run.
pub(super) const HALT_AND_DENY: Way = Way::Send(&[
    Key("continue", Is(false)),
    Key("stopReason", Text),
    EVENT,
    Key("hookSpecificOutput.permissionDecision", Word("deny")),
    Key("hookSpecificOutput.permissionDecisionReason", Text),
]);

/// A request for permission is answered with no.
pub(super) const ANSWER_NO: Way = Way::Send(&[
    EVENT,
    Key("hookSpecificOutput.decision.behavior", Word("deny")),
    Key("hookSpecificOutput.decision.message", Text),
]);
/// A request for permission is answered with yes.
pub(super) const ANSWER_YES: Way =
    Way::Send(&[EVENT, Key("hookSpecificOutput.decision.behavior", Word("allow"))]);

/// Every reply before a tool runs, for agents that take all of Claude Code's replies.
pub(super) const BEFORE_TOOL: EffectSupport = EffectSupport {
    deny: DENY,
    ask: ASK,
    allow: ALLOW,
    rewrite: REWRITE,
    context: CONTEXT,
    halt: HALT_AND_DENY,
    tell: TELL,
    ..EffectSupport::NOTHING
};
/// A request for permission that can be answered with yes or no, and nothing more.
pub(super) const YES_OR_NO: EffectSupport = EffectSupport {
    deny: ANSWER_NO,
    allow: ANSWER_YES,
    rewrite: Way::Becomes(Effect::Deny, "the reply cannot change the input"),
    permissions: Way::Lost("the reply cannot change permissions"),
    halt: Way::Becomes(Effect::Deny, "the reply cannot stop the turn"),
    tell: TELL,
    ..EffectSupport::NOTHING
};
