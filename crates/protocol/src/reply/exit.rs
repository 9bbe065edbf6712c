//! Turns the exit code and the output of a command into an [`Answer`].

use super::{Answer, Decision, Opinion, Reply, stderr};
use crate::event::EventRow;
use crate::failure::{Failure, FailureKind};

/// How a hook's stdout is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Output {
    /// As a reply.
    #[default]
    Reply,
    /// As context for the model, without the white space at its end.
    Text,
}

/// How a process ended, and its output.
#[derive(Debug, Clone, Copy)]
pub struct CommandExit<'a> {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its stdout, up to the limit.
    pub stdout: &'a [u8],
    /// The limit that its stdout exceeded, if it did.
    pub oversize: Option<usize>,
    /// The last part of its stderr.
    pub stderr: &'a [u8],
}

/// The exit code that denies.
const DENY: i32 = 2;

/// The answer of a command that ended before its deadline.
#[must_use]
pub fn answer_of(exit: &CommandExit<'_>, output: Output, row: &EventRow) -> Answer {
    match (exit.code, exit.signal) {
        (Some(DENY), _) => denial(exit.stderr).into(),
        (Some(0), _) => match (exit.oversize, output) {
            (Some(limit), _) => oversize(limit).into(),
            (None, Output::Reply) => Reply::decode(exit.stdout, row).into(),
            (None, Output::Text) => context(exit.stdout).into(),
        },
        (Some(code), _) => match valid_reply(exit, output, row) {
            Some(reply) => reply.into(),
            None if exit.oversize.is_some() => oversize(exit.oversize.unwrap_or_default()).into(),
            None => {
                let detail = match stderr::cause(exit.stderr) {
                    Some(cause) => format!("it exited with code {code}: {cause}"),
                    None => format!("it exited with code {code}"),
                };
                Failure::new(FailureKind::Exit, detail).into()
            }
        },
        (None, signal) => {
            // When a hook was killed, only a denial in its reply counts.
            let reply = valid_reply(exit, output, row).and_then(Reply::denial_only).unwrap_or_default();
            let detail = match signal {
                Some(signal) => format!("it was killed by signal {signal}{}", signal_name(signal)),
                None => "it ended without a code".to_owned(),
            };
            Answer::failed(reply, Failure::new(FailureKind::Signal, detail))
        }
    }
}

fn oversize(limit: usize) -> Failure {
    Failure::new(FailureKind::Oversize, format!("its reply is larger than {limit} bytes and was discarded"))
}

/// The reply object on stdout, if there is a valid one.
fn valid_reply(exit: &CommandExit<'_>, output: Output, row: &EventRow) -> Option<Reply> {
    let written = output == Output::Reply && exit.stdout.trim_ascii_start().starts_with(b"{");
    if !written || exit.oversize.is_some() {
        return None;
    }
    Reply::decode(exit.stdout, row).ok()
}

fn denial(stderr: &[u8]) -> Reply {
    let reason = String::from_utf8_lossy(stderr).trim().to_owned();
    let reason = (!reason.is_empty()).then_some(reason);
    Reply::none().with(|effects| effects.opinion = Some(Opinion { decision: Decision::Deny, reason }))
}

fn context(stdout: &[u8]) -> Result<Reply, Failure> {
    let text = std::str::from_utf8(stdout).map_err(|error| {
        Failure::bad_output(format!("its text is not UTF-8 (byte {})", error.valid_up_to()))
    })?;
    let text = text.trim_end();
    Ok(if text.is_empty() { Reply::none() } else { Reply::none().context(text) })
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        14 => " (SIGALRM)",
        15 => " (SIGTERM)",
        _ => "",
    }
}
