//! The types of an agent's table.

use crate::read::Call;
use crosier_protocol::Json;

/// One agent and its hook protocol.
#[derive(Debug)]
#[non_exhaustive]
pub struct Agent {
    /// The word on the command line.
    pub name: &'static str,
    /// The name that people use.
    pub title: &'static str,
    /// Fields that only its events have: a payload without an agent's name is recognised by them.
    pub marker_fields: &'static [&'static str],
    /// How this table was verified.
    pub verification: Verification,
    /// Its events.
    pub events: &'static [AgentEvent],
    /// Where the event's name is in what it sends; the first that exists counts.
    pub event_paths: &'static [&'static str],
    /// Fields of every event whose name or position differs from Crosier's vocabulary.
    pub fields: &'static [FieldMapping],
    /// Its tools.
    pub tools: &'static [Tool],
    /// How tools of MCP servers are named.
    pub mcp: Mcp,
    /// Where its version is; empty when it does not send one.
    pub version_path: &'static str,
    /// Where it names the project folder; the first that exists counts.
    pub project: &'static [FolderSource],
    /// Where the text for the model is in the response of a tool; the first that exists counts.
    pub text_paths: &'static [&'static str],
    /// How a new output takes the shape of the old one.
    pub output: OutputShape,
    /// What to print on stdout when there is nothing to say.
    pub nothing: &'static str,
    /// How often in a row it lets a hook resume it; `None` when it has no limit of its own.
    pub resumes: Option<u32>,
    /// How long it waits for a hook.
    pub timeout: Timeout,
    /// For its page in the documentation.
    pub page: Page,
}

/// How a table was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// Seen in the real program, of this version.
    Run(&'static str),
    /// From the sources or the schemas of its vendor; not run.
    Source,
    /// From documentation and reports; not run.
    Documentation,
}

/// One event of an agent.
#[derive(Debug)]
#[non_exhaustive]
pub struct AgentEvent {
    /// The agent's name for it, then other spellings, including the one in the payload.
    pub agent_names: &'static [&'static str],
    /// Its name in Crosier's vocabulary.
    pub event: &'static str,
    /// The entry applies only to payloads that have something at this path.
    pub when: Option<&'static str>,
    /// A payload whose text at this path is empty repeats an earlier one: it gets no decision.
    pub repeat_if_empty: Option<&'static str>,
    /// Fields with another name or position.
    pub fields: &'static [FieldMapping],
    /// Fields that are derived from others.
    pub derived: &'static [(&'static str, Derive)],
    /// How to send back a rewrite of anything other than a tool's input or output.
    pub restore: Option<Restore>,
    /// Which effects it supports, and how.
    pub effects: EffectSupport,
    /// Whether an installer should ask for it.
    pub install: bool,
}

impl AgentEvent {
    /// An event with these names in the agent, and this name in Crosier.
    #[must_use]
    pub const fn new(names: &'static [&'static str], event: &'static str, effects: EffectSupport) -> Self {
        Self {
            agent_names: names,
            event,
            when: None,
            repeat_if_empty: None,
            fields: &[],
            derived: &[],
            restore: None,
            effects,
            install: true,
        }
    }

    /// Only for payloads that have something at this path.
    #[must_use]
    pub const fn when(mut self, path: &'static str) -> Self {
        self.when = Some(path);
        self
    }

    /// Ignores payloads whose text at this path is empty.
    #[must_use]
    pub const fn repeat_if_empty(mut self, path: &'static str) -> Self {
        self.repeat_if_empty = Some(path);
        self
    }

    /// Sets the fields with another name or position.
    #[must_use]
    pub const fn fields(mut self, fields: &'static [FieldMapping]) -> Self {
        self.fields = fields;
        self
    }

    /// Sets the fields that are derived from others.
    #[must_use]
    pub const fn derived(mut self, derived: &'static [(&'static str, Derive)]) -> Self {
        self.derived = derived;
        self
    }

    /// Sets how a rewrite is sent back.
    #[must_use]
    pub const fn restore(mut self, restore: Restore) -> Self {
        self.restore = Some(restore);
        self
    }

    /// Installers do not ask for it.
    #[must_use]
    pub const fn not_installed(mut self) -> Self {
        self.install = false;
        self
    }

    /// Its name in the agent.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.agent_names.first().copied().unwrap_or_default()
    }
}

