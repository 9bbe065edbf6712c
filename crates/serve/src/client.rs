//! The client, for a process that handles one event: it borrows a warm worker, or goes on without a daemon.

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crosier::{FailureKind, NotHere, PythonCall, PythonResponse, PythonResult, PythonRunner};

use crate::conversation::{Asked, Conversation, Patience, Trouble, hello};
use crate::key::Key;
use crate::lent::{params_of, result_of};
use crate::peer::{Confinement, Peer};
use crate::socket::{NoSocket, SocketPath};

/// How long connecting and `hello` may take together.
const HELLO_WITHIN: Duration = Duration::from_millis(100);

/// Borrows warm workers from the daemon. Any failure counts as if no daemon ran.
pub struct Borrower {
    socket: SocketPath,
    state: PathBuf,
    version: String,
    /// Called once, when no daemon runs.
    start: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    /// Connections that are not in use.
    free: Mutex<Vec<Daemon>>,
    /// A connection on which `hello` was sent and not answered yet.
    greeting: Mutex<Option<Greeting>>,
}

/// A connection to a daemon that has proved its identity.
struct Daemon {
    conversation: Conversation,
    /// Its process, if it is not known yet whether what it said about its confinement is true.
    unchecked: Option<u32>,
}

/// A `hello` on its way.
struct Greeting {
    conversation: Conversation,
    asked: Asked,
    nonce: String,
    peer: Peer,
    until: Instant,
}

impl std::fmt::Debug for Borrower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Borrower").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl Borrower {
    /// Borrows from the daemon of this version behind this socket, whose key is in this state folder.
    #[must_use]
    pub fn new(socket: SocketPath, state: PathBuf, version: impl Into<String>) -> Self {
        Self {
            socket,
            state,
            version: version.into(),
            start: Mutex::default(),
            free: Mutex::default(),
            greeting: Mutex::default(),
        }
    }

    /// Calls `start` when no daemon runs. The event does not wait for it.
    #[must_use]
    pub fn or_start(self, start: impl FnOnce() + Send + 'static) -> Self {
        Self { start: Mutex::new(Some(Box::new(start))), ..self }
    }

    fn connect(&self) -> Result<Daemon, NotHere> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(daemon) = free {
            return Ok(daemon);
        }
        let untrusted = |error: io::Error| NotHere::before(format!("no daemon can be used: {error}"));
        let greeted = self.greeting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(greeting) = greeted {
            return self.introduced(greeting).map_err(untrusted);
        }
        let stream = self.socket.connect().map_err(|error| {
            if matches!(error, NoSocket::NotRunning)
                && let Some(start) = self.start.lock().unwrap_or_else(PoisonError::into_inner).take()
            {
                start();
            }
            NotHere::before(error.to_string())
        })?;
        introduce(stream).and_then(|greeting| self.introduced(greeting)).map_err(untrusted)
    }

    /// Sends `hello` to the daemon, if one runs, ahead of the first call. Does not wait for the answer.
    pub fn greet(&self) {
        if let Some(greeting) = self.socket.connect().ok().and_then(|stream| introduce(stream).ok()) {
            *self.greeting.lock().unwrap_or_else(PoisonError::into_inner) = Some(greeting);
        }
    }

    /// Checks that the other end is this person's daemon, of this version, and runs hooks as this process would.
    fn introduced(&self, greeting: Greeting) -> io::Result<Daemon> {
        let Greeting { mut conversation, asked, nonce, peer, until } = greeting;
        let expected = Key::read(&self.state)?.expect(&nonce, peer.pid);
        let said = conversation.finish(asked, Patience::until(until), &[]).map_err(Trouble::into_error)?;
        let text = |path: [&str; 2]| Some(said.get(path[0])?.get(path[1])?.as_str()?.into_owned());
        let pid =
            said.get("server").and_then(|server| server.get("pid")).and_then(|pid| pid.text().parse().ok());
        let proof = said.get("proof").and_then(|proof| proof.as_str().map(|proof| proof.into_owned()));
        if text(["server", "version"]).as_deref() != Some(&self.version) {
            return Err(io::Error::other("it is a different version"));
        }
        // The process id of a relay differs from the one that the proof is for.
        if pid != Some(peer.pid) || !expected.is(&proof.unwrap_or_default()) {
            return Err(io::Error::other("it did not prove that it is Crosier's daemon"));
        }
        match said.get("confined") {
            Some(confined) if confined.is_null() => {}
            _ => return Err(io::Error::other("it is more confined than this process")),
        }
        Ok(Daemon { conversation, unchecked: Some(peer.pid) })
    }
}

/// Sends `hello` without waiting for the answer.
fn introduce(stream: UnixStream) -> io::Result<Greeting> {
    let until = Instant::now() + HELLO_WITHIN;
    let peer = Peer::of(&stream)?;
    if !peer.is_same_user() {
        return Err(io::Error::other("the other end belongs to another user"));
    }
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let nonce: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut conversation = Conversation::over(stream)?;
    let asked = conversation.begin("hello", &hello(Some(&nonce)));
    Ok(Greeting { conversation, asked, nonce, peer, until })
}

impl PythonRunner for Borrower {
    fn call(&self, call: &PythonCall<'_>) -> Result<PythonResult, NotHere> {
        let params = params_of(call).ok_or_else(|| NotHere::before("a path or a variable is not UTF-8"))?;
        let Daemon { mut conversation, unchecked } = self.connect()?;
        let stops: Vec<BorrowedFd<'_>> = call.stops().collect();
        let asked = conversation.begin("python.call", &params);
        // An honest daemon has said so before it got the call. One that lies is found out while it works, to save time:
        // no answer is read before this check has passed.
        if unchecked.is_some_and(Confinement::is_more_than_mine) {
            return Err(NotHere::midway("the other end is more confined than this process"));
        }
        match conversation.finish(asked, Patience::while_alive(call.deadline), &stops) {
            Ok(result) => {
                self.free
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(Daemon { conversation, unchecked: None });
                result_of(&result)
            }
            Err(Trouble::Refused { message, begun }) => Err(NotHere { why: message, may_have_begun: begun }),
            Err(Trouble::Late) => {
                let detail =
                    format!("it did not finish within {:?}, and its worker was killed", call.timeout);
                let response = PythonResponse::Failed { kind: FailureKind::Timeout, detail, deny: None };
                Ok(PythonResult { response, printed: Vec::new() })
            }
            Err(Trouble::Lost { why, sent: false }) => Err(NotHere::before(why)),
            Err(Trouble::Lost { why, sent: true }) => Err(NotHere::midway(why)),
        }
    }
}
