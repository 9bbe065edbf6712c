//! `crosier test`: runs cases against hooks, or records one.

mod junit;
mod logged;
mod progress;
mod record;
mod yaml;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use crosier::protocol::json;
use crosier::protocol::ordered::Value;

use super::Run;
use crate::cases::{self, Case, Verdict};
use crate::exit::{Exit, Failed, Result};
use crate::paint::{Paint, Tone};
use crate::print;
use crate::setup::count;
use progress::Progress;

#[derive(Debug, Args)]
#[command(after_help = "A case is an item of a list in a YAML file; only what it expects is compared:
  - name: rm is denied
    config: hooks.yaml        # beside the case file, or the configuration itself
    event: PreToolUse
    input: {tool_name: Bash, tool_input: {command: rm -rf /}}
    expect: {decision: deny, by: no-rm, reason: /never/}

Hooks that were switched off with `crosier disable` are on here, so that a test gives the same result on every machine.

Example:
  crosier test hooks.test.yaml
  crosier test --record hooks.test.yaml --event PreToolUse -c hooks.yaml < event.json
  crosier test --record LAST                  the last denial here, into crosier.test.yaml")]
pub(crate) struct TestArgs {
    /// Case files, or folders with case files (*.yaml, *.yml, *.json)
    #[arg(required_unless_present = "record", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Run only the cases whose name contains this text (or matches it, written as /regex/)
    #[arg(long, value_name = "TEXT", conflicts_with = "record")]
    filter: Option<String>,
    /// Run this many cases at a time (default: twice the cores)
    #[arg(long, value_name = "N", conflicts_with = "record")]
    jobs: Option<NonZeroUsize>,
    /// Print JSON
    #[arg(long, conflicts_with = "record")]
    json: bool,
    /// Also write the results to this file, as JUnit XML
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    junit: Option<PathBuf>,
    /// Fire the event on stdin and append it to this file, as a case with its outcome; or fire an event of the log:
    /// LAST (the last denial here) or an id that `crosier log` shows, appended to PATH (default: crosier.test.yaml)
    #[arg(long, value_name = "FILE|LAST|ID")]
    record: Option<PathBuf>,
    /// The event to record, by its name, or by an alias such as pre:tool
    #[arg(long, value_name = "EVENT", requires = "record")]
    event: Option<String>,
    /// The agent_id of the event to record, which selects the hooks of one agent (not the name of a coding agent)
    #[arg(long, value_name = "ID", requires = "record")]
    agent: Option<String>,
    /// The name of the case to record
    #[arg(long, value_name = "NAME", requires = "record")]
    name: Option<String>,
    /// A configuration file for the event to record (default: crosier.yaml in this folder)
    #[arg(short = 'c', long = "config", value_name = "FILE", requires = "record")]
    config: Vec<PathBuf>,
}

impl Run for TestArgs {
    fn run(&self) -> Result {
        let usage = |message: &str| Err(Failed::new(Exit::Usage, message));
        match (&self.record, &self.event) {
            (Some(what), None) if logged::is_meant(what) => match &self.paths[..] {
                [_, _, ..] => usage("--record appends to one file"),
                paths => logged::run(&logged::LoggedRequest {
                    what: what.to_str().unwrap_or_default(),
                    file: paths.first().map(PathBuf::as_path),
                    name: self.name.as_deref(),
                    config: &self.config,
                }),
            },
            (Some(_), None) => usage(
                "--record FILE needs --event EVENT; an event of the log is LAST or an id of `crosier log`",
            ),
            (Some(_), Some(_)) if !self.paths.is_empty() => {
                usage("with --event, --record names the file itself: leave the path out")
            }
            (Some(file), Some(event)) => record::run(&record::RecordRequest {
                file,
                event,
                agent: self.agent.as_deref(),
                name: self.name.as_deref(),
                config: &self.config,
            }),
            _ => self.test(),
        }
    }
}

impl TestArgs {
    fn test(&self) -> Result {
        let wanted = self.wanted()?;
        let jobs = self.jobs.map_or_else(cases::default_jobs, NonZeroUsize::get);
        let progress = Progress::new(wanted.len());
        let verdicts = cases::run_all(&wanted, jobs, |done, case| progress.tell(done, &case.name));
        progress.end();
        let verdicts = verdicts?;
        if let Some(path) = &self.junit {
            std::fs::write(path, junit::xml(&wanted, &verdicts)).map_err(|error| {
                Failed::new(Exit::Failed, format!("{} cannot be written: {error}", path.display()))
            })?;
        }
        let failed = verdicts.iter().filter(|verdict| !verdict.is_passed()).count();
        if self.json {
            print::json(&format!("{:#}", as_json(&wanted, &verdicts, failed)))?;
        } else {
            print::data(&text(&wanted, &verdicts, failed))?;
        }
        Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
    }

    /// The cases to run. No case at all is a mistake: a test that tests nothing must not pass.
    fn wanted(&self) -> std::result::Result<Vec<Case>, Failed> {
        let filter = match &self.filter {
            Some(text) => Some(cases::Filter::new(text).map_err(|why| Failed::new(Exit::Usage, why))?),
            None => None,
        };
        let mut found = cases::load(&self.paths)?;
        let all = found.len();
        found.retain(|case| filter.as_ref().is_none_or(|filter| filter.matches(&case.name)));
        if found.is_empty() {
            let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
            let paths = paths.join(", ");
            return Err(Failed::new(
                Exit::Failed,
                match &self.filter {
                    Some(text) if all > 0 => {
                        format!(
                            "no case matches --filter {text}; there are {} in {paths}",
                            count(all, "case")
                        )
                    }
                    _ => format!("no cases in {paths}; a case file is a list, see `crosier test --help`"),
                },
            ));
        }
        Ok(found)
    }
}

fn text(found: &[Case], verdicts: &[Verdict], failed: usize) -> String {
    let paint = Paint::stdout();
    let mut text = String::new();
    for (case, verdict) in found.iter().zip(verdicts).filter(|(_, verdict)| !verdict.is_passed()) {
        text.push_str(&cases::describe(case, verdict, paint));
        text.push('\n');
    }
    let tone = if failed == 0 { Tone::Good } else { Tone::Bad };
    let summary = format!("{} passed, {failed} failed", verdicts.len() - failed);
    text.push_str(&paint.tone(tone, &summary));
    text
}

fn as_json(found: &[Case], verdicts: &[Verdict], failed: usize) -> Value {
    let rows = found.iter().zip(verdicts).map(|(case, verdict)| {
        let differences = verdict.differences.iter().map(
            |difference| json!({"at": difference.at, "expected": difference.expected, "got": difference.got}),
        );
        json!({
            "name": case.name,
            "file": case.place().0,
            "line": case.place().1,
            "passed": verdict.is_passed(),
            "ms": (verdict.took.as_secs_f64() * 1e6).round() / 1e3,
            "differences": differences.collect::<Vec<_>>(),
        })
    });
    json!({"passed": verdicts.len() - failed, "failed": failed, "cases": rows.collect::<Vec<_>>()})
}
