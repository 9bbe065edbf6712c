//! How the time of a fire grows with the size of its event.
//!
//! The raw command is run twice, with the event in a pipe and in a file in memory: the pipe is not slower at any
//! size, and every system has pipes, so the engine writes events of all sizes into pipes. A pipe of 1 MiB instead of
//! the default 64 KiB made no difference either.

use anyhow::Result;
use crosier::payload::PreToolUse;
use crosier::{CommandSpec, Engine, Event, Hook, Reply};

use super::command::LINE;
use super::growth::nanoseconds;
use super::python;
use crate::floor::Raw;
use crate::lab::{Findings, Lab, check_ran, event_of, json_of};
use crate::measure::{CaseId, Group, clock};
use crate::report::{Curve, Point};

const SIZES: [usize; 5] = [1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20];

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let inline = Hook::on(PreToolUse).callback(|_: &PreToolUse| Reply::none());
    let inline = lab.engine().hook(inline).build()?;
    let asks = Hook::on_event(PreToolUse.kind()).callback(|event: &Event| {
        std::hint::black_box(event.wire().is_ok());
        Reply::none()
    });
    let asks = lab.engine().hook(asks).build()?;
    let command = Hook::on(PreToolUse).command(CommandSpec::shell(LINE, lab.folder()));
    let command = lab.engine().hook(command).build()?;
    let python = match &lab.python {
        Some(interpreter) => Some(python::warm_engine(lab, interpreter, "guard")?),
        None => None,
    };
    let raw = Raw::shell(LINE, &lab.path);
    let mut points = Vec::new();
    for bytes in SIZES {
        let payload = &event_of(bytes);
        let input = json_of(&inline, bytes)?;
        let fire = |engine: &Engine| -> Result<f64> {
            let event = Event::from(payload.clone());
            let (time, outcome) = clock(|| engine.fire_blocking(&event));
            check_ran(&outcome, 1)?;
            Ok(time)
        };
        let mut group = Group::default();
        let mut cases = vec![
            group.case("callback", || fire(&inline)),
            group.case("callback that asks for the JSON", || fire(&asks)),
            group.case("raw command", || {
                let (time, written) = clock(|| raw.run(&input));
                written.map(|_| time)
            }),
            group.case("raw command, event in a file in memory", || {
                let (time, written) = clock(|| raw.run_from_memory(&input));
                written.map(|_| time)
            }),
            group.case("command hook", || fire(&command)),
        ];
        cases.extend(python.iter().map(|engine| group.case("warm python hook", || fire(engine))));
        let samples = group.run(lab.budget.pick(3, 1), lab.budget.pick(50, 10))?;
        let values = cases.iter().map(|&case: &CaseId| samples.percentile(case, 0.5)).collect();
        points.push(Point { at: bytes as f64, values });
    }
    let names = [
        "callback",
        "callback that asks for the JSON",
        "raw command",
        "raw command, event in a file in memory",
        "command hook",
        "warm python hook",
    ];
    findings.curves.push(Curve {
        id: "growth.payload".to_owned(),
        title: "Size of the event".to_owned(),
        across: "bytes".to_owned(),
        columns: names.iter().take(5 + usize::from(python.is_some())).map(|name| nanoseconds(name)).collect(),
        points,
    });
    Ok(())
}
