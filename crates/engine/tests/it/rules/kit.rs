//! What the rules' tests are made of: short hooks, and short ways to read an outcome.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crosier::payload::{PostToolUse, PreToolUse};
use crosier::{Answer, Base, Engine, FailureKind, Hook, Json, Outcome, Reply, Status};

/// Long enough for anything that is going to happen on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

/// A call of this tool.
pub(super) fn tool(name: &str) -> PreToolUse {
    PreToolUse::new(name, json(r#"{"command":"ls"}"#))
}

/// A call of this tool in this agent.
pub(super) fn tool_of(agent: &str, name: &str) -> PreToolUse {
    tool(name).with_base(Base::default().agent_id(agent.to_owned()))
}

/// A call of a tool that gave this back.
pub(super) fn after(tool_response: Json) -> PostToolUse {
    PostToolUse::new("Bash", json("{}"), tool_response)
}

/// A hook on every tool call that always says the same.
pub(super) fn says(name: &str, answer: impl Into<Answer>) -> Hook {
    let answer = answer.into();
    Hook::on(PreToolUse).named(name).callback(move |_: &PreToolUse| answer.clone())
}

/// A hook on every tool call without an opinion.
pub(super) fn quiet(name: &str) -> Hook {
    says(name, Reply::none())
}

pub(super) fn engine(hooks: impl IntoIterator<Item = Hook>) -> Engine {
    Engine::builder().hooks(hooks).build().unwrap()
}

/// The hooks with this status, in the order of the reports.
pub(super) fn with_status(outcome: &Outcome, status: Status) -> Vec<&str> {
    outcome.reports.iter().filter(|report| report.status == status).map(|report| &*report.hook).collect()
}

/// The hooks that answered.
pub(super) fn ran(outcome: &Outcome) -> Vec<&str> {
    with_status(outcome, Status::Ok)
}

/// How this hook failed.
pub(super) fn failure(outcome: &Outcome, hook: &str) -> Option<FailureKind> {
    outcome.failures().find(|(name, _)| *name == hook).map(|(_, failure)| failure.kind)
}

/// What this hook asked for in vain.
pub(super) fn ignored<'a>(outcome: &'a Outcome, hook: &str) -> Vec<&'a str> {
    let report = outcome.reports.iter().find(|report| *report.hook == *hook).unwrap();
    report.ignored.iter().map(|ignored| ignored.effect.as_str()).collect()
}

/// Lines that hooks write, in the order they were written.
#[derive(Debug, Clone, Default)]
pub(super) struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    pub(super) fn note(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// A hook on every tool call that writes its name.
    pub(super) fn hook(&self, name: &str) -> Hook {
        let (diary, line) = (self.clone(), name.to_owned());
        Hook::on(PreToolUse).named(name).callback(move |_: &PreToolUse| diary.note(line.clone()))
    }
}

/// Says when it is dropped.
#[derive(Debug)]
pub(super) struct DropNote(pub(super) Diary, pub(super) &'static str);

impl Drop for DropNote {
    fn drop(&mut self) {
        self.0.note(self.1);
    }
}

/// Asks again and again until there is something, for hooks that nobody waits for.
pub(super) fn eventually<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(Instant::now() < deadline, "it never happened");
        std::thread::yield_now();
    }
}
