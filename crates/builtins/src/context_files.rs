//! `context-files`: adds files, such as project notes, to what the model reads.
//!
//! # Options
//! - `files`: paths, or patterns with `*` (relative to the configuration). Required.
//! - `max_bytes`: the most bytes of one file (default 32 KB).
//! - `max_total`: the most bytes of all files together (default 128 KB).
//! - `overflow`: a file that gets the whole text when something had to be cut; the cut text then names it.
//!   Without it the cut text names the file itself.
//! - `missing`: `log` (default: a notice for the host), `ignore`, or `fail`.
//!
//! On `SessionStart`, and on every event that takes context.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};
use crosier::{Answer, Call, Callback, Capability, Failure, Reply};

use crate::option::{self, grouped};
use crate::path::expand_glob;
use crate::{atomic_write, guard};

/// The built-in hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct ContextFiles;

const OPTIONS: &[BuiltinOption] = &[
    BuiltinOption::new("files", "paths or patterns, relative to the configuration"),
    BuiltinOption::new("max_bytes", "limit for one file"),
    BuiltinOption::new("max_total", "limit for all files together"),
    BuiltinOption::new("overflow", "a file for the whole text when something had to be cut"),
    BuiltinOption::new("missing", "log, ignore or fail when a file is not there"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Log,
    Ignore,
    Fail,
}

#[derive(Debug)]
struct Files {
    folder: PathBuf,
    files: Vec<String>,
    max_bytes: u64,
    max_total: u64,
    overflow: Option<PathBuf>,
    missing: Missing,
}

impl Builtin for ContextFiles {
    fn name(&self) -> &'static str {
        "context-files"
    }

    fn about(&self) -> &'static str {
        "adds files such as project notes to what the model reads"
    }

    fn options(&self) -> &'static [BuiltinOption] {
        OPTIONS
    }

    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback> {
        let mut fine = if request.mode() == crosier::Mode::Background {
            Some(())
        } else {
            guard::check_mode(request, self.name())
        };
        if !request.event().capabilities.has(Capability::Context) {
            let message = format!("{} takes no context", request.event().name);
            request.error("", message, "put it under SessionStart");
            fine = None;
        }
        let files = request.texts("files").unwrap_or_default();
        if files.is_empty() {
            request.error("files", "`context-files` names no files", "add `options: {files: [NOTES.md]}`");
            fine = None;
        }
        let folder = request.folder().to_owned();
        let overflow = request.text("overflow").map(|path| folder.join(path));
        let words = [("log", Missing::Log), ("ignore", Missing::Ignore), ("fail", Missing::Fail)];
        let missing = option::word(request, "missing", &words).ok()?.unwrap_or(Missing::Log);
        let max_bytes = option::size(request, "max_bytes").ok()?.unwrap_or(32 << 10);
        let max_total = option::size(request, "max_total").ok()?.unwrap_or(128 << 10);
        fine?;
        let files = Files { folder, files, max_bytes, max_total, overflow, missing };
        Some(Callback::Blocking(Arc::new(move |_: Call<'_>| files.answer())))
    }
}

impl Files {
    fn answer(&self) -> Answer {
        let mut reply = Reply::none();
        let (mut shown, mut whole) = (String::new(), String::new());
        let mut cut = false;
        for name in &self.files {
            let found = self.found(name);
            if found.is_empty() {
                match self.missing {
                    Missing::Ignore => {}
                    Missing::Log => {
                        reply = reply.log("warn", format!("context-files: there is no file `{name}`"))
                    }
                    Missing::Fail => return Failure::error(format!("there is no file `{name}`")).into(),
                }
            }
            for path in found {
                let text = match read(&path) {
                    Ok(text) => text,
                    Err(error) => {
                        let what = format!("context-files: `{}` cannot be read: {error}", path.display());
                        if self.missing == Missing::Fail {
                            return Failure::error(what).into();
                        }
                        reply = reply.log("warn", what);
                        continue;
                    }
                };
                let title = path.strip_prefix(&self.folder).unwrap_or(&path).display().to_string();
                let used = u64::try_from(shown.len()).unwrap_or(u64::MAX);
                let room = self.max_bytes.min(self.max_total.saturating_sub(used));
                let part = beginning(&text, usize::try_from(room).unwrap_or(usize::MAX));
                shown.push_str(&format!("# {title}\n{part}"));
                if part.len() < text.len() {
                    cut = true;
                    let rest = u64::try_from(text.len() - part.len()).unwrap_or(u64::MAX);
                    let at = self.overflow.as_ref().unwrap_or(&path);
                    shown.push_str(&format!("\n[cut: {} more bytes in {}]", grouped(rest), at.display()));
                }
                shown.push_str("\n\n");
                whole.push_str(&format!("# {title}\n{text}\n\n"));
            }
        }
        if let Some(overflow) = self.overflow.as_ref().filter(|_| cut)
            && let Err(error) = atomic_write::write_atomically(overflow, whole.as_bytes())
        {
            let what = format!("context-files: `{}` cannot be written: {error}", overflow.display());
            reply = reply.log("warn", what);
        }
        let shown = shown.trim_end();
        if shown.is_empty() { reply.into() } else { reply.context(shown).into() }
    }

    fn found(&self, name: &str) -> Vec<PathBuf> {
        let path = self.folder.join(name);
        if !name.contains(['*', '?']) {
            return if path.exists() { vec![path] } else { Vec::new() };
        }
        let mut found = expand_glob(&path).unwrap_or_default();
        found.retain(|path| path.is_file());
        found.sort();
        found
    }
}

/// The text of a regular file; reading a pipe or a device could block.
fn read(path: &Path) -> io::Result<String> {
    const MOST: u64 = 16 << 20;
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// As much of a text as there is room for, up to the end of a line where one is near.
fn beginning(text: &str, room: usize) -> &str {
    if text.len() <= room {
        return text;
    }
    let part = &text[..text.floor_char_boundary(room)];
    match part.rfind('\n') {
        Some(line) if line > part.len() / 2 => &part[..line],
        _ => part,
    }
}
