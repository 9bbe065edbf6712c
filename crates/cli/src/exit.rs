//! Exit statuses and failures of commands.

/// The exit status, by its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Done,
    /// Failure: a failed test, a failed check.
    Failed,
    /// The command line is wrong.
    Usage,
    /// The input is invalid.
    BadInput,
    /// An internal error.
    Bug,
    /// The configuration is bad, or there is none.
    BadConfig,
    /// A signal ended it.
    Signal(u8),
    /// The exit status is the decision: the action must not happen.
    Denied,
}

impl Exit {
    /// The exit status with which a hook denies.
    pub(crate) const DENIED: u8 = 2;

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 64,
            Self::BadInput => 65,
            Self::Bug => 70,
            Self::BadConfig => 78,
            Self::Signal(number) => 128 + number,
            Self::Denied => Self::DENIED,
        }
    }
}

/// Whether `--exit-code` was given: then any error is a denial, including an unknown
/// argument.
pub(crate) fn is_strict() -> bool {
    std::env::args_os().any(|word| word == "--exit-code")
}

/// A failure, with a message.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) exit: Exit,
    pub(crate) message: String,
}

impl Failed {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }
}

pub(crate) type Result = std::result::Result<Exit, Failed>;
