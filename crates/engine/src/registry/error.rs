//! Why a hook cannot be registered, enabled or disabled.

/// What is wrong with a registration. Each message says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The matcher cannot be compiled.
    #[error("{detail}")]
    Matcher {
        /// What is wrong with it.
        detail: String,
    },
    /// The event has no field that a matcher could run on.
    #[error("{event} has no field for a matcher; leave the matcher `{matcher}` out, or write `*`")]
    NoMatcherField {
        /// The event.
        event: &'static str,
        /// The matcher.
        matcher: String,
    },
    /// Two hooks of one scope have the same name.
    #[error("a hook named `{name}` is already registered; names are unique, so choose another one")]
    DuplicateName {
        /// The name as shown.
        name: String,
    },
    /// The limit of hooks per event and scope is reached.
    #[error(
        "{event} has {limit} hooks already, which is the limit; raise max_hooks_per_point, or merge some"
    )]
    TooManyHooks {
        /// The event.
        event: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A hook of a scope cannot be a system hook.
    #[error("the hook `{name}` of scope `{scope}` cannot be `system`; only base hooks can")]
    SystemInScope {
        /// The hook.
        name: String,
        /// The scope.
        scope: String,
    },
    /// The event is not in this engine's catalog.
    #[error("the event `{event}` belongs to another engine; add its row to this one's builder")]
    ForeignEvent {
        /// The event.
        event: String,
    },
    /// A background hook or an observer cannot be a guard.
    #[error("the hook `{name}` is a guard and cannot decide with `{mode}`; leave one of the two out")]
    ModeCannotGuard {
        /// The hook.
        name: String,
        /// The key of its mode.
        mode: &'static str,
    },
    /// A managed hook is always a guard.
    #[error("the hook `{name}` is managed, and managed hooks are guards; leave `guard: false` out")]
    ManagedNotGuard {
        /// The hook.
        name: String,
    },
    /// An inline callback has a timeout, but cannot be stopped.
    #[error(
        "the hook `{name}` has a timeout, but an inline callback cannot be stopped; \
         use `blocking_callback` or `async_callback`, or leave the timeout out"
    )]
    InlineTimeout {
        /// The hook.
        name: String,
    },
    /// The timeout is zero.
    #[error("the timeout of `{name}` is 0; every hook needs some time")]
    ZeroTimeout {
        /// The hook.
        name: String,
    },
    /// The host's own event row is wrong.
    #[error("{detail}")]
    InvalidRow {
        /// What is wrong with it.
        detail: String,
    },
}

/// Why a hook cannot be enabled or disabled by name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SwitchError {
    /// No hook has this name.
    #[error("no hook is named `{name}`{}", .nearest.as_ref().map(|near| format!(", did you mean `{near}`?")).unwrap_or_default())]
    Unknown {
        /// The name.
        name: String,
        /// The most similar name that exists.
        nearest: Option<String>,
    },
    /// A managed hook cannot be disabled: only the administrator can change it.
    #[error(
        "the hook `{name}` is managed and cannot be disabled; the administrator of this machine can change it"
    )]
    Managed {
        /// The name.
        name: String,
    },
    /// A system hook cannot be disabled.
    #[error("the hook `{name}` is a system hook and cannot be disabled")]
    System {
        /// The name.
        name: String,
    },
}
