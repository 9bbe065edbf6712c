//! Words to people and data to programs: errors to stderr, data to stdout.

use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::sync::{Mutex, PoisonError};

use crate::exit::{Exit, Failed};

/// Data on stdout. A reader that went away has seen enough: that is a failure, but not worth a word.
pub(crate) fn data(text: &str) -> Result<(), Failed> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write(&[text.as_bytes(), end.as_bytes()])
}

/// Data on stdout, byte for byte.
pub(crate) fn bytes(data: &[u8]) -> Result<(), Failed> {
    write(&[data])
}

fn write(parts: &[&[u8]]) -> Result<(), Failed> {
    let mut stdout = io::stdout().lock();
    let written = parts.iter().try_for_each(|part| stdout.write_all(part));
    written.and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failed::new(Exit::Failed, ""),
        _ => Failed::new(Exit::Failed, format!("the result could not be written: {error}")),
    })
}

/// A line for a person. Nobody is told when stderr is gone.
pub(crate) fn note(text: &str) {
    match &mut *HELD.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(held) => held.push(text.to_owned()),
        None => write_note(text),
    }
}

fn write_note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Lines that wait until the terminal is free.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// While this lives, lines for a person wait; then they are written.
#[derive(Debug)]
pub(crate) struct OutputHold;

/// Holds lines for a person back: the terminal is used for something else.
pub(crate) fn hold() -> OutputHold {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
    OutputHold
}

impl Drop for OutputHold {
    fn drop(&mut self) {
        let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
        held.into_iter().flatten().for_each(|line| write_note(&line));
    }
}

/// What went wrong.
pub(crate) fn error(message: &str) {
    if !message.is_empty() {
        note(&format!("crosier: {message}"));
    }
}

/// What a panic says. It is always a bug of ours.
pub(crate) fn bug(info: &PanicHookInfo<'_>) {
    write_note(&format!(
        "crosier: this is a bug in crosier: {info}\nPlease report it, with the command and the configuration, at {}/issues",
        env!("CARGO_PKG_REPOSITORY")
    ));
}

/// Text from outside, without what could steer a terminal.
pub(crate) fn plain(text: &str) -> String {
    let shown = text.chars().map(|c| match c {
        '\n' | '\t' => c,
        c if c.is_control() => '\u{fffd}',
        // Marks that turn the direction of text around: what is shown would not be what is meant.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    });
    shown.collect()
}

/// The same on one line.
pub(crate) fn one_line(text: &str) -> String {
    plain(text).replace(['\n', '\t'], "\u{fffd}")
}
