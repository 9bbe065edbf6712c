//! Requests to a worker, as bytes: six numbers, the second of which is the number of bytes that follow.
//! `worker.py` documents the details.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::MAX_REPLY;
use crate::registry::{Cwd, PythonSources, PythonSpec};

const PYTHONPATH: &str = "PYTHONPATH";

/// The kinds of requests, with the numbers that `worker.py` uses.
#[derive(Clone, Copy)]
enum Op {
    Hello,
    Load,
    Call,
    /// The only one without an answer.
    Environment = 6,
}

/// Asks the worker for information about itself.
pub(super) fn push_hello(out: &mut Vec<u8>, id: u64) {
    push_header(out, Op::Hello, [id, 0, 0, 0, 0]);
}

/// A hook to load.
pub(super) struct LoadRequest<'a> {
    pub(super) number: usize,
    pub(super) hook: &'a str,
    pub(super) spec: &'a PythonSpec,
    pub(super) env: &'a [(OsString, OsString)],
    /// What the worker may load from the project, as JSON.
    pub(super) record: Option<&'a str>,
}

/// Asks it to import the module of a hook and find its function, and to use this number for the hook.
pub(super) fn push_load(out: &mut Vec<u8>, id: u64, request: LoadRequest<'_>) {
    let LoadRequest { number, hook, spec, env, record } = request;
    let (name, module, function) = (json(hook), json(&spec.module), json(&spec.function));
    let paths: Vec<String> = paths(spec, env).iter().map(|path| path_json(path)).collect();
    let (paths, fork) = (paths.join(","), spec.fork);
    let what = format!(r#""name":{name},"module":{module},"function":{function}"#);
    let how = format!(r#""paths":[{paths}],"fork":{fork},"max_reply":{MAX_REPLY}"#);
    let cwd = match &spec.cwd {
        Cwd::Folder(folder) => format!(",\"cwd\":{}", path_json(folder)),
        // Each event has its own.
        Cwd::Event => String::new(),
    };
    let record = record.map(|record| format!(",\"record\":{record}")).unwrap_or_default();
    let facts = format!("{{{what},{how}{cwd}{record}}}");
    push_header(out, Op::Load, [id, facts.len() as u64, number as u64, 0, 0]);
    out.extend_from_slice(facts.as_bytes());
}

/// Sets its environment to the variables that it was started with, plus these.
pub(super) fn push_environment(out: &mut Vec<u8>, variables: &[(OsString, OsString)]) {
    let pairs = variables.iter().map(|(name, value)| format!("{}:{}", os_json(name), os_json(value)));
    let facts = format!("{{{}}}", pairs.collect::<Vec<_>>().join(","));
    push_header(out, Op::Environment, [0, facts.len() as u64, 0, 0, 0]);
    out.extend_from_slice(facts.as_bytes());
}

/// A hook to call.
pub(super) struct CallRequest<'a> {
    pub(super) number: usize,
    pub(super) phase: u16,
    /// How much time is left.
    pub(super) left: Duration,
    pub(super) event_bytes: usize,
    /// The positions of large values in the event: the worker parses them only when the hook reads them.
    pub(super) large: &'a [Range<usize>],
}

/// Calls the function of a hook; the event follows.
pub(super) fn push_call(out: &mut Vec<u8>, id: u64, request: &CallRequest<'_>) {
    let CallRequest { number, phase, left, event_bytes, large } = *request;
    // Rounded up, so that a hook does not give up too early.
    let left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
    let (bytes, large_count) = (large.len() * 16 + event_bytes, (large.len() as u64) << 16);
    push_header(out, Op::Call, [id, bytes as u64, number as u64, u64::from(phase) | large_count, left]);
    for place in large.iter().flat_map(|range| [range.start, range.end]) {
        out.extend_from_slice(&(place as u64).to_le_bytes());
    }
}

/// Writes the header of a request: id, length of the body, op, hook, phase, milliseconds left.
fn push_header(out: &mut Vec<u8>, op: Op, [id, bytes, hook, phase, left]: [u64; 5]) {
    for number in [id, bytes, op as u64, hook, phase, left] {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// The folders in which python looks for the module first. Python is started so that it ignores `PYTHONPATH`;
/// if a hook sets it or asks for it, its folders are added here, after all others.
pub(super) fn paths(spec: &PythonSpec, env: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let mut paths = spec.paths.clone();
    let is_own = spec.env.iter().any(|(name, _)| name == PYTHONPATH);
    if is_own || spec.env_pass.iter().any(|name| name == PYTHONPATH) {
        let value = env.iter().find(|(name, _)| name == PYTHONPATH).map(|(_, value)| value.as_os_str());
        let folders = std::env::split_paths(value.unwrap_or(OsStr::new("")));
        // A relative folder in the hook's own variable is relative to its configuration. In an inherited
        // variable it would be relative to the host's current folder, so it is ignored.
        let folders =
            folders.filter(|folder| folder.is_absolute() || is_own && !folder.as_os_str().is_empty());
        paths.extend(folders.map(|folder| spec.project_dir.join(folder)));
    }
    paths
}

/// What a worker may load, as JSON.
pub(super) fn record_json(sources: &PythonSources) -> String {
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| path_json(path)).collect::<Vec<_>>().join(",");
    let digest = |bytes: &[u8; 32]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let files =
        sources.files.iter().map(|(path, sha256)| format!("{}:\"{}\"", path_json(path), digest(sha256)));
    let (folders, units) = (paths(&sources.folders), paths(&sources.units));
    let files = files.collect::<Vec<_>>().join(",");
    format!(r#"{{"folders":[{folders}],"files":{{{files}}},"units":[{units}]}}"#)
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

fn path_json(path: &Path) -> String {
    os_json(path.as_os_str())
}

/// An OS string as Python represents it: bytes that are not valid UTF-8 become lone surrogates
/// (`surrogateescape`).
fn os_json(text: &OsStr) -> String {
    let mut out = String::from("\"");
    for chunk in text.as_encoded_bytes().utf8_chunks() {
        let quoted = json(chunk.valid());
        out.push_str(quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\udc{byte:02x}"));
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_path_that_is_no_text_is_written_as_python_reads_it() {
        let path = PathBuf::from(OsString::from_vec(b"/a\"\xff/\xc3\xa4\n".to_vec()));
        assert_eq!(path_json(&path), "\"/a\\\"\\udcff/\u{e4}\\n\"");
        assert_eq!(path_json(Path::new("\"/\"")), r#""\"/\"""#);
    }

    #[test]
    fn a_call_begins_with_its_numbers() {
        let mut out = b"before".to_vec();
        let left = Duration::from_millis(29_999);
        push_call(&mut out, 10, &CallRequest { number: 7, phase: 1, left, event_bytes: 1024, large: &[] });
        let numbers: Vec<u64> =
            out[6..].chunks(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect();
        assert_eq!(numbers, [10, 1024, 2, 7, 1, 30_000]);
        let (phase, left) = (257, Duration::MAX);
        let large = &[5..10, 20..30];
        push_call(
            &mut out,
            u64::MAX,
            &CallRequest { number: usize::MAX, phase, left, event_bytes: 40, large },
        );
        let numbers: Vec<u64> =
            out[54..].chunks(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect();
        assert_eq!((numbers[1], numbers[4]), (40 + 2 * 16, (2 << 16) + 257));
        assert_eq!(numbers[6..], [5, 10, 20, 30]);
    }

    #[test]
    fn pythonpath_counts_when_it_is_set_or_asked_for() {
        let spec = PythonSpec::new("guard.check", "/cfg");
        let env = [(PYTHONPATH.into(), "/lib:rel::/more".into())];
        let all = |change: fn(&mut PythonSpec)| {
            let mut spec = spec.clone().unwrap();
            change(&mut spec);
            let paths = paths(&spec, &env);
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(all(|_| ()), "/cfg");
        assert_eq!(all(|spec| spec.env_pass.push(PYTHONPATH.into())), "/cfg /lib /more");
        assert_eq!(all(|spec| spec.env.push((PYTHONPATH.into(), "".into()))), "/cfg /lib /cfg/rel /more");
    }
}
