//! Golden transcripts: what fires, what hooks do, what is said, in the sequences that every host of hooks has.
//!
//! `tests/golden/*.txt` are for people: read them when they change. `CROSIER_GENERATE=1` writes them. Ids and
//! times are left out; everything else is compared exactly.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crosier::payload::{
    PostToolUse, PreAgentSpawn, PreCompact, PreToolUse, SessionStart, Stop, SubagentStop,
};
use crosier::protocol::ordered::Value;
use crosier::{Hook, Outcome, Reply};
use crosier_agent::agent::Fired;

use super::stage::{ONE_CALL, Played, Stage};

/// What differs from run to run, or is the same for every event.
const LEFT_OUT: [&str; 10] = [
    "session_id",
    "transcript_path",
    "agent_transcript_path",
    "cwd",
    "permission_mode",
    "hook_event_name",
    "hook_type",
    "orchestrator_id",
    "timestamp",
    "agent_id",
];

/// One fire: the agent, the event, its payload; then what came of it.
fn fire(text: &mut String, fired: &Fired, names: &mut Names) {
    let payload = fired.input.entries().unwrap_or_default().into_iter();
    let payload = payload.filter(|(key, value)| !LEFT_OUT.contains(&key.as_str()) && !value.is_null());
    let payload: Vec<String> =
        payload.map(|(key, value)| format!("{key}={}", names.rename(value.text()))).collect();
    writeln!(text, "{} {} {}", fired.agent_id, fired.event, payload.join(" ")).unwrap();
    for line in outcome(&fired.outcome) {
        writeln!(text, "    → {line}").unwrap();
    }
}

fn outcome(outcome: &Outcome) -> Vec<String> {
    let Some(Value::Object(all)) = outcome.to_json().to_ordered() else { return Vec::new() };
    let is_nothing = |value: &Value| {
        value.is_null() || *value == Value::Bool(false) || value.as_array().is_some_and(Vec::is_empty)
    };
    let told =
        all.into_iter().filter(|(key, value)| key != "event" && key != "reports" && !is_nothing(value));
    told.map(|(key, value)| format!("{key}: {value}")).collect()
}

/// Ids of calls, numbered in the order in which they come.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn rename(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        while let Some(start) = text.find("call-0") {
            let end = text[start..]
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
                .map_or(text.len(), |end| start + end);
            let id = text[start..end].to_owned();
            let number = self.0.iter().position(|known| *known == id).unwrap_or_else(|| {
                self.0.push(id.clone());
                self.0.len() - 1
            });
            text.replace_range(start..end, &format!("#{}", number + 1));
        }
        text
    }
}

/// Everything that happened, for a person to read.
fn tell(played: &Played, agents: &[&str]) -> String {
    let (mut text, mut names) = (String::from("What fired\n"), Names::default());
    // The screen is drawn at every line, which is no part of a sequence.
    for fired in played.fires().iter().filter(|fired| fired.event != "PreViewRender") {
        fire(&mut text, fired, &mut names);
    }
    for agent in agents {
        writeln!(text, "\nThe transcript of {agent}").unwrap();
        for record in played.transcript(agent) {
            writeln!(text, "{}", names.rename(&record.to_string())).unwrap();
        }
    }
    writeln!(text, "\nThe end: {:?}", played.end).unwrap();
    text
}

fn compare(name: &str, played: &Played, agents: &[&str]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let told = tell(played, agents);
    #[expect(clippy::disallowed_methods, reason = "a test that writes its files when it is asked to")]
    if std::env::var_os("CROSIER_GENERATE").is_some() {
        fs::write(&path, &told).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        told == wanted,
        "{name} is out of date, or the loop has changed: see what CROSIER_GENERATE=1 makes of it\n{told}"
    );
}

#[tokio::test]
async fn allow() {
    let allow = Hook::on(PreToolUse).named("guard").callback(|_: &PreToolUse| {
        Reply::allow("harmless").rewrite_input(serde_json::json!({"command": "ls -l"}))
    });
    let note = Hook::on(PostToolUse).named("note").callback(|_: &PostToolUse| Reply::none().context("seen"));
    compare("allow.txt", &Stage::new(ONE_CALL).hook(allow).hook(note).play("go").await, &["main"]);
}

#[tokio::test]
async fn deny() {
    let deny = Hook::on(PreToolUse).named("guard").callback(|_: &PreToolUse| Reply::deny("not today"));
    compare("deny.txt", &Stage::new(ONE_CALL).hook(deny).play("go").await, &["main"]);
}

#[tokio::test]
async fn error() {
    let script = "- tools: [{name: Bash, input: {fail: no disk}}]\n- say: done\n";
    compare("error.txt", &Stage::new(script).play("go").await, &["main"]);
}

#[tokio::test]
async fn subagent() {
    let script = "- {when: go, tools: [{name: Task, input: {prompt: look, agent_type: scout}}]}\n\
                  - {when: look, tools: [{name: Read, input: {path: a}}]}\n- {when: path, say: a thing}\n\
                  - {when: again, say: the same thing}\n- {when: thing, say: done}\n";
    let spawn = Hook::on(PreAgentSpawn)
        .named("spawns")
        .callback(|_: &PreAgentSpawn| Reply::none().log("info", "one more"));
    let stop = Hook::on(SubagentStop)
        .named("twice")
        .callback(|e: &SubagentStop| (!e.stop_hook_active).then(|| Reply::resume("look again")));
    let played = Stage::new(script).hook(spawn).hook(stop).play("go").await;
    compare("subagent.txt", &played, &["main", "scout-1"]);
}

#[tokio::test]
async fn compaction() {
    let script = "- {when: go, tools: [{name: Read, input: {text: long long long long long long text}}]}\n\
                  - say: a summary\n- say: done\n";
    let mut stage = Stage::new(script);
    stage.compact_over = 60;
    let keep = Hook::on(PreCompact)
        .named("keep")
        .callback(|_: &PreCompact| Reply::none().rewrite_input("keep the names").context("just compacted"));
    let start = Hook::on(SessionStart)
        .named("start")
        .matching("compact")
        .callback(|_: &SessionStart| Reply::none().context("welcome back"));
    compare("compaction.txt", &stage.hook(keep).hook(start).play("go").await, &["main"]);
}

#[tokio::test]
async fn stop_resume() {
    let once = Hook::on(Stop)
        .named("tests-first")
        .callback(|e: &Stop| (!e.stop_hook_active).then(|| Reply::resume("run the tests first")));
    let played = Stage::new("- say: done\n- say: really done\n").hook(once).play("go").await;
    compare("stop-resume.txt", &played, &["main"]);
}

#[tokio::test]
async fn interrupt() {
    let mut stage = Stage::new(ONE_CALL);
    stage.interrupting = true;
    compare("interrupt.txt", &stage.play("go").await, &["main"]);
}

#[test]
fn ids_are_numbered_as_they_come() {
    let mut names = Names::default();
    assert_eq!(names.rename(r#""call-01a-0" "call-01b-0" "call-01a-0""#), r##""#1" "#2" "#1""##);
    assert_eq!(outcome(&Outcome::new(Stop.kind())), Vec::<String>::new());
}
