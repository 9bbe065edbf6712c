//! One session, from the first event to the last.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crosier::Engine;
use crosier_agent::agent::{Actor, AgentHooks, End, Interrupt, Member, SessionContext, Settings};
use crosier_agent::conversation::Message;
use crosier_agent::history::ShadowGit;
use crosier_agent::mcp::McpServerConfig;
use crosier_agent::model::Model;
use crosier_agent::permission::Permissions;
use crosier_agent::view::View;

use super::{RunArgs, interrupt, permission, person, report, session, toolbox};
use crate::agent::tui::Screen;
use crate::exit::{Exit, Failed};
use crate::logbook::Journal;
use crate::{agent_data, print};

/// A conversation with more characters than this is compacted: about 100,000 tokens.
const COMPACT_OVER: usize = 400_000;
/// What a person types to compact the conversation now.
const COMPACT: &str = "/compact";
/// How long a tool may take at most.
const TOOL_TIMEOUT: Duration = Duration::from_secs(600);

/// What is prepared before the agent starts.
pub(super) struct Prepared {
    pub(super) prompt: Option<String>,
    pub(super) model: Arc<dyn Model>,
    pub(super) engine: Engine,
    /// Logs every fire.
    pub(super) journal: Journal,
    pub(super) agent_hooks: Box<AgentHooks>,
    pub(super) permissions: Permissions,
    pub(super) servers: Vec<McpServerConfig>,
    /// The members of the team.
    pub(super) members: Vec<Member>,
    pub(super) opened: session::Opened,
    pub(super) folder: agent_data::AgentData,
    pub(super) workspace: PathBuf,
    pub(super) interrupt: Interrupt,
}

/// Where the session is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Output<'a> {
    /// Lines of JSON, on stdout.
    Json,
    /// Lines for a person, on stderr.
    Lines,
    /// The full screen.
    Screen(&'a Screen),
}

/// What remains of a session.
#[derive(Debug)]
pub(super) struct FinishedSession {
    pub(super) end: End,
    pub(super) session_id: String,
    pub(super) messages: Vec<Message>,
    /// The signal that interrupted it, if one did.
    pub(super) signal: u8,
}

impl RunArgs {
    /// Runs the session.
    pub(super) fn play(&self, prepared: Prepared, output: Output<'_>) -> Result<FinishedSession, Failed> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            Failed::new(Exit::Failed, format!("the async runtime cannot be started: {error}"))
        })?;
        let played = runtime.block_on(self.go(prepared, output));
        // Do not wait for threads that could not be stopped.
        runtime.shutdown_background();
        played
    }

    async fn go(&self, prepared: Prepared, output: Output<'_>) -> Result<FinishedSession, Failed> {
        let Prepared { prompt, model, engine, interrupt, permissions, workspace, .. } = prepared;
        let session::Opened { session, messages, source } = prepared.opened;
        let (session_id, title) = (session.id().to_owned(), format!("crosier run: {}", model.name()));
        let signals = interrupt::watch(&interrupt, &engine)?;
        let (tools, mcp) = tokio::select! {
            biased;
            () = interrupt.wait() => {
                let signal = signals.number();
                return Ok(FinishedSession { end: End::Interrupted, session_id, messages, signal });
            }
            tools = toolbox::tools(&prepared.servers, &workspace) => tools,
        };
        permission::check_disabled(&permissions, &tools)?;
        let history = history(&prepared.folder, &workspace).await;
        let settings = Settings {
            system_prompt: self.system.clone(),
            workspace,
            max_turns: self.max_turns,
            max_tokens: self.model.max_tokens,
            compact_over: COMPACT_OVER,
            tool_timeout: TOOL_TIMEOUT,
        };
        let mut session_context = SessionContext::new(engine, model, tools, session, settings);
        session_context.permissions = permissions;
        session_context.history = history.clone().map(|history| history as _);
        session_context.agent_hooks = Some(prepared.agent_hooks);
        session_context.interrupt = interrupt.clone();
        show(&mut session_context, output, View { title, ..View::default() });
        session_context.listener = Some(Arc::new(prepared.journal.before(session_context.listener.take())));
        let actor = Actor::main(Arc::new(session_context), messages);
        let mut actor = actor.map_err(|error| Failed::new(Exit::Failed, error.to_string()))?;
        let end = self.work(&mut actor, source, prompt.as_deref(), &prepared.members).await;
        // Close cleanly, unless the person interrupted.
        if end != End::Interrupted {
            if let Some(history) = history {
                // Errors do not matter here.
                let _ = history.tidy().await;
            }
            mcp.close().await;
        }
        Ok(FinishedSession { end, session_id, messages: actor.messages().to_vec(), signal: signals.number() })
    }

    async fn work(&self, actor: &mut Actor, source: &str, prompt: Option<&str>, members: &[Member]) -> End {
        let trigger = if self.session.maintenance { "maintenance" } else { "init" };
        actor.begin(source, trigger).await;
        if self.session.clear {
            actor.clear().await;
        }
        let mut end = End::Done;
        if self.team.is_wanted() {
            end = self.team.work(actor, members).await;
        }
        end = match (end, prompt.map(str::trim)) {
            (End::Done, Some(COMPACT)) if actor.messages().is_empty() => End::Failed(
                "there is no conversation to compact: name its session with --resume ID".to_owned(),
            ),
            (End::Done, Some(COMPACT)) => actor.compact("manual").await.err().unwrap_or(End::Done),
            (End::Done, Some(_)) => actor.prompt(prompt.unwrap_or_default()).await,
            (end, _) => end,
        };
        actor.finish(&end).await;
        end
    }
}

/// Sets up the display, and finds a person to ask.
fn show(session_context: &mut SessionContext, output: Output<'_>, view: View) {
    match output {
        Output::Json => {
            session_context.listener = Some(Arc::new(report::Lines(session_context.interrupt.clone())))
        }
        Output::Lines => {
            let timeline = report::timeline(&session_context.interrupt);
            session_context.listener = Some(Arc::new(timeline.clone()));
            session_context.set_screen(view, Box::new(timeline));
        }
        Output::Screen(screen) => {
            screen.listen(&session_context.engine);
            session_context.listener = Some(Arc::new(screen.clone()));
            session_context.set_screen(view, screen.renderer());
        }
    }
    let person = match output {
        Output::Screen(screen) => Some(person::TerminalPerson::on(screen)),
        Output::Json | Output::Lines => person::TerminalPerson::at_the_terminal(),
    };
    if let Some(person) = person {
        let asked = Arc::clone(&person);
        session_context.permissions.callback =
            Some(Arc::new(move |tool, input| asked.says(tool, input.text())));
        session_context.person = Some(person);
    }
}

/// The history of the folder. Without one, the agent still works, and says so.
async fn history(folder: &agent_data::AgentData, workspace: &Path) -> Option<Arc<ShadowGit>> {
    match folder.history(workspace).await {
        Ok(history) => Some(Arc::new(history)),
        Err(error) => {
            print::note(&format!("no history is kept: {error}"));
            None
        }
    }
}
