//! `crosier demo`: a whole agent session in a few seconds, with every event and every effect.
//!
//! The hooks, the model's answers and the files to work on are embedded; they are written to a temporary folder
//! that is removed at the end. Nothing else is touched, and nothing is sent anywhere.

mod closed;
mod folder;
mod play;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use crosier::Json;
use crosier::protocol::ordered::Value;
use crosier_agent::agent::{FireRecorder, Fired, Interrupt, SessionListener};
use serde::Serialize;

use super::Run;
use crate::agent::tally::Tally;
use crate::agent::timeline::{Detail, Layout, Timeline};
use crate::agent::{stop, tui};
use crate::exit::{Exit, Failed, Result};
use crate::paint::{Paint, Tone};
use crate::print;
use folder::DemoFolder;

/// How long each new line of the full screen stays the last one.
const PACE: Duration = Duration::from_millis(60);

#[derive(Debug, Args)]
#[command(
    after_help = "An agent with a scripted model works on a small project while hooks watch it: commands, a
Python function, script lines and built-ins deny, ask, allow, rewrite, inject, hide, resume and
stop it. All 24 core events fire. Each event is followed by the hooks that ran, how long they took,
and what they did (→).

The policy comes from the pack crosier:recommended. One hook is in `mode: warn`, one guard is asked
again after another hook rewrote a call, and at the end a project is closed, because its policy was
edited after a person had trusted it.

No network, no API key, no setup; everything happens in a temporary folder. Without python3 or git
on the PATH the demo skips the parts that need them, and says so.

Example:
  crosier demo                      # the timeline, then a table of all events
  crosier demo --tui                # the same on the full screen; q leaves
  crosier demo --json | jq '.fires[] | select(.event == \"PreToolUse\") | .outcome.decision'
  crosier demo --keep               # look at the hooks afterwards: the folder stays"
)]
pub(crate) struct DemoArgs {
    /// Print one JSON object: every fire with its input and outcome, the transcript, the closed project, a summary by
    /// event
    #[arg(long, conflicts_with = "tui")]
    json: bool,
    /// Show the session on the full screen while it runs, a little slower
    #[arg(long)]
    tui: bool,
    /// Keep the folder with the hooks, the workspace and the transcript, and print its path
    #[arg(long)]
    keep: bool,
}

impl Run for DemoArgs {
    fn run(&self) -> Result {
        let mut folder = DemoFolder::build()?;
        let interrupt = Interrupt::default();
        let ended = if self.json {
            json(&folder, &interrupt)
        } else if self.tui {
            full_screen(&folder, &interrupt)
        } else {
            timeline(&folder, &interrupt)
        };
        if self.keep {
            let folder = folder.keep();
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
    /// A call in a trusted project, and again after its policy was edited.
    closed: Vec<Fire>,
    summary: Value,
}

#[derive(Serialize)]
struct Fire {
    event: &'static str,
    input: Json,
    outcome: Json,
}

fn json(folder: &DemoFolder, interrupt: &Interrupt) -> Result {
    let recording = Arc::new(FireRecorder::default());
    let listener = Arc::clone(&recording);
    let played = stop::interruptible(interrupt, || {
        play::play(folder, interrupt, |parts| {
            parts.listener = Some(listener);
        })
    })??;
    let mut tally = Tally::default();
    let mut fires = Vec::new();
    for Fired { event, input, outcome, .. } in recording.fires() {
        tally.add(&outcome);
        fires.push(Fire { event, input, outcome: outcome.to_json() });
    }
    let (closed, left_out) = match closed::play(folder) {
        Ok(fired) => (fired, None),
        Err(why) => (Vec::new(), Some(without_closed(&why))),
    };
    let fire =
        |fired: Fired| Fire { event: fired.event, input: fired.input, outcome: fired.outcome.to_json() };
    let closed = closed.into_iter().map(fire).collect();
    let whole = DemoReport { closed, fires, transcript: played.transcript, summary: tally.to_json() };
    let whole = serde_json::to_string_pretty(&whole)
        .map_err(|error| Failed::new(Exit::Bug, format!("the demo cannot be written as JSON: {error}")))?;
    print::data(&whole)?;
    for missing in folder.left_out().into_iter().chain(left_out) {
        print::note(&format!("crosier: {missing}"));
    }
    Ok(Exit::Done)
}

fn full_screen(folder: &DemoFolder, interrupt: &Interrupt) -> Result {
    tui::show(interrupt, PACE, |screen| {
        stop::interruptible(interrupt, || {
            play::play(folder, interrupt, |parts| {
                screen.listen(&parts.engine);
                parts.listener = Some(Arc::new(screen.clone()));
                parts.set_screen(play::view(), screen.renderer());
            })
        })?
    })?;
    for missing in folder.left_out() {
        print::note(&missing);
    }
    Ok(Exit::Done)
}

/// What cannot be shown on this machine, and why.
fn without_closed(why: &str) -> String {
    format!("left out: a project that changed after it was trusted, because {}", print::one_line(why))
}

fn show_closed(folder: &DemoFolder, timeline: &Timeline) {
    timeline.say(Tone::Strong, "");
    timeline.say(Tone::Strong, "Another project, whose policy a person has trusted:");
    match closed::play(folder) {
        Ok(fired) => {
            let mut fired = fired.iter();
            fired.by_ref().take(1).for_each(|before| timeline.on_fire(before));
            timeline.say(Tone::Strong, "Somebody edits the policy, so that it lets everything through:");
            fired.for_each(|after| timeline.on_fire(after));
        }
        Err(why) => timeline.say(Tone::Warning, &without_closed(&why)),
    }
}

fn timeline(folder: &DemoFolder, interrupt: &Interrupt) -> Result {
    let layout = Layout { paint: Paint::stdout(), width: crate::environment::width(), detail: Detail::Full };
    let timeline = Timeline::new(Box::new(io::stdout()), layout, interrupt.clone());
    timeline.say(Tone::Strong, "Crosier demo: a scripted agent session, with every event and what hooks do");
    for missing in folder.left_out() {
        timeline.say(Tone::Warning, &missing);
    }
    let (listener, renderer) = (timeline.clone(), timeline.clone());
    let played = stop::interruptible(interrupt, || {
        play::play(folder, interrupt, |parts| {
            parts.listener = Some(Arc::new(listener));
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
    if matches!(played, Ok(Ok(_))) {
        show_closed(folder, &timeline);
    }
    timeline.summarise();
    for missing in folder.left_out() {
        timeline.say(Tone::Warning, &missing);
    }
    played.map(|_| Exit::Done)
}
