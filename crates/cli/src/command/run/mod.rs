//! `crosier run`: the agent, with a real model, in this folder.
//!
//! In comes a prompt; on stdout comes the model's last answer, on stderr what happens meanwhile. Only this command
//! knows the environment: keys and addresses go from here to the model, and not to what tools start.

mod interrupt;
mod model;
mod permission;
mod person;
mod report;
mod session;
mod toolbox;

use std::io::{IsTerminal, Read};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use crosier::Engine;
use crosier_agent::agent::{Actor, AgentHooks, End, Interrupt, Parts, Settings};
use crosier_agent::history::ShadowGit;
use crosier_agent::mcp::McpServers;
use crosier_agent::model::Model;
use crosier_agent::view::View;

use super::Run;
use crate::args::ConfigArgs;
use crate::exit::{Exit, Failed, Result};
use crate::{place, print, setup};

/// The instructions of the model, unless others are given.
const SYSTEM: &str = "You are an agent that works in a folder of files with the tools that it is given. \
    Look before you change something, change no more than was asked for, and say briefly what you did.";
/// The size of a conversation, in characters, over which it is compacted: about 100,000 tokens.
const COMPACT_OVER: usize = 400_000;

#[derive(Debug, Args)]
#[command(
    after_help = "The model's last answer goes to stdout, what happens meanwhile to stderr. Without a terminal, what
needs a permission that no rule or hook gives is denied. Ctrl-C stops the agent in good order; a
second one leaves at once.

The environment: ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL.

Example:
  crosier run \"Why does the test fail?\" --allow 'Bash(cargo *)' --permission-mode acceptEdits"
)]
pub(crate) struct RunArgs {
    /// What to do; - reads it from stdin
    #[arg(required_unless_present = "maintenance")]
    prompt: Option<String>,
    #[command(flatten)]
    model: model::ModelArgs,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    permission: permission::PermissionArgs,
    #[command(flatten)]
    tools: toolbox::ToolArgs,
    #[command(flatten)]
    session: session::SessionArgs,
    /// The instructions of the model
    #[arg(long, value_name = "TEXT", default_value = SYSTEM, hide_default_value = true)]
    system: String,
    /// The most turns of the agent, and of each subagent
    #[arg(long, value_name = "N", default_value_t = 50)]
    max_turns: usize,
    /// Print a line of JSON for every message and every event
    #[arg(long)]
    json: bool,
}

/// What is put together before the agent begins.
struct Prepared {
    prompt: Option<String>,
    model: Arc<dyn Model>,
    engine: Engine,
    agent_hooks: Box<AgentHooks>,
    opened: session::Opened,
    place: place::Place,
    workspace: std::path::PathBuf,
}

impl Run for RunArgs {
    fn run(&self) -> Result {
        // Everything that can be wrong is found before anything is begun.
        let permissions = self.permission.read()?;
        let servers = self.tools.servers()?;
        let prompt = self.prompt.as_deref().map(read_prompt).transpose()?;
        let model = self.model.choose()?;
        let (engine, agent_hooks) = setup::session(&setup::files_if_any(&self.config.config))?;
        let (place, workspace) = (self.session.place.find()?, place::workspace()?);
        let opened = self.session.open(&place.sessions())?;
        let prepared = Prepared { prompt, model, engine, agent_hooks, opened, place, workspace };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| Failed::new(Exit::Failed, format!("nothing can run: {error}")))?;
        let result = runtime.block_on(self.go(prepared, permissions, &servers));
        // Somebody may still be asked something, on a thread of their own: nobody waits for the answer.
        runtime.shutdown_background();
        result
    }
}

