//! Replies that several agents share: most of them take those of Claude Code, or something close.

use crate::table::AnswerPart::{Key, Status, Stderr};
use crate::table::AnswerValue::{Event, Input, Is, Text, Word};
use crate::table::{AnswerPart, Delivery, Effect, EffectSupport};

/// The event's name, which accompanies every reply that is specific to an event.
pub(super) const EVENT: AnswerPart = Key("hookSpecificOutput.hookEventName", Event);
/// `continue: false`, with the reason.
pub(super) const STOP: [AnswerPart; 2] = [Key("continue", Is(false)), Key("stopReason", Text)];

/// A tool does not run.
pub(super) const DENY: Delivery = Delivery::Send(&[
    EVENT,
    Key("hookSpecificOutput.permissionDecision", Word("deny")),
    Key("hookSpecificOutput.permissionDecisionReason", Text),
]);
/// A person is asked.
pub(super) const ASK: Delivery = Delivery::Send(&[
    EVENT,
    Key("hookSpecificOutput.permissionDecision", Word("ask")),
    Key("hookSpecificOutput.permissionDecisionReason", Text),
]);
/// A tool runs without a question.
pub(super) const ALLOW: Delivery =
    Delivery::Send(&[EVENT, Key("hookSpecificOutput.permissionDecision", Word("allow"))]);
/// A tool runs with another input.
pub(super) const REWRITE: Delivery = Delivery::Send(&[EVENT, Key("hookSpecificOutput.updatedInput", Input)]);
/// Text for the model.
pub(super) const CONTEXT: Delivery =
    Delivery::Send(&[EVENT, Key("hookSpecificOutput.additionalContext", Text)]);
/// Text for the person.
pub(super) const TELL: Delivery = Delivery::Send(&[Key("systemMessage", Text)]);
/// The agent stops.
pub(super) const HALT: Delivery = Delivery::Send(&STOP);
/// `decision: block`, with the reason.
pub(super) const BLOCK: Delivery = Delivery::Send(&[Key("decision", Word("block")), Key("reason", Text)]);
/// The same, with no other keys.
pub(super) const BLOCK_ALONE: Delivery =
    Delivery::SendAlone(&[Key("decision", Word("block")), Key("reason", Text)]);
/// Exit status 2, with the reason on stderr.
pub(super) const EXIT: Delivery = Delivery::Send(&[Status(2), Stderr(Text)]);
/// The agent stops, and the tool does not run: a halt alone lets it run.
pub(super) const HALT_AND_DENY: Delivery = Delivery::Send(&[
    Key("continue", Is(false)),
    Key("stopReason", Text),
    EVENT,
    Key("hookSpecificOutput.permissionDecision", Word("deny")),
    Key("hookSpecificOutput.permissionDecisionReason", Text),
]);

/// A request for permission is answered with no.
pub(super) const ANSWER_NO: Delivery = Delivery::Send(&[
    EVENT,
    Key("hookSpecificOutput.decision.behavior", Word("deny")),
    Key("hookSpecificOutput.decision.message", Text),
]);
/// A request for permission is answered with yes.
pub(super) const ANSWER_YES: Delivery =
    Delivery::Send(&[EVENT, Key("hookSpecificOutput.decision.behavior", Word("allow"))]);

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
    rewrite: Delivery::Substitute(Effect::Deny, "the reply cannot change the input"),
    permissions: Delivery::Dropped("the reply cannot change permissions"),
    halt: Delivery::Substitute(Effect::Deny, "the reply cannot stop the turn"),
    tell: TELL,
    ..EffectSupport::NOTHING
};
