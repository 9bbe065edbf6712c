//! What a hook does with its input: nothing, a part, all of it, too late.

use std::sync::LazyLock;

use crosier::Event;
use crosier::payload::PreToolUse;
use serde_json::json;

use super::flood::{MEBIBYTE, deny_of};
use super::lab::{each_way, ms};

/// An event of more than eight mebibytes, written as JSON only once.
fn large() -> Event {
    static EVENT: LazyLock<Event> =
        LazyLock::new(|| PreToolUse::new("Write", json!({"content": "x".repeat(8 << 20)})).into());
    EVENT.clone()
}

#[test]
fn input_that_is_never_read_does_not_lose_the_deny() {
    each_way(|lab| lab.shell("echo no >&2; exit 2").fire_at(large()).denied("no"));
}

#[test]
fn input_that_is_never_read_does_not_move_the_deadline() {
    each_way(|lab| lab.shell(": > ready; sleep 60").timeout(ms(150)).fire_until_ready(large()).timed_out());
}

#[test]
fn input_that_is_read_in_part_is_no_failure() {
    each_way(|lab| lab.shell("head -c 100000 > part; cat deny").fire_at(large()).denied("no"));
}

#[test]
fn a_hook_that_closes_its_input_at_once_is_heard() {
    each_way(|lab| lab.shell("exec <&-; cat deny").fire_at(large()).denied("no"));
}

#[test]
fn a_large_input_arrives_whole_with_a_newline_and_an_end() {
    each_way(|lab| {
        let trial = lab.shell("cat > copy; cat deny").fire_at(large());
        trial.denied("no");
        let copy = lab.read("copy");
        let event: serde_json::Value = serde_json::from_str(copy.strip_suffix('\n').unwrap()).unwrap();
        assert_eq!(event["tool_input"]["content"].as_str().unwrap().len(), 8 << 20);
        assert_eq!(event["hook_event_name"], "PreToolUse");
        assert_eq!(copy.matches('\n').count(), 1);
    });
}

#[test]
fn a_hook_that_writes_a_mebibyte_before_it_reads_one_does_not_block() {
    each_way(|lab| {
        lab.write("reply", deny_of(MEBIBYTE));
        let event = PreToolUse::new("Write", json!({"content": "x".repeat(MEBIBYTE)}));
        let trial = lab.shell("cat reply; cat > copy").fire_at(event);
        trial.denied("no");
        assert!(lab.read("copy").len() > MEBIBYTE);
    });
}

#[test]
fn a_child_that_holds_the_input_open_does_not_delay() {
    each_way(|lab| {
        let trial = lab.shell("exec 4<&0; sleep 60 <&4 >/dev/null 2>&1 & cat deny").fire_at(large());
        trial.denied("no");
        trial.took_at_most(ms(20_000));
        lab.end_survivors(1);
    });
}

#[test]
fn a_hook_gets_blocking_pipes_and_a_broken_pipe_kills_it_as_usual() {
    each_way(|lab| {
        let program = r#"use Fcntl;
            for my $fd (*STDIN, *STDOUT, *STDERR) { die "non-blocking" if fcntl($fd, F_GETFL, 0) & O_NONBLOCK }
            die "SIGPIPE is ignored" if ($SIG{PIPE} // "DEFAULT") eq "IGNORE";
            print '{"decision":"deny","reason":"no"}';"#;
        lab.perl(program).fire().denied("no");
        // `yes` ends only by the signal; were it ignored in hooks, it would complain on stderr.
        lab.shell("yes 2> complaint | head -n 1 > first; cat deny").fire().denied("no");
        assert_eq!((lab.read("complaint"), lab.read("first")), (String::new(), "y\n".to_owned()));
    });
}
