//! Asks Codex itself whether it runs its entries that call Crosier: `codex app-server` lists hooks, and which of them
//! the person trusted. This is more reliable than reading Codex's files, whose format may change.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use crosier_install::line::is_our_line;
use serde_json::{Value, json};

/// How long Codex may take to start and to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long it may take to end.
const END_WITHIN: Duration = Duration::from_secs(2);
/// The id of the request.
const ASKED: u64 = 2;

/// What Codex says about the entries that call Crosier.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CodexHooks {
    /// How many it has.
    pub(crate) entries: usize,
    /// How many of them it runs.
    pub(crate) active: usize,
}

/// Asks Codex about the hooks of a project.
///
/// # Errors
/// Why there is no answer.
pub(crate) fn ask(codex: &Path, project: &Path) -> Result<CodexHooks, String> {
    let mut child = Command::new(codex)
        .arg("app-server")
        .current_dir(project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("it cannot be started: {error}"))?;
    let said = converse(&mut child, project);
    end(&mut child);
    said
}

/// Codex ends when its input does, and closes its databases; if it does not end, it is killed.
fn end(child: &mut Child) {
    drop(child.stdin.take());
    let deadline = Instant::now() + END_WITHIN;
    while Instant::now() < deadline {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Whether Codex was started before with this folder. Otherwise it is not asked, because it would create files there.
pub(crate) fn was_started(folder: &Path) -> bool {
    folder.join("installation_id").is_file()
}

fn converse(child: &mut Child, project: &Path) -> Result<CodexHooks, String> {
    let (Some(stdin), Some(stdout)) = (child.stdin.as_mut(), child.stdout.take()) else {
        return Err("it has no pipes".to_owned());
    };
    let (tell, answers) = sync_channel(16);
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                break;
            }
        }
    });
    let client = json!({"name": "crosier", "title": "Crosier", "version": env!("CARGO_PKG_VERSION")});
    let mut say = |message: Value| writeln!(stdin, "{message}").map_err(|error| error.to_string());
    say(json!({"id": 1, "method": "initialize", "params": {"clientInfo": client}}))?;
    say(json!({"method": "initialized"}))?;
    say(json!({"id": ASKED, "method": "hooks/list", "params": {"cwds": [project]}}))?;
    answer(&answers).map(|answer| count(&answer))
}

/// Waits for the answer, ignoring other messages.
fn answer(lines: &Receiver<String>) -> Result<Value, String> {
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    loop {
        let line = match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("no answer within {} s", ANSWER_TIMEOUT.as_secs()));
            }
            Err(RecvTimeoutError::Disconnected) => return Err("it ended without an answer".to_owned()),
        };
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        if message.get("id") != Some(&json!(ASKED)) {
            continue;
        }
        return match message.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(format!("it does not support the request: {}", message["error"]["message"])),
        };
    }
}

fn count(answer: &Value) -> CodexHooks {
    let places = answer["data"].as_array().into_iter().flatten();
    let hooks = places.flat_map(|place| place["hooks"].as_array().into_iter().flatten());
    let ours: Vec<&Value> = hooks
        .filter(|hook| hook["command"].as_str().is_some_and(|line| is_our_line(line, "codex")))
        .collect();
    let is_active = |hook: &&&Value| {
        hook["enabled"] != json!(false) && matches!(hook["trustStatus"].as_str(), Some("trusted" | "managed"))
    };
    CodexHooks { entries: ours.len(), active: ours.iter().filter(is_active).count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_lines_of_crosier_are_active() {
        let hook = |command: &str, status: &str, enabled: bool| json!({"command": command, "trustStatus": status, "enabled": enabled});
        let line = "/opt/crosier hook codex --deadline 595";
        let hooks = json!([
            hook(line, "trusted", true),
            hook(line, "untrusted", true),
            hook(line, "modified", true),
            hook(line, "trusted", false),
            hook("mine", "trusted", true),
        ]);
        let answer = json!({"data": [{"cwd": "/p", "hooks": hooks}]});
        assert_eq!(count(&answer), CodexHooks { entries: 4, active: 1 });
        assert_eq!(count(&json!({})), CodexHooks { entries: 0, active: 0 });
    }
}