/// Derives a field from what was sent.
pub type Derive = fn(&[(String, Json)]) -> Option<Json>;

/// Turns a rewritten field into the form that the agent takes.
pub type Restore = fn(&Call, &Json) -> Result<Json, String>;

/// Where a field comes from, and its name in Crosier.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FieldMapping {
    /// Where the agent has it, with dots between names.
    pub from: &'static str,
    /// Its name in Crosier's vocabulary.
    pub to: &'static str,
    /// Values that the agent spells differently.
    pub values: &'static [(&'static str, &'static str)],
}

impl FieldMapping {
    /// The same value under another name.
    #[must_use]
    pub const fn new(from: &'static str, to: &'static str) -> Self {
        Self { from, to, values: &[] }
    }

    /// Values of the agent, and Crosier's words for them.
    #[must_use]
    pub const fn values(mut self, values: &'static [(&'static str, &'static str)]) -> Self {
        self.values = values;
        self
    }
}

/// One tool.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Tool {
    /// The agent's name for it.
    pub agent_name: &'static str,
    /// Its name in Crosier's vocabulary.
    pub name: &'static str,
    /// Further names that a matcher may use for it.
    pub also: &'static [&'static str],
    /// Fields of its input: the agent's name, and Crosier's.
    pub fields: &'static [(&'static str, &'static str)],
    /// How its calls are split into parts.
    pub parts: Parts,
    /// The field of the input without which it is another kind of tool, which keeps its own name.
    pub when: Option<&'static str>,
}

impl Tool {
    /// A tool whose input fields have the same names in the agent and in Crosier.
    #[must_use]
    pub const fn new(agent_name: &'static str, name: &'static str) -> Self {
        Self { agent_name, name, also: &[], fields: &[], parts: Parts::One, when: None }
    }

    /// Sets the fields that have another name.
    #[must_use]
    pub const fn fields(mut self, fields: &'static [(&'static str, &'static str)]) -> Self {
        self.fields = fields;
        self
    }

    /// Adds names that a matcher may use.
    #[must_use]
    pub const fn also(mut self, also: &'static [&'static str]) -> Self {
        self.also = also;
        self
    }

    /// Sets how its calls are split into parts.
    #[must_use]
    pub const fn parts(mut self, parts: Parts) -> Self {
        self.parts = parts;
        self
    }

    /// Restricts it to calls whose input has this field.
    #[must_use]
    pub const fn when(mut self, field: &'static str) -> Self {
        self.when = Some(field);
        self
    }
}

/// How a tool call is split into parts, each of which hooks judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parts {
    /// Not split.
    One,
    /// Each value in the agent's `list` becomes one part's `field`. A value that is an object has it under `inside`.
    Each {
        /// The field with the list.
        list: &'static str,
        /// The field inside a value that is an object.
        inside: &'static str,
        /// The field of one part.
        field: &'static str,
    },
    /// A patch in this field: one part per file, as Write and Edit.
    Patch(&'static str),
    /// A command line in this field, in which the agent applies patches itself: one part for the command, and one per
    /// file of a patch in it.
    Shell(&'static str),
}

/// How tools of MCP servers are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mcp {
    /// `mcp__server__tool`, as in Crosier.
    Same,
    /// By two fields of the payload: the server, the tool.
    Fields(&'static str, &'static str),
    /// This prefix, then the server, then this separator, then the tool.
    Marked(&'static str, &'static str),
}

/// A place that names a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FolderSource {
    /// An environment variable.
    Variable(&'static str),
    /// A field of the payload; the first value, if it is a list.
    Field(&'static str),
}

/// How a new output is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputShape {
    /// As text.
    Text,
    /// In the shape of the tool's own response; for these tools the text goes here.
    Own(&'static [(&'static str, &'static str)]),
}

/// How long an agent waits for a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeout {
    /// The unit in its configuration.
    pub unit: TimeUnit,
    /// The default, in seconds.
    pub default_s: u32,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// It cannot be configured.
    Fixed,
}

/// What the agent's page in the documentation has besides the tables.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Page {
    /// The file that calls Crosier.
    pub file: &'static str,
    /// What that file contains.
    pub entry: &'static str,
    /// How the agent treats a hook that fails.
    pub on_failure: &'static str,
    /// Caveats to know before relying on it.
    pub caveats: &'static [&'static str],
}

