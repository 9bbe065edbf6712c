//! Hooks that write too much: memory stays bounded, nothing truncated is parsed, and exit 2 still denies.

use crosier::FailureKind;

use super::lab::{Way, each_way, one_way};
use super::vitals::peak_bytes;

pub(super) const MEBIBYTE: usize = 1 << 20;
const OVERSIZE: &str = "its reply is larger than 1048576 bytes and was discarded";

/// Fails when the process took much more memory than the limits on output allow.
fn expect_small(before: Option<u64>) {
    if let (Some(before), Some(after)) = (before, peak_bytes()) {
        assert!(after < before + (16 << 20), "memory grew from {before} to {after} bytes");
    }
}

/// A deny of exactly so many bytes.
pub(super) fn deny_of(bytes: usize) -> String {
    let deny = r#"{"decision":"deny","reason":"no"}"#;
    format!("{deny}{}", " ".repeat(bytes - deny.len()))
}

#[test]
fn a_gibibyte_on_stdout_and_then_exit_2_denies_in_bounded_memory() {
    one_way(Way::Async, |lab| {
        let before = peak_bytes();
        lab.shell("head -c 1073741824 /dev/zero; echo no >&2; exit 2").fire().denied("no");
        expect_small(before);
    });
}

#[test]
fn many_mebibytes_on_stdout_and_then_exit_2_deny() {
    each_way(|lab| lab.shell("head -c 20000000 /dev/zero; echo no >&2; exit 2").fire().denied("no"));
}

#[test]
fn many_mebibytes_on_stdout_and_then_exit_0_or_1_are_oversize() {
    each_way(|lab| {
        for code in [0, 1] {
            let line = format!("head -c 20000000 /dev/zero; exit {code}");
            lab.shell(line).fire().failed(FailureKind::Oversize, OVERSIZE);
        }
    });
}

#[test]
fn many_mebibytes_on_stderr_keep_their_end() {
    each_way(|lab| {
        let before = peak_bytes();
        let trial = lab.shell("head -c 50000000 /dev/zero >&2; echo last >&2; exit 2").fire();
        let reason = trial.outcome.reason.as_deref().unwrap_or_default();
        assert!(trial.outcome.is_denied() && reason.ends_with("\0last"), "{}", reason.len());
        expect_small(before);
    });
}

#[test]
fn a_reply_of_exactly_a_mebibyte_is_read() {
    each_way(|lab| {
        lab.write("reply", deny_of(MEBIBYTE));
        lab.shell("cat reply").fire().denied("no");
    });
}

#[test]
fn a_reply_of_a_mebibyte_and_one_byte_is_oversize() {
    each_way(|lab| {
        lab.write("reply", deny_of(MEBIBYTE + 1));
        lab.shell("cat reply").fire().failed(FailureKind::Oversize, OVERSIZE);
        lab.shell("cat reply; exit 1").fire().failed(FailureKind::Oversize, OVERSIZE);
        lab.shell("cat reply").text().fire().failed(FailureKind::Oversize, OVERSIZE);
    });
}

#[test]
fn a_reply_that_is_oversize_is_not_honoured_at_the_deadline_either() {
    each_way(|lab| {
        lab.write("reply", deny_of(MEBIBYTE + 1));
        lab.shell("cat reply; : > ready; sleep 60").hang().timed_out();
    });
}

#[test]
fn a_mebibyte_in_front_of_a_hang_is_honoured_when_it_denies() {
    each_way(|lab| {
        lab.write("reply", deny_of(MEBIBYTE));
        let trial = lab.shell("cat reply; : > ready; sleep 60").hang();
        trial.decided_anyway(crosier::Decision::Deny, "no");
    });
}

#[test]
fn the_64_kibibytes_at_the_end_of_stderr_are_the_reason() {
    each_way(|lab| {
        let end = "b".repeat(64 * 1024);
        lab.write("whole", &end);
        lab.write("over", format!("a{end}"));
        lab.shell("cat whole >&2; exit 2").fire().denied(&end);
        lab.shell("cat over >&2; exit 2").fire().denied(&end);
    });
}

#[test]
fn characters_that_are_split_over_two_reads_stay_whole() {
    each_way(|lab| {
        // Two bytes each, at even and at odd places: no size of a read can miss all of them.
        let reason = "\u{e4}".repeat(100_000);
        for space in ["", " "] {
            lab.write("reply", format!(r#"{space}{{"decision":"deny","reason":"{reason}"}}"#));
            lab.shell("cat reply").fire().denied(&reason);
        }
    });
}
