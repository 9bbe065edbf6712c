//! The head of an HTTP request as it was sent, for requests that the HTTP library refuses: an agent that has sent its token
//! waits for a decision, and lets the tool run on any HTTP error.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// How much of a head is looked at.
pub(crate) const MAX_HEAD: usize = 32 * 1024;
/// How long, and how much, is read of a request that is not served.
const DRAIN_WITHIN: Duration = Duration::from_millis(500);
const MAX_DRAINED: u64 = 64 << 20;

/// What can be read of a head, however broken it is.
#[derive(Debug, Default)]
pub(crate) struct Head {
    bytes: Vec<u8>,
}

impl Head {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec() }
    }

    /// Waits until the head of a request has arrived, or as much as is looked at. `None` when the client is gone.
    pub(crate) async fn arrived(stream: &TcpStream) -> Option<Self> {
        let mut bytes = vec![0; MAX_HEAD];
        loop {
            match stream.peek(&mut bytes).await {
                Ok(0) | Err(_) => return None,
                Ok(count) if count == bytes.len() || is_whole(bytes.get(..count).unwrap_or_default()) => {
                    bytes.truncate(count);
                    return Some(Self { bytes });
                }
                Ok(_) => tokio::time::sleep(Duration::from_millis(2)).await,
            }
        }
    }

    /// What has arrived until now. It is read, because closing a socket with unread data would lose the answer.
    pub(crate) fn so_far(stream: &TcpStream) -> Self {
        let mut bytes = vec![0; MAX_HEAD];
        let count = stream.try_read(&mut bytes).unwrap_or(0);
        bytes.truncate(count);
        Self { bytes }
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        // The last part is no line: it may be cut off.
        let lines = self.bytes.split_inclusive(|&byte| byte == b'\n');
        let lines = lines.filter_map(|line| line.strip_suffix(b"\n"));
        lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).take_while(|line| !line.is_empty())
    }

    /// The path in its first line.
    pub(crate) fn path(&self) -> String {
        let line = self.lines().next().unwrap_or_default();
        let target = line.split(|&byte| byte == b' ').nth(1).unwrap_or_default();
        let path = target.split(|&byte| byte == b'?').next().unwrap_or_default();
        String::from_utf8_lossy(path).into_owned()
    }

    /// The value of a header.
    pub(crate) fn header(&self, wanted: &str) -> Option<&[u8]> {
        self.lines().skip(1).find_map(|line| {
            let at = line.iter().position(|&byte| byte == b':')?;
            let (name, value) = line.split_at_checked(at)?;
            let is_it = name.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes());
            is_it.then(|| value.get(1..).unwrap_or_default().trim_ascii())
        })
    }
}

/// Whether an empty line has arrived. Lines may end without a carriage return.
fn is_whole(head: &[u8]) -> bool {
    head.windows(2).any(|two| two == b"\n\n") || head.windows(3).any(|three| three == b"\n\r\n")
}

/// A connection whose output is held back until the request was handed to the service: before that, the HTTP library
/// writes only errors of its own.
#[derive(Debug)]
pub(crate) struct DelayedOutput {
    pub(crate) stream: Arc<TcpStream>,
    /// Whether the request was handed over.
    pub(crate) is_served: Arc<AtomicBool>,
    pub(crate) held_back: Arc<Mutex<Vec<u8>>>,
}

impl DelayedOutput {
    fn is_served(&self) -> bool {
        self.is_served.load(Ordering::SeqCst)
    }
}

impl AsyncRead for DelayedOutput {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            match self.stream.try_read(room.initialize_unfilled()) {
                Ok(count) => {
                    room.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for DelayedOutput {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !self.is_served() {
            self.held_back.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        loop {
            ready!(self.stream.poll_write_ready(context))?;
            match self.stream.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_served() {
            let _ = rustix::net::shutdown(&*self.stream, rustix::net::Shutdown::Write);
        }
        Poll::Ready(Ok(()))
    }
}

/// Reads the rest of a request that was answered without it: closing a socket with unread data resets it, and the answer
/// would be lost.
pub(crate) async fn drain(stream: TcpStream) {
    let (mut rest, mut nowhere) = (stream.take(MAX_DRAINED), tokio::io::sink());
    let _ = tokio::time::timeout(DRAIN_WITHIN, tokio::io::copy(&mut rest, &mut nowhere)).await;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_broken_head_has_a_path_and_headers() {
        for end in ["\r\n", "\n"] {
            let lines = [
                "POST /v1/hook/claude?x HTTP/9.9",
                "nonsense",
                "A: \0",
                "authorization:  Bearer t ",
                "X: cut",
            ];
            let head = Head::of(lines.join(end).as_bytes());
            assert_eq!(head.path(), "/v1/hook/claude");
            assert_eq!(head.header("Authorization"), Some(&b"Bearer t"[..]));
            assert_eq!(head.header("x"), None);
            assert!(!is_whole(&head.bytes) && is_whole(format!("a{end}{end}").as_bytes()));
        }
        let body = Head::of(b"POST /v1/hook/claude HTTP/1.1\n\nauthorization: Bearer t\n");
        assert_eq!(body.header("authorization"), None);
        assert_eq!(Head::default().path(), "");
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_path_and_headers_of_one_line(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let head = Head::of(&bytes);
            prop_assert!(!head.path().contains(['\n', ' ', '?']));
            prop_assert!(head.header("a").is_none_or(|value| !value.contains(&b'\n')));
        }
    }
}
