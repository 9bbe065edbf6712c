//! The loop with a scripted model: which events fire, in which order, and that what hooks say has its effect.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crosier::payload::{
    PermissionRequest, PostMessage, PostToolUse, PreAgentSpawn, PreCompact, PreMessage, PreToolUse,
    SessionStart, Stop, SubagentStart, SubagentStop, UserPromptSubmit,
};
use crosier::{Engine, Hook, Json, Reply, Strategy};
use crosier_agent::agent::{Actor, End, Interrupt, Parts, Settings};
use crosier_agent::conversation::{Block, Message};
use crosier_agent::model::Scripted;
use crosier_agent::permission::{PermissionMode, Permissions};
use crosier_agent::session::Session;
use crosier_agent::tool::{Risk, Tool, ToolContext, ToolError, ToolFuture, ToolSpec};
use crosier_agent::view::{Blind, View};
use serde_json::json;

/// Gives its input back; fails when told to; `Task` is the loop's own.
struct Echo {
    spec: ToolSpec,
    risk: Risk,
    interrupt: Option<Interrupt>,
}

impl Echo {
    fn named(name: &str, risk: Risk) -> Self {
        let spec = ToolSpec { name: name.into(), description: String::new(), input_schema: json!({}).into() };
        Self { spec, risk, interrupt: None }
    }
}

impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }
    fn risk(&self) -> Risk {
        self.risk
    }
    fn run<'a>(&'a self, input: &'a Json, _: &'a ToolContext) -> ToolFuture<'a> {
        Box::pin(async move {
            if let Some(interrupt) = &self.interrupt {
                interrupt.set();
                std::future::pending::<()>().await;
            }
            match input.get("fail") {
                Some(why) => Err(ToolError::new(why.plain())),
                None => Ok(input.clone()),
            }
        })
    }
}

struct Stage {
    folder: tempfile::TempDir,
    hooks: Vec<Hook>,
    script: &'static str,
    compact_over: usize,
    mode: PermissionMode,
    interrupting: bool,
}

impl Stage {
    fn new(script: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mode = PermissionMode::BypassPermissions;
        Self { folder, hooks: Vec::new(), script, compact_over: usize::MAX, mode, interrupting: false }
    }

    fn hook(mut self, hook: Hook) -> Self {
        self.hooks.push(hook);
        self
    }

    async fn play(self, prompt: &str) -> Played {
        let interrupt = Interrupt::default();
        let mut shell = Echo::named("Bash", Risk::Execute);
        shell.interrupt = self.interrupting.then(|| interrupt.clone());
        let parts = Arc::new(Parts {
            engine: Engine::builder().hooks(self.hooks).build().unwrap(),
            model: Arc::new(Scripted::parse("script", self.script).unwrap()),
            tools: vec![
                Arc::new(shell),
                Arc::new(Echo::named("Read", Risk::Read)),
                Arc::new(Echo::named("Task", Risk::Read)),
            ],
            permissions: Permissions { mode: self.mode, ..Permissions::default() },
            session: Session::begin(self.folder.path()).unwrap(),
            settings: Settings {
                system_prompt: "Be brief.".into(),
                workspace: self.folder.path().to_owned(),
                max_turns: 30,
                max_tokens: 100,
                compact_over: self.compact_over,
                tool_timeout: Duration::from_secs(5),
            },
            person: None,
            ledger: None,
            agent_hooks: None,
            interrupt,
            screen: Mutex::new((View::default(), Box::new(Blind))),
            recorder: Some(Mutex::default()),
            witness: None,
            next_agent: AtomicU64::new(1),
        });
        let mut actor = Actor::main(Arc::clone(&parts), Vec::new()).unwrap();
        actor.begin("startup", "init").await;
        let end = actor.prompt(prompt).await;
        actor.finish(&end).await;
        Played { messages: actor.messages().to_vec(), parts, end, _folder: self.folder }
    }
}

struct Played {
    parts: Arc<Parts>,
    end: End,
    messages: Vec<Message>,
    _folder: tempfile::TempDir,
}

impl Played {
    /// The events in order, without the screen and the phases, which surround everything.
    fn events(&self) -> Vec<&'static str> {
        let fires = self.parts.fires().into_iter().map(|fired| fired.event);
        fires
            .filter(|event| !["PreViewRender", "PreSessionPhase", "PostSessionPhase"].contains(event))
            .collect()
    }

    fn results(&self) -> Vec<(String, bool)> {
        let blocks = self.messages.iter().flat_map(|message| &message.content);
        let results = blocks.filter_map(|block| match block {
            Block::ToolResult { content, is_error, .. } => Some((content.clone(), *is_error)),
            _ => None,
        });
        results.collect()
    }
}

