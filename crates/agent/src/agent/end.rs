//! How an agent ended.

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The model had nothing left to do.
    Done,
    /// A hook did not let the prompt through.
    Denied(String),
    /// A hook stopped the loop.
    Halted(String),
    /// A person stopped it.
    Interrupted,
    /// The model did not answer, or the transcript could not be written.
    Failed(String),
    /// It used up its turns.
    OutOfTurns,
}

impl End {
    /// The word for it in SessionEnd.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Denied(_) => "denied",
            Self::Halted(_) => "halted",
            Self::Interrupted => "interrupt",
            Self::Failed(_) => "error",
            Self::OutOfTurns => "max_turns",
        }
    }

    /// The reason, if there is one.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Denied(reason) | Self::Halted(reason) | Self::Failed(reason) => reason,
            Self::Done | Self::Interrupted | Self::OutOfTurns => "",
        }
    }
}
