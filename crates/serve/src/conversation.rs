//! One request after another over a connection to a server. Each is answered in time or given up, whatever the other end
//! sends: until it has proved itself it may be any program of this user.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crosier::Json;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::socket::{NoSocket, SocketPath};
use crate::{MAX_LINE, PROTOCOL};

/// How long a server may be silent while it runs a call.
const SILENCE: Duration = Duration::from_secs(2);
/// The longest answer to `hello`.
const MAX_HELLO: usize = 64 * 1024;
/// How long to poll for an answer before this process sleeps until it comes: a warm worker answers within this time, and
/// being woken takes longer than its answer.
const AWAKE: Duration = Duration::from_micros(300);
/// How much is read at once.
const PIECE: usize = 4 * 1024;

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum Trouble {
    Refused { message: String, begun: bool },
    Late,
    Lost { why: String, sent: bool },
}

/// A connection to a server, used for one request at a time.
#[derive(Debug)]
pub struct Conversation {
    stream: UnixStream,
    read: Vec<u8>,
    /// How many bytes of `read` are known to hold no end of a line.
    searched: usize,
    last: u64,
}

/// A request that was at least partly sent.
pub(crate) struct Asked {
    id: String,
    /// What remains to be sent.
    left: Vec<u8>,
    /// The longest line of the answer.
    most: usize,
}

/// How long an answer may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerLimit {
    pub(crate) until: Instant,
    /// How long nothing may be said meanwhile. Only whole lines count: single bytes are no sign of life.
    silence: Duration,
}

impl AnswerLimit {
    /// Until this moment, however quiet it is.
    pub(crate) fn until(until: Instant) -> Self {
        Self { until, silence: Duration::MAX }
    }

    /// Until this moment, while the server says that it is alive.
    pub(crate) fn while_alive(until: Instant) -> Self {
        Self { until, silence: SILENCE }
    }

    /// Until when to wait, for a server that was last heard at this moment.
    fn wait_until(self, heard: Instant) -> Instant {
        heard.checked_add(self.silence).map_or(self.until, |silent| silent.min(self.until))
    }
}

