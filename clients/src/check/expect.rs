//! Expectations: what a check looks for, and its message when that is missing.

use super::Check;
use crate::run::{Ended, Seen};

/// The maximum number of characters of a text that are quoted.
const QUOTED: usize = 300;

fn quote(text: &str) -> String {
    let mut short: String = text.chars().take(QUOTED).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

fn that(holds: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(fault()) }
}

/// All of these checks.
pub(super) fn all<const N: usize>(checks: [Check; N]) -> Check {
    Box::new(move |seen| checks.iter().try_for_each(|check| check(seen)))
}

/// The tool ran: its file exists.
pub(super) fn made(file: &'static str) -> Check {
    Box::new(move |seen| that(seen.exists(file), || format!("`{file}` was not made: the tool did not run")))
}

/// The tool did not run: its file does not exist.
pub(super) fn not_made(file: &'static str) -> Check {
    Box::new(move |seen| {
        that(seen.of("main").count() > 0, || format!("the model was never asked; {}", end(seen)))?;
        that(!seen.exists(file), || format!("`{file}` was made: the tool ran"))
    })
}

/// A file of the project contains a text.
pub(super) fn file_has(file: &'static str, text: &'static str) -> Check {
    Box::new(move |seen| {
        let found = seen.file(file);
        that(found.contains(text), || format!("`{file}` has no {text:?} but {}", quote(&found)))
    })
}

/// A file of the project does not contain a text.
pub(super) fn file_lacks(file: &'static str, text: &'static str) -> Check {
    Box::new(move |seen| {
        let found = seen.file(file);
        that(!found.contains(text), || format!("`{file}` has {text:?}: {}", quote(&found)))
    })
}

/// One event that a hook of the policy logged contains all these texts.
pub(super) fn logged(texts: &'static [&'static str]) -> Check {
    Box::new(move |seen| {
        let events = std::fs::read_to_string(seen.policy.join("events")).unwrap_or_default();
        let found = events.lines().any(|event| texts.iter().all(|text| event.contains(text)));
        that(found, || format!("no event that the hooks got has {texts:?}: {}", quote(&events)))
    })
}

/// The model got a result for this call that contains this text.
pub(super) fn result_has(call: &'static str, text: &'static str) -> Check {
    Box::new(move |seen| match seen.result(call) {
        Some(result) => {
            that(result.contains(text), || format!("the result of `{call}` is {}", quote(result)))
        }
        None => Err(format!("the model got no result for `{call}`; {}", end(seen))),
    })
}

/// The model got a result for this call that does not contain this text.
pub(super) fn result_lacks(call: &'static str, text: &'static str) -> Check {
    Box::new(move |seen| match seen.result(call) {
        Some(result) => {
            that(!result.contains(text), || format!("the result of `{call}` is {}", quote(result)))
        }
        None => Err(format!("the model got no result for `{call}`; {}", end(seen))),
    })
}

/// The model got this text, anywhere in a request.
pub(super) fn told(text: &'static str) -> Check {
    Box::new(move |seen| {
        that(seen.was_told(text), || format!("the model was never told {text:?}; {}", end(seen)))
    })
}

/// The model never got this text.
pub(super) fn never_told(text: &'static str) -> Check {
    Box::new(move |seen| that(!seen.was_told(text), || format!("the model was told {text:?}")))
}

/// The last request contains this text exactly `times` times.
pub(super) fn told_times(text: &'static str, times: usize) -> Check {
    Box::new(move |seen| {
        let found = seen.times(text);
        that(found == times, || format!("the model was told {text:?} {found} times in the last request"))
    })
}

/// The main conversation had between `least` and `most` requests.
pub(super) fn requests(least: usize, most: usize) -> Check {
    Box::new(move |seen| {
        let found = seen.of("main").count();
        that((least..=most).contains(&found), || format!("the model was asked {found} times; {}", end(seen)))
    })
}

/// This was printed.
pub(super) fn printed(text: &'static str) -> Check {
    Box::new(move |seen| {
        that(seen.printed(text), || {
            format!("{text:?} was not printed; stderr ends with {}", tail(&seen.stderr))
        })
    })
}

/// This was printed `times` times.
pub(super) fn printed_times(text: &'static str, times: usize) -> Check {
    Box::new(move |seen| {
        let found = seen.stdout.matches(text).count() + seen.stderr.matches(text).count();
        that(found == times, || format!("{text:?} was printed {found} times"))
    })
}

/// This was not printed.
pub(super) fn never_printed(text: &'static str) -> Check {
    Box::new(move |seen| that(!seen.printed(text), || format!("{text:?} was printed")))
}

/// The agent ended by itself, in time, without an endless loop.
pub(super) fn ended() -> Check {
    Box::new(|seen| that(matches!(seen.ended, Ended::Exit(_)) && !seen.over_limit, || end(seen)))
}

/// The agent ended by itself with this status.
pub(super) fn ended_with(status: i32) -> Check {
    Box::new(move |seen| that(seen.ended == Ended::Exit(status), || end(seen)))
}

/// The agent took no longer than this.
pub(super) fn within(seconds: f64) -> Check {
    Box::new(move |seen| that(seen.seconds <= seconds, || format!("it took {:.1} s", seen.seconds)))
}

fn end(seen: &Seen) -> String {
    let loops = if seen.over_limit { ", after more requests than the run may make" } else { "" };
    format!("the agent ended with {:?}{loops}; stderr ends with {}", seen.ended, tail(&seen.stderr))
}

fn tail(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(QUOTED);
    quote(&text.chars().skip(skip).collect::<String>())
}
