//! `crosier test --record`: turns an event on stdin into a case with its current outcome.
//!
//! The case is read back and compared before anything is written, so that only a case that passes is appended.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use crosier::config::Problems;
use crosier::protocol::ordered::Value;
use crosier::{Event, Json, Outcome};

use super::yaml;
use crate::cases;
use crate::command::fire;
use crate::exit::{Exit, Failed, Result};
use crate::signals::Signals;
use crate::{print, setup};

/// Values that a case leaves out because they say nothing.
const QUIET: [&str; 7] = ["null", "[]", "{}", "false", "\"\"", "0", "[ ]"];
/// Parts of an outcome that a case leaves out: the event is already in the case, and reports contain times.
const LEFT_OUT: [&str; 2] = ["event", "reports"];

/// What to record.
#[derive(Debug)]
pub(super) struct RecordRequest<'a> {
    pub(super) file: &'a Path,
    pub(super) event: &'a str,
    pub(super) agent: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) config: &'a [PathBuf],
}

/// Records the event on stdin.
pub(super) fn run(request: &RecordRequest<'_>) -> Result {
    let files = match request.config {
        [] => setup::trusted_file()?,
        named => named.to_vec(),
    };
    let input = fire::read_all().map_err(|error| Failed::new(Exit::BadInput, error.to_string()))?;
    record(request, &files, &input)?;
    Ok(Exit::Done)
}

/// Records an event judged by these files; returns its current outcome.
pub(super) fn record(
    request: &RecordRequest<'_>,
    files: &[PathBuf],
    input: &[u8],
) -> std::result::Result<Outcome, Failed> {
    let kind = fire::find(request.event)?;
    let engine = setup::build(setup::builder(setup::load(files)?))?;
    let event =
        Event::from_json(kind, input).map_err(|error| Failed::new(Exit::BadInput, error.to_string()))?;
    let event = match request.agent {
        Some(agent) => event.in_agent(agent),
        None => event,
    };
    let signals = Signals::watch()?;
    signals.kill(&engine);
    let outcome =
        signals.during("running hooks were killed; nothing was recorded", || engine.fire_blocking(&event))?;
    let name = request.name.map_or_else(|| default_name(&event, &outcome), str::to_owned);
    let input = String::from_utf8_lossy(input).into_owned();
    let case = written(request, files, &name, &input, &outcome)?;
    append(request.file, &case, &outcome)?;
    let decision = outcome.decision.map_or("no opinion", crosier::Decision::word);
    print::data(&format!("recorded in {}: {name} ({decision})", request.file.display()))?;
    Ok(outcome)
}

fn default_name(event: &Event, outcome: &Outcome) -> String {
    let value = event.matcher_value().map(|value| format!(" {}", print::one_line(value))).unwrap_or_default();
    let by = outcome.by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
    let decision = outcome.decision.map_or("no opinion", crosier::Decision::word);
    format!("{}{value}: {decision}{by}", event.name())
}

/// The case as YAML.
fn written(
    request: &RecordRequest<'_>,
    files: &[PathBuf],
    name: &str,
    input: &str,
    outcome: &Outcome,
) -> std::result::Result<String, Failed> {
    let mut lines = vec![format!("- name: {}", yaml::text(name))];
    let from = folder_of(request.file);
    let paths: Vec<String> = files.iter().map(|file| yaml::text(&relative(&from, file))).collect();
    lines.push(match &paths[..] {
        [path] => format!("  config: {path}"),
        paths => format!("  config: [{}]", paths.join(", ")),
    });
    lines.extend(request.agent.map(|agent| format!("  agent: {}", yaml::text(agent))));
    lines.push(format!("  event: {}", yaml::text(outcome.event.name)));
    if !input.trim_ascii().is_empty() {
        lines.push(format!("  input: {}", yaml::json(input.trim_ascii())));
    }
    lines.push("  expect:".to_owned());
    lines.extend(expectations(outcome).into_iter().map(|(key, value)| format!("    {key}: {value}")));
    Ok(format!("{}\n", lines.join("\n")))
}

