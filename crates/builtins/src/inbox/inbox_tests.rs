//! Messages arrive once, in time, and only where they are meant to.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crosier::config::Loader;
use crosier::{Catalog, Engine, Outcome, Strategy};
use serde_json::{Value, json};

use super::{Inbox, InboxHook, Message};

struct Lab {
    engine: Engine,
    folder: tempfile::TempDir,
    inbox: Inbox,
}

impl Lab {
    fn new(options: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("drop")).unwrap();
        let inbox = Inbox::default();
        let engine = engine(options, folder.path(), &inbox);
        Self { engine, folder, inbox }
    }

    fn drop(&self, name: &str, text: &str) {
        let path = self.folder.path().join("drop").join(name);
        fs::write(&path, text).unwrap();
        // Made to look older: an invalid file that is new is given time to be completed.
        let old = SystemTime::now() - Duration::from_secs(10);
        fs::File::open(&path).unwrap().set_modified(old).unwrap();
    }

    fn fire(&self, agent: &str) -> Outcome {
        fire(&self.engine, agent, "Bash")
    }

    fn contents(&self, agent: &str) -> Vec<String> {
        self.fire(agent).inject.into_iter().map(|injected| injected.content).collect()
    }

    fn files(&self) -> usize {
        fs::read_dir(self.folder.path().join("drop"))
            .unwrap()
            .flatten()
            .filter(|e| e.path().is_file())
            .count()
    }
}

fn engine(options: &Value, folder: &Path, inbox: &Inbox) -> Engine {
    let hook = json!({"type": "builtin", "handler": "inbox", "options": options});
    let config = json!({"hooks": {"PostToolUse": [hook]}}).to_string();
    let loader = Loader::new(Catalog::default()).builtin(InboxHook::new(inbox));
    let config = loader.text("hooks.yaml", &config, folder).load().unwrap();
    Engine::builder().config(config).build().unwrap()
}

fn fire(engine: &Engine, agent: &str, tool: &str) -> Outcome {
    let event =
        json!({"tool_name": tool, "tool_input": {}, "tool_response": "ok", "agent_id": agent}).to_string();
    engine.fire_blocking(engine.event("PostToolUse", event.as_bytes()).unwrap())
}

#[test]
fn a_pushed_message_arrives_once_per_agent() {
    let lab = Lab::new(&json!({}));
    lab.inbox.push(Message::new("for all")).unwrap();
    lab.inbox.push(Message::new("for one").to("agent1").as_user_message()).unwrap();
    let outcome = lab.fire("agent1");
    let found: Vec<(Strategy, &str)> =
        outcome.inject.iter().map(|i| (i.strategy, i.content.as_str())).collect();
    assert_eq!(found, [(Strategy::ToolResult, "for all"), (Strategy::UserMessage, "for one")]);
    assert!(lab.fire("agent1").inject.is_empty());
    assert_eq!(lab.contents("agent2"), ["for all"]);
    assert_eq!(lab.inbox.len(), 1);
}

#[test]
fn expired_and_repeated_messages_do_not_arrive() {
    let lab = Lab::new(&json!({"strategy": "user_message"}));
    lab.inbox.push(Message::new("late").expires_at(UNIX_EPOCH)).unwrap();
    lab.inbox.push(Message::new("a").id("x")).unwrap();
    lab.inbox.push(Message::new("b").id("x")).unwrap();
    lab.inbox.push(Message::new("c").from("ci").sequence(1)).unwrap();
    lab.inbox.push(Message::new("d").from("ci").sequence(1)).unwrap();
    lab.inbox.push(Message::new("e").from("other").sequence(1)).unwrap();
    lab.inbox.push(Message::new("mine").from("agent1")).unwrap();
    lab.inbox.push(Message::new("for grep").after_tool("Grep").unwrap()).unwrap();
    let outcome = lab.fire("agent1");
    assert!(outcome.inject.iter().all(|injected| injected.strategy == Strategy::UserMessage));
    assert_eq!(outcome.inject.iter().map(|i| i.content.as_str()).collect::<Vec<_>>(), ["a", "c", "e"]);
    assert_eq!(fire(&lab.engine, "agent1", "Grep").inject.len(), 1);
}

#[test]
fn a_full_inbox_says_so() {
    let inbox = Inbox::default();
    for _ in 0..1_000 {
        inbox.push(Message::new("x")).unwrap();
    }
    assert!(inbox.push(Message::new("y")).unwrap_err().to_string().contains("full"));
}

