//! Commands that change the mode or owner of a folder with protected files. Removing its rights disables the files in it;
//! giving others write permission lets them replace these files.

use std::path::Path;

use super::protected::Protected;
use crate::guard::Ruling;
use crate::path::Resolver;
use crate::shell::{Command, Origin, Word};

impl Protected {
    /// The ruling about a change of the mode or owner of such a folder.
    pub(super) fn judge_modes(&self, command: &Command, folders: &[&Path]) -> Option<Ruling> {
        let words = command.arguments();
        let operands = || words.iter().filter(|word| !word.head().starts_with('-') || is_mode(word));
        let (is_harmless, skipped) = match command.name()? {
            "chmod" | "gchmod" => (operands().next().is_some_and(keeps_rights), 1),
            "chown" | "gchown" => (operands().next().is_some_and(is_own_name), 1),
            "chgrp" | "gchgrp" | "chattr" | "chflags" | "chcon" => (false, 1),
            "setfacl" => (false, 0),
            _ => return None,
        };
        if is_harmless || words.iter().any(|word| matches!(word.known(), Some("--help" | "--version"))) {
            return None;
        }
        let base_folders = self.base_folders(folders);
        let resolver = Resolver::default();
        for word in operands().skip(skipped) {
            let Some(text) = super::shell::known_path(word) else { continue };
            for places in base_folders.places(&text) {
                let file = resolver.resolve(places, &text);
                if self.is_holder(&file) || self.holds_own(&text, &file).is_some() {
                    return Some(Ruling::Deny(format!(
                        "`{}` changes who may use `{text}`, which holds the hook configuration or what calls Crosier; \
                         nobody does that but the person",
                        command.show()
                    )));
                }
            }
        }
        None
    }
}

/// Whether a command changes modes or owners. Some of its modes look like options: `chmod -x`.
pub(super) fn is_change(command: &Command) -> bool {
    let name = command.name().unwrap_or_default();
    matches!(
        name.strip_prefix('g').unwrap_or(name),
        "chmod" | "chown" | "chgrp" | "chattr" | "chflags" | "chcon" | "setfacl"
    )
}

/// `-x`, `-rwx`: a mode, and no option.
fn is_mode(word: &Word) -> bool {
    word.head()
        .strip_prefix('-')
        .is_some_and(|mode| !mode.is_empty() && mode.bytes().all(|letter| b"rwxXst".contains(&letter)))
}

/// Whether a mode leaves the owner of a folder all rights, and lets nobody else write.
fn keeps_rights(word: &Word) -> bool {
    let Some(mode) = word.known() else { return false };
    if mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte)) {
        let digits = &mode.as_bytes()[mode.len().saturating_sub(3)..];
        return matches!(digits, [b'7', group, others] if (group - b'0') & 2 == 0 && (others - b'0') & 2 == 0);
    }
    mode.split(',').all(|part| {
        let Some(place) = part.find(['+', '-', '=']) else { return false };
        let (who, rights) = (&part[..place], &part[place + 1..]);
        let writes = rights.contains(['w', 'o', 'u', 'g']);
        match part.as_bytes()[place] {
            // Without a name (`+w`), the umask of the user applies.
            b'+' => !writes || who.is_empty() || who == "u",
            b'-' => !who.is_empty() && !who.contains(['u', 'a']),
            _ => !writes && !who.is_empty() && !who.contains(['u', 'a']),
        }
    })
}

/// `$USER`, `$(whoami)`, `$(id -u)`: what is the person's already.
fn is_own_name(word: &Word) -> bool {
    const NAMES: [&str; 4] = ["USER", "LOGNAME", "UID", "GID"];
    let mut unknowns = word.unknowns().peekable();
    unknowns.peek().is_some()
        && unknowns.all(|unknown| match &unknown.from {
            Origin::Variable(name) => NAMES.contains(&&**name),
            Origin::Output(_) => true,
            _ => false,
        })
}
