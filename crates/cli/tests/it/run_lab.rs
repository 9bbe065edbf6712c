//! An agent in a folder of its own, with its state in another.

use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::lab::{Lab, Ran, finish};
use crate::model_server::Server;

#[derive(Debug)]
pub(crate) struct Agent {
    /// The folder that is worked in.
    pub(crate) lab: Lab,
    /// Where sessions and history are.
    pub(crate) state: Lab,
}

impl Agent {
    pub(crate) fn new() -> Self {
        Self { lab: Lab::new(), state: Lab::new() }
    }

    /// With these hooks.
    pub(crate) fn with(config: &str) -> Self {
        Self { lab: Lab::with(config), state: Lab::new() }
    }

    /// The program, with the state of this agent.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.lab.command(args);
        command.arg("--state-dir").arg(self.state.path(""));
        command
    }

    pub(crate) fn start(&self, mut command: Command) -> Ran {
        let started = Instant::now();
        let mut child = command.spawn().unwrap();
        drop(child.stdin.take());
        finish(child, started)
    }

    pub(crate) fn history(&self, args: &[&str]) -> Ran {
        self.start(self.command(&[&["history"], args].concat()))
    }

    /// Runs these turns.
    pub(crate) fn play(&self, turns: &str, args: &[&str]) -> Ran {
        self.lab.write("turns.yaml", turns);
        self.start(self.command(&[&["run", "--model", "scripted:turns.yaml"], args].concat()))
    }

    /// Runs against a service, in the language of `kind` (`anthropic`, `openai`).
    pub(crate) fn call(&self, kind: &str, server: &Server, args: &[&str]) -> Ran {
        let model = format!("{kind}:model-1");
        let mut command = self.command(&[&["run", "--model", &model], args].concat());
        let name = kind.to_uppercase();
        command.env(format!("{name}_API_KEY"), "sk-secret").env(format!("{name}_BASE_URL"), server.url());
        self.start(command)
    }

    /// The ids of all sessions so far, in their order.
    pub(crate) fn sessions(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.state.path("sessions")).unwrap();
        let mut ids: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        ids.sort();
        ids
    }
}

/// The lines of `--json`.
#[track_caller]
pub(crate) fn lines(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The inputs of one kind of event, in order.
pub(crate) fn events<'a>(lines: &'a [Value], event: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == event).map(|line| &line["input"]).collect()
}
