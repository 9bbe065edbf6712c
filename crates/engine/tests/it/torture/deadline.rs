//! Hooks that do not end: the deadline holds whatever they do, and takes their whole group with it.

use std::time::Duration;

use crosier::{Decision, Failure, FailureKind};

use super::lab::{Way, each_way, late, ms, one_way};
use super::vitals::{processor_time, until};

#[test]
fn a_hook_that_sleeps_for_ever_is_killed_at_its_deadline() {
    each_way(|lab| lab.shell("sleep 60").timeout(ms(150)).fire().timed_out());
}

#[test]
fn a_hook_that_ignores_sigterm_is_killed_after_its_grace() {
    each_way(|lab| {
        let trial = lab.shell("trap '' TERM; : > ready; while :; do sleep 60; done").grace(ms(150)).hang();
        trial.timed_out();
        assert!(trial.took >= trial.timeout + ms(150), "it had no grace: {:?}", trial.took);
    });
}

#[test]
fn a_hook_that_cleans_up_in_its_grace_is_let_and_not_waited_for_longer() {
    each_way(|lab| {
        let line = "trap 'echo done > cleaned; exit 0' TERM; : > ready; sleep 60 & wait";
        let trial = lab.shell(line).grace(Duration::from_secs(30)).hang();
        trial.timed_out();
        assert_eq!(lab.read("cleaned"), "done\n");
        trial.took_at_most(Duration::from_secs(20));
    });
}

#[test]
fn a_hook_that_stops_itself_is_killed() {
    each_way(|lab| lab.shell(": > ready; kill -STOP $$").hang().timed_out());
}

#[test]
fn a_hook_that_becomes_another_program_is_killed() {
    each_way(|lab| lab.shell(": > ready; exec sleep 60").hang().timed_out());
}

#[test]
fn a_hook_that_waits_for_its_children_is_killed_with_them() {
    each_way(|lab| lab.shell("sleep 60 & sleep 60 & : > ready; sleep 60").hang().timed_out());
}

#[test]
fn a_child_that_ignores_sigterm_is_killed_although_the_leader_obeys() {
    each_way(|lab| {
        let line = "(trap '' TERM; : > ready; while :; do sleep 60; done) & wait";
        lab.shell(line).grace(Duration::from_secs(30)).hang().timed_out();
    });
}

#[test]
fn a_child_that_is_stopped_is_killed() {
    each_way(|lab| lab.shell("sleep 60 & kill -STOP $!; : > ready; wait").hang().timed_out());
}

#[test]
fn a_hundred_children_that_ignore_sigterm_are_killed() {
    each_way(|lab| {
        let program = r#"$SIG{TERM} = "IGNORE";
            for (1..100) { if (!fork) { sleep 60; exit } }
            open(my $ready, ">", "ready"); sleep 60"#;
        lab.perl(program).hang().timed_out();
    });
}

#[test]
fn a_child_that_forks_away_for_ever_is_killed() {
    each_way(|lab| {
        // Each process of the chain lives only until it has made the next one.
        let program = r#"$SIG{TERM} = "IGNORE";
            if (!fork) { open(my $ready, ">", "ready"); close $ready; for (1..100_000) { exit if fork } exit }
            sleep 60 while 1"#;
        lab.perl(program).hang().timed_out();
    });
}

#[test]
fn a_hook_that_moves_into_the_group_of_the_host_is_killed_and_the_host_is_not() {
    each_way(|lab| {
        let program = r#"setpgrp(0, getpgrp(getppid)) or die;
            open(my $ready, ">", "ready"); sleep 60 while 1"#;
        lab.perl(program).hang().timed_out();
    });
}

#[test]
fn a_daemon_that_left_the_group_does_not_delay_the_deadline() {
    each_way(|lab| {
        // It holds stdout and stderr open, in a session of its own.
        lab.shell("setsid sleep 60 & : > ready; sleep 60").hang().was_late();
        lab.end_survivors(1);
    });
}

#[test]
fn a_hook_that_closes_its_pipes_and_sleeps_is_killed_and_costs_nothing() {
    each_way(|lab| {
        let before = processor_time();
        let trial = lab.shell("exec <&- >&- 2>&-; : > ready; sleep 60").hang();
        let after = processor_time();
        trial.timed_out();
        if let (Some(before), Some(after)) = (before, after) {
            assert!(after - before < trial.timeout / 2, "the engine was busy for {:?}", after - before);
        }
    });
}

