//! Text that a call types into a shell which is running: `write_bash`, `send_keys`.

use crosier::Json;
use serde_json::Value;

use super::files::words;
use super::lowercase;
use crate::shell::{DoubtKind, Script};

/// Words of tools that are about something that runs commands.
const SHELLS: &[&str] = &[
    "bash",
    "sh",
    "zsh",
    "shell",
    "terminal",
    "term",
    "stdin",
    "tmux",
    "pty",
    "tty",
    "console",
    "process",
    "session",
    "powershell",
    "pwsh",
    "cmd",
    "keys",
    "iterm",
    "pane",
    "repl",
];
/// Words of tools that write into it.
const WRITES: &[&str] = &[
    "write", "send", "input", "type", "submit", "interact", "paste", "feed", "stdin", "enter", "keys",
    "press",
];
/// Their fields with the text.
const TEXTS: &[&str] = &[
    "input",
    "text",
    "keys",
    "chars",
    "characters",
    "data",
    "content",
    "keystrokes",
    "stdin",
    "string",
    "line",
    "key",
];

/// Whether a tool types into a shell.
pub(super) fn is_typing(tool: &str) -> bool {
    // Most calls are of `Bash`.
    const SHORTEST: usize = 7;
    if tool.len() < SHORTEST {
        return false;
    }
    let words = words(tool);
    let has = |of: &[&str]| words.iter().any(|word| of.contains(&word.as_str()));
    has(SHELLS) && has(WRITES)
}

/// What a call types, as lines of a shell. What runs there may be another program, so a text that is not a line of a
/// shell is not doubted.
pub(super) fn typed(fields: &[(String, Json)]) -> Vec<Script> {
    let texts = fields.iter().filter(|(name, _)| TEXTS.contains(&&*lowercase(name)));
    let lines = texts.filter_map(|(_, value)| match value.to_value()? {
        Value::String(text) => Some(text),
        Value::Array(items) => {
            let keys: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            let texts: Vec<&str> = keys.iter().map(|key| written(key)).collect();
            // Keys are typed one after the other, words are not.
            let between = if keys.iter().all(|key| key.chars().count() == 1 || written(key) != *key) {
                ""
            } else {
                " "
            };
            Some(texts.join(between))
        }
        _ => None,
    });
    lines.map(|line| script(&entered(&line))).collect()
}

/// What a key types.
fn written(key: &str) -> &str {
    match key {
        "Enter" | "enter" | "ENTER" | "Return" | "return" | "C-m" => "\n",
        "Space" | "space" | "SPACE" => " ",
        "Tab" | "Escape" => "",
        key => key,
    }
}

fn script(text: &str) -> Script {
    let mut script = Script::parse(text);
    script.doubts.retain(|doubt| doubt.kind != DoubtKind::Form);
    script
}

/// The text with line breaks for keys that end a line.
fn entered(text: &str) -> String {
    const KEYS: [&str; 12] = [
        "\\r\\n", "\\n", "\\r", "{enter}", "{Enter}", "{ENTER}", "{return}", "<enter>", "<Enter>", "<CR>",
        "^M", "\r",
    ];
    let text = KEYS.iter().fold(text.to_owned(), |text, key| text.replace(key, "\n"));
    let end = ["Enter", "C-m", "Return"].iter().find_map(|key| text.trim_end().strip_suffix(key));
    end.filter(|text| text.ends_with([' ', '\n'])).map_or(text.clone(), str::to_owned)
}
