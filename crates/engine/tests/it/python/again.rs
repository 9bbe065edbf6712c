//! One worker, many calls: nothing grows.

use std::time::Instant;

use super::lab::{Way, each_way, one_way, tool};
use super::vitals::{Vitals, descriptors_of, resident_bytes_of};

/// 20,000 calls in every run; `CROSIER_LONG=1 cargo test -p crosier --test it python::again` makes 100,000 of
/// them.
#[expect(clippy::disallowed_methods, reason = "a test is told by a variable to take longer")]
fn calls() -> usize {
    if std::env::var_os("CROSIER_LONG").is_some() { 100_000 } else { 20_000 }
}

const KINDS: &str = "
import asyncio, functools
async def awaits(event):
    await asyncio.sleep(0)
    return {'decision': 'deny', 'reason': 'x' * 100}
def coroutine(event): return awaits(event)
def raises(event): raise ValueError(event.session_id)
def prints(event): print('a line')
def unserialisable(event): return {'systemMessage': object()}
";

#[test]
fn one_worker_serves_many_calls_and_nothing_grows() {
    one_way(Way::Blocking, |lab| {
        let desk = lab.desk(KINDS);
        let worker = desk.pid();
        // As many of each kind as it takes for memory to settle.
        let kinds = ["pid", "coroutine", "raises", "prints", "unserialisable", "pid", "pid", "pid"];
        let fire = |calls: usize| {
            for n in 0..calls {
                lab.fire(&desk.engine, tool(kinds[n % kinds.len()]));
            }
        };
        fire(4000);
        let before = (Vitals::now(), descriptors_of(worker), resident_bytes_of(worker));
        let own = resident_bytes_of(i32::try_from(std::process::id()).unwrap());
        let begun = Instant::now();
        fire(calls());
        let took = begun.elapsed();
        assert_eq!(desk.pid(), worker, "the worker was replaced");
        before.0.expect_again();
        assert_eq!(descriptors_of(worker), before.1);
        let grown = |now: Option<u64>, then: Option<u64>| now.unwrap_or(0).saturating_sub(then.unwrap_or(0));
        let of_worker = grown(resident_bytes_of(worker), before.2);
        let of_engine = grown(resident_bytes_of(i32::try_from(std::process::id()).unwrap()), own);
        println!(
            "{} calls in {took:?}; the worker grew by {of_worker} bytes, the engine by {of_engine}",
            calls()
        );
        assert!(of_worker < 1 << 20, "the worker grew by {of_worker} bytes");
        assert!(of_engine < 1 << 20, "the engine grew by {of_engine} bytes");
    });
}

#[test]
fn many_workers_one_after_the_other_leave_nothing_behind() {
    each_way(|lab| {
        let desk = lab.desk("def dies(event): os._exit(1)");
        desk.pid();
        let before = Vitals::now();
        for _ in 0..30 {
            desk.fire("dies");
        }
        desk.pid();
        before.expect_again();
    });
}
