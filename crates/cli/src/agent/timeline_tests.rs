use super::*;
use crosier::payload::PreToolUse;
use crosier::{Engine, Event, Hook, Reply};
use serde_json::json;

/// Bytes that a test can look at; `limit` of them, then the reader is gone.
#[derive(Clone)]
struct Pipe(Arc<Mutex<(Vec<u8>, usize)>>);

impl Pipe {
    fn new(limit: usize) -> Self {
        Self(Arc::new(Mutex::new((Vec::new(), limit))))
    }
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().0.clone()).unwrap()
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut pipe = self.0.lock().unwrap();
        if pipe.0.len() + bytes.len() > pipe.1 {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        pipe.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn timeline(pipe: &Pipe, width: usize) -> (Timeline, Interrupt) {
    let interrupt = Interrupt::default();
    let layout = Layout { paint: Paint::Plain, width, detail: Detail::Full };
    (Timeline::new(Box::new(pipe.clone()), layout, interrupt.clone()), interrupt)
}

fn denied() -> Fired {
    let hook = Hook::on(PreToolUse).named("guard").callback(|_: &PreToolUse| Reply::deny("not here"));
    let engine = Engine::builder().hook(hook).build().unwrap();
    let event = Event::from(PreToolUse::new("Bash", json!({"command": "rm -rf /"})));
    let outcome = engine.fire_blocking(&event);
    let input = crosier::Json::parse(event.wire().unwrap()).unwrap();
    Fired { agent_id: MAIN.into(), event: "PreToolUse", input, outcome, took: Duration::ZERO }
}

#[test]
fn a_fire_says_what_it_is_about_who_ran_and_what_came_of_it() {
    let pipe = Pipe::new(usize::MAX);
    let (timeline, _) = timeline(&pipe, 80);
    timeline.on_fire(&denied());
    assert_eq!(
        pipe.text(),
        "  PreToolUse Bash {\"command\":\"rm -rf /\"}\n      guard\n      → deny: not here (guard)\n"
    );
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let pipe = Pipe::new(usize::MAX);
    let (mut timeline, _) = timeline(&pipe, 24);
    timeline.on_fire(&denied());
    let mut view = View::default();
    view.add(format!("main: {}", "漢字".repeat(30)));
    timeline.draw(&view);
    timeline.draw(&view);
    timeline.say(Tone::Faint, "a sentence that is longer than the screen is wide");
    let text = pipe.text();
    assert!(text.lines().all(|line| columns(line) <= 24));
    assert_eq!(text.matches("main:").count(), 1, "each line of the screen once: {text}");
}

#[test]
fn a_reader_that_went_away_ends_the_session() {
    let pipe = Pipe::new(30);
    let (timeline, interrupt) = timeline(&pipe, 80);
    assert!(timeline.is_read() && !interrupt.is_set());
    timeline.on_fire(&denied());
    assert!(!timeline.is_read() && interrupt.is_set());
}

#[test]
fn the_table_has_every_event_and_wraps_effects() {
    let mut tally = Tally::default();
    tally.add(&denied().outcome);
    let lines = table(&tally, 60);
    assert_eq!(lines.len(), 1 + crosier_agent::agent::EVENTS.len());
    let row = lines.iter().find(|line| line.starts_with("PreToolUse")).unwrap();
    assert!(row.ends_with("deny"), "{row}");
}

#[test]
fn the_table_fits_a_small_screen() {
    let mut tally = Tally::default();
    (0..1000).for_each(|_| tally.add(&denied().outcome));
    let lines = table(&tally, 40);
    assert!(lines.iter().all(|line| columns(line) <= 40), "{lines:#?}");
    let row = lines.iter().position(|line| line.starts_with("PreToolUse")).unwrap();
    assert_eq!(lines[row + 1], "  deny 1000");
}
