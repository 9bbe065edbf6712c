//! The types of a row of the event table.

use std::fmt;
use std::ops::{BitOr, Deref};
use std::sync::Arc;

/// One effect that a hook can have on an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
#[non_exhaustive]
pub enum Capability {
    /// Stop what is about to happen.
    Deny = 1,
    /// Have a person decide.
    Ask = 1 << 1,
    /// Let it happen without asking a person.
    Allow = 1 << 2,
    /// Replace the row's rewritable field.
    Rewrite = 1 << 3,
    /// Add text to the next model call.
    Context = 1 << 4,
    /// Add text to the tool result, or a message after it.
    Inject = 1 << 5,
    /// Hide the output.
    Suppress = 1 << 6,
    /// Keep the loop going when it is about to stop.
    Resume = 1 << 7,
    /// Deny, and stop the whole loop, in one answer.
    Interrupt = 1 << 8,
    /// Hand permission updates to the host.
    Permissions = 1 << 9,
}

impl Capability {
    /// Every capability, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Deny,
        Self::Ask,
        Self::Allow,
        Self::Rewrite,
        Self::Context,
        Self::Inject,
        Self::Suppress,
        Self::Resume,
        Self::Interrupt,
        Self::Permissions,
    ];

    /// Its name, as in `ignored` and in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Rewrite => "rewrite",
            Self::Context => "context",
            Self::Inject => "inject",
            Self::Suppress => "suppress",
            Self::Resume => "resume",
            Self::Interrupt => "interrupt",
            Self::Permissions => "permissions",
        }
    }
}

/// The set of effects that an event allows. Halting the host's loop is allowed everywhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Capabilities(u16);

impl Capabilities {
    /// No effect: hooks can only observe the event.
    pub const NONE: Self = Self(0);

    /// The set of these capabilities.
    #[must_use]
    pub const fn of(capabilities: &[Capability]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < capabilities.len() {
            bits |= capabilities[at] as u16;
            at += 1;
        }
        Self(bits)
    }

    /// Whether the set holds this capability.
    #[must_use]
    pub const fn has(self, capability: Capability) -> bool {
        self.0 & capability as u16 != 0
    }

    /// The capabilities in the set, in the order of the documentation.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.into_iter().filter(move |capability| self.has(*capability))
    }
}

impl BitOr for Capabilities {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Capability::word)).finish()
    }
}

/// What a payload field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// A string.
    Text,
    /// A string or null.
    TextOrNull,
    /// True or false.
    Bool,
    /// Any JSON value.
    Any,
}

impl FieldKind {
    /// Whether a field of this kind can hold this JSON value.
    #[must_use]
    pub fn fits(self, json: &str) -> bool {
        match self {
            Self::Text => json.starts_with('"'),
            Self::TextOrNull => json.starts_with('"') || json == "null",
            Self::Bool => json == "true" || json == "false",
            Self::Any => true,
        }
    }

    /// What the field must hold, for error messages.
    #[must_use]
    pub const fn wanted(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::TextOrNull => "text or null",
            Self::Bool => "true or false",
            Self::Any => "any JSON value",
        }
    }
}

/// One field of an event's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether the host must set it.
    pub required: bool,
    /// The value that is sent when the host leaves it out, as JSON.
    pub default: Option<&'static str>,
    /// The allowed values; empty when any value of the kind is allowed.
    pub values: &'static [&'static str],
    /// What it means, in one line.
    pub about: &'static str,
}

impl Field {
    /// A field that the host must set.
    #[must_use]
    pub const fn required(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Self { name, kind, required: true, default: None, values: &[], about }
    }

    /// A field that may be absent.
    #[must_use]
    pub const fn optional(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Self { name, kind, required: false, default: None, values: &[], about }
    }

    /// Lists the values that the field can have.
    #[must_use]
    pub const fn one_of(mut self, values: &'static [&'static str]) -> Self {
        self.values = values;
        self
    }

    /// Sets the value that an optional field has when it is absent, as JSON.
    #[must_use]
    pub const fn or(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }
}

