//! A call of a Python hook as `python.call` writes it, and its result.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use crosier::{Cwd, FailureKind, Json, NotCompleted, Pass, PythonCall, PythonResponse, PythonResult};
use serde::{Serialize, Serializer};

/// The parameters of `python.call`, without the event, which is JSON already.
#[derive(Serialize)]
struct CallParams<'a> {
    handler: String,
    layer: String,
    python: &'a str,
    paths: Vec<&'a str>,
    dir: &'a str,
    cwd: &'a str,
    isolate: bool,
    hook: &'a str,
    deadline_ms: u64,
    timeout_ms: u64,
    phase: u8,
    pass: u8,
    #[serde(serialize_with = "as_map")]
    env: Vec<(&'a str, &'a str)>,
    #[serde(flatten)]
    record: Option<RecordParams<'a>>,
}

#[derive(Serialize)]
struct RecordParams<'a> {
    #[serde(serialize_with = "as_map")]
    files: Vec<(&'a str, String)>,
    folders: Vec<&'a str>,
    units: Vec<&'a str>,
}

fn as_map<S: Serializer, V: Serialize>(pairs: &[(&str, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

/// The parameters of `python.call`; `None` when a text is not UTF-8.
pub(crate) fn params_of(call: &PythonCall<'_>) -> Option<String> {
    fn texts(paths: &[PathBuf]) -> Option<Vec<&str>> {
        paths.iter().map(|path| path.to_str()).collect()
    }
    fn variable((name, value): &(OsString, OsString)) -> Option<(&str, &str)> {
        Some((name.to_str()?, value.to_str()?))
    }
    let spec = call.spec;
    let left = call.deadline.saturating_duration_since(Instant::now()).as_millis();
    let paths = call.paths();
    let record = match &call.record {
        None => None,
        Some(record) => Some(RecordParams {
            files: record
                .files
                .iter()
                .map(|(path, digest)| Some((path.to_str()?, shown(digest))))
                .collect::<Option<_>>()?,
            folders: texts(&record.folders)?,
            units: texts(&record.units)?,
        }),
    };
    let params = CallParams {
        handler: format!("{}.{}", spec.module, spec.function),
        layer: call.layer.to_string(),
        python: &spec.interpreter,
        paths: texts(&paths)?,
        dir: spec.project_dir.to_str()?,
        cwd: match &spec.cwd {
            Cwd::Folder(folder) => folder.to_str()?,
            _ => "event",
        },
        isolate: spec.fork,
        hook: call.hook,
        deadline_ms: u64::try_from(left).ok()?.max(1),
        timeout_ms: u64::try_from(call.timeout.as_millis()).ok()?.max(1),
        phase: if call.second { 2 } else { 1 },
        pass: if call.pass == Pass::Second { 2 } else { 1 },
        env: call.environment.iter().map(variable).collect::<Option<_>>()?,
        record,
    };
    let mut text = serde_json::to_string(&params).ok()?;
    text.pop();
    text.push_str(r#","event":"#);
    text.push_str(call.event.trim_end());
    text.push('}');
    Some(text)
}

/// A digest as the protocol writes it.
fn shown(digest: &[u8; 32]) -> String {
    let mut text = String::from("sha256:");
    for byte in digest {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The result of the call, as the engine takes it.
pub(crate) fn result_of(result: &Json) -> Result<PythonResult, NotCompleted> {
    let unclear = || NotCompleted::midway("the daemon sent an answer that is not valid");
    let printed =
        result.get("stdout").and_then(|text| text.as_str().map(|text| text.into_owned().into_bytes()));
    let response = match (result.get("reply"), result.get("failure")) {
        (Some(reply), None) if reply.is_null() => PythonResponse::Nothing,
        (Some(reply), None) => PythonResponse::Reply(reply.text().as_bytes().to_vec()),
        (None, Some(failure)) => {
            let text =
                |key: &str| failure.get(key).and_then(|text| text.as_str().map(|text| text.into_owned()));
            let kind = text("kind").as_deref().and_then(FailureKind::from_word).ok_or_else(unclear)?;
            let deny = result.get("deny").and_then(|deny| deny.as_str().map(|text| text.into_owned()));
            PythonResponse::Failed { kind, detail: text("detail").unwrap_or_default(), deny }
        }
        _ => return Err(unclear()),
    };
    Ok(PythonResult { response, printed: printed.unwrap_or_default() })
}
