//! The session of a demo: what the person types, and what happens in between.

use std::sync::Arc;
use std::time::Duration;

use crosier::Layer;
use crosier::protocol::ordered::Value;
use crosier_agent::agent::{Actor, End, Interrupt, Member, SessionContext, Settings, Task};
use crosier_agent::history::{HistoryConfig, ShadowGit};
use crosier_agent::model::Scripted;
use crosier_agent::permission::{PermissionMode, Permissions};
use crosier_agent::session::Session;
use crosier_agent::tool::{Bash, ToolSet};
use crosier_agent::view::View;

use super::folder::{DemoFolder, MODEL};
use crate::agent::scopes;
use crate::exit::{Exit, Failed};
use crate::{environment, setup};

/// A longer conversation is compacted; that of the demo is longer.
const COMPACT_OVER: usize = 6_000;

/// What remains of a session.
#[derive(Debug)]
pub(crate) struct DemoSession {
    /// The lines of all transcripts, the main agent's first, each with its `agent_id`.
    pub(crate) transcript: Vec<Value>,
}

/// The screen at the start.
pub(crate) fn view() -> View {
    View { title: "crosier demo".to_owned(), phase: "setup".to_owned(), ..View::default() }
}

/// Runs the whole session.
pub(crate) fn play(
    folder: &DemoFolder,
    interrupt: &Interrupt,
    watch: impl FnOnce(&mut SessionContext),
) -> Result<DemoSession, Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed("a runtime", &error))?;
    runtime.block_on(async {
        let mut session_context = session_context(folder).await?;
        session_context.interrupt = interrupt.clone();
        watch(&mut session_context);
        let session_context = Arc::new(session_context);
        // So that the first Python hook need not wait for its worker to start.
        let engine = session_context.engine.clone();
        let _ = tokio::task::spawn_blocking(move || engine.warm()).await;
        let mut actor = Actor::main(Arc::clone(&session_context), Vec::new())
            .map_err(|error| failed("a session", &error))?;
        let end = session(&mut actor).await;
        actor.finish(&end).await;
        Ok(DemoSession { transcript: transcript(&session_context)? })
    })
}

async fn session_context(folder: &DemoFolder) -> Result<SessionContext, Failed> {
    let mut layers = [(Layer::Host, setup::load(&folder.configs())?)];
    let agent_hooks = scopes::take(&mut layers, |_| None);
    let [(_, config)] = layers;
    let engine = setup::build(setup::builder(config).folder(folder.workspace()))?;
    let model = Scripted::parse("model.yaml", MODEL).map_err(|problems| setup::bad("script", &problems))?;
    let session = Session::begin(&folder.path("sessions")).map_err(|error| failed("a session", &error))?;
    let settings = Settings {
        system_prompt: "You tidy up small projects.".to_owned(),
        workspace: folder.workspace(),
        max_turns: 30,
        max_tokens: 1_000,
        compact_over: COMPACT_OVER,
        tool_timeout: Duration::from_secs(30),
    };
    let tools = ToolSet::standard(Bash::new(environment::all())).to_vec();
    let mut session_context = SessionContext::new(engine, Arc::new(model), tools, session, settings);
    session_context.permissions = Permissions { mode: PermissionMode::AcceptEdits, ..Permissions::default() };
    session_context.agent_hooks = Some(agent_hooks);
    if folder.has_git {
        let mut config = HistoryConfig::new(folder.workspace(), folder.path("history"));
        config.search_path = environment::path();
        let history = ShadowGit::open(config).await.map_err(|error| failed("a history", &error))?;
        session_context.history = Some(Arc::new(history));
    }
    Ok(session_context)
}

/// Everything that happens, in order.
async fn session(actor: &mut Actor) -> End {
    actor.begin("startup", "init").await;
    let end = actor.prompt("tidy up").await;
    if end == End::Interrupted {
        return end;
    }
    // Once the hooks do not let it wait.
    actor.wait().await;
    let task = |id: &str, subject: &str| Task {
        id: id.to_owned(),
        subject: subject.to_owned(),
        description: "before the release".to_owned(),
    };
    let member = |name: &str| Member { name: name.to_owned(), agent_type: "teammate".to_owned() };
    let tasks = vec![task("1", "sort the changelog"), task("2", "update the docs")];
    actor.run_team("release", &[member("ann"), member("bob")], tasks).await;
    if let Err(end) = actor.compact("manual").await {
        return end;
    }
    actor.wait().await;
    let mut end = End::Done;
    for prompt in ["read the log", "my password is hunter2", "book a flight to Oslo", "clean up everything"] {
        end = actor.prompt(prompt).await;
        if end == End::Interrupted {
            return end;
        }
    }
    end
}

fn transcript(session_context: &SessionContext) -> Result<Vec<Value>, Failed> {
    let unreadable = |error: &dyn std::fmt::Display| failed("the transcript back", &error);
    let mut records = Vec::new();
    for (agent_id, text) in session_context.session.transcripts().map_err(|error| unreadable(&error))? {
        for line in text.lines() {
            let mut record: Value = serde_json::from_str(line).map_err(|error| unreadable(&error))?;
            if let Some(record) = record.as_object_mut() {
                record.insert_first("agent_id", agent_id.as_str().into());
            }
            records.push(record);
        }
    }
    Ok(records)
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> Failed {
    Failed::new(Exit::Failed, format!("the demo cannot get {what}: {error}"))
}
