//! `crosier test --record LAST`: turns an event of the log into a case.

use std::path::{Path, PathBuf};

use crosier::protocol::ordered::{Map, Value};
use crosier_log::{Filter, Log, StoredEvent};

use super::record::{self, RecordRequest};
use crate::exit::{Exit, Failed, Result};
use crate::homes::{self, Homes};
use crate::{print, setup};

/// The word for the last denial in this project.
pub(super) const LAST: &str = "LAST";
/// The default file for the case.
const FILE: &str = "crosier.test.yaml";
/// How many characters an id has.
const ID: usize = 6;

/// Fields that every event has and that do not matter to hooks: they differ from run to run.
const RUN: [&str; 8] = [
    "session_id",
    "transcript_path",
    "cwd",
    "hook_event_name",
    "hook_type",
    "orchestrator_id",
    "timestamp",
    "tool_use_id",
];

/// Whether the value of `--record` names an event of the log, not a file.
pub(super) fn is_meant(word: &Path) -> bool {
    let Some(text) = word.to_str() else { return false };
    let is_id = text.len() == ID && text.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase());
    text == LAST || is_id && !word.exists()
}

/// What to record.
#[derive(Debug)]
pub(super) struct LoggedRequest<'a> {
    pub(super) what: &'a str,
    pub(super) file: Option<&'a Path>,
    pub(super) name: Option<&'a str>,
    pub(super) config: &'a [PathBuf],
}

pub(super) fn run(request: &LoggedRequest<'_>) -> Result {
    let homes = homes::of_environment();
    let state = homes.state.clone();
    let state = state.ok_or_else(|| failed("there is no state folder, so nothing was logged".to_owned()))?;
    let log = Log::in_folder(&state);
    let stored = find(&log, request.what)?;
    let files = files(request, &stored, homes)?;
    let input = case_input(&stored);
    let file = request.file.unwrap_or(Path::new(FILE));
    let agent = stored.input.get("agent_id").and_then(|agent| agent.as_str().map(|agent| agent.into_owned()));
    let record_request = RecordRequest {
        file,
        event: &stored.event,
        agent: agent.as_deref(),
        name: request.name,
        config: &files,
    };
    let outcome = record::record(&record_request, &files, input.as_bytes())?;
    let today = outcome.decision.map_or("no opinion", crosier::Decision::word);
    let then = decision_then(&log, &stored);
    if let Some(then) = then.filter(|then| then != today) {
        print::note(&format!(
            "the log says {then}, but the decision is now {today}: secrets in the event were masked, or other files were in \
             force then (name them with -c)"
        ));
    }
    Ok(Exit::Done)
}

fn failed(message: String) -> Failed {
    Failed::new(Exit::Failed, message)
}

/// Finds the event.
fn find(log: &Log, what: &str) -> std::result::Result<StoredEvent, Failed> {
    let cannot = |error: std::io::Error| failed(format!("the log cannot be read: {error}"));
    let mut all = log.stored_events().map_err(cannot)?;
    if what != LAST {
        let found = all.into_iter().rfind(|stored| stored.id == what);
        return found.ok_or_else(|| {
            failed(format!(
                "no complete event `{what}` is stored; only events that were denied or asked, or had a hook that failed, are"
            ))
        });
    }
    let here = setup::here();
    let is_here = |stored: &StoredEvent| {
        let project = stored.project.as_deref().map(Path::new);
        project.is_some_and(|project| here.starts_with(project) || project.starts_with(&here))
    };
    match all.iter().rposition(is_here) {
        Some(place) => Ok(all.swap_remove(place)),
        None => Err(failed(match all.last() {
            None => "nothing was denied yet: `crosier log` shows what happened".to_owned(),
            Some(other) => {
                let project = print::one_line(other.project.as_deref().unwrap_or_default());
                format!(
                    "nothing was denied in this folder; the last denial was in {project}: --record {}",
                    other.id
                )
            }
        })),
    }
}

/// The files that judge the case: those that were named, or else those in force in the event's project.
fn files(
    request: &LoggedRequest<'_>,
    stored: &StoredEvent,
    homes: Homes,
) -> std::result::Result<Vec<PathBuf>, Failed> {
    if !request.config.is_empty() {
        return Ok(request.config.to_vec());
    }
    let mut policy_request = setup::request(&[], homes);
    if let Some(project) = &stored.project {
        policy_request.project = PathBuf::from(project);
    }
    setup::loaded(&policy_request).map(|loaded| loaded.files.clone()).map_err(|error| {
        let named: Vec<String> =
            stored.files.iter().map(|file| format!(" -c {}", print::one_line(file))).collect();
        let hint = if named.is_empty() {
            String::new()
        } else {
            format!("; name the files that were in force then:{}", named.concat())
        };
        Failed::new(error.exit, format!("{}{hint}", error.message))
    })
}

/// The event without the fields that differ from run to run.
fn case_input(stored: &StoredEvent) -> String {
    let Some(Value::Object(all)) = stored.input.to_ordered() else { return stored.input.text().to_owned() };
    let is_kept = |(key, value): &(String, Value)| !RUN.contains(&key.as_str()) && !value.is_null();
    // The agent's own name of the tool matters only if it is different.
    let has_own_name =
        stored.input.get("host").and_then(|host| host.get("tool_name")) != stored.input.get("tool_name");
    let is_wanted = |key: &str| key != "agent_id" && (key != "host" || has_own_name);
    let fields: Map = all.into_iter().filter(is_kept).filter(|(key, _)| is_wanted(key)).collect();
    Value::Object(fields).to_string()
}

/// The decision at that time.
fn decision_then(log: &Log, stored: &StoredEvent) -> Option<String> {
    let mut filter = Filter::default();
    filter.id = Some(stored.id.clone());
    let record = log.read(&filter, Some(1)).ok()?.pop()?;
    Some(record.decision.unwrap_or_else(|| "no opinion".to_owned()))
}