#[test]
fn a_hook_that_closes_only_its_stdout_and_sleeps_is_killed() {
    each_way(|lab| {
        // What it said stands, but nothing except its exit or its deadline ends a hook.
        let trial = lab.shell("cat deny; exec >&-; : > ready; sleep 60").hang();
        trial.decided_anyway(Decision::Deny, "no");
        assert_eq!(
            trial.report().failure,
            Some(Failure::new(FailureKind::Timeout, late(trial.timeout)).into())
        );
        lab.expect_no_survivor();
    });
}

#[test]
fn a_flood_without_end_is_killed() {
    each_way(|lab| lab.shell(": > ready; exec yes").hang().timed_out());
}

#[test]
fn a_deny_before_the_deadline_is_honoured_and_the_failure_stays() {
    each_way(|lab| {
        let trial = lab.shell("cat deny; : > ready; sleep 60").hang();
        trial.decided_anyway(Decision::Deny, "no");
        let failure = Failure::new(FailureKind::Timeout, late(trial.timeout));
        assert_eq!(trial.report().failure, Some(failure.into()));
        lab.expect_no_survivor();
    });
}

#[test]
fn nothing_but_the_deny_of_a_late_hook_is_honoured() {
    each_way(|lab| {
        let reply = r#"{"decision":"deny","reason":"no","systemMessage":"hello","continue":false}"#;
        lab.write("reply", reply);
        let trial = lab.shell("cat reply; : > ready; sleep 60").hang();
        trial.decided_anyway(Decision::Deny, "no");
        assert!(trial.outcome.context.is_empty() && trial.outcome.halt.is_none(), "{:?}", trial.outcome);
    });
}

#[test]
fn an_allow_before_the_deadline_is_not_honoured() {
    each_way(|lab| lab.shell("cat allow; : > ready; sleep 60").hang().timed_out());
}

#[test]
fn half_a_deny_before_the_deadline_is_not_honoured() {
    each_way(|lab| lab.shell("head -c 20 deny; : > ready; sleep 60").hang().timed_out());
}

#[test]
fn a_deny_after_the_deadline_is_too_late() {
    each_way(|lab| {
        let line = "trap 'cat deny; exit 0' TERM; : > ready; sleep 60 & wait";
        lab.shell(line).grace(Duration::from_secs(30)).hang().timed_out();
    });
}

#[test]
fn an_exit_code_after_the_deadline_is_too_late() {
    each_way(|lab| {
        let line = "trap 'echo no >&2; exit 2' TERM; : > ready; sleep 60 & wait";
        lab.shell(line).grace(Duration::from_secs(30)).hang().timed_out();
    });
}

#[test]
fn a_hook_that_kills_its_own_group_hits_nobody_else() {
    each_way(|lab| {
        let trial = lab.shell("sleep 60 & kill -KILL 0").fire();
        trial.failed(FailureKind::Signal, "it was killed by signal 9 (SIGKILL)");
    });
}

#[test]
fn a_timeout_of_an_age_is_a_timeout() {
    each_way(|lab| lab.shell("echo no >&2; exit 2").timeout(Duration::MAX).fire().denied("no"));
}

#[test]
fn a_grace_of_an_age_is_a_grace() {
    each_way(|lab| lab.shell("sleep 60").timeout(ms(150)).grace(Duration::MAX).fire().timed_out());
}

#[test]
fn a_timeout_of_next_to_nothing_is_late_at_once() {
    each_way(|lab| lab.shell("sleep 60").timeout(Duration::from_nanos(1)).fire().timed_out());
}

#[test]
fn a_hook_that_hangs_does_not_block_a_runtime_of_one_thread() {
    one_way(Way::Async, |lab| {
        let engine = lab.engine([lab.shell(": > ready; read line < answer; cat deny").hook()]);
        let answer = lab.fifo("answer");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outcome = runtime.block_on(async {
            let fire = engine.fire(super::lab::event());
            // Polled in turn with the fire, on the same thread.
            let help = async {
                while !lab.path("ready").exists() {
                    tokio::time::sleep(ms(2)).await;
                }
                std::fs::write(&answer, "now\n").unwrap();
            };
            tokio::join!(fire, help).0
        });
        assert!(outcome.is_denied(), "{outcome:?}");
    });
}

#[test]
fn a_blocking_fire_inside_a_runtime_works() {
    one_way(Way::Blocking, |lab| {
        let engine = lab.engine([lab.shell("sleep 60").timeout(ms(150)).hook()]);
        let outcome = super::lab::runtime().block_on(async { engine.fire_blocking(super::lab::event()) });
        assert!(outcome.is_denied() && outcome.by_failure, "{outcome:?}");
        assert!(until(|| !super::vitals::has_children()));
    });
}
