//! The client, for a process that handles one event: its Python hooks run in the daemon's warm workers, or it goes on
//! without a daemon.

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crosier::{FailureKind, NotCompleted, PythonCall, PythonResponse, PythonResult, PythonRunner};

use crate::conversation::{Asked, Conversation, Patience, Trouble, hello};
use crate::key::Key;
use crate::lent::{params_of, result_of};
use crate::peer::{Confinement, Peer};
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
    /// A connection on which nothing was sent yet.
    connected: Mutex<Option<UnixStream>>,
}

/// A `hello` that was sent, and what its answer must say.
struct Greeting {
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
            connected: Mutex::default(),
        }
    }

    /// Calls `start` when no daemon runs. The event does not wait for it.
    #[must_use]
    pub fn or_start(self, start: impl FnOnce() + Send + 'static) -> Self {
        Self { start: Mutex::new(Some(Box::new(start))), ..self }
    }

    /// Connects to the daemon, if one runs, ahead of the first call: it accepts the connection, and looks at this process,
    /// while the caller gets ready.
    pub fn connect_early(&self) {
        *lock(&self.connected) = self.socket.connect().ok();
    }

    /// A connection on which nothing was sent yet.
    fn connect(&self) -> Result<UnixStream, NotCompleted> {
        if let Some(stream) = lock(&self.connected).take() {
            return Ok(stream);
        }
        self.socket.connect().map_err(|error| {
            if matches!(error, NoSocket::NotRunning)
                && let Some(start) = lock(&self.start).take()
            {
                start();
            }
            NotCompleted::before(error.to_string())
        })
    }

    /// Sends `hello` and the call in one piece on a new connection, and waits until the other end has proved that it is
    /// this person's daemon. Each answer that is awaited by itself costs another switch between the processes.
    fn introduce(&self, params: &str) -> Result<(Conversation, Asked), NotCompleted> {
        let unusable = |error: io::Error| NotCompleted::before(format!("no daemon can be used: {error}"));
        let stream = self.connect()?;
        let peer = Peer::of(&stream).map_err(unusable)?;
        if !peer.is_same_user() {
            return Err(unusable(io::Error::other("the other end belongs to another user")));
        }
        let nonce = nonce().map_err(unusable)?;
        let mut conversation = Conversation::over(stream).map_err(unusable)?;
        let until = Instant::now() + HELLO_WITHIN;
        let [asked, call] = conversation.begin([("hello", &hello(Some(&nonce))), ("python.call", params)]);
        // From here on the other end may have run the hook: also if it turns out not to be the daemon.
        let greeting = Greeting { asked, nonce, pid: peer.pid, until };
        self.check(&mut conversation, greeting)?;
        Ok((conversation, call))
    }

    /// Checks that the other end is this person's daemon, of this version, and runs hooks as this process would.
    fn check(&self, conversation: &mut Conversation, greeting: Greeting) -> Result<(), NotCompleted> {
        let unproved = |why: String| NotCompleted::midway(format!("no daemon can be used: {why}"));
        let Greeting { asked, nonce, pid, until } = greeting;
        // These take long, so they are done while the other end works. An honest daemon that is confined refuses the call.
        if Confinement::is_more_than_mine(pid) {
            return Err(unproved("the other end is more confined than this process".to_owned()));
        }
        let expected =
            Key::read(&self.state).map_err(|error| unproved(error.to_string()))?.expect(&nonce, pid);
        let said = match conversation.finish(asked, Patience::until(until), &[]) {
            Ok(said) => said,
            Err(Trouble::Lost { why, sent: false }) => return Err(NotCompleted::before(why)),
            // A server that refuses `hello` runs nothing.
            Err(Trouble::Refused { message, .. }) => return Err(NotCompleted::before(message)),
            Err(trouble) => return Err(unproved(trouble.into_error().to_string())),
        };
        let server = said.get("server");
        let of_server = |key: &str| server.as_ref().and_then(|server| server.get(key));
        let proof = said.get("proof").and_then(|proof| proof.as_str().map(|proof| proof.into_owned()));
        if of_server("version").is_none_or(|version| version.as_str().as_deref() != Some(&self.version)) {
            return Err(unproved("it is a different version".to_owned()));
        }
        // The process id of a relay differs from the one that the proof is for.
        let is_its_own = of_server("pid").is_some_and(|own| own.text().parse() == Ok(pid));
        if !is_its_own || !expected.is(&proof.unwrap_or_default()) {
            return Err(unproved("it did not prove that it is Crosier's daemon".to_owned()));
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nonce() -> io::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl PythonRunner for DaemonRunner {
    fn call(&self, call: &PythonCall<'_>) -> Result<PythonResult, NotCompleted> {
        let params =
            params_of(call).ok_or_else(|| NotCompleted::before("a path or a variable is not UTF-8"))?;
        let free = lock(&self.free).pop();
        let (mut conversation, asked) = match free {
            Some(mut conversation) => {
                let [asked] = conversation.begin([("python.call", &params)]);
                (conversation, asked)
            }
            None => self.introduce(&params)?,
        };
        let stops: Vec<BorrowedFd<'_>> = call.stops().collect();
        match conversation.finish(asked, Patience::while_alive(call.deadline), &stops) {
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
