//! Bash: one command line in a shell.
//!
//! Input: a command. Output: `{"exit_code", "output"}`, with stdout and stderr in the order in which they
//! were written (they are one pipe). The call ends when the shell exits, not when the pipe closes; what the
//! command left running in the background is neither awaited nor killed. After the time limit, and when the call
//! is cancelled, the whole process group is killed, on Linux including descendants that left it. The command gets only
//! the environment that the host provided.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use crosier::Json;
use crosier::protocol::{json, ordered};
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::Instant;

use super::arguments::Arguments;
use super::group::Group;
use super::output::{BoundedOutput, Decoder};
use super::{Progress, Risk, Tool, ToolContext, ToolError, ToolFuture, ToolSpec};

/// The maximum number of bytes of output that are returned.
const OUTPUT_LIMIT: usize = 256 * 1024;
/// How long a command may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(100);
/// How much of the time limit is reserved for ending the command.
const RESERVE: Duration = Duration::from_millis(250);

/// What is killed after the time limit.
const KILLED: &str = if cfg!(target_os = "linux") {
    "the command, its process group and its descendants"
} else {
    "the command and its process group"
};

/// Runs commands in a shell.
#[derive(Debug)]
pub struct Bash {
    spec: ToolSpec,
    shell: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl Bash {
    /// The tool, with the environment that commands get. The shell is bash, or `sh` if there is no bash.
    #[must_use]
    pub fn new(environment: Vec<(OsString, OsString)>) -> Self {
        let description = "Runs a command with bash in the workspace. The result has its exit code and its output \
            (stdout and stderr together). `timeout` is in seconds. stdin is empty.";
        let schema = json!({
            "type": "object",
            "properties": {
                "command": {"type": "string"},
                "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "in seconds"},
            },
            "required": ["command"],
            "additionalProperties": false,
        });
        let spec = ToolSpec {
            name: "Bash".to_owned(),
            description: description.to_owned(),
            input_schema: Json::from(schema),
        };
        let shells = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
        let shell = shells.into_iter().find(|shell| Path::new(shell).exists()).unwrap_or("/bin/sh");
        Self { spec, shell: PathBuf::from(shell), environment }
    }

    /// Uses another shell; it is called with `-c` and the command.
    #[must_use]
    pub fn with_shell(self, shell: impl Into<PathBuf>) -> Self {
        Self { shell: shell.into(), ..self }
    }

    fn start(&self, command: &str, workspace: &Path) -> io::Result<(Group, Receiver)> {
        let (read, write) = io::pipe()?;
        let mut shell = Command::new(&self.shell);
        shell
            .arg("-c")
            .arg(command)
            .current_dir(workspace)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(write.try_clone()?)
            .stderr(write);
        let group = Group::start(&mut shell)?;
        // Dropping the command closes this process's copies of the write end of the pipe.
        drop(shell);
        Ok((group, Receiver::from_owned_fd(read.into())?))
    }
}

impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn risk(&self) -> Risk {
        Risk::Execute
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> ToolFuture<'a> {
        Box::pin(async move {
            let arguments = Arguments::read(input, &["command", "timeout", "description"])?;
            let command = arguments.text("command")?;
            let most = context.timeout.saturating_sub(RESERVE.min(context.timeout / 4));
            let limit = arguments.seconds("timeout")?.map_or(most, |asked| asked.min(most));
            if command.trim().is_empty() {
                return Err(ToolError::new("`command` is empty"));
            }
            let deadline = Instant::now() + limit;
            let (group, pipe) = self.start(&command, &context.workspace).map_err(|error| {
                let (shell, folder) = (self.shell.display(), context.workspace.display());
                ToolError::new(format!("{shell} could not be started in {folder}: {error}"))
            })?;
            let output = Output::new(pipe, context.progress.as_ref());
            finish(group, output, deadline, limit).await
        })
    }
}

async fn finish(
    mut group: Group,
    mut output: Output<'_>,
    deadline: Instant,
    limit: Duration,
) -> Result<Json, ToolError> {
    let status = {
        let exit = group.wait();
        tokio::pin!(exit);
        loop {
            // The exit and the deadline are checked before the output, so that a flood of output cannot delay them.
            tokio::select! {
                biased;
                status = &mut exit => break Some(status),
                () = tokio::time::sleep_until(deadline) => break None,
                () = output.read_some() => {}
            }
        }
    };
    let Some(status) = status else {
        output.drain();
        group.end(GRACE).await;
        let output = output.into_text();
        return Err(ToolError::new(format!(
            "timed out after {limit:?}; {KILLED} were killed (a process that detached itself from its \
             parent, as a daemon does, may still run). Its output until then:\n{output}"
        )));
    };
    output.drain();
    let status =
        status.map_err(|error| ToolError::new(format!("the shell process cannot be watched: {error}")))?;
    Ok(result(status, output.into_text()))
}

fn result(status: ExitStatus, output: String) -> Json {
    let mut result = ordered::Map::new();
    // The shell's convention: 128 plus the number of the signal.
    let signal = status.signal();
    result.insert("exit_code".to_owned(), status.code().or(signal.map(|signal| 128 + signal)).into());
    if let Some(signal) = signal {
        result.insert("signal".to_owned(), signal.into());
    }
    result.insert("output".to_owned(), output.into());
    Json::from(ordered::Value::Object(result))
}

/// The read end of the pipe that the command writes to.
struct Output<'a> {
    pipe: Option<Receiver>,
    kept: BoundedOutput,
    decoder: Decoder,
    progress: Option<&'a Progress>,
    scratch: Box<[u8]>,
}

impl<'a> Output<'a> {
    fn new(pipe: Receiver, progress: Option<&'a Progress>) -> Self {
        Self {
            pipe: Some(pipe),
            kept: BoundedOutput::new(OUTPUT_LIMIT),
            decoder: Decoder::default(),
            progress,
            scratch: vec![0; 16 * 1024].into(),
        }
    }

    /// Waits for output and reads it; never returns when there is no more output.
    async fn read_some(&mut self) {
        let Some(pipe) = &self.pipe else { return std::future::pending().await };
        if pipe.readable().await.is_err() {
            self.pipe = None;
        } else {
            self.try_read();
        }
    }

    /// Reads only what is in the pipe now: processes that the command left running may keep writing.
    fn drain(&mut self) {
        let waiting = self.pipe.as_ref().map_or(0, |pipe| rustix::io::ioctl_fionread(pipe).unwrap_or(0));
        let mut left = usize::try_from(waiting).unwrap_or(usize::MAX);
        while left > 0 {
            match self.try_read() {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
    }

    fn try_read(&mut self) -> usize {
        let Some(pipe) = &self.pipe else { return 0 };
        match pipe.try_read(&mut self.scratch) {
            Ok(0) => {
                self.pipe = None;
                0
            }
            Ok(count) => {
                let bytes = &self.scratch[..count];
                self.kept.take(bytes);
                tell(self.progress, || self.decoder.take(bytes));
                count
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => 0,
            Err(_) => {
                self.pipe = None;
                0
            }
        }
    }

    fn into_text(mut self) -> String {
        tell(self.progress, || self.decoder.rest());
        self.kept.into_text()
    }
}

fn tell(progress: Option<&Progress>, text: impl FnOnce() -> String) {
    if let Some(progress) = progress {
        let text = text();
        if !text.is_empty() {
            progress.tell(&text);
        }
    }
}
