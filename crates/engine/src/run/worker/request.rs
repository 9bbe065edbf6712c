//! Requests to a worker, as bytes: six numbers, the second of which says how many bytes follow. `worker.py` tells
//! more.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::MAX_REPLY;
use crate::registry::{Cwd, PythonSpec};

const PYTHONPATH: &str = "PYTHONPATH";

/// What is asked, in the order of `worker.py`.
#[derive(Clone, Copy)]
enum Op {
    Hello,
    Load,
    Call,
}

/// Asks who it is.
pub(super) fn push_hello(out: &mut Vec<u8>, id: u64) {
    push_head(out, id, 0, Op::Hello, 0, 0, 0);
}

/// Asks it to import the module of a hook and to find its function, and to know the hook by this number.
pub(super) fn push_load(
    out: &mut Vec<u8>,
    id: u64,
    number: usize,
    hook: &str,
    spec: &PythonSpec,
    env: &[(OsString, OsString)],
) {
    let (name, module, function) = (json(hook), json(&spec.module), json(&spec.function));
    let paths: Vec<String> = paths(spec, env).iter().map(|path| path_json(path)).collect();
    let (paths, fork) = (paths.join(","), spec.fork);
    let what = format!(r#""name":{name},"module":{module},"function":{function}"#);
    let how = format!(r#""paths":[{paths}],"fork":{fork},"max_reply":{MAX_REPLY}"#);
    let cwd = match &spec.cwd {
        Cwd::Folder(folder) => format!(",\"cwd\":{}", path_json(folder)),
        // Each event says which.
        Cwd::Event => String::new(),
    };
    let facts = format!("{{{what},{how}{cwd}}}");
    push_head(out, id, facts.len(), Op::Load, number, 0, 0);
    out.extend_from_slice(facts.as_bytes());
}

/// Calls the function of a hook; the event follows, so many bytes.
pub(super) fn push_call(
    out: &mut Vec<u8>,
    id: u64,
    number: usize,
    phase: u16,
    left: Duration,
    event_bytes: usize,
) {
    // Rounded up: a hook must not believe that its time is over before it is.
    let left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
    push_head(out, id, event_bytes, Op::Call, number, phase, left);
}

fn push_head(out: &mut Vec<u8>, id: u64, bytes: usize, op: Op, hook: usize, phase: u16, left: u64) {
    for number in [id, bytes as u64, op as u64, hook as u64, u64::from(phase), left] {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// Where the module is looked for. Python is started so that it ignores `PYTHONPATH`; a hook that sets it or
/// asks for it gets its folders here, behind all others.
fn paths(spec: &PythonSpec, env: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let mut paths = spec.paths.clone();
    let is_own = spec.env.iter().any(|(name, _)| name == PYTHONPATH);
    if is_own || spec.env_pass.iter().any(|name| name == PYTHONPATH) {
        let value = env.iter().find(|(name, _)| name == PYTHONPATH).map(|(_, value)| value.as_os_str());
        let folders = std::env::split_paths(value.unwrap_or(OsStr::new("")));
        // One of the configuration's own is relative to it; an inherited one would be to wherever the host
        // runs.
        let folders =
            folders.filter(|folder| folder.is_absolute() || is_own && !folder.as_os_str().is_empty());
        paths.extend(folders.map(|folder| spec.project_dir.join(folder)));
    }
    paths
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

/// A path as Python has it: a byte that is no character becomes a lone surrogate (`surrogateescape`).
fn path_json(path: &Path) -> String {
    let mut out = String::from("\"");
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
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
        push_call(&mut out, 10, 7, 1, Duration::from_millis(29_999), 1024);
        let numbers: Vec<u64> =
            out[6..].chunks(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect();
        assert_eq!(numbers, [10, 1024, 2, 7, 1, 30_000]);
        push_call(&mut out, u64::MAX, usize::MAX, 2, Duration::MAX, 0);
        assert_eq!(out.len(), 6 + 2 * 48);
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
