use std::sync::Arc;

use crosier::{Message, Moment};
use crosier_agent::view::View;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::state::{Finished, State};
use super::*;

fn screen(state: &State, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, state)).unwrap();
    terminal.backend().to_string()
}

fn message(id: &str, hook: &str, moment: Moment) -> Message {
    let (hook_id, hook_name): (Arc<str>, Arc<str>) = (id.into(), hook.into());
    Message { hook_id, hook_name, hook_event: "PreToolUse", session_id: "s".into(), moment }
}

fn over(outcome: Ended) -> Moment {
    Moment::Response { outcome, exit_code: None, stdout: String::new(), stderr: String::new() }
}

fn state() -> State {
    let lines = ["you: tidy up", "main: I am on it.", "denied: Bash: not \u{1b}[2J here"];
    State {
        view: View {
            title: "crosier demo".into(),
            phase: "working".into(),
            lines: lines.map(str::to_owned).to_vec(),
            tasks: vec!["[x] sort the photos (ann)".into(), "[ ] water the plants".into()],
            decisions: vec!["PreToolUse denied by guard".into()],
            ..View::default()
        },
        ..State::default()
    }
}

#[test]
fn everything_has_its_place() {
    let mut state = state();
    state.ended.push_front(Finished {
        hook: "guard".into(),
        event: "PreToolUse",
        took: Duration::from_micros(1_500),
        how: Ended::Success,
    });
    let drawn = screen(&state, 90, 14);
    let wanted = r#"
" crosier demo  phase: working                                                             "
"┌session─────────────────────────────────────────────┐┌hooks─────────────────────────────┐"
"│you: tidy up                                        ││  PreToolUse guard 1.5 ms         │"
"│main: I am on it.                                   ││                                  │"
"│denied: Bash: not  [2J here                         │└──────────────────────────────────┘"
"│                                                    │┌tasks─────────────────────────────┐"
"│                                                    ││[x] sort the photos (ann)         │"
"│                                                    ││[ ] water the plants              │"
"│                                                    │└──────────────────────────────────┘"
"│                                                    │┌decisions─────────────────────────┐"
"│                                                    ││PreToolUse denied by guard        │"
"│                                                    ││                                  │"
"└────────────────────────────────────────────────────┘└──────────────────────────────────┘"
"q leaves                                                                                  "
"#;
    assert_eq!(drawn.trim(), wanted.trim(), "\n{drawn}");
}

#[test]
fn a_hook_is_shown_while_it_runs_and_how_it_ended() {
    let mut state = State::default();
    state.hear(&message("1", "slow", Moment::Started));
    state.hear(&message("2", "quick", Moment::Started));
    let drawn = screen(&state, 90, 14);
    assert!(drawn.contains("▶ PreToolUse slow") && drawn.contains("▶ PreToolUse quick"), "{drawn}");
    state.hear(&message("1", "slow", over(Ended::Cancelled)));
    let drawn = screen(&state, 90, 14);
    assert!(drawn.contains("✗ PreToolUse slow") && drawn.contains("▶ PreToolUse quick"), "{drawn}");
}

#[test]
fn the_newest_line_is_always_seen_and_a_narrow_screen_has_one_column() {
    let mut state = state();
    for number in 0..100 {
        state.view.add(format!("{number} {}", "words ".repeat(number % 30)));
    }
    state.view.add("the newest".into());
    for (width, height) in [(90, 14), (60, 10), (24, 6), (200, 60)] {
        let drawn = screen(&state, width, height);
        assert!(drawn.contains("the newest"), "{width}×{height}\n{drawn}");
        assert_eq!(drawn.contains("decisions"), width >= 70, "{drawn}");
    }
    // Too small for anything: no panic.
    screen(&state, 3, 2);
}

#[test]
fn it_says_how_to_leave() {
    let mut state = State { is_leaving: true, ..State::default() };
    assert!(screen(&state, 80, 10).contains("ending the session …"));
    state.is_over = true;
    assert!(screen(&state, 80, 10).contains("the session is over; q leaves"));
}
