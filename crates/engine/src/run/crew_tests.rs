//! No thread is lost, none is waited for, none stays.

use std::sync::mpsc;
use std::thread::ThreadId;

use super::*;
use crate::run::executor::block_on;

const LONG: Duration = Duration::from_secs(600);
/// How long what must happen may take.
const LIMIT: Duration = Duration::from_secs(60);

fn crew(patience: Duration) -> Crew {
    Crew { idle: Arc::default(), patience }
}

fn until(done: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !done() && begun.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(1));
    }
    done()
}

fn idle(crew: &Crew) -> usize {
    lock(&crew.idle).seats.len()
}

/// Threads that exist: each holds on to what is idle.
fn threads(crew: &Crew) -> usize {
    Arc::strong_count(&crew.idle) - 1
}

fn runner(crew: &Crew) -> ThreadId {
    block_on(crew.hand(|| std::thread::current().id()).unwrap())
}

/// Hands out work that lasts until the sender is dropped, and waits until all of it has begun.
fn busy(crew: &Crew, count: usize) -> (Vec<mpsc::SyncSender<()>>, Vec<Pending<ThreadId>>) {
    let (begun, begins) = mpsc::sync_channel(count);
    let all = (0..count).map(|_| {
        let (go, gone) = mpsc::sync_channel::<()>(0);
        let begun = begun.clone();
        let work = move || {
            begun.send(()).unwrap();
            let _ = gone.recv();
            std::thread::current().id()
        };
        (go, crew.hand(work).unwrap())
    });
    let all = all.collect();
    for _ in 0..count {
        begins.recv_timeout(LIMIT).expect("work waits for a thread that is busy");
    }
    all
}

#[test]
fn a_thread_that_is_idle_is_used_again() {
    let crew = crew(LONG);
    let first = runner(&crew);
    for _ in 0..100 {
        assert!(until(|| idle(&crew) == 1));
        assert_eq!(runner(&crew), first);
    }
}

#[test]
fn work_never_waits_for_a_thread_that_is_busy() {
    let crew = crew(LONG);
    runner(&crew);
    let (hold, stuck) = busy(&crew, 30);
    for _ in 0..10 {
        runner(&crew);
    }
    drop(hold);
    let mut ids: Vec<_> = stuck.into_iter().map(block_on).collect();
    ids.sort_by_key(|id| format!("{id:?}"));
    ids.dedup();
    assert_eq!(ids.len(), 30);
    // Of a crowd only a few stay.
    assert!(until(|| threads(&crew) <= MAX_IDLE), "{} threads", threads(&crew));
}

#[test]
fn a_thread_goes_when_no_work_comes() {
    let crew = crew(Duration::from_millis(20));
    for _ in 0..3 {
        let (hold, stuck) = busy(&crew, 3);
        drop(hold);
        stuck.into_iter().map(block_on).for_each(|_| {});
        assert!(until(|| threads(&crew) == 0), "{} threads", threads(&crew));
        assert_eq!(idle(&crew), 0);
    }
}

#[test]
fn the_ropes_go_with_the_last_thread() {
    let crew = crew(Duration::from_millis(1));
    crew.keep(crew.rope().unwrap());
    runner(&crew);
    assert!(until(|| lock(&crew.idle).ropes.is_empty()));
}

#[test]
fn work_that_comes_at_the_moment_of_going_is_done() {
    for patience in [Duration::ZERO, Duration::from_micros(50), Duration::from_micros(200)] {
        let crew = crew(patience);
        for _ in 0..500 {
            let pending = crew.hand(|| 7).unwrap();
            assert_eq!(pending.wait_until(Instant::now() + LIMIT), Some(7));
        }
        assert!(until(|| threads(&crew) == 0), "{} threads", threads(&crew));
    }
}

#[test]
fn many_at_once_get_their_own_answers() {
    let crew = crew(Duration::from_micros(100));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let crew = &crew;
            scope.spawn(move || {
                for turn in 0..200 {
                    assert_eq!(block_on(crew.hand(move || (number, turn)).unwrap()), (number, turn));
                }
            });
        }
    });
    assert!(until(|| threads(&crew) == 0), "{} threads", threads(&crew));
}

#[test]
fn a_crew_that_is_dismissed_keeps_nobody_and_still_works() {
    let crew = crew(LONG);
    let (hold, stuck) = busy(&crew, 4);
    runner(&crew);
    assert!(until(|| idle(&crew) == 1));
    crew.keep(crew.rope().unwrap());
    crew.dismiss();
    assert!(until(|| threads(&crew) == 4), "{} threads", threads(&crew));
    drop(hold);
    stuck.into_iter().map(block_on).for_each(|_| {});
    runner(&crew);
    crew.keep(crew.rope().unwrap());
    assert!(until(|| threads(&crew) == 0), "{} threads", threads(&crew));
    assert!(lock(&crew.idle).ropes.is_empty());
}

#[test]
fn a_crew_that_is_dropped_ends_its_threads() {
    let crew = crew(LONG);
    runner(&crew);
    assert!(until(|| idle(&crew) == 1));
    let left = Arc::downgrade(&crew.idle);
    drop(crew);
    assert!(until(|| left.strong_count() == 0), "a thread stays");
}

#[test]
fn a_rope_comes_back_whole_or_not_at_all() {
    use std::os::fd::AsFd;
    let crew = crew(LONG);
    for _ in 0..50 {
        let Rope { held, watched } = crew.rope().unwrap();
        assert!(!os::is_ready(watched.as_fd()), "it was pulled before");
        crew.keep(Rope { held, watched });
        let Rope { held, watched } = crew.rope().unwrap();
        drop(held);
        assert!(os::is_ready(watched.as_fd()));
    }
    let ropes: Vec<Rope> = (0..3 * MAX_IDLE).map(|_| crew.rope().unwrap()).collect();
    ropes.into_iter().for_each(|rope| crew.keep(rope));
    assert_eq!(lock(&crew.idle).ropes.len(), MAX_IDLE);
}
