//! Reports what was done, for people and for programs.

use std::fmt::Write as _;

use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier_install::{Change, Plan, Refused, Row, diff};

use crate::exit::Failed;
use crate::install_context::InstallContext;
use crate::paint::{Paint, Tone};
use crate::{print, table};

/// The result for one agent.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) row: &'static Row,
    pub(crate) plan: Plan,
    pub(crate) refused: Option<String>,
    /// The result in a word.
    pub(crate) word: &'static str,
    /// What the person has to do or should know.
    pub(crate) next: Vec<String>,
}

impl Done {
    pub(crate) fn new(row: &'static Row, plan: Result<Plan, Refused>, word: &'static str) -> Self {
        let (plan, refused) = match plan {
            Ok(plan) => (plan, None),
            Err(refused) => (Plan::default(), Some(refused.to_string())),
        };
        let word = match &refused {
            Some(_) => "refused",
            None if plan.is_empty() => "unchanged",
            None => word,
        };
        Self { row, plan, refused, word, next: Vec::new() }
    }
}

/// One line for the log.
pub(crate) fn did(row: &Row, plan: &Plan) -> String {
    let files: Vec<String> = plan.changes.iter().map(|change| change.path.display().to_string()).collect();
    format!("{}: {}", row.agent, files.join(", "))
}

/// Prints everything that was done.
pub(crate) fn print_all(all: &[Done], install_context: &InstallContext, is_json: bool) -> Result<(), Failed> {
    if is_json {
        let rows: Vec<Value> = all.iter().map(as_json).collect();
        return print::data(&format!("{:#}", Value::from(rows)));
    }
    let mut text = String::new();
    for done in all {
        text.push_str(&table::fit(&format!("{}\n", headline(done))));
        for change in &done.plan.changes {
            text.push_str(&shown(change, install_context));
        }
        for next in &done.next {
            text.push_str(&table::fit(&format!("  note: {}\n", print::one_line(next))));
        }
    }
    print::data(&text)
}

/// The first line about an agent.
pub(crate) fn headline(done: &Done) -> String {
    let paint = Paint::stdout();
    let title = paint.tone(Tone::Strong, done.row.title());
    match &done.refused {
        Some(why) => format!("{title}: {} {}", paint.tone(Tone::Bad, "refused:"), print::one_line(why)),
        None => format!("{title}: {}", paint.tone(Tone::Good, done.word)),
    }
}

/// A change as a diff.
fn shown(change: &Change, install_context: &InstallContext) -> String {
    let text = diff(&install_context.shown(&change.path), change.before.as_deref(), change.after.as_deref());
    let paint = Paint::stdout();
    let mut out = String::new();
    for line in print::plain(&text).lines() {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            _ => Tone::Faint,
        };
        let _ = writeln!(out, "  {}", paint.tone(tone, line));
    }
    out
}

fn as_json(done: &Done) -> Value {
    let file = |change: &Change| {
        let name = change.path.display().to_string();
        json!({
            "path": name,
            "diff": diff(&name, change.before.as_deref(), change.after.as_deref()),
        })
    };
    let files: Vec<Value> = done.plan.changes.iter().map(file).collect();
    json!({
        "agent": done.row.agent,
        "title": done.row.title(),
        "state": done.word,
        "why": done.refused.clone(),
        "files": files,
        "notes": done.next.clone(),
    })
}
