//! The client, for a process that handles one event: it borrows a warm worker, or goes on without a daemon.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crosier::{
    Cwd, FailureKind, Json, NotHere, Pass, PythonCall, PythonResponse, PythonResult, PythonRunner,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Serialize, Serializer};

use crate::key::Key;
use crate::peer::{Confinement, Peer};
use crate::socket::{NoSocket, SocketPath};
use crate::{MAX_LINE, PROTOCOL};

/// How long connecting and `hello` may take together.
const HELLO_WITHIN: Duration = Duration::from_millis(100);
/// How long a server may be silent.
const SILENCE: Duration = Duration::from_secs(2);
/// How long to poll for an answer before this process sleeps until it comes: a warm worker answers within this time, and
/// being woken takes longer than its answer.
const AWAKE: Duration = Duration::from_micros(300);

/// Borrows warm workers from the daemon. Any failure counts as if no daemon ran.
pub struct Borrower {
    socket: SocketPath,
    state: PathBuf,
    version: String,
    /// Called once, when no daemon runs.
    start: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    /// Connections that are not in use.
    free: Mutex<Vec<Conversation>>,
    /// A connection on which `hello` was sent and not answered yet.
    greeting: Mutex<Option<Greeting>>,
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

    fn connect(&self) -> Result<Conversation, NotHere> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(conversation) = free {
            return Ok(conversation);
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

    /// Checks that the other end is this person's daemon, of this version.
    fn introduced(&self, greeting: Greeting) -> io::Result<Conversation> {
        let Greeting { mut conversation, asked, nonce, peer, until } = greeting;
        let expected = Key::read(&self.state)?.expect(&nonce, peer.pid);
        let said = conversation.finish(asked, until, &[]).map_err(Trouble::into_error)?;
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
        conversation.unchecked = Some(peer.pid);
        Ok(conversation)
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

/// The parameters of `hello`.
fn hello(nonce: Option<&str>) -> String {
    let nonce = nonce.map(|nonce| format!(r#","nonce":"{nonce}""#)).unwrap_or_default();
    format!(r#"{{"protocols":[{PROTOCOL}],"config":[]{nonce}}}"#)
}

impl PythonRunner for Borrower {
    fn call(&self, call: &PythonCall<'_>) -> Result<PythonResult, NotHere> {
        let params = request(call).ok_or_else(|| NotHere::before("a path or a variable is not UTF-8"))?;
        let mut conversation = self.connect()?;
        let stops: Vec<BorrowedFd<'_>> = call.stops().collect();
        let asked = conversation.begin("python.call", &params);
        // Checked while the daemon already works, to save time. No answer is read before this check has passed.
        if conversation.unchecked.take().is_some_and(Confinement::is_more_than_mine) {
            return Err(NotHere::midway("the other end is more confined than this process"));
        }
        match conversation.finish(asked, call.deadline, &stops) {
            Ok(result) => {
                self.free.lock().unwrap_or_else(PoisonError::into_inner).push(conversation);
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

/// The parameters of `python.call`, without the event, which is JSON already.
#[derive(Serialize)]
struct CallParams<'a> {
    handler: String,
    layer: String,
    python: &'a str,
    paths: Vec<&'a str>,
    dir: &'a str,
    cwd: &'a str,
    isolate: bool,
    hook: &'a str,
    deadline_ms: u64,
    timeout_ms: u64,
    phase: u8,
    pass: u8,
    #[serde(serialize_with = "as_map")]
    env: Vec<(&'a str, &'a str)>,
    #[serde(flatten)]
    record: Option<RecordParams<'a>>,
}

#[derive(Serialize)]
struct RecordParams<'a> {
    #[serde(serialize_with = "as_map")]
    files: Vec<(&'a str, String)>,
    folders: Vec<&'a str>,
    units: Vec<&'a str>,
}

fn as_map<S: Serializer, V: Serialize>(pairs: &[(&str, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

/// The parameters of `python.call`; `None` when a text is not UTF-8.
fn request(call: &PythonCall<'_>) -> Option<String> {
    fn texts(paths: &[PathBuf]) -> Option<Vec<&str>> {
        paths.iter().map(|path| path.to_str()).collect()
    }
    fn variable((name, value): &(OsString, OsString)) -> Option<(&str, &str)> {
        Some((name.to_str()?, value.to_str()?))
    }
    let spec = call.spec;
    let left = call.deadline.saturating_duration_since(Instant::now()).as_millis();
    let paths = call.paths();
    let record = match &call.record {
        None => None,
        Some(record) => Some(RecordParams {
            files: record
                .files
                .iter()
                .map(|(path, digest)| Some((path.to_str()?, shown(digest))))
                .collect::<Option<_>>()?,
            folders: texts(&record.folders)?,
            units: texts(&record.units)?,
        }),
    };
    let params = CallParams {
        handler: format!("{}.{}", spec.module, spec.function),
        layer: call.layer.to_string(),
        python: &spec.interpreter,
        paths: texts(&paths)?,
        dir: spec.project_dir.to_str()?,
        cwd: match &spec.cwd {
            Cwd::Folder(folder) => folder.to_str()?,
            _ => "event",
        },
        isolate: spec.fork,
        hook: call.hook,
        deadline_ms: u64::try_from(left).ok()?.max(1),
        timeout_ms: u64::try_from(call.timeout.as_millis()).ok()?.max(1),
        phase: if call.second { 2 } else { 1 },
        pass: if call.pass == Pass::Second { 2 } else { 1 },
        env: call.environment.iter().map(variable).collect::<Option<_>>()?,
        record,
    };
    let mut text = serde_json::to_string(&params).ok()?;
    text.pop();
    text.push_str(r#","event":"#);
    text.push_str(call.event.trim_end());
    text.push('}');
    Some(text)
}

/// A digest as the protocol writes it.
fn shown(digest: &[u8; 32]) -> String {
    let mut text = String::from("sha256:");
    for byte in digest {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn result_of(result: &Json) -> Result<PythonResult, NotHere> {
    let unclear = || NotHere::midway("the daemon sent an answer that is not valid");
    let printed =
        result.get("stdout").and_then(|text| text.as_str().map(|text| text.into_owned().into_bytes()));
    let response = match (result.get("reply"), result.get("failure")) {
        (Some(reply), None) if reply.is_null() => PythonResponse::Nothing,
        (Some(reply), None) => PythonResponse::Reply(reply.text().as_bytes().to_vec()),
        (None, Some(failure)) => {
            let text =
                |key: &str| failure.get(key).and_then(|text| text.as_str().map(|text| text.into_owned()));
            let kind = text("kind").as_deref().and_then(FailureKind::from_word).ok_or_else(unclear)?;
            let deny = result.get("deny").and_then(|deny| deny.as_str().map(|text| text.into_owned()));
            PythonResponse::Failed { kind, detail: text("detail").unwrap_or_default(), deny }
        }
        _ => return Err(unclear()),
    };
    Ok(PythonResult { response, printed: printed.unwrap_or_default() })
}

/// Why a request has no result.
enum Trouble {
    Refused { message: String, begun: bool },
    Late,
    Lost { why: String, sent: bool },
}

/// A connection to a server, used for one request at a time.
#[derive(Debug)]
pub struct Conversation {
    stream: UnixStream,
    read: Vec<u8>,
    last: u64,
    /// The process at the other end, if it is not known yet whether it is confined.
    unchecked: Option<u32>,
}

impl Conversation {
    fn over(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, read: Vec::new(), last: 0, unchecked: None })
    }

    /// Connects to a server without checking who runs it, and sends `hello`.
    ///
    /// # Errors
    /// Why the server cannot be used.
    pub fn open(socket: &SocketPath) -> Result<Self, NoSocket> {
        let failed = |error: io::Error| NoSocket::Unusable(format!("the server does not answer: {error}"));
        let stream = socket.connect()?;
        let mut conversation = Self::over(stream).map_err(failed)?;
        conversation.request("hello", &hello(None), SILENCE).map_err(failed)?;
        Ok(conversation)
    }

    /// Sends a request and waits for the result.
    ///
    /// # Errors
    /// The server's error, or why it does not answer.
    pub fn request(&mut self, method: &str, params: &str, limit: Duration) -> io::Result<Json> {
        self.ask(method, params, Instant::now() + limit, &[]).map_err(Trouble::into_error)
    }

    fn ask(
        &mut self,
        method: &str,
        params: &str,
        until: Instant,
        stops: &[BorrowedFd<'_>],
    ) -> Result<Json, Trouble> {
        let asked = self.begin(method, params);
        self.finish(asked, until, stops)
    }

    /// Sends as much of a request as can be sent without waiting.
    fn begin(&mut self, method: &str, params: &str) -> Asked {
        self.last += 1;
        let id = self.last.to_string();
        let mut line =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
                .into_bytes();
        // An error here occurs again when the rest is sent.
        let written = self.stream.write(&line).unwrap_or_default();
        line.drain(..written);
        Asked { id, left: line }
    }

    /// Sends the rest of a request, and waits for the result.
    fn finish(&mut self, asked: Asked, until: Instant, stops: &[BorrowedFd<'_>]) -> Result<Json, Trouble> {
        let Asked { id, left } = asked;
        let mut left = left.as_slice();
        let mut heard = Instant::now();
        if left.is_empty() {
            self.wait_awake(heard + AWAKE);
        }
        loop {
            let sent = left.is_empty();
            let lost = |why: String| Trouble::Lost { why, sent };
            let silent = heard + SILENCE;
            match self.wait(!sent, until.min(silent), stops).map_err(|error| lost(error.to_string()))? {
                Waited::Stopped => return Err(lost("the fire was cancelled".to_owned())),
                Waited::TimeOver if Instant::now() >= until && sent => return Err(Trouble::Late),
                Waited::TimeOver => return Err(lost("the daemon does not answer".to_owned())),
                Waited::Ready => {}
            }
            if !sent {
                match self.stream.write(left) {
                    Ok(written) => left = left.get(written..).unwrap_or_default(),
                    Err(error) if is_temporary(&error) => {}
                    Err(error) => return Err(lost(error.to_string())),
                }
            }
            // Once the last byte is sent, the server may have acted on the line, even if it is gone by now.
            let sent = left.is_empty();
            let lost = |why: String| Trouble::Lost { why, sent };
            let mut piece = [0; 4 * 1024];
            match self.stream.read(&mut piece) {
                Ok(0) => return Err(lost("the daemon closed the connection".to_owned())),
                Ok(count) => {
                    heard = Instant::now();
                    self.read.extend_from_slice(piece.get(..count).unwrap_or_default());
                }
                Err(error) if is_temporary(&error) => continue,
                Err(error) => return Err(lost(error.to_string())),
            }
            if self.read.len() > MAX_LINE {
                return Err(lost("the daemon's answer is too long".to_owned()));
            }
            while let Some(end) = self.read.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                if let Some(answer) = answer_to(&id, &line).map_err(|why| lost(why.to_owned()))? {
                    return answer;
                }
            }
        }
    }

    /// Waits without sleeping, until there is something to read. Other processes run meanwhile.
    fn wait_awake(&self, until: Instant) {
        let flags = rustix::net::RecvFlags::PEEK | rustix::net::RecvFlags::DONTWAIT;
        while Instant::now() < until
            && rustix::net::recv(&self.stream, &mut [0; 1], flags) == Err(rustix::io::Errno::AGAIN)
        {
            std::thread::yield_now();
        }
    }

    fn wait(&self, writes: bool, until: Instant, stops: &[BorrowedFd<'_>]) -> io::Result<Waited> {
        let flags = if writes { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut all = vec![PollFd::from_borrowed_fd(self.stream.as_fd(), flags)];
        all.extend(stops.iter().map(|stop| PollFd::from_borrowed_fd(*stop, PollFlags::IN)));
        let left = until.saturating_duration_since(Instant::now());
        let limit = Timespec::try_from(left).ok();
        match poll(&mut all, limit.as_ref()) {
            Ok(0) => Ok(Waited::TimeOver),
            Ok(_) if all.iter().skip(1).any(|stop| !stop.revents().is_empty()) => Ok(Waited::Stopped),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(Waited::Ready),
            Err(error) => Err(error.into()),
        }
    }
}

/// A request that was at least partly sent.
struct Asked {
    id: String,
    /// What remains to be sent.
    left: Vec<u8>,
}

enum Waited {
    Ready,
    Stopped,
    TimeOver,
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// The answer in this line, if it is the one to this request.
fn answer_to(id: &str, line: &[u8]) -> Result<Option<Result<Json, Trouble>>, &'static str> {
    let text = std::str::from_utf8(line).map_err(|_| "the daemon's answer is not UTF-8")?;
    let json = Json::parse(text.trim()).map_err(|_| "the daemon's answer is not JSON")?;
    if json.get("method").is_some() || json.get("id").is_none_or(|other| other.text() != id) {
        return Ok(None);
    }
    if let Some(result) = json.get("result") {
        return Ok(Some(Ok(result)));
    }
    let error = json.get("error").ok_or("the daemon's answer has no result")?;
    let message = error.get("message").and_then(|text| text.as_str().map(|text| text.into_owned()));
    let data = error.get("data");
    let begun = data.and_then(|data| data.get("begun")).is_some_and(|begun| begun.text() == "true");
    Ok(Some(Err(Trouble::Refused { message: message.unwrap_or_default(), begun })))
}

impl Trouble {
    fn into_error(self) -> io::Error {
        io::Error::other(match self {
            Self::Refused { message, .. } => message,
            Self::Late => "it takes too long".to_owned(),
            Self::Lost { why, .. } => why,
        })
    }
}