/// One effect of hooks, as agents see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// The action must not happen.
    Deny,
    /// A person decides.
    Ask,
    /// The action happens without asking.
    Allow,
    /// The action happens with another input.
    Rewrite,
    /// Text for the model.
    Context,
    /// Another output replaces the tool's.
    Replace,
    /// The output is hidden.
    Hide,
    /// The agent continues although it was about to stop.
    Resume,
    /// The agent stops.
    Halt,
    /// Permission updates.
    Permissions,
    /// Text for the person.
    Tell,
}

impl Effect {
    /// All, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        Self::Deny,
        Self::Ask,
        Self::Allow,
        Self::Rewrite,
        Self::Context,
        Self::Replace,
        Self::Hide,
        Self::Resume,
        Self::Halt,
        Self::Permissions,
        Self::Tell,
    ];

    /// The word for it in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Rewrite => "rewrite",
            Self::Context => "context",
            Self::Replace => "replace output",
            Self::Hide => "hide output",
            Self::Resume => "resume",
            Self::Halt => "halt",
            Self::Permissions => "permissions",
            Self::Tell => "tell the person",
        }
    }
}

/// How each effect is expressed at one event.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the fields are the effects")]
#[non_exhaustive]
pub struct EffectSupport {
    pub deny: Delivery,
    pub ask: Delivery,
    pub allow: Delivery,
    pub rewrite: Delivery,
    /// How a rewrite without an allow is expressed, if that differs.
    pub rewrite_undecided: Option<Delivery>,
    pub context: Delivery,
    pub replace: Delivery,
    pub hide: Delivery,
    pub resume: Delivery,
    pub halt: Delivery,
    pub permissions: Delivery,
    pub tell: Delivery,
}

impl EffectSupport {
    /// No effect can be expressed.
    pub const NOTHING: Self = Self {
        deny: Delivery::Inapplicable,
        ask: Delivery::Inapplicable,
        allow: Delivery::Inapplicable,
        rewrite: Delivery::Inapplicable,
        rewrite_undecided: None,
        context: Delivery::Deferred,
        replace: Delivery::Inapplicable,
        hide: Delivery::Inapplicable,
        resume: Delivery::Inapplicable,
        halt: Delivery::Dropped("the event cannot stop the agent"),
        permissions: Delivery::Inapplicable,
        tell: Delivery::Dropped("the agent does not show it"),
    };

    /// How this effect is expressed.
    #[must_use]
    pub const fn delivery(&self, effect: Effect) -> Delivery {
        match effect {
            Effect::Deny => self.deny,
            Effect::Ask => self.ask,
            Effect::Allow => self.allow,
            Effect::Rewrite => self.rewrite,
            Effect::Context => self.context,
            Effect::Replace => self.replace,
            Effect::Hide => self.hide,
            Effect::Resume => self.resume,
            Effect::Halt => self.halt,
            Effect::Permissions => self.permissions,
            Effect::Tell => self.tell,
        }
    }
}

/// How one effect is expressed at one event.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Delivery {
    /// Hooks of this event cannot have the effect.
    Inapplicable,
    /// With these pieces.
    Send(&'static [AnswerPart]),
    /// With these pieces, which must be alone in the answer: context is added to their text.
    SendAlone(&'static [AnswerPart]),
    /// By printing nothing; with the reason.
    Silence(&'static str),
    /// Another effect takes its place; with the reason.
    Substitute(Effect, &'static str),
    /// The text waits for the session's next event that takes it.
    Deferred,
    /// Not at all: it is only logged; with the reason.
    Dropped(&'static str),
}

/// One piece of an answer.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum AnswerPart {
    /// A member of the JSON object on stdout, with dots between names.
    Key(&'static str, AnswerValue),
    /// Plain text on stdout instead of JSON.
    Stdout(AnswerValue),
    /// Text on stderr.
    Stderr(AnswerValue),
    /// The exit status.
    Status(u8),
}

/// A value in an answer.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum AnswerValue {
    /// This word.
    Word(&'static str),
    /// True or false.
    Is(bool),
    /// The event's name, as the agent calls it.
    Event,
    /// The text of the effect: the reason, the context, the message.
    Text,
    /// The whole rewritten input, as the agent has it.
    Input,
    /// The new output.
    Output,
    /// The permission updates.
    Permissions,
    /// What this function makes of the call and the text; left out when it returns `None`.
    Made(fn(Option<&Call>, &str) -> Option<Json>),
}
