//! `crosier fire`: one event, one outcome.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use crosier::{Decision, Engine, Event, Heard, Json, Listener, Outcome};

use crate::args::FireArgs;
use crate::exit::{Exit, Failed, Result};
use crate::signals::Signals;
use crate::{print, setup};

pub(crate) fn run(args: &FireArgs) -> Result {
    let catalog = crosier::Catalog::default();
    let kind =
        catalog.find(&args.event).ok_or_else(|| Failed::new(Exit::Usage, catalog.unknown(&args.event)))?;
    let config = setup::load(&setup::files(&args.config.config)?)?;
    let engine = setup::engine(config)?;
    let mut input = Vec::new();
    std::io::stdin().lock().read_to_end(&mut input).map_err(|error| {
        Failed::new(Exit::BadInput, format!("the event could not be read from stdin: {error}"))
    })?;
    let event =
        Event::from_json(kind, &input).map_err(|error| Failed::new(Exit::BadInput, error.to_string()))?;
    let event = match &args.agent {
        Some(agent) => event.in_agent(agent),
        None => event,
    };
    let outcome = fire(&engine, &event, args)?;
    for notice in &outcome.notices {
        print::note(&format!("{}: {}", notice.level, print::plain(&notice.text)));
    }
    print::data(outcome.to_json().text())?;
    Ok(if args.exit_code { verdict(&outcome) } else { Exit::Done })
}

fn fire(engine: &Engine, event: &Event, args: &FireArgs) -> std::result::Result<Outcome, Failed> {
    if args.trace {
        trace_before(engine, event);
    }
    let signals = Signals::watch(engine);
    let fired = || engine.fire_blocking(event);
    let outcome = match &args.messages {
        None => fired(),
        Some(path) => with_messages(engine, path, fired)?,
    };
    if let Some(signal) = signals.seen() {
        return Err(Failed::new(
            Exit::Signal(signal),
            format!("stopped by signal {signal}; its hooks were killed"),
        ));
    }
    if args.trace {
        trace_after(&outcome);
    }
    Ok(outcome)
}

/// What a host that knows nothing but exit codes is told.
fn verdict(outcome: &Outcome) -> Exit {
    let reason = match (&outcome.halt, outcome.decision) {
        (_, Some(Decision::Deny)) => outcome.reason.as_deref().unwrap_or_default().to_owned(),
        (Some(halt), _) => format!("halted by hook {}: {}", halt.by, halt.reason),
        (None, Some(Decision::Ask)) => {
            format!("a person must decide: {}", outcome.reason.as_deref().unwrap_or("no reason given"))
        }
        _ => return Exit::Done,
    };
    print::note(&print::plain(&reason));
    Exit::Denied
}

/// Runs a fire while its messages go to a file.
fn with_messages(
    engine: &Engine,
    path: &Path,
    fire: impl FnOnce() -> Outcome,
) -> std::result::Result<Outcome, Failed> {
    let cannot = |error| Failed::new(Exit::Failed, format!("{}: {error}", path.display()));
    let mut file = File::create(path).map_err(cannot)?;
    let listener = engine.subscribe(16 * 1024);
    let outcome = std::thread::scope(|scope| {
        let (over, is_over) = std::sync::mpsc::sync_channel::<()>(0);
        let writer = scope.spawn(move || {
            // The sender's end is dropped when the fire is over; what is queued by then is still written.
            while matches!(is_over.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty)) {
                write_heard(&mut file, listener.next_within(Duration::from_millis(20)))?;
            }
            drain(&mut file, &listener)
        });
        let outcome = fire();
        drop(over);
        (outcome, writer.join())
    });
    match outcome {
        (outcome, Ok(Ok(()))) => Ok(outcome),
        (_, Ok(Err(error))) => Err(cannot(error)),
        (_, Err(_)) => Err(Failed::new(Exit::Bug, "the writer of messages is gone")),
    }
}

fn drain(file: &mut File, listener: &Listener) -> std::io::Result<()> {
    while let Some(heard) = listener.try_next() {
        write_heard(file, Some(heard))?;
    }
    Ok(())
}

fn write_heard(file: &mut File, heard: Option<Heard>) -> std::io::Result<()> {
    let line = match heard {
        None => return Ok(()),
        Some(Heard::Message(message)) => serde_json::to_string(&message)?,
        Some(Heard::Missed(count)) => {
            format!("{{\"type\":\"system\",\"subtype\":\"hook_messages_missed\",\"count\":{count}}}")
        }
    };
    writeln!(file, "{line}")
}

fn trace_before(engine: &Engine, event: &Event) {
    let explained = engine.explain(event);
    let wire = event.wire().map_or_else(ToString::to_string, ToString::to_string);
    print::note(&format!("ingest  {} {wire}", event.name()));
    for (number, stage) in explained.plan.stages().enumerate() {
        for hook in stage {
            print::note(&format!("plan    stage {} {} (priority {})", number + 1, hook.name, hook.priority));
        }
    }
    for hook in explained.plan.observers() {
        print::note(&format!("plan    after all, {} looks on", hook.name));
    }
    for (hook, standing) in &explained.out {
        print::note(&format!("plan    left out: {} ({standing})", hook.name));
    }
}

fn trace_after(outcome: &Outcome) {
    for report in &outcome.reports {
        let report = Json::from(serde_json::to_value(report).unwrap_or_default());
        print::note(&format!("run     {report}"));
    }
    let decision = outcome.decision.map_or("no opinion", Decision::word);
    let by = outcome.by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
    print::note(&format!("fold    {decision}{by}"));
}