impl RunArgs {
    async fn go(
        &self,
        prepared: Prepared,
        permissions: crosier_agent::permission::Permissions,
        servers: &[crosier_agent::mcp::McpServerConfig],
    ) -> Result {
        let Prepared { prompt, model, engine, agent_hooks, opened, place, workspace } = prepared;
        let interrupt = Interrupt::default();
        let signals = interrupt::watch(&interrupt, &engine)?;
        let (tools, mcp) = tokio::select! {
            biased;
            () = interrupt.wait() => return Ok(Exit::Signal(signals.number())),
            tools = toolbox::tools(servers, &workspace) => tools,
        };
        permission::check_disabled(&permissions, &tools)?;
        let history = history(&place, &workspace).await;
        let settings = Settings {
            system_prompt: self.system.clone(),
            workspace,
            max_turns: self.max_turns,
            max_tokens: self.model.max_tokens,
            compact_over: COMPACT_OVER,
            tool_timeout: Duration::from_secs(600),
        };
        let session::Opened { session, messages, source } = opened;
        let (id, title) = (session.id().to_owned(), format!("crosier: {}", model.name()));
        let mut parts = Parts::new(engine, model, tools, session, settings);
        parts.permissions = permissions;
        if let Some(person) = person::Terminal::find() {
            let asked = Arc::clone(&person);
            parts.permissions.callback = Some(Arc::new(move |tool, input| asked.says(tool, input.text())));
            parts.person = Some(person);
        }
        parts.history = history.clone().map(|history| history as _);
        parts.agent_hooks = Some(agent_hooks);
        parts.interrupt = interrupt.clone();
        if self.json {
            parts.witness = Some(Arc::new(report::Lines(interrupt.clone())));
        } else {
            let timeline = report::timeline(&interrupt);
            parts.witness = Some(Arc::new(timeline.clone()));
            parts.set_screen(View { title, ..View::default() }, Box::new(timeline));
        }
        let broken =
            |error: crosier_agent::session::SessionError| Failed::new(Exit::Failed, error.to_string());
        let mut actor = Actor::main(Arc::new(parts), messages).map_err(broken)?;
        let end = self.work(&mut actor, source, prompt.as_deref()).await;
        if let Some(history) = history.filter(|_| end == End::Done) {
            // Nothing depends on it.
            let _ = history.tidy().await;
        }
        mcp_close(mcp, &end).await;
        report::finish(self.json, &end, &id, actor.messages())?;
        match end {
            End::Interrupted => Ok(Exit::Signal(signals.number())),
            other => report::exit(&other),
        }
    }

    async fn work(&self, actor: &mut Actor, source: &str, prompt: Option<&str>) -> End {
        let trigger = if self.session.maintenance { "maintenance" } else { "init" };
        actor.begin(source, trigger).await;
        if self.session.clear {
            actor.clear().await;
        }
        let end = match prompt {
            Some(prompt) => actor.prompt(prompt).await,
            None => End::Done,
        };
        actor.finish(&end).await;
        end
    }
}

/// The history of the folder. An agent without one works all the same, and says so.
async fn history(place: &place::Place, workspace: &std::path::Path) -> Option<Arc<ShadowGit>> {
    match place.history(workspace).await {
        Ok(history) => Some(Arc::new(history)),
        Err(error) => {
            print::note(&format!("no history is kept: {error}"));
            None
        }
    }
}

/// In good order, unless somebody is in a hurry.
async fn mcp_close(mcp: McpServers, end: &End) {
    if *end != End::Interrupted {
        mcp.close().await;
    }
}

fn read_prompt(given: &str) -> std::result::Result<String, Failed> {
    let mut prompt = given.to_owned();
    if given == "-" {
        if std::io::stdin().is_terminal() {
            print::note("the prompt, then Ctrl-D:");
        }
        prompt.clear();
        let read = std::io::stdin().lock().read_to_string(&mut prompt);
        read.map_err(|error| {
            Failed::new(Exit::BadInput, format!("the prompt could not be read from stdin: {error}"))
        })?;
    }
    if prompt.trim().is_empty() {
        return Err(Failed::new(Exit::Usage, "the prompt is empty: say what is to be done"));
    }
    Ok(prompt)
}
