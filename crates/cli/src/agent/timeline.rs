//! Fires and the screen as lines, for a terminal or a pipe.
//!
//! It gets fires (from the loop's listener) and views (from its renderer), and writes lines, grouped by prompt and turn.
//! The text of the conversation comes from the view, so that hooks on `PreViewRender` apply to it. When the reader is
//! gone, the session ends without a message.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crosier::{NoticeKind, Report, Status};
use crosier_agent::agent::{EVENTS, Fired, Interrupt, MAIN, SessionListener};
use crosier_agent::conversation::Message;
use crosier_agent::view::{Renderer, View};

use super::effect::effects;
use super::tally::{Row, Tally};
use crate::paint::{Paint, Tone};
use crate::print;
use crate::text::{columns, cut, wrap};

/// The width below which effects get rows of their own in the table.
const NARROW: usize = 60;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Every event.
    Full,
    /// Events at which a hook did something, or failed.
    Effects,
}

/// How the timeline looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) paint: Paint,
    pub(crate) width: usize,
    pub(crate) detail: Detail,
}

/// A timeline; clones write to the same one.
#[derive(Clone)]
pub(crate) struct Timeline(Arc<Mutex<Inner>>);

struct Inner {
    out: Box<dyn Write + Send>,
    layout: Layout,
    /// Set when the reader has closed the output.
    interrupt: Interrupt,
    is_read: bool,
    tally: Tally,
    began: Instant,
    /// How many lines of the screen were already written.
    drawn: usize,
    prompts: usize,
    turns: usize,
    /// Whether no hook changed the screen when it was last drawn.
    screen_is_quiet: bool,
}

impl std::fmt::Debug for Timeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Timeline")
    }
}

impl Timeline {
    pub(crate) fn new(out: Box<dyn Write + Send>, layout: Layout, interrupt: Interrupt) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            out,
            layout,
            interrupt,
            is_read: true,
            tally: Tally::default(),
            began: Instant::now(),
            drawn: 0,
            prompts: 0,
            turns: 0,
            screen_is_quiet: true,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the output still has a reader.
    pub(crate) fn is_read(&self) -> bool {
        self.lock().is_read
    }

    /// Writes a line of the host's own.
    pub(crate) fn say(&self, tone: Tone, text: &str) {
        let mut inner = self.lock();
        inner.paragraph(tone, text);
    }

    /// Writes the table of all events, at the end.
    pub(crate) fn summarise(&self) {
        let mut inner = self.lock();
        let lines = table(&inner.tally, inner.layout.width);
        let took = inner.began.elapsed().as_secs_f64();
        let total = |of: fn(&Row) -> usize| inner.tally.rows().iter().map(of).sum::<usize>();
        let kinds = total(|row| usize::from(row.fired > 0));
        let (fires, hooks) = (total(|row| row.fired), total(|row| row.hooks));
        inner.line(Tone::Strong, "");
        inner.paragraph(
            Tone::Strong,
            &format!("{kinds} of {} events, {fires} fires, {hooks} hook runs, {took:.1} s", EVENTS.len()),
        );
        inner.line(Tone::Strong, "");
        for (number, line) in lines.into_iter().enumerate() {
            let tone = if number == 0 { Some(Tone::Strong) } else { None };
            inner.write(tone, &line);
        }
    }
}

impl SessionListener for Timeline {
    fn on_message(&self, _: &str, _: &Message) {}

    fn on_fire(&self, fired: &Fired) {
        self.lock().fired(fired);
    }
}

impl Renderer for Timeline {
    fn draw(&mut self, view: &View) {
        let mut inner = self.lock();
        let skip = inner.drawn.saturating_sub(view.scrolled);
        for line in view.lines.iter().skip(skip) {
            inner.screen(line);
        }
        inner.drawn = (view.scrolled + view.lines.len()).max(inner.drawn);
    }
}

impl Inner {
    fn write(&mut self, tone: Option<Tone>, line: &str) {
        if !self.is_read {
            return;
        }
        let line = cut(line, self.layout.width);
        let line = tone.map_or(line.clone(), |tone| self.layout.paint.tone(tone, &line));
        if writeln!(self.out, "{line}").and_then(|()| self.out.flush()).is_err() {
            self.is_read = false;
            self.interrupt.set();
        }
    }

