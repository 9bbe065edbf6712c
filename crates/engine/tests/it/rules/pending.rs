//! Context on its way to the next model call.

use crosier::payload::{PreToolUse, SessionStart};
use crosier::{Hook, PendingContext, Reply};

use super::kit::{engine, says, tool};

#[test]
fn context_of_several_fires_is_put_behind_the_next_prompt_once() {
    let engine = engine([
        says("one", Reply::none().context("a").context("b")),
        says("two", Reply::deny("no").context("c")),
        Hook::on(SessionStart).callback(|_: &SessionStart| Reply::none().context("start\nof it")),
    ]);
    let mut pending = PendingContext::default();
    assert!(pending.is_empty());
    pending.collect(&engine.fire_blocking(SessionStart::default()));
    pending.collect(&engine.fire_blocking(tool("Bash")));
    assert!(!pending.is_empty());
    assert_eq!(pending.apply("Hello"), "Hello\n\nstart\nof it\na\nb\nc");
    assert!(pending.is_empty());
    assert_eq!(pending.apply("Hello"), "Hello");
}

#[test]
fn an_empty_prompt_and_no_context_are_no_special_case() {
    let mut pending = PendingContext::default();
    assert_eq!(pending.apply(""), "");
    let engine = engine([Hook::on(PreToolUse).callback(|_: &PreToolUse| Reply::none().context("x"))]);
    pending.collect(&engine.fire_blocking(tool("Bash")));
    assert_eq!(pending.apply(""), "\n\nx");
}
