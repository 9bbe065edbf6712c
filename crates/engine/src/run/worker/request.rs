//! Requests to a worker, as bytes: a line of words, then as many bytes as the third one says. `worker.py` tells
//! more.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::MAX_REPLY;
use crate::registry::{Cwd, PythonSpec};

const PYTHONPATH: &str = "PYTHONPATH";

/// Asks who it is.
pub(super) fn push_hello(out: &mut Vec<u8>, id: u64) {
    push_line(out, format_args!("{id} hello 0"));
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
    push_line(out, format_args!("{id} load {} {number}", facts.len()));
    out.extend_from_slice(facts.as_bytes());
}

/// Calls the function of a hook; the event follows, so many bytes.
pub(super) fn push_call(
    out: &mut Vec<u8>,
    id: u64,
    number: usize,
    phase: u8,
    left: Duration,
    event_bytes: usize,
) {
    // Rounded up: a hook must not believe that its time is over before it is.
    let left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
    // Every call waits for this line: `format!` would take ten times as long.
    push_number(out, id);
    out.extend_from_slice(b" call");
    for number in [event_bytes as u64, number as u64, u64::from(phase), left] {
        out.push(b' ');
        push_number(out, number);
    }
    out.push(b'\n');
}

fn push_number(out: &mut Vec<u8>, number: u64) {
    let begin = out.len();
    let mut rest = number;
    loop {
        out.push(b'0' + (rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out[begin..].reverse();
}

fn push_line(out: &mut Vec<u8>, words: std::fmt::Arguments<'_>) {
    // A vector takes everything.
    let _ = writeln!(out, "{words}");
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
    fn the_line_of_a_call_has_its_numbers() {
        let mut out = b"before".to_vec();
        push_call(&mut out, 10, 0, 1, Duration::from_millis(29_999), 1024);
        push_call(&mut out, u64::MAX, usize::MAX, 2, Duration::MAX, 0);
        let most = u64::MAX;
        let lines = format!("before10 call 1024 0 1 30000\n{most} call 0 {most} 2 {most}\n");
        assert_eq!(String::from_utf8(out).unwrap(), lines);
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