/// Whether an event is fired before or after the action that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before: a rewrite changes what is about to be used (`updated_input`).
    Pre,
    /// After: a rewrite changes what came out (`updated_output`).
    Post,
}

/// One row of the event table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventRow {
    /// The row's index in its catalog; set by the catalog.
    pub(crate) index: usize,
    /// The name in JSON and in configuration.
    pub name: &'static str,
    /// A second name, such as `pre:tool`: a "point alias". A point is an event.
    pub alias: Option<&'static str>,
    /// When it fires, in one line.
    pub about: &'static str,
    /// The payload beyond the base fields.
    pub fields: &'static [Field],
    /// The name of the payload field that matchers run on; no matcher itself.
    pub matcher: Option<&'static str>,
    /// The effects that a hook may have.
    pub capabilities: Capabilities,
    /// The field that a rewrite replaces; set if the row has [`Capability::Rewrite`].
    pub rewrites: Option<(Phase, &'static str)>,
    /// A field whose value is always the text of another field: `(derived, source)`.
    pub derived: Option<(&'static str, &'static str)>,
    /// An example for the documentation.
    pub example: Option<Example>,
}

/// An example of an event, and of what a hook may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Example {
    /// The payload, as JSON.
    pub input: &'static str,
    /// A hook's reply that has an effect there, as JSON.
    pub reply: &'static str,
}

impl EventRow {
    /// The index of a row that is in no catalog.
    pub(crate) const UNPLACED: usize = usize::MAX;

    /// A row with a name, no payload, and no allowed effect.
    #[must_use]
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self {
            index: Self::UNPLACED,
            name,
            alias: None,
            about,
            fields: &[],
            matcher: None,
            capabilities: Capabilities::NONE,
            rewrites: None,
            derived: None,
            example: None,
        }
    }

    /// Sets the point alias.
    #[must_use]
    pub const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    /// Sets the payload fields.
    #[must_use]
    pub const fn fields(mut self, fields: &'static [Field]) -> Self {
        self.fields = fields;
        self
    }

    /// Sets the field that matchers run on.
    #[must_use]
    pub const fn matches_on(mut self, field: &'static str) -> Self {
        self.matcher = Some(field);
        self
    }

    /// Sets the effects that a hook may have.
    #[must_use]
    pub const fn allows(mut self, capabilities: &[Capability]) -> Self {
        self.capabilities = Capabilities::of(capabilities);
        self
    }

    /// Sets the field that a rewrite replaces; the row also needs [`Capability::Rewrite`].
    #[must_use]
    pub const fn rewrites(mut self, phase: Phase, field: &'static str) -> Self {
        self.rewrites = Some((phase, field));
        self
    }

    /// Makes the value of `derived` always the text of `source`.
    #[must_use]
    pub const fn derives(mut self, derived: &'static str, source: &'static str) -> Self {
        self.derived = Some((derived, source));
        self
    }

    /// Sets the example for the documentation: a payload, and a reply that has an effect, both as JSON.
    #[must_use]
    pub const fn example(mut self, input: &'static str, reply: &'static str) -> Self {
        self.example = Some(Example { input, reply });
        self
    }

    /// The row's index in its catalog.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The payload field with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The field that a rewrite in this phase replaces.
    #[must_use]
    pub fn rewritable(&self, phase: Phase) -> Option<&Field> {
        match self.rewrites {
            Some((its_phase, name)) if its_phase == phase => self.field(name),
            _ => None,
        }
    }
}

/// The kind of an event: a reference to its row, which is in the built-in table or defined by a host.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EventKind {
    /// A row of [`super::TABLE`], or that of a host's typed payload, which is in no catalog.
    Static(&'static EventRow),
    /// A row that a host added to a catalog.
    Shared(Arc<EventRow>),
}

impl PartialEq for EventKind {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && self.name == other.name
    }
}

impl Deref for EventKind {
    type Target = EventRow;
    fn deref(&self) -> &EventRow {
        match self {
            Self::Static(row) => row,
            Self::Shared(row) => row,
        }
    }
}
