//! Asks the person for permission.
//!
//! What would run is shown in full: nothing in it can control the terminal, and characters that a terminal would not
//! show are escaped.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::future::Future;
use std::io::{IsTerminal, Write as _};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use crosier_agent::agent::{Person, Question};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::agent::tui::Screen;
use crate::print::one_line;

/// The tool whose commands are each allowed separately.
const BASH: &str = "Bash";
/// How many lines of a text to write are shown; commands are shown in full.
const LINES: usize = 40;

/// A person who can be asked.
#[derive(Debug)]
pub(super) struct TerminalPerson {
    prompt_at: Prompt,
    /// Held while a question is asked, so that there is one at a time.
    turn: tokio::sync::Mutex<()>,
    always: Mutex<HashSet<String>>,
}

/// Where the person is asked.
#[derive(Debug)]
enum Prompt {
    /// On a terminal, line by line.
    Lines,
    /// On the full screen.
    Screen(Screen),
}

impl TerminalPerson {
    /// A person at the terminal, if there is one.
    pub(super) fn at_the_terminal() -> Option<Arc<Self>> {
        let is_there = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        is_there.then(|| Self::new(Prompt::Lines))
    }

    /// A person at the full screen.
    pub(super) fn on(screen: &Screen) -> Arc<Self> {
        Self::new(Prompt::Screen(screen.clone()))
    }

    fn new(prompt_at: Prompt) -> Arc<Self> {
        Arc::new(Self { prompt_at, turn: tokio::sync::Mutex::default(), always: Mutex::default() })
    }

    /// The standing answer, if the person said "always". (When a hook wants to ask, the person is asked every time.)
    pub(super) fn says(&self, tool: &str, input: &str) -> Option<bool> {
        let always = self.always.lock().unwrap_or_else(PoisonError::into_inner);
        always.contains(&sort(tool, input)).then_some(true)
    }
}

impl Person for TerminalPerson {
    fn allows<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            let mut text = shown(question);
            let always = if question.tool == BASH { "this command" } else { &one_line(&question.tool) };
            loop {
                let prompt = format!("{text}Allow it? [y]es, [n]o, [a]lways {always}: ");
                let answer = match &self.prompt_at {
                    Prompt::Lines => ask(prompt).await,
                    Prompt::Screen(screen) => screen.ask(prompt).await.ok().map(String::from),
                };
                match answer.as_deref().map(str::trim) {
                    Some("y" | "Y" | "yes") => return true,
                    Some("a" | "A" | "always") => {
                        let mut all = self.always.lock().unwrap_or_else(PoisonError::into_inner);
                        all.insert(sort(&question.tool, &question.input));
                        return true;
                    }
                    Some("n" | "N" | "no") | None => return false,
                    Some(_) => text = String::new(),
                }
            }
        })
    }
}

/// What "always" applies to: for a command, that command only; otherwise the whole tool.
fn sort(tool: &str, input: &str) -> String {
    if tool == BASH { format!("{tool} {input}") } else { tool.to_owned() }
}

/// The text of the question.
fn shown(question: &Question) -> String {
    let input: Value = serde_json::from_str(&question.input).unwrap_or_default();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "\n{} wants to run {}: {}",
        one_line(&question.agent_id),
        one_line(&question.tool),
        one_line(&question.why)
    );
    match (&question.tool[..], input.as_object()) {
        (BASH, Some(entries)) => {
            for (key, value) in entries {
                lines(&mut text, key, value, usize::MAX);
            }
        }
        (_, Some(entries)) => {
            for (key, value) in entries {
                lines(&mut text, key, value, LINES);
            }
        }
        (_, None) => lines(&mut text, "input", &Value::from(&*question.input), LINES),
    }
    text
}

fn lines(text: &mut String, key: &str, value: &Value, most: usize) {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (count, key) = (value.split('\n').count(), one_line(key));
    if count == 1 {
        let _ = writeln!(text, "  {key}: {}", one_line(&value));
        return;
    }
    let _ = writeln!(text, "  {key}:");
    for line in value.split('\n').take(most) {
        let _ = writeln!(text, "    {}", one_line(line));
    }
    if count > most {
        let _ = writeln!(text, "    … {} more lines", count - most);
    }
}

/// Reads a line from the person; `None` at the end of input. The reading thread is not joined: a read cannot be
/// interrupted, and the process may end meanwhile.
async fn ask(prompt: String) -> Option<String> {
    let (told, answer) = oneshot::channel();
    let read = move || {
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(prompt.as_bytes()).and_then(|()| stderr.flush());
        drop(stderr);
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line).ok().filter(|&length| length > 0);
        let _ = told.send(read.map(|_| line));
    };
    std::thread::Builder::new().spawn(read).ok()?;
    answer.await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(tool: &str, input: &str) -> Question {
        let (agent_id, why) = ("main".to_owned(), "it needs permission".to_owned());
        Question { agent_id, tool: tool.to_owned(), input: input.to_owned(), why }
    }

    #[test]
    fn nothing_is_hidden_and_nothing_steers_the_terminal() {
        let input = r#"{"command": "ls\u001b[2K\rrm -rf / \u202e #\u200b"}"#;
        let text = shown(&question("Bash", input));
        assert!(text.contains(r"command: ls\u{1b}[2K\u{d}rm -rf / \u{202e} #\u{200b}"), "{text}");
        assert!(!text.contains(['\u{1b}', '\r', '\u{202e}', '\u{200b}']));
        let text = shown(&question("evil\u{7}", "no json \u{1b}"));
        assert!(text.contains(r"evil\u{7}") && text.contains(r"no json \u{1b}"), "{text}");
    }

    #[test]
    fn a_command_is_shown_whole_and_a_file_is_not() {
        let many = "x\n".repeat(100);
        let input = serde_json::json!({"command": many, "content": many}).to_string();
        assert_eq!(shown(&question("Bash", &input)).matches("    x\n").count(), 200);
        let text = shown(&question("Write", &input));
        assert!(text.contains("… 61 more lines"), "{text}");
    }

    #[test]
    fn always_is_about_one_command_or_one_tool() {
        assert_ne!(sort("Bash", "1"), sort("Bash", "2"));
        assert_eq!(sort("Write", "1"), sort("Write", "2"));
    }
}
