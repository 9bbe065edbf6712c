//! What hooks cost an agent: their share of one turn of the reference agent, without the model's time.
//!
//! The turn is a whole prompt of a scripted model that answers at once: one Bash call of `true`, three callbacks
//! around it, the transcript on disk. The time of all fires of the turn is measured inside the loop, including events
//! without hooks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use crosier::payload::PostToolUse;
use crosier::{Hook, Reply};
use crosier_agent::agent::{Actor, End, Fired, SessionContext, SessionListener, Settings};
use crosier_agent::conversation::Message;
use crosier_agent::model::Scripted;
use crosier_agent::permission::{PermissionMode, Permissions};
use crosier_agent::session::Session;
use crosier_agent::tool::{Bash, ToolSet};
use tokio::runtime::{Builder, Runtime};

use super::callback::guard;
use crate::lab::{Findings, Lab};
use crate::measure::{Group, clock};
use crate::row::Row;

const SCRIPT: &str = "- {when: go, tools: [{name: Bash, input: {command: 'true'}}], repeat: true}\n\
                      - {say: done, repeat: true}\n";

/// Adds up the time of fires, and counts the hooks that ran.
#[derive(Default)]
struct Meter {
    nanoseconds: AtomicU64,
    hooks: AtomicU64,
}

impl SessionListener for Meter {
    fn on_message(&self, _: &str, _: &Message) {}

    fn on_fire(&self, fired: &Fired) {
        let took = u64::try_from(fired.took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(took, Ordering::Relaxed);
        self.hooks.fetch_add(fired.outcome.reports.len() as u64, Ordering::Relaxed);
    }
}

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let meter = Arc::new(Meter::default());
    let mut metered = agent(lab, Some(Arc::clone(&meter)))?;
    let mut plain = agent(lab, None)?;
    let mut group = Group::default();
    // Every turn is the first of its conversation: a long conversation would make hooks look cheap.
    let hooks = group.case("all fires of the turn", || {
        runtime.block_on(metered.clear());
        meter.nanoseconds.store(0, Ordering::Relaxed);
        meter.hooks.store(0, Ordering::Relaxed);
        turn(&runtime, &mut metered)?;
        if meter.hooks.load(Ordering::Relaxed) != 3 {
            bail!("{} hooks ran instead of 3", meter.hooks.load(Ordering::Relaxed));
        }
        Ok(meter.nanoseconds.load(Ordering::Relaxed) as f64)
    });
    let whole = group.case("the whole turn", || {
        runtime.block_on(plain.clear());
        turn(&runtime, &mut plain)
    });
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(200))?;
    let work = "the hooks' share of an agent's turn: Bash `true`, 3 callbacks, no model time";
    findings.rows.push(Row::share("agent.a", work, &samples, hooks, whole).at_most(1.0));
    Ok(())
}

fn turn(runtime: &Runtime, actor: &mut Actor) -> Result<f64> {
    let (time, end) = clock(|| runtime.block_on(actor.prompt("go")));
    match end {
        End::Done => Ok(time),
        other => bail!("the turn ended otherwise: {other:?}"),
    }
}

fn agent(lab: &Lab, meter: Option<Arc<Meter>>) -> Result<Actor> {
    let after = Hook::on(PostToolUse).callback(|event: &PostToolUse| {
        if event.tool_response.text().contains("secret") { Reply::none().suppress() } else { Reply::none() }
    });
    let engine = lab.engine().hook(guard(0)).hook(guard(1)).hook(after).build()?;
    let settings = Settings {
        system_prompt: String::new(),
        workspace: lab.folder().to_owned(),
        max_turns: 10,
        max_tokens: 100,
        compact_over: usize::MAX,
        tool_timeout: Duration::from_secs(60),
    };
    let model = Scripted::parse("script", SCRIPT).map_err(|problems| anyhow!("{problems}"))?;
    let tools = ToolSet::standard(Bash::new(vec![("PATH".into(), lab.path.clone().into())])).to_vec();
    let mut session_context =
        SessionContext::new(engine, Arc::new(model), tools, Session::begin(lab.folder())?, settings);
    session_context.permissions =
        Permissions { mode: PermissionMode::BypassPermissions, ..Permissions::default() };
    session_context.listener = meter.map(|meter| meter as _);
    Ok(Actor::main(Arc::new(session_context), Vec::new())?)
}
