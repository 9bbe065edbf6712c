//! Whether an installed entry works: sends one event through the command line that the agent runs, with the environment
//! that the agent sets. The event is a command that only a person may run, so the self-guard must deny it. Nothing is
//! run.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier_dialect::table::FolderSource;
use crosier_install::Row;
use crosier_install::installed::InstalledCommand;

/// The command in the test event, which the self-guard denies in every project.
const COMMAND: &str = "crosier uninstall";
/// Part of the self-guard's reason.
const REASON: &str = "for the person to run";
/// The session id of test events.
pub(crate) const SESSION: &str = "crosier-doctor";
/// How long the command may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// The entry for events before an action, which is the one to test.
pub(crate) fn entry_before_action<'a>(
    row: &Row,
    commands: &'a [InstalledCommand],
) -> Option<&'a InstalledCommand> {
    let name = |installed: &&InstalledCommand| {
        let entry = row.dialect().and_then(|agent| agent.named(&installed.event));
        installed.event.is_empty() || entry.is_some_and(|entry| entry.event == "PreToolUse")
    };
    commands.iter().find(name)
}

/// Tests an entry; returns how long it took.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn try_installed(
    row: &Row,
    installed: &InstalledCommand,
    project: &Path,
) -> Result<Duration, String> {
    let started = Instant::now();
    let (program, words) = installed.argv.split_first().ok_or("the line is empty")?;
    let mut command = Command::new(program);
    command
        .args(words)
        .current_dir(project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if installed.event.is_empty() {
        command.arg("tool.execute.before");
    }
    for place in row.dialect().map(|agent| agent.project).unwrap_or_default() {
        if let FolderSource::Variable(name) = place {
            command.env(name, project);
        }
    }
    let mut child = command.spawn().map_err(|error| format!("{program} cannot be started: {error}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input reports why on stderr.
        let _ = stdin.write_all(event(row, installed, project).to_string().as_bytes());
    }
    while started.elapsed() < ANSWER_TIMEOUT {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Ok(Some(_)) => return judge(&mut child, started.elapsed()),
            Err(error) => return Err(error.to_string()),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("it did not answer within {} s", ANSWER_TIMEOUT.as_secs()))
}

fn judge(child: &mut std::process::Child, took: Duration) -> Result<Duration, String> {
    let mut said = String::new();
    if let Some(stdout) = &mut child.stdout {
        let _ = stdout.read_to_string(&mut said);
    }
    if let Some(stderr) = &mut child.stderr {
        let _ = stderr.read_to_string(&mut said);
    }
    if said.contains(REASON) {
        return Ok(took);
    }
    let said: String = said.trim().chars().take(200).collect();
    let said = if said.is_empty() { "nothing".to_owned() } else { format!("`{said}`") };
    Err(format!("it should deny `{COMMAND}`, but said {said}"))
}

/// The event as this agent would send it.
fn event(row: &Row, installed: &InstalledCommand, project: &Path) -> Value {
    let folder = project.display().to_string();
    let agent = row.dialect();
    let tool = agent.and_then(|agent| agent.tools.iter().find(|tool| tool.name == "Bash"));
    let tool = tool.map_or("Bash", |tool| tool.agent_name);
    let session = SESSION;
    match row.agent {
        "cline" => json!({
            "hookName": "tool_call", "taskId": session, "workspaceRoots": [folder],
            "tool_call": {"id": "1", "name": tool, "input": {"commands": [COMMAND]}},
        }),
        "opencode" => json!({
            "hook": "tool.execute.before", "directory": folder,
            "input": {"tool": tool, "sessionID": session, "callID": "1"}, "output": {"args": {"command": COMMAND}},
        }),
        "windsurf" => json!({
            "agent_action_name": "pre_run_command", "trajectory_id": session,
            "tool_info": {"command_line": COMMAND, "cwd": folder},
        }),
        _ => json!({
            "hook_event_name": installed.event.clone(), "event": installed.event.clone(), "event_type": installed.event.clone(),
            "session_id": session, "cwd": folder.clone(), "working_dir": folder,
            "tool_name": tool, "tool_input": {"command": COMMAND}, "tool_use_id": "1",
        }),
    }
}
