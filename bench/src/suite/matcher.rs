//! G6: many hooks, few that match.

use std::hint::black_box;

use anyhow::{Result, bail};
use crosier::payload::PreToolUse;
use crosier::{Engine, Event, Hook, Reply};

use super::callback::{fire_sync, tool_call};
use crate::lab::{Findings, Lab, check_ran};
use crate::measure::Group;
use crate::row::Row;

/// Matchers as people write them: names, lists of names, families of tools. None matches `Bash`.
pub(super) fn unmatched_matcher(number: usize) -> String {
    match number % 4 {
        0 | 1 => format!("tool_{number:05}"),
        2 => format!("Read{number:05}|Write{number:05}"),
        _ => format!("mcp__server{number:05}__*"),
    }
}

/// This many hooks, of which only the middle one matches the event.
pub(super) fn one_of(lab: &Lab, registered: usize) -> Result<Engine> {
    let hooks = (0..registered).map(|number| {
        let matcher = if number == registered / 2 { "Bash".to_owned() } else { unmatched_matcher(number) };
        Hook::on(PreToolUse).matching(matcher).callback(|_: &PreToolUse| Reply::none())
    });
    let engine = lab.engine().hooks(hooks).build()?;
    check_ran(&engine.fire_blocking(tool_call()), 1)?;
    Ok(engine)
}

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let (few, many) = (one_of(lab, 10)?, one_of(lab, 10_000)?);
    let entries = many.entries();
    let event = Event::from(tool_call());
    let scan = || {
        let value = black_box(&event).matcher_value().unwrap_or_default();
        entries.iter().filter(|entry| entry.matcher.matches(value)).count()
    };
    if scan() != 1 {
        bail!("the linear scan finds another number of hooks");
    }
    // Each name is new, so that no plan is cached for it.
    let names: Vec<Event> =
        (0..1_000).map(|number| PreToolUse::new(format!("new_{number}"), "").into()).collect();
    let mut next = 0;
    let mut group = Group::default();
    let linear = group.repeated("linear scan", |times| {
        (0..times).for_each(|_| {
            black_box(scan());
        })
    });
    let ten = group.repeated("10 registered", |times| fire_sync(&few, &event, times));
    let all = group.repeated("10,000 registered", |times| fire_sync(&many, &event, times));
    let unseen = group.repeated("a name never seen", |times| {
        for _ in 0..times {
            next = (next + 1) % names.len();
            black_box(many.fire_blocking(&names[next]));
        }
    });
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    let work = |what: &str| format!("10,000 hooks, 1 hit: {what}");
    findings.rows.extend([
        Row::time("G6", work("fire_blocking"), &samples, all).at_most(500.0),
        Row::under("G6.scan", work("under a linear scan of the compiled matchers"), &samples, all, linear)
            .at_least(200.0)
            .note("the scan only matches; the fire also runs the hook, reports and folds"),
        Row::ratio("G6.flat", work("against 10 hooks, 1 hit"), &samples, all, ten).at_most(2.0),
        Row::ratio("G6.unseen", work("a tool name never seen, against a scan"), &samples, unseen, linear)
            .note("no goal: names are chosen by models, so the plan of a name is made once, and is bounded"),
    ]);
    Ok(())
}
