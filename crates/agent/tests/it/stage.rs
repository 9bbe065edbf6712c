//! A stage for plays of the loop: a script, hooks, tools, and everything that fired.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crosier::{Engine, Hook, Json};
use crosier_agent::agent::{
    Actor, AgentHooks, End, FireRecorder, Fired, Interrupt, SessionContext, Settings,
};
use crosier_agent::conversation::{Block, Message};
use crosier_agent::history::{HistoryConfig, ShadowGit};
use crosier_agent::model::{Model, ModelFuture, ModelRequest, OnText, Scripted};
use crosier_agent::permission::{PermissionMode, Permissions};
use crosier_agent::session::Session;
use crosier_agent::tool::{Edit, Risk, Task, Tool, ToolContext, ToolError, ToolFuture, ToolSpec, Write};
use serde_json::json;
use tokio::sync::Barrier;

/// Gives its input back; fails when told to.
pub(crate) struct Echo {
    spec: ToolSpec,
    risk: Risk,
    /// Interrupts the session and never comes back.
    interrupt: Option<Interrupt>,
    /// Comes back when so many calls are running.
    together: Option<Barrier>,
}

impl Echo {
    pub(crate) fn named(name: &str, risk: Risk) -> Self {
        let spec = ToolSpec { name: name.into(), description: String::new(), input_schema: json!({}).into() };
        Self { spec, risk, interrupt: None, together: None }
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
            if let Some(together) = &self.together {
                together.wait().await;
            }
            match input.get("fail") {
                Some(why) => Err(ToolError::new(why.plain())),
                None => Ok(input.clone()),
            }
        })
    }
}

/// The instructions of each model call, and its tools.
pub(crate) type Received = Arc<Mutex<Vec<(String, Vec<String>)>>>;

/// A script that writes down the instructions it was given and the tools it could call.
struct Listening {
    script: Scripted,
    heard: Received,
}

impl Model for Listening {
    fn name(&self) -> &str {
        self.script.name()
    }
    fn turn<'a>(&'a self, request: ModelRequest<'a>, on_text: OnText<'a>) -> ModelFuture<'a> {
        let tools = request.tools.iter().map(|tool| tool.name.clone()).collect();
        self.heard.lock().unwrap().push((request.system.to_owned(), tools));
        self.script.turn(request, on_text)
    }
}

pub(crate) struct Stage {
    folder: tempfile::TempDir,
    hooks: Vec<Hook>,
    script: String,
    pub(crate) compact_over: usize,
    pub(crate) mode: PermissionMode,
    pub(crate) interrupting: bool,
    pub(crate) readers: usize,
    pub(crate) agent_hooks: Option<Box<AgentHooks>>,
    pub(crate) git: bool,
}

