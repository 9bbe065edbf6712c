//! The list of events, one event, and the help.

use crosier::{Decision, Status};
use crosier_agent::agent::Fired;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph};

use super::super::effect::effects;
use super::browse::KEYS;
use super::draw::{FAINT, STRONG, line, time};
use super::state::State;
use crate::print;
use crate::text::{cut, wrap};

/// The events, newest first, scrolled so that the selected one is visible.
pub(super) fn events(frame: &mut Frame<'_>, state: &mut State, area: Rect) {
    let block = Block::bordered().title("events: Enter shows one, Esc goes back");
    let inner = block.inner(area);
    let height = usize::from(inner.height);
    state.browse.page = height;
    let events = state.shown_events();
    let chosen = state.browse.chosen.min(events.len().saturating_sub(1));
    let first = (chosen + 1).saturating_sub(height);
    let rows = events.iter().rev().enumerate().skip(first).take(height).map(|(place, fired)| {
        let (word, style) = decided(fired);
        let text = format!("{word:<5} {} {} {}", fired.event, subject(fired), time(fired.took));
        let style = if place == chosen { style.add_modifier(Modifier::REVERSED) } else { style };
        Line::styled(cut(&line(&text), usize::from(inner.width)), style)
    });
    let rows: Vec<Line<'_>> = match events.is_empty() {
        true => vec![Line::styled("no event yet", FAINT)],
        false => rows.collect(),
    };
    frame.render_widget(block, area);
    frame.render_widget(Paragraph::new(rows), inner);
}

/// One event: its input, its hooks with their times, its outcome.
pub(super) fn detail(frame: &mut Frame<'_>, state: &mut State, area: Rect) {
    let block = Block::bordered().title("one event: Esc goes back");
    let inner = block.inner(area);
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    state.browse.page = height;
    let rows: Vec<Line<'static>> = match state.chosen_event() {
        None => vec![Line::styled("it is gone", FAINT)],
        Some(fired) => told(fired)
            .into_iter()
            .flat_map(|(text, style)| wrap(&text, width).into_iter().map(move |row| Line::styled(row, style)))
            .collect(),
    };
    state.browse.down = state.browse.down.min(rows.len().saturating_sub(height));
    let rows: Vec<Line<'_>> = rows.into_iter().skip(state.browse.down).take(height).collect();
    frame.render_widget(block, area);
    frame.render_widget(Paragraph::new(rows), inner);
}

fn told(fired: &Fired) -> Vec<(String, Style)> {
    let outcome = &fired.outcome;
    let plain = Style::new();
    let mut lines = vec![(format!("{} {}", fired.event, subject(fired)), STRONG)];
    lines.push((format!("agent {}, {}", line(&fired.agent_id), time(fired.took)), plain));
    let done = effects(outcome);
    lines.push(("outcome".to_owned(), STRONG));
    if done.is_empty() {
        lines.push(("  no opinion".to_owned(), FAINT));
    }
    lines.extend(
        done.into_iter().map(|effect| (format!("  {}: {}", effect.word, effect.text), decided(fired).1)),
    );
    lines.push(("hooks".to_owned(), STRONG));
    if outcome.reports.is_empty() {
        lines.push(("  none".to_owned(), FAINT));
    }
    for report in &outcome.reports {
        let status = match report.status {
            Status::Ok => "ok",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
            Status::Background => "in the background",
            _ => "unknown",
        };
        let took = report.duration.map(|took| format!(", {}", time(took))).unwrap_or_default();
        let said = report.decision.map(|said| format!(", {}", said.word())).unwrap_or_default();
        let would = report.would.map(|would| format!(", would {}", would.word())).unwrap_or_default();
        lines.push((format!("  {}: {status}{took}{said}{would}", line(&report.hook)), plain));
        if let Some(failure) = &report.failure {
            lines.push((format!("    {}", line(&failure.to_string())), Style::new().fg(Color::Red)));
        }
        let ignored = report.ignored.iter();
        lines.extend(ignored.map(|one| (format!("    ignored {}: {}", one.effect, line(&one.why)), FAINT)));
    }
    lines.push(("input".to_owned(), STRONG));
    let input = fired.input.to_value().and_then(|value| serde_json::to_string_pretty(&value).ok());
    let input = input.unwrap_or_else(|| fired.input.text().to_owned());
    lines.extend(print::plain(&input).lines().map(|row| (format!("  {row}"), plain)));
    lines
}

/// The help.
pub(super) fn help(frame: &mut Frame<'_>, area: Rect) {
    let block = Block::bordered().title("keys: ? goes back");
    let inner = block.inner(area);
    let mut rows = Vec::new();
    for (keys, what) in KEYS {
        let wide = inner.width >= 60;
        let text = if wide { format!("{keys:<16}{what}") } else { format!("{keys}: {what}") };
        rows.extend(wrap(&text, usize::from(inner.width)).into_iter().map(Line::raw));
    }
    frame.render_widget(block, area);
    frame.render_widget(Paragraph::new(rows), inner);
}

/// The decision as a word, with its colour.
fn decided(fired: &Fired) -> (&'static str, Style) {
    let failed = fired.outcome.reports.iter().any(|report| report.status == Status::Failed);
    match (fired.outcome.decision, &fired.outcome.halt) {
        (Some(Decision::Deny), _) => ("deny", Style::new().fg(Color::Red)),
        (_, Some(_)) => ("halt", Style::new().fg(Color::Red)),
        (Some(Decision::Ask), _) => ("ask", Style::new().fg(Color::Yellow)),
        (Some(Decision::Allow), _) => ("allow", Style::new().fg(Color::Green)),
        _ if failed => ("fail", Style::new().fg(Color::Yellow)),
        _ => ("-", Style::new()),
    }
}

/// What a fire is about.
fn subject(fired: &Fired) -> String {
    let field =
        |name: &str| fired.input.get(name).map(|value| value.plain().into_owned()).unwrap_or_default();
    let matched = fired.outcome.event.matcher.map(field).unwrap_or_default();
    match fired.event {
        "PreToolUse" | "PermissionRequest" => line(&format!("{matched} {}", field("tool_input"))),
        _ => line(&matched),
    }
}