/// The parts of the outcome that are the same in every run.
fn expectations(outcome: &Outcome) -> Vec<(String, String)> {
    let entries = outcome.to_json().entries().unwrap_or_default();
    let parts = entries.into_iter().filter(|(key, value)| {
        key == "decision" || !LEFT_OUT.contains(&key.as_str()) && !QUIET.contains(&value.text())
    });
    let parts = parts.map(|(key, value)| (key, literal(&value)));
    let derived = cases::derived(outcome).into_iter().map(|(key, value)| (key, Json::from(value)));
    let derived = derived.filter(|(key, value)| key == "ran" || !QUIET.contains(&value.text()));
    parts.chain(derived.map(|(key, value)| (key, literal(&value)))).collect()
}

/// A value that must match exactly: a text that looks like `/…/` becomes a regular expression for itself.
fn literal(value: &Json) -> String {
    fn walk(value: Value) -> Value {
        match value {
            Value::String(text) if text.len() > 1 && text.starts_with('/') && text.ends_with('/') => {
                Value::String(format!("/^{}$/", regex::escape(&text)))
            }
            Value::Array(items) => items.into_iter().map(walk).collect(),
            Value::Object(map) => map.into_iter().map(|(key, value)| (key, walk(value))).collect(),
            other => other,
        }
    }
    // Only if needed, because a tree does not keep every digit.
    match value.to_ordered().filter(|_| value.text().contains("\"/")) {
        Some(tree) => yaml::json(&walk(tree).to_string()),
        None => match value.as_str() {
            Some(text) => yaml::text(&text),
            None => yaml::json(value.text()),
        },
    }
}

/// Appends the case, if the resulting file is valid and the case passes.
fn append(file: &Path, case: &str, outcome: &Outcome) -> std::result::Result<(), Failed> {
    let before = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(cannot(file, &error.to_string())),
    };
    let gap = if before.is_empty() || before.ends_with("\n\n") {
        ""
    } else if before.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let piece = format!("{gap}{case}");
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let (mut problems, mut found) = (Problems::new(), Problems::new());
    cases::read(file, before.clone(), &mut old, &mut problems);
    if problems.errors() > 0 {
        return Err(Failed::new(
            Exit::BadInput,
            format!("bad case file, nothing was recorded\n\n{problems}"),
        ));
    }
    cases::read(file, format!("{before}{piece}"), &mut new, &mut found);
    let last = match new.last() {
        Some(last) if found.errors() == 0 && new.len() == old.len() + 1 => last,
        _ => return Err(cannot(file, "the case cannot be appended; is the list written with [ ]?")),
    };
    let differences = cases::differences(&last.expect, &Ok(outcome.clone()));
    if let Some(difference) = differences.first() {
        return Err(cannot(file, &format!("`{}` cannot be written as a case", difference.at)));
    }
    let written = OpenOptions::new().append(true).create(true).open(file);
    let written = written.and_then(|mut file| file.write_all(piece.as_bytes()));
    written.map_err(|error| cannot(file, &error.to_string()))
}

fn cannot(file: &Path, why: &str) -> Failed {
    Failed::new(Exit::Failed, format!("nothing was recorded in {}: {why}", file.display()))
}

fn folder_of(file: &Path) -> PathBuf {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    whole.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned)
}

/// The relative path from a folder to a file.
fn relative(folder: &Path, file: &Path) -> String {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), file.components().collect());
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from.iter().skip(same).map(|_| OsStr::new(".."));
    let way: PathBuf = up.chain(to.iter().skip(same).map(|part| part.as_os_str())).collect();
    way.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_from_a_folder_to_a_file_is_relative() {
        assert_eq!(relative(Path::new("/a/b"), Path::new("/a/b/c.yaml")), "c.yaml");
        assert_eq!(relative(Path::new("/a/b"), Path::new("/a/c/d.yaml")), "../c/d.yaml");
    }

    #[test]
    fn a_text_that_looks_like_an_expression_is_expected_to_the_letter() {
        let value = Json::from(serde_json::json!(["/tmp/", "plain"]));
        assert_eq!(literal(&value), r#"["/^\\/tmp\\/$/", "plain"]"#.replace("\\\\/", "/"));
    }
}
