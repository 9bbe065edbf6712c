//! Scripts for the desktop of macOS: those that only look at windows and programs, and those that act.

use super::fit::{CommandContext, squeezed};

/// Words of AppleScript that do something in the person's name.
const ACTS: [&str; 33] = [
    "keystroke",
    "key code",
    "key down",
    "key up",
    "click",
    "make new",
    "make login",
    "make ",
    "delete",
    "perform action",
    "activate",
    "quit",
    "open ",
    "shell script",
    "run script",
    "load script",
    "log out",
    "restart",
    "shut down",
    "to sleep",
    "launch",
    "select ",
    "login item",
    "password",
    "duplicate",
    "move ",
    "empty",
    "clipboard",
    "security",
    "close",
    "save",
    "display dialog",
    "start ",
];

impl CommandContext<'_> {
    /// Whether a script for System Events acts, and does not only look.
    pub(super) fn controls_desktop(&self) -> bool {
        let words = self.command.arguments();
        let mut text = squeezed(&words.iter().map(crate::shell::Word::show).collect::<Vec<_>>().join("\n"));
        if let Some(typed) = &self.command.stdin_text {
            text.push(' ');
            text.push_str(&squeezed(typed));
        }
        if !text.contains("system events") {
            return false;
        }
        // In JavaScript the calls have other names.
        let is_script = words.iter().any(|word| word.show().eq_ignore_ascii_case("javascript"));
        is_script
            || ACTS.iter().any(|act| text.contains(act))
            || text.split("set ").skip(1).any(|rest| !sets_variable(rest))
    }
}

/// Whether what follows `set` is a variable of the script: `out to …`, `end of out to …`.
fn sets_variable(rest: &str) -> bool {
    let Some((target, _)) = rest.split_once(" to ") else { return false };
    if target == "applescript's text item delimiters" {
        return true;
    }
    let name = target.strip_prefix("end of ").unwrap_or(target);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::sets_variable;

    #[test]
    fn variables_are_told_from_windows() {
        assert!(sets_variable("out to {}"));
        assert!(sets_variable("end of out to name of w"));
        assert!(sets_variable("applescript's text item delimiters to linefeed"));
        assert!(!sets_variable("position of window 1 to {0, 0}"));
    }
}
