//! Draws the state as one frame.

use std::time::Duration;

use crosier::HookEnd;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

use super::browse::Pane;
use super::panes;
use super::state::State;
use crate::print;
use crate::text::wrap;

pub(super) const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
pub(super) const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, state: &mut State) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(3), Constraint::Length(1)])
            .areas(frame.area());
    let title = format!(" {} ", line(&state.shown_view().title));
    let phase = format!(" phase: {} ", line(&state.shown_view().phase));
    let title =
        Line::from(vec![Span::styled(title, STRONG.add_modifier(Modifier::REVERSED)), Span::raw(phase)]);
    frame.render_widget(title, head);
    let says = match (state.is_over, state.is_leaving) {
        _ if state.browse.is_paused => format!("paused, {} new; p continues", state.waiting()),
        (false, false) => "q: leave, ?: help".to_owned(),
        (false, true) => "ending the session …".to_owned(),
        (true, _) => "the session is over; q: leave, ?: help".to_owned(),
    };
    frame.render_widget(Line::styled(says, FAINT), foot);
    if let Some(asked) = &state.question {
        question(frame, &asked.text, body);
        return;
    }
    match state.browse.pane {
        Pane::Session => {}
        Pane::Events => return panes::events(frame, state, body),
        Pane::Detail => return panes::detail(frame, state, body),
        Pane::Help => return panes::help(frame, body),
    }
    // A narrow terminal has one column: the conversation matters most.
    if body.width < 70 {
        transcript(frame, state, body);
        return;
    }
    let [left, right] = Layout::horizontal([Constraint::Fill(3), Constraint::Fill(2)]).areas(body);
    transcript(frame, state, left);
    let tasks = u16::try_from(state.shown_view().tasks.len()).unwrap_or(u16::MAX).clamp(1, 8) + 2;
    let [top, middle, bottom] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(tasks), Constraint::Fill(1)]).areas(right);
    hooks(frame, state, top);
    list(frame, "tasks", &state.shown_view().tasks, middle);
    list(frame, "decisions", &state.shown_view().decisions, bottom);
}

/// A question replaces everything else: the person must see all of what would run, or as much as fits.
fn question(frame: &mut Frame<'_>, text: &str, area: Rect) {
    let block = Block::bordered().title("a question");
    let inner = block.inner(area);
    let mut rows = wrap(&print::plain(text), usize::from(inner.width));
    let height = usize::from(inner.height);
    if rows.len() > height && height > 2 {
        // The last row shows the possible answers.
        let hidden = rows.len() - height + 1;
        let last = rows.split_off(rows.len() - 1);
        rows.truncate(height - 2);
        rows.push(format!("… {hidden} more rows do not fit here"));
        rows.extend(last);
    }
    frame.render_widget(block, area);
    frame.render_widget(Paragraph::new(rows.into_iter().map(Line::raw).collect::<Vec<_>>()), inner);
}

/// The lines that fit, wrapped: the newest, or those that the person scrolled back to.
fn transcript(frame: &mut Frame<'_>, state: &mut State, area: Rect) {
    let block = Block::bordered();
    let inner = block.inner(area);
    let height = usize::from(inner.height);
    let lines = &state.shown_view().lines;
    // Every line needs at least one row, so older ones cannot be visible.
    let first = lines.len().saturating_sub(height.saturating_add(state.browse.back));
    let rows = lines.iter().skip(first).flat_map(|text| coloured(&line(text), inner.width));
    let rows: Vec<Line<'static>> = rows.collect();
    let most = rows.len().saturating_sub(height);
    state.browse.page = height;
    state.browse.back = state.browse.back.min(most);
    let back = state.browse.back;
    let title =
        if back == 0 { "session".to_owned() } else { format!("session, {back} rows back: End returns") };
    frame.render_widget(block.title(title), area);
    let rows: Vec<Line<'_>> = rows.into_iter().skip(most - back).take(height).collect();
    frame.render_widget(Paragraph::new(rows), inner);
}

fn coloured(text: &str, width: u16) -> Vec<Line<'static>> {
    let style = match text.split_once(": ").map(|(what, _)| what) {
        Some("you") => STRONG,
        Some("denied" | "not written" | "not spawned" | "phase denied" | "not compacted" | "halted") => {
            Style::new().fg(Color::Red)
        }
        Some(what) if what.ends_with(" failed") => Style::new().fg(Color::Red),
        _ if text.starts_with('*') => Style::new().fg(Color::Yellow),
        _ => Style::new(),
    };
    wrap(text, usize::from(width)).into_iter().map(|row| Line::styled(row, style)).collect()
}

/// The hooks that run, with their times so far; then those that ran.
fn hooks(frame: &mut Frame<'_>, state: &State, area: Rect) {
    let running = state.running.iter().map(|hook| {
        let text = format!("▶ {} {} {}", hook.event, line(&hook.hook), time(hook.elapsed()));
        Line::styled(text, Style::new().fg(Color::Yellow))
    });
    let ended = state.ended.iter().map(|hook| {
        let (mark, style) = match hook.how {
            HookEnd::Success => (' ', FAINT),
            HookEnd::Error => ('✗', Style::new().fg(Color::Red)),
            HookEnd::Cancelled => ('✗', Style::new().fg(Color::Yellow)),
        };
        Line::styled(format!("{mark} {} {} {}", hook.event, line(&hook.hook), time(hook.took)), style)
    });
    let lines: Vec<Line<'_>> = running.chain(ended).take(usize::from(area.height)).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title("hooks")), area);
}

/// The last lines that fit.
fn list(frame: &mut Frame<'_>, title: &'static str, lines: &[String], area: Rect) {
    let height = usize::from(area.height.saturating_sub(2));
    let last = lines.iter().skip(lines.len().saturating_sub(height));
    let lines: Vec<Line<'_>> = last.map(|text| Line::raw(line(text))).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
}

pub(super) fn line(text: &str) -> String {
    print::flat(text)
}

pub(super) fn time(time: Duration) -> String {
    if time < Duration::from_millis(100) {
        format!("{:.1} ms", time.as_secs_f64() * 1e3)
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
