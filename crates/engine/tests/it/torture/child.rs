//! Hooks that end and leave something running: nobody waits for it, and nobody kills it.

use super::lab::{Lab, each_way, ms};

/// The hook ends at once with a deny, while one child lives on that would hold it up for a minute.
fn expect_no_delay(lab: &Lab, line: &str) {
    let trial = lab.shell(line).fire();
    trial.denied("no");
    trial.took_at_most(ms(20_000));
    lab.end_survivors(1);
}

#[test]
fn a_child_that_holds_stdout_does_not_delay() {
    each_way(|lab| expect_no_delay(lab, "sleep 60 2>/dev/null & cat deny"));
}

#[test]
fn a_child_that_holds_stderr_does_not_delay() {
    each_way(|lab| expect_no_delay(lab, "sleep 60 >/dev/null & cat deny"));
}

#[test]
fn a_child_that_holds_stdout_as_descriptor_3_does_not_delay() {
    each_way(|lab| expect_no_delay(lab, "sleep 60 3>&1 >/dev/null 2>&1 & cat deny"));
}

#[test]
fn a_child_that_holds_stdout_and_stderr_does_not_delay_exit_2() {
    each_way(|lab| expect_no_delay(lab, "sleep 60 & echo no >&2; exit 2"));
}

#[test]
fn a_daemon_in_a_session_of_its_own_does_not_delay() {
    each_way(|lab| {
        let program = r#"use POSIX;
            if (!fork) { POSIX::setsid(); exit if fork; open(my $up, ">", "up"); exec "sleep", "60" }
            select(undef, undef, undef, 0.002) until -e "up";
            print '{"decision":"deny","reason":"no"}'"#;
        let trial = lab.perl(program).fire();
        trial.denied("no");
        trial.took_at_most(ms(20_000));
        lab.end_survivors(1);
    });
}

#[test]
fn a_child_that_floods_the_pipe_does_not_delay() {
    each_way(|lab| {
        // What it wrote before the leader exited may be read too, so only the exit code can count.
        let trial = lab.shell("yes & echo no >&2; exit 2").fire();
        trial.denied("no");
        trial.took_at_most(ms(20_000));
        // It writes into a pipe that nobody reads any more, and ends of that.
        lab.expect_no_survivor();
    });
}

#[test]
fn a_hook_that_is_run_in_a_pipeline_is_waited_for() {
    each_way(|lab| lab.shell("sleep 0.05 | cat deny - | cat").fire().denied("no"));
}

#[test]
fn a_deny_that_a_child_writes_before_the_leader_exits_counts() {
    each_way(|lab| lab.shell("(cat deny) & wait").fire().denied("no"));
}

#[test]
fn a_hook_that_becomes_another_program_is_heard() {
    each_way(|lab| lab.shell("exec cat deny").fire().denied("no"));
}

#[test]
fn a_hook_inherits_three_descriptors_and_nothing_else_of_ours() {
    each_way(|lab| {
        // What the host itself lets its children inherit is the host's affair.
        let mut theirs = inheritable();
        theirs.extend(["0".to_owned(), "1".to_owned(), "2".to_owned()]);
        let trial = lab.shell("ls /dev/fd/ > list; cat deny").fire();
        trial.denied("no");
        // `ls` itself has the folder open, as one descriptor more, and writes to the list as 1.
        let more = lab.read("list").lines().filter(|fd| !theirs.contains(&(*fd).to_owned())).count();
        assert!(more <= 1, "{} beside {theirs:?}", lab.read("list"));
    });
}

/// Descriptors of this process without the flag that closes them in children. Empty where there is no `/proc`.
fn inheritable() -> Vec<String> {
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    let entries = std::fs::read_dir("/proc/self/fdinfo").into_iter().flatten().flatten();
    let is_inherited = |entry: &std::fs::DirEntry| {
        let info = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        flags.is_some_and(|flags| flags & CLOSE_ON_EXEC == 0)
    };
    entries.filter(is_inherited).filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