    fn line(&mut self, tone: Tone, line: &str) {
        self.write(Some(tone), line);
    }

    fn paragraph(&mut self, tone: Tone, text: &str) {
        for line in wrap(&print::plain(text), self.layout.width) {
            self.line(tone, &line);
        }
    }

    /// Writes a heading with a rule that fills the line.
    fn heading(&mut self, mark: &str, text: &str) {
        let used = columns(text) + 4;
        let rule = mark.repeat(self.layout.width.min(100).saturating_sub(used));
        self.line(Tone::Strong, &format!("{} {text} {rule}", mark.repeat(2)));
    }

    /// Writes a line of the screen.
    fn screen(&mut self, line: &str) {
        // A demonstration shows one line of each text; a person who works with the agent needs the whole text.
        let line = match self.layout.detail {
            Detail::Full => print::flat(line),
            Detail::Effects => print::plain(line),
        };
        let tone = match line.split_once(": ").map(|(what, _)| what) {
            Some("you") => Some(Tone::Strong),
            Some("denied" | "not written" | "not spawned" | "phase denied" | "not compacted") => {
                Some(Tone::Bad)
            }
            Some(what) if what.ends_with(" failed") => Some(Tone::Bad),
            _ if line.starts_with('*') => Some(Tone::Warning),
            _ => None,
        };
        let lines = match self.layout.detail {
            Detail::Full => vec![line],
            Detail::Effects => wrap(&line, self.layout.width.saturating_sub(2)),
        };
        for line in lines {
            self.write(tone, &format!("  {line}"));
        }
    }

    fn fired(&mut self, fired: &Fired) {
        self.tally.add(&fired.outcome);
        let effects = effects(&fired.outcome);
        let notices = &fired.outcome.notices;
        let failed = fired.outcome.reports.iter().any(|report| report.status == Status::Failed);
        let is_quiet = effects.is_empty() && notices.is_empty() && !failed;
        match fired.event {
            "UserPromptSubmit" => {
                self.prompts += 1;
                self.turns = 0;
                self.line(Tone::Strong, "");
                self.heading("═", &format!("prompt {}", self.prompts));
            }
            "PreMessage" if fired.agent_id == MAIN => {
                self.turns += 1;
                self.heading("─", &format!("turn {}.{}", self.prompts, self.turns));
            }
            // The screen is drawn all the time: show only when hooks start to change it.
            "PreViewRender" => {
                let was_quiet = std::mem::replace(&mut self.screen_is_quiet, is_quiet);
                if is_quiet || !was_quiet {
                    return;
                }
            }
            _ => {}
        }
        if is_quiet && self.layout.detail == Detail::Effects {
            return;
        }
        let who = if fired.agent_id == MAIN { String::new() } else { format!("{} ", fired.agent_id) };
        let head = format!("  {who}{} {}", fired.event, subject(fired));
        let ran = ran(&fired.outcome.reports);
        if is_quiet {
            let ran = if ran.is_empty() { ran } else { format!(" · {ran}") };
            self.line(Tone::Faint, &format!("{}{ran}", head.trim_end()));
            return;
        }
        self.line(Tone::Strong, head.trim_end());
        if !ran.is_empty() {
            self.line(Tone::Faint, &format!("      {ran}"));
        }
        for report in &fired.outcome.reports {
            if let Some(failure) = &report.failure {
                let how = if fired.outcome.by_failure { "and denied" } else { "and was ignored" };
                let text = format!("      ✗ {} failed ({}) {how}", timed(report), failure.kind.word());
                self.line(Tone::Warning, &text);
            }
        }
        if let Some(again) = judged_again(&fired.outcome.reports) {
            self.line(Tone::Faint, &format!("      ↻ {again}"));
        }
        for effect in effects {
            let tone = match effect.word {
                "deny" | "halt" | "interrupt" => Tone::Bad,
                "ask" | "resume" | "suppress" | "would deny" | "would ask" => Tone::Warning,
                _ => Tone::Good,
            };
            self.line(tone, &format!("      → {}: {}", effect.word, effect.text));
        }
        for notice in notices.iter().filter(|notice| notice.kind == NoticeKind::Log) {
            let text = print::one_line(&notice.text);
            self.line(Tone::Faint, &format!("      → log {}: {text}", notice.level));
        }
    }
}

