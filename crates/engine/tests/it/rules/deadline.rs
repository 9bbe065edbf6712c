//! Time: an async callback is cancelled at its deadline, a blocking one is left alone and not listened to.

use std::sync::Mutex;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crosier::payload::PreToolUse;
use crosier::{Decision, Engine, FailureKind, Hook, HookBuilder, OnError, Reply, Typed};
use tokio::time::{Instant, sleep};

use super::kit::{Diary, DropNote, PATIENCE, engine, failure, quiet, ran, tool};

fn on(name: &str) -> HookBuilder<Typed<PreToolUse>> {
    Hook::on(PreToolUse).named(name)
}

#[tokio::test(start_paused = true)]
async fn an_async_callback_is_dropped_at_its_deadline() {
    let diary = Diary::default();
    let inside = diary.clone();
    let engine = engine([
        on("late").timeout(Duration::from_secs(5)).async_callback(move |_| {
            let note = DropNote(inside.clone(), "dropped");
            async move {
                let _note = note;
                sleep(Duration::from_secs(6)).await;
                Reply::deny("too late")
            }
        }),
        diary.hook("next"),
    ]);
    let began = Instant::now();
    let outcome = engine.fire(tool("Bash")).await;
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert_eq!(failure(&outcome, "late"), Some(FailureKind::Timeout));
    assert_eq!(outcome.decision, None);
    assert_eq!(diary.lines(), ["dropped", "next"], "it was dropped before the walk went on");
    assert!(outcome.reports[0].failure.as_ref().unwrap().detail.contains("5s"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_at_the_last_moment_counts() {
    let at = |seconds: u64| {
        on("edge").timeout(Duration::from_secs(5)).async_callback(move |_| async move {
            sleep(Duration::from_secs(seconds)).await;
            Reply::deny("in time")
        })
    };
    assert!(engine([at(5)]).fire(tool("Bash")).await.is_denied());
    assert!(engine([at(4)]).fire(tool("Bash")).await.is_denied());
    assert!(!engine([at(6)]).fire(tool("Bash")).await.is_denied());
}

#[tokio::test(start_paused = true)]
async fn a_deadline_denies_when_the_hook_is_closed() {
    let never = on("never").on_error(OnError::Abort).async_callback(|_| std::future::pending::<()>());
    let began = Instant::now();
    let outcome = engine([never, quiet("next")]).fire(tool("Bash")).await;
    assert_eq!(began.elapsed(), Duration::from_secs(30), "the default");
    assert_eq!(outcome.decision, Some(Decision::Deny));
    assert!(outcome.by_failure && outcome.reason.as_deref().unwrap().contains("timeout"));
    assert!(ran(&outcome).is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_engines_limit_holds_for_hooks_that_name_none() {
    let never = |name: &str| on(name).async_callback(|_| std::future::pending::<()>());
    let own = on("own").timeout(Duration::from_secs(3)).async_callback(|_| std::future::pending::<()>());
    let engine =
        Engine::builder().timeout(Duration::from_secs(2)).hooks([never("default"), own]).build().unwrap();
    let began = Instant::now();
    let outcome = engine.fire(tool("Bash")).await;
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert_eq!(outcome.failures().count(), 2);
}

#[test]
fn an_async_callback_is_dropped_at_its_deadline_in_a_blocking_fire_too() {
    let diary = Diary::default();
    let inside = diary.clone();
    let engine = engine([on("late").timeout(Duration::from_millis(20)).async_callback(move |_| {
        let note = DropNote(inside.clone(), "dropped");
        async move {
            let _note = note;
            std::future::pending::<()>().await;
        }
    })]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(failure(&outcome, "late"), Some(FailureKind::Timeout));
    assert_eq!(diary.lines(), ["dropped"]);
}

#[tokio::test]
async fn a_blocking_callbacks_late_answer_is_dropped() {
    let (release, held) = sync_channel::<()>(4);
    let (done, ended) = sync_channel::<()>(4);
    let held = Mutex::new(held);
    let engine = engine([
        on("late").timeout(Duration::from_millis(20)).blocking_callback(move |_: &PreToolUse| {
            let _ = held.lock().unwrap().recv_timeout(PATIENCE);
            let _ = done.send(());
            Reply::deny("too late")
        }),
        quiet("next"),
    ]);
    let blocking = engine.clone();
    let outcomes = [
        engine.fire(tool("Bash")).await,
        tokio::task::spawn_blocking(move || blocking.fire_blocking(tool("Bash"))).await.unwrap(),
    ];
    for outcome in outcomes {
        assert_eq!(failure(&outcome, "late"), Some(FailureKind::Timeout));
        assert_eq!(outcome.decision, None);
        assert_eq!(ran(&outcome), ["next"]);
    }
    // Nothing can stop a thread from outside: it ends by itself, and nobody hears what it says.
    for _ in 0..2 {
        release.send(()).unwrap();
        ended.recv_timeout(PATIENCE).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_fire_drops_the_callback() {
    let diary = Diary::default();
    let inside = diary.clone();
    let engine = engine([on("waits").async_callback(move |_| {
        let note = DropNote(inside.clone(), "dropped");
        async move {
            let _note = note;
            std::future::pending::<()>().await;
        }
    })]);
    let fired = tokio::time::timeout(Duration::from_secs(1), engine.fire(tool("Bash"))).await;
    assert!(fired.is_err());
    assert_eq!(diary.lines(), ["dropped"]);
    engine.unregister("waits");
    assert!(engine.fire(tool("Bash")).await.reports.is_empty(), "the engine goes on");
}

#[test]
fn a_limit_that_no_clock_can_hold_is_no_limit() {
    let kinds = [
        on("async").timeout(Duration::MAX).async_callback(|_| async {
            sleep(Duration::from_millis(1)).await;
        }),
        on("blocking").timeout(Duration::MAX).blocking_callback(|_: &PreToolUse| ()),
    ];
    let outcome = engine(kinds).fire_blocking(tool("Bash"));
    assert_eq!(ran(&outcome), ["async", "blocking"]);
}

/// A fire that is stopped tells what was decided so far; what had not run is skipped, and nobody observes it.
#[tokio::test(start_paused = true)]
async fn a_host_stops_a_fire_and_learns_what_was_decided() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let observed = std::sync::Arc::new(AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&observed);
    let engine = crosier::Engine::builder()
        .hook(Hook::on(PreToolUse).named("asks").callback(|_: &PreToolUse| Reply::ask("really?")))
        .hook(Hook::on(PreToolUse).named("slow").async_callback(|_: std::sync::Arc<PreToolUse>| async {
            tokio::time::sleep(Duration::from_secs(20)).await;
        }))
        .hook(Hook::on(PreToolUse).named("watches").mode(crosier::Mode::Observe).callback(
            move |_: &PreToolUse| {
                seen.store(true, Ordering::Relaxed);
            },
        ))
        .build()
        .unwrap();
    let stop = tokio::time::sleep(Duration::from_secs(1));
    let (outcome, is_whole) = engine.fire_until(tool("Bash"), stop).await;
    assert!(!is_whole && !observed.load(Ordering::Relaxed));
    assert_eq!(outcome.decision, Some(crosier::Decision::Ask));
    let statuses: Vec<_> = outcome.reports.iter().map(|report| report.status).collect();
    assert_eq!(statuses, [crosier::Status::Ok, crosier::Status::Skipped]);
    let (outcome, is_whole) = engine.fire_until(tool("Bash"), std::future::pending()).await;
    assert!(is_whole && observed.load(Ordering::Relaxed));
    assert_eq!(outcome.reports.len(), 3);
    let (outcome, is_whole) = engine.recheck_until(tool("Bash"), std::future::ready(())).await;
    assert!(is_whole && outcome.reports.is_empty(), "there is no guard");
}

/// A denial that was given before the fire was stopped counts, also when other hooks of its stage have not answered,
/// and when its own hook hangs after writing it. Nothing else of a hook that was stopped does.
#[tokio::test]
async fn a_denial_is_not_lost_when_the_fire_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    let mark = format!("; : > {}; sleep 60", ready.display());
    let deny = r#"printf '{"decision":"deny","reason":"no"}'"#;
    let sh = |line: &str| {
        crosier::CommandSpec::shell(format!("true {line}").replace("true printf", "printf"), "/")
    };
    let parallel = |hook: HookBuilder<Typed<PreToolUse>>| hook.mode(crosier::Mode::Parallel);
    let cases: [(&str, Vec<Hook>, Option<Decision>); 4] = [
        (
            "answered, beside one that hangs",
            vec![
                parallel(on("denies")).callback(|_: &PreToolUse| Reply::deny("no")),
                parallel(on("hangs")).command(sh(&mark)),
            ],
            Some(Decision::Deny),
        ),
        (
            "written, by one that hangs",
            vec![on("hangs").command(sh(&format!("{deny}{mark}")))],
            Some(Decision::Deny),
        ),
        (
            "written, by one that hangs beside another",
            vec![
                parallel(on("hangs")).command(sh(&format!("{deny}{mark}"))),
                parallel(on("waits")).command(sh("; sleep 60")),
            ],
            Some(Decision::Deny),
        ),
        (
            "an allow, written by one that hangs",
            vec![
                on("hangs")
                    .on_error(OnError::Abort)
                    .command(sh(&format!(r#"printf '{{"decision":"allow"}}'{mark}"#))),
            ],
            None,
        ),
    ];
    for (name, hooks, decision) in cases {
        let _ = std::fs::remove_file(&ready);
        let engine = engine(hooks);
        let stop = async {
            while !ready.exists() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let began = Instant::now();
        let (outcome, is_whole) = engine.fire_until(tool("Bash"), stop).await;
        assert!(!is_whole && began.elapsed() < PATIENCE, "{name}");
        assert_eq!(outcome.decision, decision, "{name}: {outcome:?}");
        assert_eq!(engine.running_processes(), 0, "{name}");
    }
}
