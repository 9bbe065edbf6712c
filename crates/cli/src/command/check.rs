//! `crosier check`: every problem of every file. No hook is run; the modules of python hooks are imported.

use std::path::PathBuf;

use clap::Args;
use crosier::config::DeclaredHook;
use crosier::config::{Problem, Problems, Severity};
use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{Engine, Entry, PythonInfo};

use super::Run;
use crate::args::ConfigArgs;
use crate::exit::{Exit, Failed, Result};
use crate::paint::{Paint, Tone};
use crate::setup::count;
use crate::{print, setup, state};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 78 for errors, 0 with nothing but warnings, 1 for warnings with --strict.

Example:
  crosier check --strict -c hooks.yaml"
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Do not import python modules: for machines that do not have what they need
    #[arg(long)]
    no_import: bool,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run for CheckArgs {
    fn run(&self) -> Result {
        let files = setup::files(&self.config.config)?;
        let found = look(&files, !self.no_import)?;
        if self.json {
            print::data(&format!("{:#}", as_json(&files, &found)))?;
        } else {
            print::data(&text(&files, &found))?;
        }
        Ok(match (found.problems.errors(), found.problems.warnings()) {
            (0, 0) => Exit::Done,
            (0, _) if self.strict => Exit::Failed,
            (0, _) => Exit::Done,
            _ => Exit::BadConfig,
        })
    }
}

/// What is there, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct CheckResult {
    pub(crate) problems: Problems,
    /// None when the files cannot be used.
    pub(crate) hooks: Option<usize>,
    /// The interpreters of the python hooks that can be called, with how many each has.
    pub(crate) pythons: Vec<(PythonInfo, usize)>,
}

/// Reads the files and their states, and imports what python hooks name.
pub(crate) fn look(files: &[PathBuf], import: bool) -> std::result::Result<CheckResult, Failed> {
    let states = state::read_all(files);
    let mut pythons = Vec::new();
    let (problems, hooks) = match (setup::lint(files), states) {
        (Ok(config), Ok(states)) => {
            let mut problems = config.warnings.clone();
            problems.extend(states.iter().flat_map(|state| state.stale(&config, files)));
            let declared = config.declared.clone();
            // What the loader does not see, the registry does.
            let engine = setup::build(setup::builder(config))?;
            if import {
                problems.extend(import_all(&engine, &declared, &mut pythons));
            }
            (problems, Some(declared.len()))
        }
        (Ok(config), Err(mut broken)) => {
            broken.extend(config.warnings);
            (broken, None)
        }
        (Err(problems), Ok(_)) => (problems, None),
        (Err(mut problems), Err(broken)) => {
            problems.extend(broken);
            (problems, None)
        }
    };
    Ok(CheckResult { problems, hooks, pythons })
}

/// Imports every python function. One that cannot be called is a problem at its hook: it would deny every event.
fn import_all(
    engine: &Engine,
    declared: &[DeclaredHook],
    pythons: &mut Vec<(PythonInfo, usize)>,
) -> Problems {
    let mut problems = Problems::default();
    for (entry, imported) in engine.warm() {
        match imported {
            Ok(info) => match pythons.iter_mut().find(|(known, _)| *known == info) {
                Some((_, hooks)) => *hooks += 1,
                None => pythons.push((info, 1)),
            },
            Err(failure) => {
                // No failure is lost: one whose hook is not found stands at the first one.
                let is_here = |place: &&DeclaredHook| is_of(&entry, place);
                let Some(place) = declared.iter().find(is_here).or(declared.first()) else { continue };
                let message = format!(
                    "the hook `{}` cannot be called ({}): {}",
                    entry.name, failure.kind, failure.detail
                );
                let help = "`crosier doctor` shows the interpreter; `--no-import` leaves python alone";
                problems.push(Problem::error(&place.source, place.span, message).with_help(help));
            }
        }
    }
    problems
}

/// Whether a hook was written at this place. A hook with a name stands where its name does.
fn is_of(entry: &Entry, place: &DeclaredHook) -> bool {
    let Some(name) = &place.name else {
        let at = place.source.position(place.span.start);
        return entry.origin.as_ref().is_some_and(|origin| {
            (&*origin.file, origin.line, origin.column) == (place.source.name.as_str(), at.line, at.column)
        });
    };
    match &place.agent {
        None => entry.scope.is_none() && entry.name == *name,
        Some(agent) => *entry.name == format!("{agent}/{name}"),
    }
}

fn text(files: &[PathBuf], found: &CheckResult) -> String {
    let paint = Paint::stdout();
    let mut text = String::new();
    for problem in &found.problems {
        let (word, tone) = match problem.severity() {
            Severity::Error => ("error:", Tone::Bad),
            Severity::Warning => ("warning:", Tone::Warning),
        };
        // The first of them is ours: it stands before the message.
        text.push_str(&problem.to_string().replacen(word, &paint.tone(tone, word), 1));
        text.push_str("\n\n");
    }
    let names = files.iter().map(|file| print::one_line(&file.display().to_string()));
    let names = names.collect::<Vec<_>>().join(", ");
    let (errors, warnings) = (found.problems.errors(), found.problems.warnings());
    let hooks = found.hooks.map(|hooks| format!("{}, ", count(hooks, "hook"))).unwrap_or_default();
    let summary = match (errors, warnings) {
        (0, 0) => paint.tone(Tone::Good, "no problems"),
        (0, _) => paint.tone(Tone::Warning, &count(warnings, "warning")),
        (_, 0) => paint.tone(Tone::Bad, &count(errors, "error")),
        _ => {
            let both = format!("{}, {}", count(errors, "error"), count(warnings, "warning"));
            paint.tone(Tone::Bad, &both)
        }
    };
    text.push_str(&format!("{names}: {hooks}{summary}"));
    text
}

fn as_json(files: &[PathBuf], found: &CheckResult) -> Value {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    json!({
        "files": names,
        "hooks": found.hooks,
        "errors": found.problems.errors(),
        "warnings": found.problems.warnings(),
        "problems": found.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}

fn problem(problem: &Problem) -> Value {
    let related = problem.related().map(|related| {
        let at = related.source.position(related.span.start);
        json!({"label": related.label, "file": related.source.name, "line": at.line, "column": at.column})
    });
    json!({
        "severity": problem.severity().word(),
        "file": problem.path(),
        "line": problem.line(),
        "column": problem.column(),
        "end_line": problem.end_line(),
        "end_column": problem.end_column(),
        "message": problem.message(),
        "help": problem.help(),
        "related": related,
    })
}
