//! stdin and stdout as a socket, so that the client that started this process is served like any other.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

/// The thread that writes to stdout.
#[derive(Debug)]
pub(crate) struct StdoutThread(Option<JoinHandle<()>>);

impl StdoutThread {
    /// Waits until everything is written.
    pub(crate) fn finish(self) {
        if let Some(thread) = self.0 {
            let _ = thread.join();
        }
    }
}

/// A socket whose other end is stdin and stdout.
pub(crate) fn bridge() -> io::Result<(tokio::net::UnixStream, StdoutThread)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let stream = tokio::net::UnixStream::from_std(ours)?;
    let input = theirs.try_clone()?;
    // This thread ends with the process: nothing can interrupt a read of stdin.
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || copy_in(input))?;
    let out = std::thread::Builder::new().name("stdout".to_owned()).spawn(move || copy_out(theirs))?;
    Ok((stream, StdoutThread(Some(out))))
}

fn copy_in(mut to: UnixStream) {
    let mut from = io::stdin().lock();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => {
                if to.write_all(piece.get(..read).unwrap_or_default()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

fn copy_out(mut from: UnixStream) {
    let mut to = io::stdout().lock();
    let mut piece = vec![0; 64 * 1024];
    loop {
        // Notice a closed reader even when there is nothing to write.
        let gone = {
            let mut two =
                [PollFd::new(&from, PollFlags::IN), PollFd::from_borrowed_fd(to.as_fd(), PollFlags::empty())];
            let _ = poll(&mut two, None);
            two[1].revents().intersects(PollFlags::ERR) && two[0].revents().is_empty()
        };
        if gone {
            break;
        }
        match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => {
                let written = to.write_all(piece.get(..read).unwrap_or_default()).and_then(|()| to.flush());
                if written.is_err() {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(1))
            }
            Err(_) => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
}