#[test]
fn dropped_files_arrive_in_order_and_once() {
    let lab = Lab::new(&json!({"folder": "drop"}));
    lab.drop("b.json", r#"{"content":"second","sequence":2,"from":"ci"}"#);
    lab.drop("a.json", r#"{"content":"first","sequence":1,"from":"ci","target":"agent1"}"#);
    lab.drop("c.txt", "plain text\n");
    lab.drop(
        "d.json",
        r#"{"inject":{"content":"massgen","strategy":"user_message"},"tool_matcher":"Ba*","sequence":3}"#,
    );
    lab.drop(".hidden.json", r#"{"content":"not yet"}"#);
    lab.drop("e.json.tmp", r#"{"content":"not yet"}"#);
    assert_eq!(lab.contents("agent1"), ["first", "second", "massgen", "plain text"]);
    assert!(lab.contents("agent1").is_empty());
    // Another process, another agent.
    let other = engine(&json!({"folder": "drop"}), lab.folder.path(), &Inbox::default());
    assert!(fire(&other, "agent1", "Bash").inject.is_empty());
    assert_eq!(fire(&other, "agent2", "Bash").inject.len(), 3);
    // The same message again, under another name.
    lab.drop("f.json", r#"{"content":"first","sequence":1,"from":"ci","target":"agent1"}"#);
    assert!(lab.contents("agent1").is_empty());
}

#[test]
fn malformed_files_are_reported_and_stop_nothing() {
    let lab = Lab::new(&json!({"folder": "drop"}));
    let bad = [
        ("1.json", "{"),
        ("2.json", "[]"),
        ("3.json", "{}"),
        ("4.json", r#"{"content":""}"#),
        ("5.json", r#"{"content":7}"#),
        ("6.json", r#"{"content":"x","strategy":"shout"}"#),
        ("7.json", r#"{"content":"x","expires_at":"tomorrow"}"#),
        ("8.json", r#"{"inject":[]}"#),
        ("9.json", r#"{"content":"x","sequence":-1}"#),
        ("a.json", r#"{"content":"x","target":"["}"#),
        ("b.txt", " \n"),
        ("c.json", r#"{"content":"x","tool_matcher":"|"}"#),
    ];
    for (name, text) in bad {
        lab.drop(name, text);
    }
    lab.drop("good.json", r#"{"content":"fine"}"#);
    let outcome = lab.fire("agent1");
    assert_eq!(outcome.inject.len(), 1);
    assert_eq!(outcome.notices.len(), bad.len());
    assert!(
        outcome
            .notices
            .iter()
            .all(|notice| &*notice.level == "warn" && notice.text.contains("was not delivered"))
    );
    assert!(lab.fire("agent1").notices.is_empty(), "each is reported once");
    assert_eq!(fs::read_dir(lab.folder.path().join("drop/.crosier/rejected")).unwrap().count(), bad.len());
}

#[test]
fn a_file_that_is_still_being_written_is_given_time() {
    let lab = Lab::new(&json!({"folder": "drop"}));
    let path = lab.folder.path().join("drop/slow.json");
    fs::write(&path, r#"{"content":"#).unwrap();
    assert!(lab.fire("agent1").notices.is_empty());
    fs::write(&path, r#"{"content":"done"}"#).unwrap();
    assert_eq!(lab.contents("agent1"), ["done"]);
}

#[test]
fn expired_files_go() {
    let lab = Lab::new(&json!({"folder": "drop", "max_age": "5s"}));
    lab.drop("a.json", r#"{"content":"x","expires_at":1000.5}"#);
    lab.drop("b.json", r#"{"content":"x","expires_in":1}"#);
    lab.drop("c.json", r#"{"content":"older than max_age"}"#);
    lab.drop("d.json", r#"{"content":"fine","expires_in":3600}"#);
    assert_eq!(lab.contents("agent1"), ["fine"]);
    assert_eq!(lab.files(), 1);
}

#[test]
fn many_at_once_deliver_each_message_once() {
    let lab = Lab::new(&json!({"folder": "drop"}));
    for index in 0..20 {
        lab.drop(&format!("{index}.json"), &json!({"content": format!("m{index}")}).to_string());
    }
    let total: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| lab.fire("agent1").inject.len())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(total, 20);
}
