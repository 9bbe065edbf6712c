//! Functions that do not come back: their worker dies with its group, in time, and the next call has a new
//! one.

use super::desk::Desk;
use super::lab::{Lab, Way, each_way, ms, one_way};
use super::vitals::{survivors, until};
use crosier::FailureKind;

/// This function hangs; its whole group is gone afterwards, and the next call finds a new worker.
#[track_caller]
fn expect_killed(lab: &Lab, desk: &Desk<'_>, function: &str) {
    let before = desk.pid();
    desk.hang(function);
    lab.expect_no_survivor();
    assert_ne!(desk.pid(), before);
}

#[test]
fn a_function_that_sleeps_is_killed() {
    each_way(|lab| {
        let desk = lab.desk("def sleeps(event):\n    ready()\n    time.sleep(60)");
        expect_killed(lab, &desk, "sleeps");
    });
}

#[test]
fn a_function_that_computes_for_ever_is_killed() {
    each_way(|lab| {
        let desk = lab.desk("def computes(event):\n    ready()\n    while True: pass");
        expect_killed(lab, &desk, "computes");
    });
}

#[test]
fn a_coroutine_that_waits_for_ever_is_killed() {
    each_way(|lab| {
        let code = "import asyncio
async def wait(event):
    ready()
    await asyncio.sleep(60)
def waits(event): return wait(event)";
        let desk = lab.desk(code);
        expect_killed(lab, &desk, "waits");
    });
}

#[test]
fn a_function_that_ignores_sigterm_is_killed() {
    each_way(|lab| {
        let desk = lab.desk(
            "def stubborn(event):\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    ready()\n    time.sleep(60)",
        );
        expect_killed(lab, &desk, "stubborn");
    });
}

#[test]
fn a_function_that_catches_everything_is_killed() {
    each_way(|lab| {
        let desk = lab.desk(
            "def catches(event):
    def again(*_): raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, again)
    ready()
    while True:
        try: time.sleep(60)
        except BaseException: pass",
        );
        expect_killed(lab, &desk, "catches");
    });
}

#[test]
fn a_worker_that_stops_itself_is_killed() {
    each_way(|lab| {
        let desk = lab.desk("def stops(event):\n    ready()\n    os.kill(os.getpid(), signal.SIGSTOP)");
        expect_killed(lab, &desk, "stops");
    });
}

#[test]
fn a_worker_that_left_its_group_is_killed() {
    each_way(|lab| {
        let desk = lab.desk(
            "def leaves(event):
    os.setpgid(0, os.getpgid(os.getppid()))
    ready()
    time.sleep(60)",
        );
        expect_killed(lab, &desk, "leaves");
    });
}

#[test]
fn grandchildren_are_killed_with_the_worker() {
    each_way(|lab| {
        let desk = lab.desk(
            "def family(event):
    subprocess.Popen(['sh', '-c', \"trap '' TERM; sleep 60 & sleep 60\"])
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True: time.sleep(60)
    ready()
    time.sleep(60)",
        );
        expect_killed(lab, &desk, "family");
    });
}

#[test]
fn threads_and_held_locks_do_not_delay_the_end() {
    each_way(|lab| {
        let desk = lab.desk(
            "lock = threading.Lock()
def locks(event):
    for _ in range(4): threading.Thread(target=time.sleep, args=[60]).start()
    lock.acquire()
    ready()
    lock.acquire()",
        );
        expect_killed(lab, &desk, "locks");
    });
}

#[test]
fn a_function_that_floods_its_output_is_killed() {
    each_way(|lab| {
        let desk = lab.desk("def floods(event):\n    ready()\n    while True: print('x' * 100000)");
        expect_killed(lab, &desk, "floods");
    });
}

#[test]
fn a_large_event_that_nobody_reads_is_part_of_the_deadline() {
    each_way(|lab| {
        // The worker is stopped when the event comes, so that 1 MiB is never read.
        let desk = lab.desk(
            "def pause(event):
    subprocess.Popen(['sh', '-c', f'sleep 0.1; kill -STOP {os.getpid()}; : > stopped'])",
        );
        let engine = &desk.engine;
        desk.pid();
        desk.fire("pause").no_opinion();
        lab.wait_for("stopped");
        let hook = crosier::Hook::on(crosier::payload::UserPromptSubmit).named("late").timeout(ms(250));
        engine.register(hook.python(lab.spec("guard.check"))).unwrap();
        let event = crosier::payload::UserPromptSubmit::new("x".repeat(1 << 20));
        let trial = desk.fire_event(event);
        assert_eq!(trial.report().failure.as_ref().unwrap().kind, FailureKind::Timeout, "{trial:?}");
        assert!(trial.took < ms(250 + 100 + 1000), "{trial:?}");
        assert!(until(|| survivors(lab.folder()).is_empty()));
    });
}

#[test]
fn an_import_that_takes_for_ever_is_killed_and_said_to_be_an_import() {
    each_way(|lab| {
        lab.write(
            "slow.py",
            "import time\nopen('ready', 'w').close()\ntime.sleep(60)\ndef check(event): pass",
        );
        let hook = crosier::Hook::on(crosier::payload::PreToolUse).named("guard").timeout(ms(2000));
        let engine = lab.engine([hook.python(lab.spec("slow.check"))]);
        let begun = std::time::Instant::now();
        let outcome = lab.fire(&engine, super::lab::tool("Bash"));
        let failure = outcome.reports[0].failure.as_ref().unwrap();
        assert!(begun.elapsed() < ms(2000 + 100 + 1000), "{:?}", begun.elapsed());
        assert_eq!(failure.kind, FailureKind::Timeout, "{failure:?}");
        assert!(failure.detail.contains("'slow' was still being imported"), "{failure:?}");
        assert!(lab.path("ready").exists());
        lab.expect_no_survivor();
    });
}

#[test]
fn a_hook_with_a_context_learns_that_it_is_late_and_may_clean_up() {
    each_way(|lab| {
        lab.write(
            "tidy.py",
            "import time
def check(event, context):
    open('ready', 'w').close()
    while not context.cancelled: time.sleep(0.001)
    open('tidied', 'w').write(f'{context.hook} {context.phase}')",
        );
        let hook = crosier::Hook::on(crosier::payload::PreToolUse).named("tidy").timeout(ms(2000));
        let engine = lab.engine([hook.python(lab.spec("tidy.check"))]);
        let outcome = lab.fire(&engine, super::lab::tool("Bash"));
        assert_eq!(outcome.reports[0].failure.as_ref().unwrap().kind, FailureKind::Timeout, "{outcome:?}");
        assert_eq!(lab.read("tidied"), "tidy 1");
    });
}

#[test]
fn late_calls_one_after_the_other_do_not_wear_the_pool_out() {
    one_way(Way::Blocking, |lab| {
        let desk = lab.desk("def sleeps(event):\n    ready()\n    time.sleep(60)");
        // More than there are places.
        for _ in 0..10 {
            desk.hang("sleeps");
        }
        assert!(desk.pid() > 0);
    });
}
