//! Makes text from outside safe to show to people.

use std::path::Path;

/// Text without terminal control and bidirectional control characters; line ends and tabs stay.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if is_hidden(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// The same on one line.
#[must_use]
pub fn one_line(text: &str) -> String {
    plain(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// A path on one line.
#[must_use]
pub fn path(path: &Path) -> String {
    one_line(&path.display().to_string())
}

/// A path as a word of a command line that a person can copy.
#[must_use]
pub fn argument(path: &Path) -> String {
    let text = self::path(path);
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:=@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Whether a character is invisible, controls a terminal, or changes the direction of text.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_command_can_be_copied() {
        for (path, shown) in [("/a/b-c.d", "/a/b-c.d"), ("/a b", "'/a b'"), ("/it's; rm", "'/it'\\''s; rm'")]
        {
            assert_eq!(argument(Path::new(path)), shown);
        }
    }

    #[test]
    fn what_could_steer_a_terminal_is_spelled_out() {
        assert_eq!(plain("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\nc");
        assert_eq!(one_line("gpj.\u{202e}exe\nx"), "gpj.\\u{202e}exe\\nx");
        assert_eq!(plain("grün é 漢"), "grün é 漢");
    }
}
