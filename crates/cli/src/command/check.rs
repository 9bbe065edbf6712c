//! `crosier check`: all problems in all files. No hook is run, but the modules of Python hooks are imported.

use std::path::{Path, PathBuf};

use clap::Args;
use crosier::config::DeclaredHook;
use crosier::config::{Problem, Problems, Severity, Source, Span};
use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{Engine, Entry, PythonInfo};
use crosier_layers::RefusedFile;
use crosier_policy::trust::TrustState;
use crosier_policy::{Inspection, Request};

use super::Run;
use crate::args::ConfigArgs;
use crate::exit::{Exit, Failed, Result};
use crate::paint::{Paint, Tone};
use crate::setup::{DEFAULT_CONFIG, count};
use crate::{environment, print, setup};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 78 for errors, 0 if there are only warnings, 1 for warnings with --strict.

Example:
  crosier check --strict -c hooks.yaml"
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Do not import Python modules: for machines without their dependencies
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
        let found = check(&self.config.request(), !self.no_import)?;
        if self.json {
            print::json(&format!("{:#}", as_json(&found)))?;
        } else {
            print::data(&text(&found))?;
        }
        Ok(match (found.problems.errors(), found.problems.warnings()) {
            (0, 0) => Exit::Done,
            (0, _) if self.strict => Exit::Failed,
            (0, _) => Exit::Done,
            _ => Exit::BadConfig,
        })
    }
}

/// The files that were found, and their problems.
#[derive(Debug)]
pub(crate) struct CheckResult {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) problems: Problems,
    /// `None` when the files cannot be used.
    pub(crate) hooks: Option<usize>,
    /// The interpreters of the Python hooks that can be called, with the number of hooks of each.
    pub(crate) pythons: Vec<(PythonInfo, usize)>,
}

/// Reads the files of every layer, and imports the modules of Python hooks.
pub(crate) fn check(request: &Request, import: bool) -> std::result::Result<CheckResult, Failed> {
    let found = crosier_policy::inspect(request, |loader| loader.search_path(environment::path()).lint());
    let files = found.files(request);
    if files.is_empty() && found.layers.is_empty() {
        return Err(setup::nothing(&Vec::new()));
    }
    let mut problems = refused(&found);
    problems.extend(files.iter().filter_map(|file| old_state(file)));
    problems.extend(trust_problems(&found, request));
    let may_run = found.may_run();
    let mut pythons = Vec::new();
    let hooks = match found.loaded {
        Err(more) => {
            problems.extend(more);
            None
        }
        Ok(layers) => {
            problems.extend(layers.iter().flat_map(|(_, config)| config.warnings.clone()));
            let declared: Vec<DeclaredHook> =
                layers.iter().flat_map(|(_, config)| config.declared.clone()).collect();
            let builder = Engine::builder().events(setup::catalog());
            let builder =
                layers.into_iter().fold(builder, |builder, (layer, config)| builder.layer(layer, config));
            // Building an engine finds mistakes that the loader cannot.
            let engine = setup::build(setup::with_process_environment(builder, &request.project))?;
            drop(engine);
            if import && may_run {
                // Imported as in a real run: where there is a trust record, only recorded files.
                let engine = setup::hooks(request, |builder| builder)?.engine;
                problems.extend(import_all(&engine, &declared, &mut pythons));
            }
            Some(declared.len())
        }
    };
    Ok(CheckResult { files, problems, hooks, pythons })
}

/// Problems with trust: untrusted folders, and unrecorded files that scripts run.
fn trust_problems(found: &Inspection, request: &Request) -> Problems {
    let warning = |file: &Path, message: String, help: &str| {
        Problem::warning(&Source::new(print::shown_path(file), ""), Span::at(0), message).with_help(help)
    };
    let mut problems = Problems::default();
    match &found.trust_states {
        Err(closed) => {
            problems.push(warning(&request.project, print::plain(&closed.why), "`crosier trust` shows it"))
        }
        Ok(trust_states) => {
            for (folder, trust_state) in trust_states {
                let file = folder.join(DEFAULT_CONFIG);
                match trust_state {
                    TrustState::Closed(why) => {
                        let message = format!("this project is closed: {}", print::plain(why));
                        problems.push(warning(
                            &file,
                            message,
                            "actions are denied until a person trusts it again",
                        ));
                    }
                    TrustState::Never => {
                        let message = "this project is not trusted: its hooks do not run, and none of its modules was imported";
                        problems.push(warning(
                            &file,
                            message.to_owned(),
                            "`crosier trust` shows what they are",
                        ));
                    }
                    _ => {}
                }
                for (script, runs) in crosier_policy::trust::unrecorded(folder, &request.homes) {
                    let message = format!(
                        "it runs {}, but `crosier trust` does not record that file",
                        print::shown_path(&runs)
                    );
                    problems.push(warning(
                        &script,
                        message,
                        "name it in `trust: [glob]`, so that changes to it are noticed",
                    ));
                }
            }
        }
    }
    problems
}

/// The state file of an earlier version beside a configuration. A repository could contain one, so it is ignored.
fn old_state(file: &Path) -> Option<Problem> {
    let path = super::switch::old_state(file);
    path.exists().then(|| {
        let source = Source::new(print::shown_path(&path), "");
        let message = "a state file beside the configuration is ignored";
        let help = "`crosier disable --migrate` takes over what it switches off; or remove it";
        Problem::warning(&source, Span::at(0), message).with_help(help)
    })
}

/// Refused files.
fn refused(found: &Inspection) -> Problems {
    let problem = |file: &RefusedFile| {
        let source = Source::new(file.path.display().to_string(), "");
        let message = format!("the {} configuration is refused: {}", file.layer, file.why);
        Problem::error(&source, Span::at(0), message)
    };
    found.layers.refused.iter().map(problem).collect()
}

/// Imports every Python function. One that cannot be called is a problem at its hook: it would deny every event.
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
                // No failure is lost: one whose hook is not found is reported at the first hook.
                let is_here = |place: &&DeclaredHook| is_of(&entry, place);
                let Some(place) = declared.iter().find(is_here).or(declared.first()) else { continue };
                let message = format!(
                    "the hook `{}` cannot be called ({}): {}",
                    entry.name, failure.kind, failure.detail
                );
                let help = "`crosier doctor` shows the interpreter; `--no-import` skips Python";
                problems.push(Problem::error(&place.source, place.span, message).with_help(help));
            }
        }
    }
    problems
}

/// Whether a hook is declared at this place. A hook with a name is found by its name.
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

fn text(found: &CheckResult) -> String {
    let paint = Paint::stdout();
    let mut text = String::new();
    for problem in &found.problems {
        let (word, tone) = match problem.severity() {
            Severity::Error => ("error:", Tone::Bad),
            Severity::Warning => ("warning:", Tone::Warning),
        };
        // The first occurrence is the severity, before the message.
        text.push_str(&problem.to_string().replacen(word, &paint.tone(tone, word), 1));
        text.push_str("\n\n");
    }
    let names = found.files.iter().map(|file| print::shown_path(file));
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

fn as_json(found: &CheckResult) -> Value {
    let names: Vec<String> = found.files.iter().map(|file| file.display().to_string()).collect();
    json!({
        "files": names,
        "hooks": found.hooks,
        "errors": found.problems.errors(),
        "warnings": found.problems.warnings(),
        "problems": found.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}

/// Problems, as JSON.
pub(crate) fn problems_json(problems: &Problems) -> Value {
    problems.iter().map(problem).collect::<Vec<_>>().into()
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
