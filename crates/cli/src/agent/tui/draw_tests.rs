use std::sync::Arc;

use crosier::{Message, MessageKind};
use crosier_agent::view::View;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::state::{Finished, State};
use super::*;

fn screen(state: &mut State, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, state)).unwrap();
    terminal.backend().to_string()
}

fn message(id: &str, hook: &str, kind: MessageKind) -> Message {
    let (hook_id, hook_name): (Arc<str>, Arc<str>) = (id.into(), hook.into());
    Message { hook_id, hook_name, hook_event: "PreToolUse", session_id: "s".into(), kind }
}

fn over(outcome: HookEnd) -> MessageKind {
    MessageKind::Response { outcome, exit_code: None, stdout: String::new(), stderr: String::new() }
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
        how: HookEnd::Success,
    });
    let drawn = screen(&mut state, 90, 14);
    let wanted = r#"
" crosier demo  phase: working                                                             "
"┌session─────────────────────────────────────────────┐┌hooks─────────────────────────────┐"
"│you: tidy up                                        ││  PreToolUse guard 1.5 ms         │"
"│main: I am on it.                                   ││                                  │"
"│denied: Bash: not \u{1b}[2J here                    │└──────────────────────────────────┘"
"│                                                    │┌tasks─────────────────────────────┐"
"│                                                    ││[x] sort the photos (ann)         │"
"│                                                    ││[ ] water the plants              │"
"│                                                    │└──────────────────────────────────┘"
"│                                                    │┌decisions─────────────────────────┐"
"│                                                    ││PreToolUse denied by guard        │"
"│                                                    ││                                  │"
"└────────────────────────────────────────────────────┘└──────────────────────────────────┘"
"q: leave, ?: help                                                                         "
"#;
    assert_eq!(drawn.trim(), wanted.trim(), "\n{drawn}");
}

#[test]
fn a_hook_is_shown_while_it_runs_and_how_it_ended() {
    let mut state = State::default();
    state.take_message(&message("1", "slow", MessageKind::Started));
    state.take_message(&message("2", "quick", MessageKind::Started));
    let drawn = screen(&mut state, 90, 14);
    assert!(drawn.contains("▶ PreToolUse slow") && drawn.contains("▶ PreToolUse quick"), "{drawn}");
    state.take_message(&message("1", "slow", over(HookEnd::Cancelled)));
    let drawn = screen(&mut state, 90, 14);
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
        let drawn = screen(&mut state, width, height);
        assert!(drawn.contains("the newest"), "{width}×{height}\n{drawn}");
        assert_eq!(drawn.contains("decisions"), width >= 70, "{drawn}");
    }
    // Too small for anything: no panic.
    screen(&mut state, 3, 2);
}

#[test]
fn it_says_how_to_leave() {
    let mut state = State { is_leaving: true, ..State::default() };
    assert!(screen(&mut state, 80, 10).contains("ending the session …"));
    state.is_over = true;
    assert!(screen(&mut state, 80, 10).contains("the session is over; q: leave, ?: help"));
}

mod browsing {
    use crosier::payload::PreToolUse;
    use crosier::{Engine, Event, Hook, Reply};
    use crosier_agent::agent::Fired;
    use serde_json::json;

    use super::super::super::browse::{Pane, Pressed};
    use super::super::super::terminal::Key;
    use super::*;

    fn fired(command: &str) -> Fired {
        let hook = Hook::on(PreToolUse).named("guard").callback(|event: &PreToolUse| {
            match event.tool_input.text().contains("rm") {
                true => Reply::deny("not here"),
                false => Reply::ask("sure?"),
            }
        });
        let engine = Engine::builder().hook(hook).timing().build().unwrap();
        let event = Event::from(PreToolUse::new("Bash", json!({"command": command})));
        let outcome = engine.fire_blocking(&event);
        let input = crosier::Json::parse(event.wire().unwrap()).unwrap();
        Fired { agent_id: "main".into(), event: "PreToolUse", input, outcome, took: Duration::from_millis(3) }
    }

    #[test]
    fn one_event_is_chosen_and_seen_whole() {
        let mut state = state();
        for number in 0..60 {
            state.add_fire(&fired(&format!("{} {number}", if number == 57 { "rm" } else { "ls" })));
        }
        for (width, height) in [(80, 20), (40, 20)] {
            state.browse.chosen = 0;
            assert_eq!(state.press(Key::Tab), Pressed::Done);
            let drawn = screen(&mut state, width, height);
            assert!(
                drawn.contains("ask   PreToolUse Bash") && drawn.contains("deny  PreToolUse Bash"),
                "{drawn}"
            );
            state.press(Key::Down);
            state.press(Key::Letter('j'));
            state.press(Key::Enter);
            let drawn = screen(&mut state, width, height);
            for wanted in ["rm 57", "deny: not here (guard)", "guard: ok", "3.0 ms", "input"] {
                assert!(drawn.contains(wanted), "{wanted}: {drawn}");
            }
            state.press(Key::End);
            assert!(screen(&mut state, width, height).contains('}'));
            state.press(Key::Back);
            assert_eq!(state.browse.pane, Pane::Events);
            state.press(Key::Home);
            assert_eq!(state.browse.chosen, 0);
            state.press(Key::Back);
            assert_eq!(state.press(Key::Back), Pressed::Leave);
        }
    }

    #[test]
    fn the_session_scrolls_and_pauses() {
        let mut state = State::default();
        for number in 0..100 {
            state.view.add(format!("line {number}"));
        }
        assert!(screen(&mut state, 80, 12).contains("line 99"));
        state.press(Key::PageUp);
        let drawn = screen(&mut state, 80, 12);
        assert!(
            drawn.contains("8 rows back") && !drawn.contains("line 99") && drawn.contains("line 91"),
            "{drawn}"
        );
        state.press(Key::Home);
        assert!(screen(&mut state, 80, 12).contains("line 0"));
        state.press(Key::End);
        assert!(screen(&mut state, 80, 12).contains("line 99"));
        state.press(Key::Letter('p'));
        state.view.add("the newest".into());
        let drawn = screen(&mut state, 80, 12);
        assert!(!drawn.contains("the newest") && drawn.contains("paused, 1 new; p continues"), "{drawn}");
        state.press(Key::Letter('p'));
        assert!(screen(&mut state, 80, 12).contains("the newest"));
    }

    #[test]
    fn the_help_names_every_key_also_on_a_narrow_screen() {
        let mut state = state();
        state.press(Key::Letter('?'));
        for width in [80, 40] {
            let drawn = screen(&mut state, width, 24);
            for wanted in ["PgUp", "pause", "list of events", "this help", "Ctrl-C"] {
                assert!(drawn.contains(wanted), "{wanted}: {drawn}");
            }
        }
        state.press(Key::Letter('?'));
        assert_eq!(state.browse.pane, Pane::Session);
    }
}
