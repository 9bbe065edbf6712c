//! Shows records to people.

use std::io::IsTerminal;

use crosier_log::{Record, RecordKind};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::paint::{Paint, Tone};
use crate::print::{self, one_line};
use crate::text::{columns, cut, wrap};
use crate::{environment, paint};

/// How records look.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) is_terminal: bool,
    paint: Paint,
    /// `None`: lines may have any width.
    width: Option<usize>,
    zone: TimeZone,
    today: jiff::civil::Date,
}

impl Layout {
    pub(super) fn of_terminal(zone: TimeZone) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let today = Timestamp::now().to_zoned(zone.clone()).date();
        Self { is_terminal, paint: paint::Paint::stdout(), width: environment::columns(), zone, today }
    }

    /// A record on one line, with a second line for the reason if there is one.
    pub(super) fn lines(&self, record: &Record) -> String {
        let (word, tone) = decision(record);
        let head = format!("{} {} ", record.id, self.time(record));
        let what = format!(" {} {}", one_line(&record.agent), subject(record));
        let room = self.width.unwrap_or(usize::MAX).saturating_sub(columns(&head) + columns(word));
        let what = cut(what.trim_end(), room);
        let mut text =
            format!("{}{}{what}\n", self.paint.tone(Tone::Faint, &head), self.paint.tone(tone, word));
        for line in said(record) {
            self.indented(&mut text, &line);
        }
        text
    }

    fn indented(&self, text: &mut String, line: &str) {
        let width = self.width.map_or(usize::MAX, |width| width.saturating_sub(7));
        for part in wrap(line, width) {
            text.push_str("       ");
            text.push_str(&part);
            text.push('\n');
        }
    }

    /// Everything that is known about a record.
    pub(super) fn whole(&self, record: &Record) -> String {
        let zoned = record.time.to_zoned(self.zone.clone());
        let mut rows: Vec<(&str, String)> = vec![
            ("id", record.id.clone()),
            ("time", zoned.strftime("%Y-%m-%d %H:%M:%S%.3f %Z").to_string()),
            ("agent", record.agent.clone()),
            ("session", record.session.clone().unwrap_or_default()),
            ("project", record.project.clone().unwrap_or_default()),
            (if record.kind == RecordKind::Command { "command" } else { "event" }, record.event.clone()),
            ("tool", record.tool.clone().unwrap_or_default()),
            ("input", record.input.clone().unwrap_or_default()),
            ("decision", decision(record).0.trim().to_owned()),
            ("would", record.would.clone().unwrap_or_default()),
            ("by", record.by.clone().unwrap_or_default()),
            (
                if record.kind == RecordKind::Command { "changed" } else { "reason" },
                record.reason.clone().unwrap_or_default(),
            ),
            ("effects", record.effects.join(", ")),
        ];
        let failures = record.failures.iter();
        rows.extend(failures.map(|one| ("failed", format!("{} ({}): {}", one.hook, one.kind, one.detail))));
        rows.extend(record.notes.iter().map(|note| ("note", note.clone())));
        rows.extend(record.hooks.iter().map(|hook| ("ran", format!("{} {} ms", hook.hook, hook.ms))));
        rows.extend(record.ms.map(|ms| ("took", format!("{ms} ms"))));
        if record.kept {
            rows.push(("case", format!("crosier test --record {}", record.id)));
        }
        let mut text = String::new();
        for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
            let width = self.width.map_or(usize::MAX, |width| width.saturating_sub(10));
            for (number, part) in wrap(&one_line(&value), width).iter().enumerate() {
                let name = if number == 0 { name } else { "" };
                text.push_str(&format!("{}{part}\n", self.paint.tone(Tone::Strong, &format!("{name:<10}"))));
            }
        }
        text
    }

    /// The time of day; with the date if it is not today.
    fn time(&self, record: &Record) -> String {
        let at: Zoned = record.time.to_zoned(self.zone.clone());
        let form = if at.date() == self.today { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
        at.strftime(form).to_string()
    }
}

/// The record as JSON, on one line.
pub(super) fn json(record: &Record) -> String {
    print::escaped_json(&serde_json::to_string(record).unwrap_or_default())
}

/// The decision as a word of at most five letters, and its colour.
fn decision(record: &Record) -> (&'static str, Tone) {
    match (record.kind, record.decision.as_deref(), record.would.as_deref()) {
        (RecordKind::Command, ..) => ("did  ", Tone::Strong),
        (_, Some("deny"), _) => ("deny ", Tone::Bad),
        (_, Some("ask"), _) => ("ask  ", Tone::Warning),
        (_, _, Some("deny" | "ask")) => ("would", Tone::Warning),
        (_, Some("allow"), _) => ("allow", Tone::Good),
        _ if !record.failures.is_empty() => ("fail ", Tone::Warning),
        _ => ("-    ", Tone::Faint),
    }
}

/// What it is about: the tool and its input, or the event.
fn subject(record: &Record) -> String {
    let input = record.input.as_deref().map(one_line).unwrap_or_default();
    match (&record.tool, record.event.as_str()) {
        (Some(tool), "PreToolUse") => format!("{}: {input}", one_line(tool)),
        (Some(tool), event) => format!("{} {}: {input}", one_line(event), one_line(tool)),
        (None, event) if input.is_empty() => one_line(event),
        (None, event) => format!("{}: {input}", one_line(event)),
    }
}

/// Details that get a line of their own.
fn said(record: &Record) -> Vec<String> {
    let mut lines = Vec::new();
    let by = record.by.as_deref().map(|by| format!("{}: ", one_line(by))).unwrap_or_default();
    match (&record.reason, &record.would) {
        (Some(reason), _) => lines.push(format!("{by}{}", one_line(reason))),
        (None, Some(would)) => lines.push(format!("{by}would {} if it were enforced", one_line(would))),
        (None, None) if record.kind == RecordKind::Unknown => {
            lines.push("an unknown event: no opinion".to_owned());
        }
        (None, None) if record.decision.as_deref().is_some_and(|word| word != "allow") => {
            lines.push(format!("{by}without a reason"));
        }
        _ => {}
    }
    for failure in &record.failures {
        let (hook, detail) = (one_line(&failure.hook), one_line(&failure.detail));
        let text = format!("{hook} failed ({}): {detail}", one_line(&failure.kind));
        // If a failure denied, it is already the reason.
        if !record.reason.as_deref().is_some_and(|reason| reason.contains(&failure.detail)) {
            lines.push(text);
        }
    }
    let notes = record.notes.iter().filter(|note| Some(*note) != record.reason.as_ref());
    lines.extend(notes.map(|note| one_line(note)));
    lines
}
