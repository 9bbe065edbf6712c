//! A server that is a process: started in its own group, and reached over stdin and stdout.

use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Map, Value};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};
use tokio::task::JoinHandle;

use super::config::{McpServerConfig, McpTransport};
use super::connection::{Connection, Connector, McpError, McpFuture, RemoteTool, Reply};
use super::sdk::{self, HandshakeKind, Handshakes, Session};
use super::servers::McpHost;
use crate::tool::group::Group;

/// How long a server may take to end after its stdin is closed, and after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);
/// How many bytes of the end of stderr are kept, for messages.
const STDERR_LIMIT: usize = 2048;
/// How long to wait for the exit and the last output of a server that is dying.
const NOTICE: Duration = Duration::from_millis(200);

/// Starts one server.
pub(super) struct StdioConnector {
    command: String,
    args: Vec<String>,
    environment: Vec<(OsString, OsString)>,
    cwd: PathBuf,
    handshakes: Handshakes,
}

impl StdioConnector {
    pub(super) fn new(config: &McpServerConfig, host: &McpHost) -> Self {
        let (command, args, env, cwd) = match &config.transport {
            McpTransport::Stdio { command, args, env, cwd } => {
                (command.clone(), args.clone(), env.clone(), cwd.clone())
            }
            McpTransport::Http { .. } => Default::default(),
        };
        let mut environment = host.environment.clone();
        environment.extend(env.into_iter().map(|(name, value)| (name.into(), value.into())));
        let cwd = cwd.map_or_else(|| host.workspace.clone(), |cwd| host.workspace.join(cwd));
        Self { command, args, environment, cwd, handshakes: Handshakes::new(config.handshake) }
    }

    async fn start(&self, handshake_kind: HandshakeKind) -> Result<StdioConnection, McpError> {
        let mut command = Command::new(&self.command);
        command
            .args(&self.args)
            .current_dir(&self.cwd)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let unreachable = |detail: String| McpError::Unreachable { detail };
        let mut group = Group::start(&mut command).map_err(|error| {
            unreachable(format!("`{}` cannot be started in {}: {error}", self.command, self.cwd.display()))
        })?;
        let child = group.child();
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(unreachable("its pipes are missing".to_owned()));
        };
        let stderr_tail = StderrTail::listen(stderr);
        match sdk::open(AsyncRwTransport::new(stdout, stdin), handshake_kind).await {
            Ok(session) => Ok(StdioConnection { session, group: Mutex::new(Some(group)), stderr_tail }),
            Err(error) => Err(explain(error, &group, &stderr_tail).await),
        }
    }
}

impl Connector for StdioConnector {
    fn connect(&self) -> McpFuture<'_, Arc<dyn Connection>> {
        Box::pin(async move {
            let connection =
                self.handshakes.first_that_works(|handshake_kind| self.start(handshake_kind)).await?;
            Ok(Arc::new(connection) as Arc<dyn Connection>)
        })
    }
}

struct StdioConnection {
    session: Session,
    /// `None` when it was closed.
    group: Mutex<Option<Group>>,
    stderr_tail: StderrTail,
}

impl StdioConnection {
    fn group(&self) -> MutexGuard<'_, Option<Group>> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn with_stderr(&self, error: McpError) -> McpError {
        match error {
            McpError::Lost { detail } => McpError::Lost { detail: self.stderr_tail.after(detail).await },
            other => other,
        }
    }
}

impl Connection for StdioConnection {
    fn tools(&self) -> McpFuture<'_, Vec<RemoteTool>> {
        Box::pin(async move {
            match sdk::tools(&self.session).await {
                Err(error) => Err(self.with_stderr(error).await),
                listed => listed,
            }
        })
    }

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> McpFuture<'a, Reply> {
        Box::pin(async move {
            match sdk::call(&self.session, tool, arguments).await {
                Err(error) => Err(self.with_stderr(error).await),
                replied => replied,
            }
        })
    }

    fn is_open(&self) -> bool {
        !self.session.is_transport_closed() && self.group().as_ref().is_some_and(|group| !group.has_exited())
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            // Ends the conversation, which closes the server's stdin.
            self.session.cancellation_token().cancel();
            let group = self.group().take();
            if let Some(group) = group {
                group.exits_within(GRACE).await;
                group.end(GRACE).await;
            }
        })
    }
}

/// The end of a server's stderr.
struct StderrTail {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl StderrTail {
    fn listen(mut stderr: ChildStderr) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let reader = tokio::spawn({
            let kept = Arc::clone(&kept);
            async move {
                let mut scratch = [0; 4096];
                while let Ok(count @ 1..) = stderr.read(&mut scratch).await {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend_from_slice(&scratch[..count]);
                    let excess = kept.len().saturating_sub(STDERR_LIMIT);
                    kept.drain(..excess);
                }
            }
        });
        Self { kept, reader }
    }

    /// A message, followed by the end of the server's stderr; waits for it briefly when the server just died.
    async fn after(&self, message: String) -> String {
        let until = Instant::now() + NOTICE;
        while !self.reader.is_finished() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        if text.trim().is_empty() {
            message
        } else {
            format!("{message}; its stderr ends with: {}", text.trim())
        }
    }
}

impl Drop for StderrTail {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Adds details to the error of a server whose handshake failed.
async fn explain(error: McpError, group: &Group, stderr_tail: &StderrTail) -> McpError {
    let McpError::Unreachable { detail } = error else { return error };
    let ended = if group.exits_within(NOTICE).await { " (the process has ended)" } else { "" };
    McpError::Unreachable { detail: stderr_tail.after(format!("{detail}{ended}")).await }
}
