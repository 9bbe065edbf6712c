//! Work is always done, never waits for a busy thread, and idle threads end.

use std::sync::mpsc;
use std::thread::ThreadId;

use super::*;
use crate::run::executor::block_on;

const LONG: Duration = Duration::from_secs(600);
/// How long to wait for what must happen.
const LIMIT: Duration = Duration::from_secs(60);

fn cache(idle_timeout: Duration) -> ThreadCache {
    ThreadCache { idle: Arc::default(), idle_timeout }
}

fn until(done: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !done() && begun.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(1));
    }
    done()
}

fn idle(cache: &ThreadCache) -> usize {
    lock(&cache.idle).threads.len()
}

/// How many threads exist: each holds a reference to the list of idle threads.
fn threads(cache: &ThreadCache) -> usize {
    Arc::strong_count(&cache.idle) - 1
}

fn runner(cache: &ThreadCache) -> ThreadId {
    block_on(cache.run(|| std::thread::current().id()).unwrap())
}

/// Starts work that lasts until the sender is dropped, and waits until all of it has begun.
fn busy(cache: &ThreadCache, count: usize) -> (Vec<mpsc::SyncSender<()>>, Vec<Pending<ThreadId>>) {
    let (begun, begins) = mpsc::sync_channel(count);
    let all = (0..count).map(|_| {
        let (go, gone) = mpsc::sync_channel::<()>(0);
        let begun = begun.clone();
        let work = move || {
            begun.send(()).unwrap();
            let _ = gone.recv();
            std::thread::current().id()
        };
        (go, cache.run(work).unwrap())
    });
    let all = all.collect();
    for _ in 0..count {
        begins.recv_timeout(LIMIT).expect("work waits for a thread that is busy");
    }
    all
}

#[test]
fn a_thread_that_is_idle_is_used_again() {
    let cache = cache(LONG);
    let first = runner(&cache);
    for _ in 0..100 {
        assert!(until(|| idle(&cache) == 1));
        assert_eq!(runner(&cache), first);
    }
}

#[test]
fn work_never_waits_for_a_thread_that_is_busy() {
    let cache = cache(LONG);
    runner(&cache);
    let (hold, stuck) = busy(&cache, 30);
    for _ in 0..10 {
        runner(&cache);
    }
    drop(hold);
    let mut ids: Vec<_> = stuck.into_iter().map(block_on).collect();
    ids.sort_by_key(|id| format!("{id:?}"));
    ids.dedup();
    assert_eq!(ids.len(), 30);
    // Only a few are kept.
    assert!(until(|| threads(&cache) <= MAX_IDLE), "{} threads", threads(&cache));
}

#[test]
fn an_idle_thread_ends_when_no_work_comes() {
    let cache = cache(Duration::from_millis(20));
    for _ in 0..3 {
        let (hold, stuck) = busy(&cache, 3);
        drop(hold);
        stuck.into_iter().map(block_on).for_each(|_| {});
        assert!(until(|| threads(&cache) == 0), "{} threads", threads(&cache));
        assert_eq!(idle(&cache), 0);
    }
}

#[test]
fn the_pipes_are_closed_with_the_last_thread() {
    let cache = cache(Duration::from_millis(1));
    cache.recycle(cache.cancel_pipe().unwrap());
    runner(&cache);
    assert!(until(|| lock(&cache.idle).pipes.is_empty()));
}

#[test]
fn work_that_comes_while_the_thread_ends_is_done() {
    for idle_timeout in [Duration::ZERO, Duration::from_micros(50), Duration::from_micros(200)] {
        let cache = cache(idle_timeout);
        for _ in 0..500 {
            let pending = cache.run(|| 7).unwrap();
            assert_eq!(pending.wait_until(Instant::now() + LIMIT), Some(7));
        }
        assert!(until(|| threads(&cache) == 0), "{} threads", threads(&cache));
    }
}

#[test]
fn many_at_once_get_their_own_answers() {
    let cache = cache(Duration::from_micros(100));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let cache = &cache;
            scope.spawn(move || {
                for turn in 0..200 {
                    assert_eq!(block_on(cache.run(move || (number, turn)).unwrap()), (number, turn));
                }
            });
        }
    });
    assert!(until(|| threads(&cache) == 0), "{} threads", threads(&cache));
}

#[test]
fn a_closed_cache_keeps_no_thread_and_still_works() {
    let cache = cache(LONG);
    let (hold, stuck) = busy(&cache, 4);
    runner(&cache);
    assert!(until(|| idle(&cache) == 1));
    cache.recycle(cache.cancel_pipe().unwrap());
    cache.close();
    assert!(until(|| threads(&cache) == 4), "{} threads", threads(&cache));
    drop(hold);
    stuck.into_iter().map(block_on).for_each(|_| {});
    runner(&cache);
    cache.recycle(cache.cancel_pipe().unwrap());
    assert!(until(|| threads(&cache) == 0), "{} threads", threads(&cache));
    assert!(lock(&cache.idle).pipes.is_empty());
}

#[test]
fn a_cache_that_is_dropped_ends_its_threads() {
    let cache = cache(LONG);
    runner(&cache);
    assert!(until(|| idle(&cache) == 1));
    let left = Arc::downgrade(&cache.idle);
    drop(cache);
    assert!(until(|| left.strong_count() == 0), "a thread stays");
}

#[test]
fn a_pipe_that_was_closed_is_never_used_again() {
    use std::os::fd::AsFd;
    let cache = cache(LONG);
    for _ in 0..50 {
        let CancelPipe { fire_end, run_end } = cache.cancel_pipe().unwrap();
        assert!(!os::is_ready(run_end.as_fd()), "it was closed before");
        cache.recycle(CancelPipe { fire_end, run_end });
        let CancelPipe { fire_end, run_end } = cache.cancel_pipe().unwrap();
        drop(fire_end);
        assert!(os::is_ready(run_end.as_fd()));
    }
    let pipes: Vec<CancelPipe> = (0..3 * MAX_IDLE).map(|_| cache.cancel_pipe().unwrap()).collect();
    pipes.into_iter().for_each(|pipe| cache.recycle(pipe));
    assert_eq!(lock(&cache.idle).pipes.len(), MAX_IDLE);
}
