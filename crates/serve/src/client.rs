//! The client, for a process that handles one event: its Python hooks run in the daemon's warm workers, or it goes on
//! without a daemon.

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crosier::{FailureKind, NotCompleted, PythonCall, PythonResponse, PythonResult, PythonRunner};

use crate::conversation::{AnswerLimit, Asked, Conversation, Trouble, hello};
use crate::key::Key;
use crate::lent::{params_of, result_of};
use crate::peer::Peer;
use crate::socket::{NoSocket, SocketPath};

/// How long connecting and `hello` may take together.
const HELLO_WITHIN: Duration = Duration::from_millis(100);

/// Runs Python hooks in the daemon's warm workers. Any failure counts as if no daemon ran.
pub struct DaemonRunner {
    socket: SocketPath,
    state: PathBuf,
    version: String,
    /// Called once, when no daemon runs.
    start: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    /// Connections to a daemon that has proved its identity, and that are not in use.
    free: Mutex<Vec<Conversation>>,
    /// A connection on which `hello` was sent and not answered yet.
    greeted: Mutex<Option<Greeted>>,
}

/// A connection on which `hello` was sent, and what its answer must say.
struct Greeted {
    conversation: Conversation,
    asked: Asked,
    nonce: String,
    pid: u32,
    until: Instant,
}

impl std::fmt::Debug for DaemonRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DaemonRunner").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl DaemonRunner {
    /// Uses the daemon of this version behind this socket, whose key is in this state folder.
    #[must_use]
    pub fn new(socket: SocketPath, state: PathBuf, version: impl Into<String>) -> Self {
        Self {
            socket,
            state,
            version: version.into(),
            start: Mutex::default(),
            free: Mutex::default(),
            greeted: Mutex::default(),
        }
    }

    /// Calls `start` when no daemon runs. The event does not wait for it.
    #[must_use]
    pub fn or_start(self, start: impl FnOnce() + Send + 'static) -> Self {
        Self { start: Mutex::new(Some(Box::new(start))), ..self }
    }

    /// Sends `hello` to the daemon, if one runs, ahead of the first call. Does not wait for the answer: the daemon prepares it
    /// while the caller gets ready.
    pub fn greet(&self) {
        *lock(&self.greeted) = self.socket.connect().ok().and_then(|stream| greet(stream).ok());
    }

    /// A connection to a daemon that has proved its identity.
    fn connect(&self) -> Result<Conversation, NotCompleted> {
        if let Some(conversation) = lock(&self.free).pop() {
            return Ok(conversation);
        }
        let unusable = |error: io::Error| NotCompleted::before(format!("no daemon can be used: {error}"));
        let early = lock(&self.greeted).take();
        if let Some(greeted) = early {
            return self.proved(greeted).map_err(unusable);
        }
        let stream = self.socket.connect().map_err(|error| {
            if matches!(error, NoSocket::NotRunning)
                && let Some(start) = lock(&self.start).take()
            {
                start();
            }
            NotCompleted::before(error.to_string())
        })?;
        greet(stream).and_then(|greeted| self.proved(greeted)).map_err(unusable)
    }

    /// Checks that the other end is this person's daemon, of this version, and runs hooks as this process would.
    fn proved(&self, greeted: Greeted) -> io::Result<Conversation> {
        let Greeted { mut conversation, asked, nonce, pid, until } = greeted;
        let expected = Key::read(&self.state)?.expect(&nonce, pid);
        let said = conversation.finish(asked, AnswerLimit::until(until), &[]).map_err(Trouble::into_error)?;
        let server = said.get("server");
        let of_server = |key: &str| server.as_ref().and_then(|server| server.get(key));
        if of_server("version").is_none_or(|version| version.as_str().as_deref() != Some(&self.version)) {
            return Err(io::Error::other("it is a different version"));
        }
        // The process id of a relay differs from the one that the proof is for.
        let is_its_own = of_server("pid").is_some_and(|own| own.text().parse() == Ok(pid));
        let proof = said.get("proof").and_then(|proof| proof.as_str().map(|proof| proof.into_owned()));
        if !is_its_own || !expected.is(&proof.unwrap_or_default()) {
            return Err(io::Error::other("it did not prove that it is Crosier's daemon"));
        }
        match said.get("confined") {
            Some(confined) if confined.is_null() => Ok(conversation),
            _ => Err(io::Error::other("it is more confined than this process")),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends `hello` without waiting for the answer.
fn greet(stream: UnixStream) -> io::Result<Greeted> {
    let until = Instant::now() + HELLO_WITHIN;
    let peer = Peer::of(&stream)?;
    if !peer.is_same_user() {
        return Err(io::Error::other("the other end belongs to another user"));
    }
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let nonce: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut conversation = Conversation::on(stream)?;
    let asked = conversation.begin("hello", &hello(Some(&nonce)));
    Ok(Greeted { conversation, asked, nonce, pid: peer.pid, until })
}

impl PythonRunner for DaemonRunner {
    fn call(&self, call: &PythonCall<'_>) -> Result<PythonResult, NotCompleted> {
        let params =
            params_of(call).ok_or_else(|| NotCompleted::before("a path or a variable is not UTF-8"))?;
        let mut conversation = self.connect()?;
        let stops: Vec<BorrowedFd<'_>> = call.stops().collect();
        let asked = conversation.begin("python.call", &params);
        match conversation.finish(asked, AnswerLimit::while_alive(call.deadline), &stops) {
            Ok(result) => {
                lock(&self.free).push(conversation);
                result_of(&result)
            }
            Err(Trouble::Refused { message, begun }) => {
                Err(NotCompleted { why: message, may_have_begun: begun })
            }
            Err(Trouble::Late) => {
                let detail =
                    format!("it did not finish within {:?}, and its worker was killed", call.timeout);
                let response = PythonResponse::Failed { kind: FailureKind::Timeout, detail, deny: None };
                Ok(PythonResult { response, printed: Vec::new() })
            }
            Err(Trouble::Lost { why, sent: false }) => Err(NotCompleted::before(why)),
            Err(Trouble::Lost { why, sent: true }) => Err(NotCompleted::midway(why)),
        }
    }
}
