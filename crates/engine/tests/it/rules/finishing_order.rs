//! An outcome never depends on who finished first.

use std::sync::Arc;
use std::time::Duration;

use crosier::payload::PreToolUse;
use crosier::{Engine, Failure, FailureKind, Hook, Mode, OnError, Outcome, Reply};
use proptest::prelude::*;

use super::kit::{json, tool};

#[derive(Debug, Clone)]
struct Part {
    parallel: bool,
    says: u8,
    on_error: OnError,
}

fn part() -> impl Strategy<Value = Part> {
    let on_error = prop_oneof![Just(OnError::Log), Just(OnError::Abort)];
    (prop::bool::weighted(0.8), 0..8_u8, on_error).prop_map(|(parallel, says, on_error)| Part {
        parallel,
        says,
        on_error,
    })
}

fn answer(n: usize, says: u8) -> crosier::Answer {
    let text = format!("r{n}");
    match says {
        0 => Reply::allow(text).into(),
        1 => Reply::ask(text).into(),
        2 => Reply::deny(text).into(),
        3 => Reply::halt(text).into(),
        4 => Reply::none().rewrite_input(json("{}")).into(),
        5 => Failure::new(FailureKind::Error, text).into(),
        _ => Reply::none().context(text).log("info", format!("n{n}")).into(),
    }
}

/// Fires with these delays, in milliseconds of a clock that never waits.
fn fire(parts: &[Part], delays: &[u64]) -> Outcome {
    let hooks = parts.iter().enumerate().map(|(n, part)| {
        let (answer, delay) = (answer(n, part.says), Duration::from_millis(delays[n]));
        let mode = if part.parallel { Mode::Parallel } else { Mode::Sequential };
        Hook::on(PreToolUse).named(format!("h{n}")).mode(mode).on_error(part.on_error).async_callback(
            move |_: Arc<PreToolUse>| {
                let answer = answer.clone();
                async move {
                    tokio::time::sleep(delay).await;
                    answer
                }
            },
        )
    });
    let engine = Engine::builder().hooks(hooks).build().unwrap();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(engine.fire(tool("Bash")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn folding_is_independent_of_the_finishing_order(
        parts in proptest::collection::vec(part(), 1..14),
        delays in proptest::collection::vec(0..20_000_u64, 14),
        others in proptest::collection::vec(0..20_000_u64, 14),
    ) {
        let at_once = vec![0; parts.len()];
        let outcome = fire(&parts, &at_once);
        prop_assert_eq!(&fire(&parts, &delays), &outcome);
        prop_assert_eq!(&fire(&parts, &others), &outcome);
    }
}
