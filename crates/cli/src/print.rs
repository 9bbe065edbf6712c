//! Output: errors and notes to stderr, data to stdout.

use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::exit::{Exit, Failed};

/// Writes data to stdout. A closed pipe is a failure, but without a message.
pub(crate) fn data(text: &str) -> Result<(), Failed> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write(&[text.as_bytes(), end.as_bytes()])
}

/// Writes data to stdout, byte for byte.
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

/// Writes a line for a person. An error in writing to stderr is ignored.
pub(crate) fn note(text: &str) {
    match &mut *HELD.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(held) => held.push(text.to_owned()),
        None => write_note(text),
    }
}

fn write_note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Lines that wait until the terminal is free; `None` when it is.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Holds back lines for a person until it is dropped.
#[derive(Debug)]
pub(crate) struct OutputHold;

/// Holds back lines for a person, while the terminal is used for something else.
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

/// Writes an error message.
pub(crate) fn error(message: &str) {
    if !message.is_empty() {
        note(&format!("crosier: {message}"));
    }
}

/// Reports a panic, which is always a bug in Crosier.
pub(crate) fn bug(info: &PanicHookInfo<'_>) {
    write_note(&format!(
        "crosier: this is a bug in crosier: {info}\nPlease report it, with the command and the configuration, at {}/issues",
        env!("CARGO_PKG_REPOSITORY")
    ));
}

pub(crate) use crosier_policy::show::{one_line, plain};

/// Writes JSON. Characters that control a terminal are written as JSON escapes, so that the data stays the same.
/// Control characters are already escaped.
pub(crate) fn json(text: &str) -> Result<(), Failed> {
    data(&escaped_json(text))
}

/// The same text; characters that control a terminal are JSON escapes.
pub(crate) fn escaped_json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || !crosier_policy::show::is_hidden(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            shown.push_str(&format!("\\u{unit:04x}"));
        }
    }
    shown
}

/// A path for people: relative to the current folder, if it is inside.
pub(crate) fn shown_path(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    one_line(&below.unwrap_or(path).display().to_string())
}

/// Text on one line, with line breaks as spaces.
pub(crate) fn flat(text: &str) -> String {
    one_line(&text.replace(['\n', '\r', '\t'], " "))
}