impl Stage {
    pub(crate) fn new(script: impl Into<String>) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            hooks: Vec::new(),
            script: script.into(),
            compact_over: usize::MAX,
            mode: PermissionMode::BypassPermissions,
            interrupting: false,
            readers: 0,
            agent_hooks: None,
            git: false,
        }
    }

    pub(crate) fn hook(mut self, hook: Hook) -> Self {
        self.hooks.push(hook);
        self
    }

    /// The main agent, before its session begins.
    pub(crate) async fn enter(self) -> (Actor, Played) {
        let path = |name: &str| {
            let path = self.folder.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        let (workspace, sessions) = (path("workspace"), path("sessions"));
        let interrupt = Interrupt::default();
        let mut shell = Echo::named("Bash", Risk::Execute);
        shell.interrupt = self.interrupting.then(|| interrupt.clone());
        let mut reader = Echo::named("Read", Risk::Read);
        reader.together = (self.readers > 0).then(|| Barrier::new(self.readers));
        let heard = Received::default();
        let script = Scripted::parse("script", &self.script).unwrap();
        let settings = Settings {
            system_prompt: "Be brief.".into(),
            workspace: workspace.clone(),
            max_turns: 30,
            max_tokens: 100,
            compact_over: self.compact_over,
            tool_timeout: Duration::from_secs(60),
        };
        let tools: Vec<Arc<dyn Tool>> = vec![
            Arc::new(shell),
            Arc::new(reader),
            Arc::new(Write::new()),
            Arc::new(Edit::new()),
            Arc::new(Task::new()),
        ];
        let recording = Arc::new(FireRecorder::default());
        let mut session_context = SessionContext::new(
            Engine::builder().hooks(self.hooks).build().unwrap(),
            Arc::new(Listening { script, heard: Arc::clone(&heard) }),
            tools,
            Session::begin(&sessions).unwrap(),
            settings,
        );
        session_context.permissions = Permissions { mode: self.mode, ..Permissions::default() };
        session_context.interrupt = interrupt;
        session_context.listener = Some(Arc::clone(&recording) as _);
        session_context.agent_hooks = self.agent_hooks;
        if self.git {
            let config = HistoryConfig::new(&workspace, self.folder.path().join("history"));
            session_context.history = Some(Arc::new(ShadowGit::open(config).await.unwrap()));
        }
        let session_context = Arc::new(session_context);
        let actor = Actor::main(Arc::clone(&session_context), Vec::new()).unwrap();
        let played = Played {
            session_context,
            end: End::Done,
            messages: Vec::new(),
            recording,
            heard,
            folder: self.folder,
        };
        (actor, played)
    }

    /// A whole session with one prompt.
    pub(crate) async fn play(self, prompt: &str) -> Played {
        let (mut actor, mut played) = self.enter().await;
        actor.begin("startup", "init").await;
        played.end = actor.prompt(prompt).await;
        actor.finish(&played.end).await;
        played.messages = actor.messages().to_vec();
        played
    }
}

pub(crate) struct Played {
    pub(crate) session_context: Arc<SessionContext>,
    pub(crate) end: End,
    pub(crate) messages: Vec<Message>,
    recording: Arc<FireRecorder>,
    pub(crate) heard: Received,
    pub(crate) folder: tempfile::TempDir,
}

/// The screen and the phases surround everything.
const SURROUNDING: [&str; 3] = ["PreViewRender", "PreSessionPhase", "PostSessionPhase"];

impl Played {
    pub(crate) fn fires(&self) -> Vec<Fired> {
        self.recording.fires()
    }

    /// The events in order, without the screen and the phases.
    pub(crate) fn events(&self) -> Vec<&'static str> {
        let fires = self.fires().into_iter().map(|fired| fired.event);
        fires.filter(|event| !SURROUNDING.contains(event)).collect()
    }

    /// One field of every fire of an event, as text.
    pub(crate) fn field(&self, event: &str, field: &str) -> Vec<String> {
        let fires = self.fires().into_iter().filter(|fired| fired.event == event);
        fires.map(|fired| fired.input.get(field).unwrap_or_default().plain().into_owned()).collect()
    }

    pub(crate) fn results(&self) -> Vec<(String, bool)> {
        let blocks = self.messages.iter().flat_map(|message| &message.content);
        let results = blocks.filter_map(|block| match block {
            Block::ToolResult { content, is_error, .. } => Some((content.clone(), *is_error)),
            _ => None,
        });
        results.collect()
    }

    /// The words of the conversation, without tool calls and results.
    pub(crate) fn words(&self) -> Vec<String> {
        self.messages.iter().map(Message::words).filter(|words| !words.is_empty()).collect()
    }

    /// A transcript, line by line.
    pub(crate) fn transcript(&self, agent_id: &str) -> Vec<crosier::protocol::ordered::Value> {
        let text = std::fs::read_to_string(self.session_context.session.transcript_path(agent_id)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The notes of a transcript: what and text.
    pub(crate) fn notes(&self, agent_id: &str) -> Vec<String> {
        let lines = self.transcript(agent_id);
        let notes = lines.iter().filter(|line| line["record"] == "note");
        notes
            .map(|line| {
                format!("{}: {}", line["what"].as_str().unwrap_or(""), line["text"].as_str().unwrap_or(""))
            })
            .collect()
    }
}

/// One call of the shell, then the end.
pub(crate) const ONE_CALL: &str = "- tools: [{name: Bash, input: {command: ls}}]\n- say: done\n";