const ONE_CALL: &str = "- tools: [{name: Bash, input: {command: ls}}]\n- say: done\n";

#[tokio::test]
async fn an_allowed_call_runs_between_its_hooks() {
    let played = Stage::new(ONE_CALL).play("go").await;
    assert_eq!(played.end, End::Done);
    assert_eq!(
        played.events(),
        [
            "SessionStart",
            "Setup",
            "UserPromptSubmit",
            "PreMessage",
            "PostMessage",
            "PreToolUse",
            "PostToolUse",
            "PreMessage",
            "PostMessage",
            "Stop",
            "SessionEnd"
        ]
    );
    assert_eq!(played.results(), [(r#"{"command":"ls"}"#.to_owned(), false)]);
}

#[tokio::test]
async fn a_denied_call_is_a_result_with_its_reason_and_nothing_runs() {
    let deny = Hook::on(PreToolUse).named("guard").callback(|_: &PreToolUse| Reply::deny("not today"));
    let played = Stage::new(ONE_CALL).hook(deny).play("go").await;
    assert_eq!(played.results(), [("Error: not today".to_owned(), true)]);
    assert!(!played.events().contains(&"PostToolUse"));
}

#[tokio::test]
async fn a_failing_call_fires_its_own_event() {
    let script = "- tools: [{name: Bash, input: {fail: no disk}}]\n- say: done\n";
    let played = Stage::new(script).play("go").await;
    assert!(played.events().contains(&"PostToolUseFailure") && !played.events().contains(&"PostToolUse"));
    assert_eq!(played.results(), [("Error: no disk".to_owned(), true)]);
}

#[tokio::test]
async fn rewritten_input_output_and_prompt_are_really_used() {
    let played = Stage::new(
        "- {when: rewritten prompt, tools: [{name: Bash, input: {command: ls}}]}\n- say: secret\n",
    )
    .hook(Hook::on(PreMessage).callback(|e: &PreMessage| {
        (e.prompt == "go").then(|| Reply::none().rewrite_input("rewritten prompt"))
    }))
    .hook(
        Hook::on(PreToolUse)
            .callback(|_: &PreToolUse| Reply::none().rewrite_input(json!({"command": "pwd"}))),
    )
    .hook(Hook::on(PostToolUse).callback(|e: &PostToolUse| {
        assert_eq!(e.tool_input, json!({"command": "pwd"}).into());
        Reply::none()
            .rewrite_output("replaced")
            .inject(Strategy::ToolResult, "note")
            .inject(Strategy::UserMessage, "hey")
    }))
    .hook(Hook::on(PostMessage).callback(|e: &PostMessage| {
        (e.output == "secret").then(|| Reply::none().rewrite_output("[redacted]"))
    }))
    .play("go")
    .await;
    assert_eq!(played.results(), [("replaced\nnote".to_owned(), false)]);
    let words: Vec<String> =
        played.messages.iter().map(Message::words).filter(|words| !words.is_empty()).collect();
    assert_eq!(words, ["rewritten prompt", "hey", "[redacted]"]);
}

#[tokio::test]
async fn suppressed_output_is_replaced_by_a_note() {
    let hide = Hook::on(PostToolUse).callback(|_: &PostToolUse| Reply::none().suppress());
    let played = Stage::new(ONE_CALL).hook(hide).play("go").await;
    assert_eq!(played.results(), [("[output suppressed by hook]".to_owned(), false)]);
}

#[tokio::test]
async fn a_stop_hook_resumes_and_is_told_so_and_gives_up_after_eight() {
    let script = "- {say: again, repeat: true}\n";
    let active = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&active);
    let resume = Hook::on(Stop).named("more").callback(move |e: &Stop| {
        seen.lock().unwrap().push(e.stop_hook_active);
        Reply::resume("not yet")
    });
    let played = Stage::new(script).hook(resume).play("go").await;
    assert_eq!(played.end, End::Done);
    let active = active.lock().unwrap().clone();
    assert_eq!(active.len(), 9);
    assert!(!active[0] && active[1..].iter().all(|&flag| flag));
}

#[tokio::test]
async fn a_halt_stops_the_loop_and_a_denied_prompt_never_reaches_the_model() {
    let halt = Hook::on(PostToolUse).callback(|_: &PostToolUse| Reply::halt("enough"));
    let played = Stage::new(ONE_CALL).hook(halt).play("go").await;
    assert_eq!(played.end, End::Halted("enough".into()));
    assert_eq!(played.events().last(), Some(&"SessionEnd"));
    let deny = Hook::on(UserPromptSubmit).callback(|_: &UserPromptSubmit| Reply::deny("no"));
    let played = Stage::new(ONE_CALL).hook(deny).play("go").await;
    assert_eq!(played.end, End::Denied("no".into()));
    assert!(!played.events().contains(&"PreMessage"));
}

#[tokio::test]
async fn what_must_be_asked_is_denied_when_nobody_is_there_unless_a_hook_allows_it() {
    let mut stage = Stage::new(ONE_CALL);
    stage.mode = PermissionMode::Default;
    let played = stage.play("go").await;
    assert!(played.events().contains(&"PermissionRequest"));
    assert!(played.results()[0].0.contains("nobody is there to be asked"), "{:?}", played.results());
    let mut stage = Stage::new(ONE_CALL);
    stage.mode = PermissionMode::Default;
    let allow = Hook::on(PermissionRequest).callback(|_: &PermissionRequest| Reply::allow("fine"));
    assert!(!stage.hook(allow).play("go").await.results()[0].1);
}

#[tokio::test]
async fn a_subagent_lives_in_its_own_scope_between_its_events() {
    let script = "- {when: go, tools: [{name: Task, input: {prompt: look, agent_type: scout}}]}\n\
                  - {when: look harder, say: found it}\n- {when: found it, say: done}\n";
    let played = Stage::new(script)
        .hook(
            Hook::on(PreAgentSpawn)
                .callback(|_: &PreAgentSpawn| Reply::none().rewrite_input(json!({"prompt": "look harder"}))),
        )
        .hook(Hook::on(SubagentStart).callback(|e: &SubagentStart| {
            assert_eq!((e.agent_id.as_str(), e.agent_type.as_str()), ("scout-1", "scout"));
        }))
        .hook(Hook::on(SubagentStop).callback(|e: &SubagentStop| assert!(e.agent_transcript_path.is_some())))
        .play("go")
        .await;
    assert_eq!(played.results(), [("found it".to_owned(), false)]);
    assert_eq!(
        played.events(),
        [
            "SessionStart",
            "Setup",
            "UserPromptSubmit",
            "PreMessage",
            "PostMessage",
            "PreToolUse",
            "PreAgentSpawn",
            "SubagentStart",
            "PreMessage",
            "PostMessage",
            "SubagentStop",
            "PostAgentComplete",
            "Notification",
            "PostToolUse",
            "PreMessage",
            "PostMessage",
            "Stop",
            "SessionEnd"
        ]
    );
    assert!(played.parts.engine.entries().iter().all(|hook| hook.scope.is_none()), "the scope is gone");
}

#[tokio::test]
async fn a_long_conversation_is_compacted_with_the_instructions_of_a_hook() {
    let script = "- {when: go, tools: [{name: Read, input: {text: long long long long long long text}}]}\n\
                  - say: a summary\n- say: done\n";
    let mut stage = Stage::new(script);
    stage.compact_over = 60;
    let starts = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&starts);
    let played = stage
        .hook(Hook::on(PreCompact).callback(|e: &PreCompact| {
            assert_eq!(e.trigger, "auto");
            Reply::none().rewrite_input("keep the names")
        }))
        .hook(
            Hook::on(SessionStart)
                .callback(move |e: &SessionStart| seen.lock().unwrap().push(e.source.clone())),
        )
        .play("go")
        .await;
    assert_eq!(played.end, End::Done);
    assert_eq!(*starts.lock().unwrap(), ["startup", "compact"]);
    assert!(played.messages[0].words().contains("a summary"));
}

#[tokio::test]
async fn an_interrupt_is_told_to_hooks_and_still_ends_the_session() {
    let mut stage = Stage::new(ONE_CALL);
    stage.interrupting = true;
    let played = stage.play("go").await;
    assert_eq!(played.end, End::Interrupted);
    let fires = played.parts.fires();
    let failure = fires.iter().find(|fired| fired.event == "PostToolUseFailure").unwrap();
    assert_eq!(failure.input.get("is_interrupt").unwrap().text(), "true");
    assert_eq!(played.events().last(), Some(&"SessionEnd"));
}

#[tokio::test]
async fn context_goes_into_the_next_system_prompt_once() {
    // The scripted model does not show its system prompt; the pending context is the engine's, tested there.
    let start = Hook::on(SessionStart).callback(|_: &SessionStart| Reply::none().context("note"));
    let played = Stage::new("- say: done\n").hook(start).play("go").await;
    let start = &played.parts.fires()[0];
    assert_eq!(start.outcome.get("context").unwrap().text(), r#"["note"]"#);
}
