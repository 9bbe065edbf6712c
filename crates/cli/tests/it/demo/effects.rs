//! Each effect that the event table allows has had its effect: in a transcript, or in what fired later.

use crosier::Capability;
use serde_json::{Value, json};

use super::{DEMO, Demo, rows};
use crate::lab::Lab;

/// The token of the demo's secrets, which only the model may see.
const TOKEN: &str = "ghp_8Zq2Lk7TfW0sXcV9bN4mJ6hG3dR1yP5aE2uI";

#[test]
fn every_allowed_effect_takes_effect() {
    let mut missing = Vec::new();
    for row in rows() {
        for capability in row.capabilities.iter() {
            if !DEMO.fires_of(row.name).any(|(place, fire)| DEMO.shows(place, fire, capability)) {
                missing.push(format!("{} {}", row.name, capability.word()));
            }
        }
    }
    assert!(missing.is_empty(), "no proof of {missing:?}");
}

#[test]
fn a_hook_on_the_screen_hides_what_the_model_may_say() {
    let said = DEMO.transcript.iter().any(|record| record.to_string().contains(TOKEN));
    assert!(said, "the model says it");
    let shown = Lab::new().run(&["demo"]).exits(0).stdout;
    assert!(shown.contains("ghp_****") && !shown.contains(TOKEN), "{shown}");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// As the model reads it.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Demo {
    /// Whether this fire had this effect, and something later shows it.
    fn shows(&self, place: usize, fire: &Value, capability: Capability) -> bool {
        let (input, outcome) = (&fire["input"], &fire["outcome"]);
        let reason = text(&outcome["reason"]);
        match capability {
            Capability::Deny => outcome["decision"] == "deny" && self.shows_denial(place, fire, reason),
            Capability::Ask => {
                let request = self.next(place, "PermissionRequest", input);
                outcome["decision"] == "ask" && request["input"]["tool_input"] == input["tool_input"]
            }
            Capability::Allow => outcome["decision"] == "allow" && self.ran_unasked(place, input),
            Capability::Rewrite => self.shows_rewrite(place, fire),
            Capability::Context => {
                let lines = outcome["context"].as_array().unwrap();
                let is_noted = |line: &Value| {
                    self.notes("context").any(|note| text(&note["text"]).contains(text(line).trim_end()))
                };
                !lines.is_empty() && lines.iter().all(is_noted)
            }
            Capability::Inject => {
                let injected = outcome["inject"].as_array().unwrap();
                let is_there = |one: &Value| match text(&one["strategy"]) {
                    "tool_result" => self.result(&input["tool_use_id"])["content"]
                        .as_str()
                        .is_some_and(|result| result.ends_with(&format!("\n{}", text(&one["content"])))),
                    _ => self.is_said(&one["content"]),
                };
                !injected.is_empty() && injected.iter().all(is_there)
            }
            Capability::Suppress => {
                let result = self.result(&input["tool_use_id"]);
                outcome["suppress_output"] == true && result["content"] == "[output suppressed by hook]"
            }
            Capability::Resume => {
                let again = self.next(place, text(&fire["event"]), input);
                let because = &outcome["resume"]["reason"];
                !outcome["resume"].is_null()
                    && again["input"]["stop_hook_active"] == true
                    && self.is_said(because)
            }
            Capability::Interrupt => {
                let ends = self.next(place, "SessionEnd", input)["input"]["reason"] == "halted";
                let runs = self.next(place, "PostToolUse", input);
                !outcome["halt"].is_null() && ends && runs.is_null()
            }
            Capability::Permissions => {
                // The next call of the kind is not asked for.
                let call = self.next(place, "PreToolUse", input);
                let later = self.fires.iter().position(|fire| fire == call).unwrap_or_default();
                let alike = text(&call["input"]["tool_input"]["command"]).starts_with(". ./greet.sh");
                !outcome["updated_permissions"].is_null() && alike && self.ran_unasked(later, &call["input"])
            }
            other => panic!("no case for {other:?}"),
        }
    }

    fn shows_denial(&self, place: usize, fire: &Value, reason: &str) -> bool {
        let input = &fire["input"];
        let is_result = || {
            self.results()
                .any(|result| result["is_error"] == true && text(&result["content"]).contains(reason))
        };
        let is_noted = |what: &str| self.notes(what).any(|note| text(&note["text"]).contains(reason));
        match text(&fire["event"]) {
            "UserPromptSubmit" => is_noted("denied") && !self.is_said(&input["prompt"]),
            "PreMessage" => {
                let replaced = self.records("replaced").any(|record| record["messages"] == json!([]));
                is_noted("denied") && replaced && self.after(place, input)["event"] != "PostMessage"
            }
            "PreToolUse" => {
                let result = self.result(&input["tool_use_id"]);
                result["is_error"] == true && text(&result["content"]).contains(reason)
            }
            "PermissionRequest" => is_result(),
            "PreCompact" => is_noted("not compacted"),
            "PreAgentSpawn" => {
                let started = self.fires_of("SubagentStart");
                let mut started = started.map(|(_, fire)| &fire["input"]["agent_id"]);
                is_result() && !started.any(|id| *id == input["agent_id"])
            }
            "PreSessionPhase" => {
                is_noted("phase denied") && self.after(place, input)["event"] != "PostSessionPhase"
            }
            "PreGitWrite" => {
                let mut written = self.fires_of("PostGitWrite").map(|(_, fire)| &fire["input"]["path"]);
                is_result() && !written.any(|path| *path == input["path"])
            }
            "TeammateIdle" => is_noted("kept working") && self.is_said(&json!(reason)),
            "TaskCompleted" => {
                let again = self
                    .fires_of("TaskCompleted")
                    .filter(|(later, fire)| *later > place && fire["input"]["task_id"] == input["task_id"]);
                is_noted("task reopened") && again.count() == 1
            }
            other => panic!("nobody knows what a denial of {other} looks like"),
        }
    }

    fn shows_rewrite(&self, place: usize, fire: &Value) -> bool {
        let (input, outcome) = (&fire["input"], &fire["outcome"]);
        let new = match &outcome["updated_input"] {
            Value::Null => &outcome["updated_output"],
            new => new,
        };
        if new.is_null() {
            return false;
        }
        match text(&fire["event"]) {
            "PreMessage" => {
                self.records("replaced").any(|record| record["messages"][0]["content"][0]["text"] == *new)
            }
            "PostMessage" => self.is_said(new) && !self.is_said(&input["output"]),
            "PreToolUse" | "PermissionRequest" => {
                self.next(place, "PostToolUse", input)["input"]["tool_input"] == *new
            }
            "PostToolUse" => text(&self.result(&input["tool_use_id"])["content"]).starts_with(&plain(new)),
            "PreCompact" => self.notes("compacting").any(|note| text(&note["text"]).ends_with(text(new))),
            "PreAgentSpawn" => self.is_said(&new["prompt"]) && !self.is_said(&input["config"]["prompt"]),
            "PreGitWrite" => self
                .results()
                .any(|result| text(&result["content"]).ends_with("a hook changed what was written")),
            // What is drawn is not in the transcript: see the test of what the demo prints.
            "PreViewRender" => input["view"].to_string().contains(TOKEN) && !new.to_string().contains(TOKEN),
            other => panic!("nobody knows what a rewrite of {other} looks like"),
        }
    }

    /// The next fire of an event, in the same agent.
    fn next<'a>(&'a self, place: usize, event: &'a str, input: &Value) -> &'a Value {
        let mut later = self
            .fires_of(event)
            .filter(|(later, fire)| *later > place && fire["input"]["agent_id"] == input["agent_id"]);
        later.next().map_or(&Value::Null, |(_, fire)| fire)
    }

    /// The next fire of the same agent that is not about the screen or told to a person.
    fn after(&self, place: usize, input: &Value) -> &Value {
        let quiet = |fire: &&Value| fire["event"] != "PreViewRender" && fire["event"] != "Notification";
        let of_agent = |fire: &&Value| fire["input"]["agent_id"] == input["agent_id"];
        self.fires.iter().skip(place + 1).filter(quiet).find(of_agent).unwrap_or(&Value::Null)
    }

    /// Whether the call of this fire ran, and nobody was asked in between.
    fn ran_unasked(&self, place: usize, input: &Value) -> bool {
        matches!(text(&self.after(place, input)["event"]), "PostToolUse")
    }

    fn records<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.transcript.iter().filter(move |record| record["record"] == kind)
    }

    fn notes<'a>(&'a self, what: &'a str) -> impl Iterator<Item = &'a Value> {
        self.records("note").filter(move |note| note["what"] == what)
    }

    fn blocks(&self) -> impl Iterator<Item = &Value> {
        self.records("message").flat_map(|record| record["message"]["content"].as_array().unwrap())
    }

    fn results(&self) -> impl Iterator<Item = &Value> {
        self.blocks().filter(|block| block["type"] == "tool_result")
    }

    /// What the model read of a call.
    fn result(&self, id: &Value) -> &Value {
        self.results().find(|result| result["tool_use_id"] == *id).unwrap_or(&Value::Null)
    }

    /// Whether these words are a part of a conversation of their own.
    fn is_said(&self, words: &Value) -> bool {
        self.blocks().any(|block| block["type"] == "text" && block["text"] == *words)
    }
}
