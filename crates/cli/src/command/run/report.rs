//! The output of a run: its progress, its lines of JSON, its end.

use std::io::IsTerminal;

use crosier::protocol::json;
use crosier_agent::agent::{End, Fired, Interrupt, SessionListener};
use crosier_agent::conversation::{Message, Role};

use super::play::FinishedSession;
use crate::agent::timeline::{Detail, Layout, Timeline};
use crate::exit::{Exit, Failed, Result};
use crate::paint::Paint;
use crate::{environment, print};

/// How a session was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Display {
    Json,
    Lines,
    Screen,
}

/// The timeline for a person, on stderr.
pub(super) fn timeline(interrupt: &Interrupt) -> Timeline {
    let stderr = std::io::stderr();
    let layout = Layout { paint: Paint::of(&stderr), width: environment::width(), detail: Detail::Effects };
    Timeline::new(Box::new(stderr), layout, interrupt.clone())
}

/// Every message and every event, on stdout, one line of JSON each. A reader that closes the pipe ends the session,
/// because nobody would see what the agent does.
#[derive(Debug)]
pub(super) struct Lines(pub(super) Interrupt);

impl SessionListener for Lines {
    fn on_message(&self, agent_id: &str, message: &Message) {
        self.write(&json!({"type": "message", "agent_id": agent_id, "message": message}).to_string());
    }

    fn on_fire(&self, fired: &Fired) {
        let took = (fired.took.as_secs_f64() * 1e6).round() / 1e3;
        // Formatted as text, so that numbers in the payload keep their digits.
        let (agent, event) = (json!(fired.agent_id), json!(fired.event));
        let (input, outcome) = (fired.input.text(), fired.outcome.to_json());
        let text = format!(
            r#"{{"type":"event","agent_id":{agent},"event":{event},"input":{input},"outcome":{outcome},"took_ms":{took}}}"#
        );
        self.write(&text);
    }
}

impl Lines {
    fn write(&self, text: &str) {
        if print::data(text).is_err() {
            self.0.set();
        }
    }
}

/// Prints the answer on stdout, and the id of the session for a person.
pub(super) fn finish(how: Display, played: &FinishedSession) -> std::result::Result<(), Failed> {
    let FinishedSession { end, session_id: id, messages, .. } = played;
    if how == Display::Json {
        let end = json!({"type": "end", "end": end.word(), "reason": end.reason(), "session_id": id});
        return print::data(&end.to_string());
    }
    let answer = messages.last().filter(|message| message.role == Role::Assistant).map(Message::words);
    let is_terminal = std::io::stdout().is_terminal();
    // On a terminal with lines, the answer was already shown as the last line.
    let is_seen = how == Display::Lines && is_terminal && std::io::stderr().is_terminal();
    if let Some(answer) = answer.filter(|answer| !answer.is_empty() && !is_seen) {
        // A terminal must not be controlled by the answer; a pipe gets every byte.
        print::data(&if is_terminal { print::plain(&answer) } else { answer })?;
    }
    print::note(&format!("session {id}"));
    Ok(())
}

/// The exit status.
pub(super) fn exit(end: &End) -> Result {
    let failed = |message: String| Err(Failed::new(Exit::Failed, print::plain(&message)));
    match end {
        End::Done => Ok(Exit::Done),
        End::Denied(reason) => failed(format!("a hook denied it: {reason}")),
        End::Halted(reason) => failed(format!("a hook stopped the agent: {reason}")),
        End::Failed(reason) => failed(reason.clone()),
        End::OutOfTurns => {
            failed("the agent used up its turns before it was done; see --max-turns".to_owned())
        }
        End::Interrupted => failed("interrupted".to_owned()),
    }
}
