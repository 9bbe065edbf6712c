//! The words that agents have in common: most of them take the replies of Claude Code, or nearly so.

use crate::table::Put::{Key, Status, Stderr};
use crate::table::Val::{Event, Input, Is, Text, Word};
use crate::table::{Put, Way};

/// The event's name, which stands beside every word for one event.
pub(super) const EVENT: Put = Key("hookSpecificOutput.hookEventName", Event);
/// `continue: false`, with the reason.
pub(super) const STOP: [Put; 2] = [Key("continue", Is(false)), Key("stopReason", Text)];

/// A tool does not run.
pub(super) const DENY: Way = Way::Says(&[
    EVENT,
    Key("hookSpecificOutput.permissionDecision", Word("deny")),
    Key("hookSpecificOutput.permissionDecisionReason", Text),
]);
/// A person is asked.
pub(super) const ASK: Way = Way::Says(&[
    EVENT,
    Key("hookSpecificOutput.permissionDecision", Word("ask")),
    Key("hookSpecificOutput.permissionDecisionReason", Text),
]);
/// A tool runs without a question.
pub(super) const ALLOW: Way =
    Way::Says(&[EVENT, Key("hookSpecificOutput.permissionDecision", Word("allow"))]);
/// A tool runs with another input.
pub(super) const REWRITE: Way = Way::Says(&[EVENT, Key("hookSpecificOutput.updatedInput", Input)]);
/// Text for the model.
pub(super) const CONTEXT: Way = Way::Says(&[EVENT, Key("hookSpecificOutput.additionalContext", Text)]);
/// Text for the person.
pub(super) const TELL: Way = Way::Says(&[Key("systemMessage", Text)]);
/// The agent stops.
pub(super) const HALT: Way = Way::Says(&STOP);
/// `decision: block`, with the reason.
pub(super) const BLOCK: Way = Way::Says(&[Key("decision", Word("block")), Key("reason", Text)]);
/// The same, and nothing beside it.
pub(super) const BLOCK_ALONE: Way = Way::Alone(&[Key("decision", Word("block")), Key("reason", Text)]);
/// Exit status 2, with the reason on stderr.
pub(super) const EXIT: Way = Way::Says(&[Status(2), Stderr(Text)]);
/// The agent stops, and the tool does not run: a halt alone lets it run.
pub(super) const HALT_AND_DENY: Way = Way::Says(&[
    Key("continue", Is(false)),
    Key("stopReason", Text),
    EVENT,
    Key("hookSpecificOutput.permissionDecision", Word("deny")),
    Key("hookSpecificOutput.permissionDecisionReason", Text),
]);