/// The hooks that answered, and how long they took.
fn ran(reports: &[Report]) -> String {
    let answered = reports.iter().filter(|report| matches!(report.status, Status::Ok | Status::Background));
    answered.filter(|report| report.pass == 1).map(timed).collect::<Vec<_>>().join(" · ")
}

/// The guards that judged the final input again, and the hooks that had changed it.
fn judged_again(reports: &[Report]) -> Option<String> {
    let names = |of: fn(&&Report) -> bool| {
        let names = reports.iter().filter(of).map(|report| print::one_line(&report.hook));
        names.collect::<Vec<_>>().join(", ")
    };
    let again = names(|report| report.pass > 1 && report.status == Status::Ok);
    let changed = names(|report| report.pass == 1 && report.rewrote);
    (!again.is_empty()).then(|| format!("{again} asked again, after {changed} changed the input"))
}

fn timed(report: &Report) -> String {
    let time = report.duration.map(|time| format!(" {}", milliseconds(time))).unwrap_or_default();
    format!("{}{time}", print::one_line(&report.hook))
}

/// What a fire is about: the value that matchers run on, and for a tool its input.
fn subject(fired: &Fired) -> String {
    let text = |field: &str| {
        let value = fired.input.get(field).unwrap_or_default();
        print::flat(&value.plain())
    };
    let matched = fired.outcome.event.matcher.map(text).unwrap_or_default();
    match fired.event {
        "PreToolUse" | "PermissionRequest" => format!("{matched} {}", text("tool_input")),
        "PreSessionPhase" | "PostSessionPhase" => format!("{} → {matched}", text("from")),
        "PostGitWrite" => format!("{matched} {}", text("commit").chars().take(8).collect::<String>()),
        "Notification" => format!("{matched}: {}", text("message")),
        "TaskCompleted" => text("task_subject"),
        _ => matched,
    }
}

fn milliseconds(time: Duration) -> String {
    let millis = time.as_secs_f64() * 1e3;
    if millis < 0.1 { format!("{:.0} µs", millis * 1e3) } else { format!("{millis:.1} ms") }
}

/// The table of all events. Long lists of effects are wrapped within their column.
fn table(tally: &Tally, width: usize) -> Vec<String> {
    if width < NARROW {
        return narrow_table(tally, width);
    }
    let mut lines = vec![format!("{:<20}{:>5}{:>7}{:>10}  {}", "event", "fired", "hooks", "p50", "effects")];
    for row in tally.rows() {
        let p50 = row.p50().map(milliseconds).unwrap_or_default();
        let head = format!("{:<20}{:>5}{:>7}{p50:>10}  ", row.event, row.fired, row.hooks);
        let indent = columns(&head);
        let mut effects = wrap(&row.effects_in_words(), width.saturating_sub(indent).max(12)).into_iter();
        lines.push(format!("{head}{}", effects.next().unwrap_or_default()).trim_end().to_owned());
        lines.extend(effects.map(|more| format!("{}{more}", " ".repeat(indent))));
    }
    lines
}

/// The same table for a narrow screen, from 40 columns.
fn narrow_table(tally: &Tally, width: usize) -> Vec<String> {
    let mut lines = vec![format!("{:<19}{:>5}{:>6}{:>10}", "event", "fired", "hooks", "p50")];
    for row in tally.rows() {
        let p50 = row.p50().map(milliseconds).unwrap_or_default();
        let head = format!("{:<19}{:>5}{:>6}{p50:>10}", row.event, row.fired, row.hooks);
        lines.push(head.trim_end().to_owned());
        let effects = wrap(&row.effects_in_words(), width.saturating_sub(2));
        lines.extend(effects.into_iter().map(|effects| format!("  {effects}")));
    }
    lines
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
