//! One hook: its event and matcher, how it runs, and what it runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::EventKind;

use super::handler::Handler;
use super::layer::Layer;
use super::matcher::Matcher;
use super::sources::Sources;

/// What happens to the event when a hook fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnError {
    /// Continue, with a warning in the log.
    #[default]
    Log,
    /// Continue silently.
    Skip,
    /// Deny. If the event cannot be denied: suppress its output if possible, else halt. No later hook runs.
    Abort,
}

impl OnError {
    /// The word in configuration.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Skip => "skip",
            Self::Abort => "abort",
        }
    }
}

/// When a hook runs, relative to the event. Not the key `mode:` of configurations, which is [`Enforcement`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// By itself; the next hook sees what this one changed.
    #[default]
    Sequential,
    /// Together with its neighbours that are parallel too; it may not rewrite.
    Parallel,
    /// The event does not wait for it. Of its reply only the context is used, in a later outcome.
    Background,
    /// After the outcome is settled, even if it is a deny; it sees the outcome and has no effect.
    Observe,
}

impl Mode {
    /// The key in configuration; `None` for sequential hooks.
    #[must_use]
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Sequential => None,
            Self::Parallel => Some("parallel"),
            Self::Background => Some("background"),
            Self::Observe => Some("observe"),
        }
    }
}

/// Whether a hook's answer counts: the key `mode:` of configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Enforcement {
    /// It counts.
    #[default]
    Enforce,
    /// The hook runs, but has no effect; the outcome says what it would have decided.
    Warn,
    /// The hook does not run.
    Off,
}

impl Enforcement {
    /// The word in configuration.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Warn => "warn",
            Self::Off => "off",
        }
    }
}

/// The place in a file that a hook comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Origin {
    /// The file, as it was named.
    pub file: Arc<str>,
    /// Its line, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
    /// The hook's type in that file: `command`, `python`, `script`, `builtin` or `reply`.
    pub type_word: &'static str,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The priority of a hook that sets none.
pub const DEFAULT_PRIORITY: i32 = 100;
/// The default limit on a hook's running time.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// A configured reaction to an event, ready to be registered.
///
/// Made with [`Hook::on`](crate::Hook::on) or by the configuration.
#[derive(Debug, Clone)]
pub struct Hook {
    pub(crate) kind: EventKind,
    pub(crate) name: Option<Arc<str>>,
    /// An invalid matcher is reported when the hook is registered.
    pub(crate) matcher: Result<Matcher, String>,
    pub(crate) priority: i32,
    /// `None`: the engine's default timeout.
    pub(crate) timeout: Option<Duration>,
    /// `None`: the engine's default, which configurations set with `error_behavior`.
    pub(crate) on_error: Option<OnError>,
    pub(crate) mode: Mode,
    pub(crate) enforcement: Enforcement,
    /// `None`: system hooks and managed hooks are guards, others are not.
    pub(crate) guard: Option<bool>,
    pub(crate) layer: Layer,
    pub(crate) system: bool,
    pub(crate) enabled: bool,
    pub(crate) description: Option<Arc<str>>,
    pub(crate) origin: Option<Origin>,
    /// The record that its files are compared with.
    pub(crate) sources: Option<Arc<dyn Sources>>,
    pub(crate) handler: Handler,
}

/// A registered hook, with all defaults filled in. Plans consist of these.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Entry {
    /// The name as shown: `agent/name` in a scope.
    pub name: Arc<str>,
    /// The event.
    pub kind: EventKind,
    /// The layer whose configuration it comes from.
    pub layer: Layer,
    /// The scope; `None` for base hooks.
    pub scope: Option<Arc<str>>,
    /// Which events of the kind it wants.
    pub matcher: Matcher,
    /// Its place in the order; lower comes first.
    pub priority: i32,
    /// The limit on its running time.
    pub timeout: Duration,
    /// What happens when it fails.
    pub on_error: OnError,
    /// When it runs, relative to the event.
    pub mode: Mode,
    /// Whether its answer counts.
    pub enforcement: Enforcement,
    /// Whether it decides about the final input: it runs again if a later hook changed what it let through.
    pub guard: bool,
    /// Whether it can be neither overridden nor disabled.
    pub system: bool,
    /// Whether plans include it.
    pub enabled: bool,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// Where it is configured.
    pub origin: Option<Origin>,
    /// The record that its files are compared with, right before and right after it runs.
    pub sources: Option<Arc<dyn Sources>>,
    /// What it runs.
    pub handler: Handler,
    /// The order of declaration; unique in the process.
    pub(crate) sequence: u64,
    /// The name without the layer, if hooks of other layers had the same name.
    pub(super) shared_name: Option<Arc<str>>,
}

impl Entry {
    /// The name of its type: from its file, or from its handler.
    #[must_use]
    pub fn type_word(&self) -> &'static str {
        self.origin.as_ref().map_or_else(|| self.handler.word(), |origin| origin.type_word)
    }
}
