//! The key of a service, which is never shown.

use std::fmt;

/// The key of a service. It is sent, and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, without surrounding white space, such as the line break of a file. `None` when nothing is left.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    pub(super) fn secret(&self) -> &str {
        &self.0
    }

    /// A text from outside with the key removed, in case the text repeats it.
    pub(super) fn hide_in(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_trimmed_and_never_shown() {
        assert_eq!(Key::new(" \n"), None);
        let key = Key::new(" sk-secret\n").unwrap();
        assert_eq!(key.secret(), "sk-secret");
        assert_eq!(format!("{key:?}"), "Key(…)");
        assert_eq!(key.hide_in("bad key sk-secret!"), "bad key [key]!");
    }
}
