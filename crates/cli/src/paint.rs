//! Colour for people: only on a terminal, and not when `NO_COLOR` is set.

use std::io::IsTerminal;

use crate::environment;

/// The meaning of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    Warning,
    Strong,
    Faint,
}

/// Whether a stream gets colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Colour,
    Plain,
}

impl Paint {
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        if environment::is_colourful(stream) { Self::Colour } else { Self::Plain }
    }

    pub(crate) fn stdout() -> Self {
        Self::of(&std::io::stdout())
    }

    pub(crate) fn tone(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            _ if self == Self::Plain || text.is_empty() => return text.to_owned(),
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Warning => "33",
            Tone::Strong => "1",
            Tone::Faint => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_as_it_is() {
        assert_eq!(Paint::Plain.tone(Tone::Bad, "no"), "no");
        assert_eq!(Paint::Colour.tone(Tone::Bad, ""), "");
        assert_eq!(Paint::Colour.tone(Tone::Bad, "no"), "\u{1b}[31mno\u{1b}[0m");
    }
}
