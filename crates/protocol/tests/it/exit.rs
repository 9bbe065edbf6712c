//! What the end of a command means.

use crosier_protocol::event::TABLE;
use crosier_protocol::reply::{CommandExit, Output, answer_of};
use crosier_protocol::{Answer, EventRow, FailureKind};

const DENY: &[u8] = br#"{"decision":"deny","reason":"no","systemMessage":"m"}"#;
const ALLOW: &[u8] = br#"{"decision":"allow"}"#;

fn row() -> &'static EventRow {
    TABLE.iter().find(|row| row.name == "PreToolUse").unwrap()
}

fn ended(code: i32, stdout: &[u8], stderr: &[u8]) -> Answer {
    let exit = CommandExit { code: Some(code), signal: None, stdout, oversize: None, stderr };
    answer_of(&exit, Output::Reply, row())
}

fn failed(answer: &Answer) -> Option<FailureKind> {
    answer.failure.as_ref().map(|failure| failure.kind)
}

fn reason(answer: &Answer) -> Option<&str> {
    answer.reply.effects()?.opinion.as_ref()?.reason.as_deref()
}

#[test]
fn code_0_lets_stdout_decide() {
    assert!(ended(0, DENY, b"").reply.denies());
    assert_eq!(ended(0, b"", b"noise"), Answer::default());
    assert_eq!(failed(&ended(0, b"hello", b"")), Some(FailureKind::BadOutput));
}

#[test]
fn code_2_denies_with_stderr_whatever_stdout_says() {
    for stdout in [ALLOW, b"", b"garbage", b"\xff"] {
        let answer = ended(2, stdout, b" dangerous \n");
        assert!(answer.reply.denies() && answer.failure.is_none());
        assert_eq!(reason(&answer), Some("dangerous"));
    }
    assert_eq!(reason(&ended(2, b"", b" \n")), None);
    let flood = CommandExit { code: Some(2), signal: None, stdout: b"", oversize: Some(9), stderr: b"x" };
    assert!(answer_of(&flood, Output::Reply, row()).reply.denies());
}

#[test]
fn any_other_code_honours_an_object_and_is_a_failure_without_one() {
    for code in [1, 3, 64, 126, 127, 255, -1] {
        assert!(ended(code, DENY, b"").reply.denies());
        assert_eq!(failed(&ended(code, DENY, b"")), None);
        for stdout in [&b""[..], b"null", b"oops", b"[]", br#"{"decision":"maybe"}"#, b"{} {}"] {
            let answer = ended(code, stdout, b"first\nlast line\n\n");
            assert_eq!(failed(&answer), Some(FailureKind::Exit), "{code} {stdout:?}");
            let detail = answer.failure.unwrap().detail;
            assert!(detail.contains(&code.to_string()) && detail.ends_with("last line"), "{detail}");
        }
    }
}

#[test]
fn a_hook_that_was_killed_is_believed_only_when_it_denies() {
    let killed = |stdout: &[u8]| {
        let exit = CommandExit { code: None, signal: Some(9), stdout, oversize: None, stderr: b"" };
        answer_of(&exit, Output::Reply, row())
    };
    let denied = killed(DENY);
    assert_eq!(failed(&denied), Some(FailureKind::Signal));
    assert!(denied.failure.as_ref().unwrap().detail.contains("SIGKILL"));
    assert!(denied.reply.denies());
    assert!(denied.reply.effects().unwrap().context.is_empty(), "the rest of the reply does not count");
    assert_eq!(killed(ALLOW).reply.effects(), None);
    assert_eq!(killed(&DENY[..DENY.len() - 1]).reply.effects(), None);
}

#[test]
fn what_is_too_large_is_not_read_at_all() {
    for code in [0, 1] {
        let exit =
            CommandExit { code: Some(code), signal: None, stdout: DENY, oversize: Some(77), stderr: b"" };
        let answer = answer_of(&exit, Output::Reply, row());
        assert_eq!(failed(&answer), Some(FailureKind::Oversize));
        assert!(answer.failure.unwrap().detail.contains("77"));
        assert_eq!(answer.reply.effects(), None);
    }
}

#[test]
fn text_output_is_context_word_for_word() {
    let text = |code, stdout| {
        let exit = CommandExit { code: Some(code), signal: None, stdout, oversize: None, stderr: b"why" };
        answer_of(&exit, Output::Text, row())
    };
    assert_eq!(text(0, DENY).reply.effects().unwrap().context, [std::str::from_utf8(DENY).unwrap()]);
    assert_eq!(text(0, b"  a\nb \n").reply.effects().unwrap().context, ["  a\nb"]);
    assert_eq!(text(0, b" \n"), Answer::default());
    assert_eq!(failed(&text(0, b"\xff")), Some(FailureKind::BadOutput));
    assert_eq!(failed(&text(1, DENY)), Some(FailureKind::Exit));
    assert!(text(2, b"x").reply.denies());
}
