//! Names: unique in their scope, and the handle by which a hook is switched on and off.

use crosier::payload::{PreToolUse, Stop};
use crosier::{Engine, Hook, Scope, SwitchError};

use super::kit::{engine, quiet, ran, tool, tool_of};

fn unnamed() -> Hook {
    Hook::on(PreToolUse).callback(|_: &PreToolUse| ())
}

fn names(engine: &Engine) -> Vec<String> {
    engine.entries().iter().map(|entry| entry.name.to_string()).collect()
}

#[test]
fn unnamed_hooks_are_counted_from_1_per_event_and_scope() {
    let engine = engine([unnamed(), unnamed(), Hook::on(Stop).callback(|_: &Stop| ())]);
    assert_eq!(&*engine.register(unnamed()).unwrap(), "PreToolUse[3]");
    engine.register_scoped("a", [unnamed(), quiet("own"), unnamed()]).unwrap();
    let all = ["PreToolUse[1]", "PreToolUse[2]", "PreToolUse[3]", "Stop[1]"];
    let scoped = ["a/PreToolUse[1]", "a/own", "a/PreToolUse[2]"];
    assert_eq!(names(&engine), [&all[..], &scoped[..]].concat());
}

#[test]
fn a_number_is_not_used_again_after_a_removal() {
    let engine = engine([unnamed(), unnamed()]);
    engine.unregister("PreToolUse[1]");
    assert_eq!(&*engine.register(unnamed()).unwrap(), "PreToolUse[3]");
}

#[test]
fn a_disabled_hook_is_absent_from_reports_and_keeps_its_place() {
    let engine = engine([quiet("a"), quiet("b"), quiet("c")]);
    engine.disable("b").unwrap();
    assert!(!engine.is_enabled("b") && engine.is_enabled("a"));
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["a", "c"]);
    assert_eq!(names(&engine), ["a", "b", "c"]);
    engine.enable("b").unwrap();
    assert!(engine.is_enabled("b"));
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["a", "b", "c"]);
}

#[test]
fn switching_twice_is_the_same_as_once() {
    let engine = engine([quiet("a")]);
    engine.disable("a").unwrap();
    engine.disable("a").unwrap();
    engine.enable("a").unwrap();
    engine.enable("a").unwrap();
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["a"]);
}

#[test]
fn a_hook_can_be_registered_switched_off() {
    let off = Hook::on(PreToolUse).named("off").disabled().callback(|_: &PreToolUse| ());
    let engine = engine([off]);
    assert!(engine.fire_blocking(tool("Bash")).reports.is_empty());
    engine.enable("off").unwrap();
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["off"]);
}

#[test]
fn a_scopes_hook_is_switched_by_its_name_as_shown() {
    let engine = engine([quiet("h")]);
    let _a = engine.enter(Scope::new("a").hook(quiet("h"))).unwrap();
    let _b = engine.enter(Scope::new("b").hook(quiet("h"))).unwrap();
    engine.disable("a/h").unwrap();
    assert_eq!(ran(&engine.fire_blocking(tool_of("a", "Bash"))), ["h"]);
    assert_eq!(ran(&engine.fire_blocking(tool_of("b", "Bash"))), ["h", "b/h"]);
    engine.disable("h").unwrap();
    assert_eq!(ran(&engine.fire_blocking(tool_of("b", "Bash"))), ["b/h"]);
}

#[test]
fn a_system_hook_cannot_be_switched_off() {
    let system = || Hook::on(PreToolUse).named("system").system();
    let engine = engine([system().callback(|_: &PreToolUse| ())]);
    let error = engine.disable("system").unwrap_err();
    assert_eq!(error, SwitchError::System { name: "system".into() });
    assert!(error.to_string().contains("cannot be disabled"));
    assert!(engine.is_enabled("system"));
    engine.enable("system").unwrap();
    let born_off = super::kit::engine([system().disabled().callback(|_: &PreToolUse| ())]);
    assert!(born_off.is_enabled("system"), "nor be registered so");
}

#[test]
fn an_unknown_name_is_an_error_with_the_nearest_one() {
    let engine = engine([quiet("no-rm")]);
    let error = engine.disable("no_rm").unwrap_err();
    assert_eq!(error, SwitchError::Unknown { name: "no_rm".into(), nearest: Some("no-rm".into()) });
    assert!(error.to_string().contains("did you mean `no-rm`?"));
    assert!(!engine.enable("something else").unwrap_err().to_string().contains("did you mean"));
    assert!(!engine.is_enabled("something else"));
    assert!(engine.entry("something else").is_none());
}