/// The parameters of `hello`.
pub(crate) fn hello(nonce: Option<&str>) -> String {
    let nonce = nonce.map(|nonce| format!(r#","nonce":"{nonce}""#)).unwrap_or_default();
    format!(r#"{{"protocols":[{PROTOCOL}],"config":[]{nonce}}}"#)
}

impl Conversation {
    pub(crate) fn on(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, read: Vec::new(), searched: 0, last: 0 })
    }

    /// Connects to a server without checking who runs it, and sends `hello`.
    ///
    /// # Errors
    /// Why the server cannot be used.
    pub fn open(socket: &SocketPath) -> Result<Self, NoSocket> {
        let failed = |error: io::Error| NoSocket::Unusable(format!("the server does not answer: {error}"));
        let mut conversation = Self::on(socket.connect()?).map_err(failed)?;
        conversation.request("hello", &hello(None), SILENCE).map_err(failed)?;
        Ok(conversation)
    }

    /// Sends a request and waits for the result.
    ///
    /// # Errors
    /// The server's error, or why it does not answer.
    pub fn request(&mut self, method: &str, params: &str, limit: Duration) -> io::Result<Json> {
        let asked = self.begin(method, params);
        self.finish(asked, AnswerLimit::until(Instant::now() + limit), &[]).map_err(Trouble::into_error)
    }

    /// Sends as much of a request as can be sent without waiting.
    pub(crate) fn begin(&mut self, method: &str, params: &str) -> Asked {
        self.last += 1;
        let id = self.last.to_string();
        let mut line =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
                .into_bytes();
        // An error here occurs again when the rest is sent.
        let written = self.stream.write(&line).unwrap_or_default();
        line.drain(..written);
        Asked { id, left: line, most: if method == "hello" { MAX_HELLO } else { MAX_LINE } }
    }

    /// Sends the rest of a request, and waits for the result.
    pub(crate) fn finish(
        &mut self,
        asked: Asked,
        limit: AnswerLimit,
        stops: &[BorrowedFd<'_>],
    ) -> Result<Json, Trouble> {
        let Asked { id, left, most } = asked;
        let mut left = left.as_slice();
        let mut heard = Instant::now();
        if left.is_empty() {
            self.wait_awake(heard + AWAKE);
        }
        loop {
            let lost = |why: String, sent: bool| Trouble::Lost { why, sent };
            let over = limit.wait_until(heard);
            let sent = left.is_empty();
            match self.wait(!sent, over, stops).map_err(|error| lost(error.to_string(), sent))? {
                Waited::Stopped => return Err(lost("the fire was cancelled".to_owned(), sent)),
                Waited::TimeOver => return Err(limit.ended(sent)),
                Waited::Ready => {}
            }
            if !sent {
                match self.stream.write(left) {
                    Ok(written) => left = left.get(written..).unwrap_or_default(),
                    Err(error) if is_temporary(&error) => {}
                    Err(error) => return Err(lost(error.to_string(), sent)),
                }
            }
            // Once the last byte is sent, the server may have acted on the line, even if it is gone by now.
            let sent = left.is_empty();
            let lost = |why: &str| Trouble::Lost { why: why.to_owned(), sent };
            if !self.read_piece().map_err(|error| lost(&error.to_string()))? {
                return Err(lost("the daemon closed the connection"));
            }
            while let Some(line) = self.take_line() {
                heard = Instant::now();
                if let Some(answer) = answer_to(&id, &line).map_err(lost)? {
                    return answer;
                }
            }
            if self.read.len() > most {
                return Err(lost("the daemon's answer is too long"));
            }
            // What arrives without being the answer does not gain it time.
            if Instant::now() >= limit.wait_until(heard) {
                return Err(limit.ended(sent));
            }
        }
    }

    /// Reads what is there, at most one piece. False when the other end has closed the connection.
    fn read_piece(&mut self) -> io::Result<bool> {
        let mut piece = [0; PIECE];
        match self.stream.read(&mut piece) {
            Ok(count) => {
                self.read.extend_from_slice(piece.get(..count).unwrap_or_default());
                Ok(count > 0)
            }
            Err(error) if is_temporary(&error) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// The first whole line. No byte is searched twice, or a long line would take quadratic time.
    fn take_line(&mut self) -> Option<Vec<u8>> {
        // `memchr` would first ask the processor what it can do, which takes longer than a short answer.
        let Some(end) = self.read.get(self.searched..)?.iter().position(|&byte| byte == b'\n') else {
            self.searched = self.read.len();
            return None;
        };
        let line = self.read.drain(..=self.searched + end).collect();
        self.searched = 0;
        Some(line)
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

impl AnswerLimit {
    /// Why there is no answer, once it has waited long enough.
    fn ended(self, sent: bool) -> Trouble {
        if sent && Instant::now() >= self.until {
            return Trouble::Late;
        }
        Trouble::Lost { why: "the daemon does not answer".to_owned(), sent }
    }
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
    pub(crate) fn into_error(self) -> io::Error {
        io::Error::other(match self {
            Self::Refused { message, .. } => message,
            Self::Late => "it takes too long".to_owned(),
            Self::Lost { why, .. } => why,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conversation with something that writes these bytes for ever; a short limit makes the tests quick.
    fn with(bytes: &'static [u8], pause: Duration) -> Conversation {
        let (mine, mut its) = UnixStream::pair().unwrap();
        std::thread::spawn(move || {
            while its.write_all(bytes).is_ok() {
                std::thread::sleep(pause);
            }
        });
        Conversation::on(mine).unwrap()
    }

    fn trouble(conversation: &mut Conversation, method: &str, limit: AnswerLimit) -> Trouble {
        let asked = conversation.begin(method, "{}");
        let began = Instant::now();
        let trouble = conversation.finish(asked, limit, &[]).unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(10));
        trouble
    }

    #[test]
    fn bytes_and_lines_that_are_no_answer_do_not_extend_the_deadline() {
        for (bytes, pause) in [
            (&b"x"[..], Duration::from_millis(1)),
            (b"{\"id\":99}\n", Duration::ZERO),
            (b"{\"method\":\"alive\"}\n", Duration::from_millis(1)),
        ] {
            let limit = AnswerLimit::until(Instant::now() + Duration::from_millis(100));
            let trouble = trouble(&mut with(bytes, pause), "python.call", limit);
            assert!(matches!(trouble, Trouble::Late), "{trouble:?}");
        }
    }

    #[test]
    fn single_bytes_are_no_sign_of_life() {
        let over = Instant::now() + Duration::from_secs(60);
        let limit = AnswerLimit { until: over, silence: Duration::from_millis(100) };
        let mut dripping = with(b"x", Duration::from_millis(1));
        assert!(matches!(
            trouble(&mut dripping, "python.call", limit),
            Trouble::Lost { sent: true, why } if why.contains("does not answer")
        ));
    }

    #[test]
    fn a_line_without_an_end_is_too_long_soon() {
        for (method, bytes) in [("hello", &[b'x'; 4096]), ("python.call", &[b' '; 4096])] {
            let limit = AnswerLimit::until(Instant::now() + Duration::from_secs(60));
            let trouble = trouble(&mut with(bytes, Duration::ZERO), method, limit);
            assert!(matches!(trouble, Trouble::Lost { why, .. } if why.contains("too long")));
        }
    }

    #[test]
    fn an_answer_that_is_there_is_read_even_if_its_time_is_over() {
        let (mine, mut its) = UnixStream::pair().unwrap();
        let mut conversation = Conversation::on(mine).unwrap();
        let asked = conversation.begin("hello", "{}");
        its.write_all(b"{\"method\":\"alive\"}\n{\"id\":1,\"result\":7}\n").unwrap();
        let result = conversation.finish(asked, AnswerLimit::until(Instant::now()), &[]).unwrap();
        assert_eq!(result.text(), "7");
    }
}
