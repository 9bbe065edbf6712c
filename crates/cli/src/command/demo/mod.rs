//! `crosier demo`: a whole agent session in a few seconds, with every event and every effect.
//!
//! The hooks, the model's answers and the files to work on are embedded; they are written to a temporary folder
//! that is removed at the end. Nothing else is touched, and nothing is sent anywhere.

mod play;
mod stage;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use crosier::Json;
use crosier::protocol::ordered::Value;
use crosier_agent::agent::{Fired, Interrupt, Recording};
use serde::Serialize;

use super::Run;
use crate::agent::tally::Tally;
use crate::agent::timeline::{Detail, Look, Timeline};
use crate::agent::{stop, tui};
use crate::exit::{Exit, Failed, Result};
use crate::paint::{Paint, Tone};
use crate::print;
use stage::Stage;

/// So long each line of the full screen stays the newest.
const PACE: Duration = Duration::from_millis(60);

#[derive(Debug, Args)]
#[command(
    after_help = "An agent with a scripted model tidies up a small project while hooks watch it: commands, a Python
function, script lines and built-ins deny, ask, allow, rewrite, inject, hide, resume and stop it. All 24
events fire. Under each event stand the hooks that ran, how long they took, and what they did (→).

No network, no key, no set-up; everything happens in a temporary folder. Without python3 or git on the
PATH the demo runs too, and says what it left out.

Example:
  crosier demo                      # the timeline, then a table of all events
  crosier demo --tui                # the same on a full screen; q leaves
  crosier demo --json | jq '.fires[] | select(.event == \"PreToolUse\") | .outcome.decision'
  crosier demo --keep               # look at the hooks afterwards: the folder stays"
)]
pub(crate) struct DemoArgs {
    /// Print one JSON object: every fire with its input and outcome, the transcript, a summary by event
    #[arg(long, conflicts_with = "tui")]
    json: bool,
    /// Show the session on a full screen while it goes, a little slower
    #[arg(long)]
    tui: bool,
    /// Leave the folder with the hooks, the workspace and the transcript behind, and say where it is
    #[arg(long)]
    keep: bool,
}

impl Run for DemoArgs {
    fn run(&self) -> Result {
        let mut stage = Stage::build()?;
        let interrupt = Interrupt::default();
        let ended = if self.json {
            json(&stage, &interrupt)
        } else if self.tui {
            full_screen(&stage, &interrupt)
        } else {
            timeline(&stage, &interrupt)
        };
        if self.keep {
            let folder = stage.keep();
            print::note(&format!("the demo's folder is {}", folder.display()));
        }
        ended
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct DemoReport {
    fires: Vec<Fire>,
    transcript: Vec<Value>,
    summary: Value,
}

#[derive(Serialize)]
struct Fire {
    event: &'static str,
    input: Json,
    outcome: Json,
}

fn json(stage: &Stage, interrupt: &Interrupt) -> Result {
    let recording = Arc::new(Recording::default());
    let witness = Arc::clone(&recording);
    let played = stop::interruptible(interrupt, || {
        play::play(stage, interrupt, |parts| {
            parts.witness = Some(witness);
        })
    })??;
    let mut tally = Tally::default();
    let mut fires = Vec::new();
    for Fired { event, input, outcome, .. } in recording.fires() {
        tally.add(&outcome);
        fires.push(Fire { event, input, outcome: outcome.to_json() });
    }
    let whole = DemoReport { fires, transcript: played.transcript, summary: tally.to_json() };
    let whole = serde_json::to_string_pretty(&whole)
        .map_err(|error| Failed::new(Exit::Bug, format!("the demo cannot be written as JSON: {error}")))?;
    print::data(&whole)?;
    for missing in stage.left_out() {
        print::note(&format!("crosier: {missing}"));
    }
    Ok(Exit::Done)
}

fn full_screen(stage: &Stage, interrupt: &Interrupt) -> Result {
    tui::show(interrupt, PACE, |screen| {
        stop::interruptible(interrupt, || {
            play::play(stage, interrupt, |parts| {
                screen.listen(&parts.engine);
                parts.set_screen(play::view(), screen.renderer());
            })
        })?
    })?;
    for missing in stage.left_out() {
        print::note(&missing);
    }
    Ok(Exit::Done)
}

fn timeline(stage: &Stage, interrupt: &Interrupt) -> Result {
    let look = Look { paint: Paint::stdout(), width: crate::environment::width(), detail: Detail::Full };
    let timeline = Timeline::new(Box::new(io::stdout()), look, interrupt.clone());
    timeline.say(Tone::Strong, "Crosier: an agent, its hooks, and everything that happens between them");
    for missing in stage.left_out() {
        timeline.say(Tone::Warning, &missing);
    }
    let (witness, renderer) = (timeline.clone(), timeline.clone());
    let played = stop::interruptible(interrupt, || {
        play::play(stage, interrupt, |parts| {
            parts.witness = Some(Arc::new(witness));
            parts.set_screen(play::view(), Box::new(renderer));
        })
    });
    if let Ok(Err(failed)) = played {
        return Err(failed);
    }
    // The reader has closed the pipe, so no message can reach it.
    if !timeline.is_read() {
        return Err(Failed::new(Exit::Failed, ""));
    }
    timeline.summarise();
    for missing in stage.left_out() {
        timeline.say(Tone::Warning, &missing);
    }
    played.map(|_| Exit::Done)
}
