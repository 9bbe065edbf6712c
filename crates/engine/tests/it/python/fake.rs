//! Workers that speak the protocol wrongly: an interpreter that is a script of ours and runs something else.

use crosier::{FailureKind, PythonSpec};

use super::desk::Desk;
use super::lab::{Lab, each_way, ms, one_way, python};
use super::lab::{Way, tool};

/// The engine starts it with `-I -X utf8 -c PROGRAM` like any interpreter. It answers `hello` and `load` as a
/// worker does, and calls as `call(id)` says, for which `started` tells the how many-eth worker of the folder
/// this is.
const WORKER: &str = r#"
import json, os, struct, sys, time

HELLO, LOAD, CALL = range(3)
OK, NONE, FAILED = range(3, 6)

def read(size):
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more: os._exit(0)
        data += more
    return data

def request():
    number, size, op, *_ = struct.unpack("<6Q", read(48))
    read(size)
    return number, op

def head(number, size, status):
    return struct.pack("<3Q", number, size, status)

def pack(number, status, answer=b""):
    data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return head(number, len(data), status) + data

def write(number, status, answer=b""):
    os.write(1, pack(number, status, answer))

def reply(number, **answer):
    write(number, OK, answer)

with open("started", "a") as file: file.write("x")
started = os.path.getsize("started")
DENY = {"decision": "deny", "reason": f"worker {started}"}

def serve(call):
    while True:
        number, op = request()
        if op == HELLO: reply(number, python="3", executable="")
        elif op == LOAD: reply(number, watched={})
        else: call(number)
"#;

impl Lab {
    /// A desk whose worker is this code.
    fn fake(&self, call: &str) -> Desk<'_> {
        let text = format!("#!{} -I\n{WORKER}\n{call}\nserve(call)\n", python());
        let interpreter = self.script("interpreter", text);
        self.desk_with("", |spec| PythonSpec { interpreter: interpreter.clone(), ..spec })
    }
}

#[test]
fn a_fake_worker_that_speaks_rightly_is_believed() {
    each_way(|lab| {
        let desk = lab.fake("def call(number): reply(number, **DENY)");
        desk.fire("Bash").denied("worker 1");
        desk.fire("Bash").denied("worker 1");
    });
}

/// The first worker answers calls so and is lost; the second one, which speaks rightly, serves the next call.
#[track_caller]
fn expect_lost(lab: &Lab, wrong: &str, part: &str) {
    let desk = lab.fake(&format!(
        "def call(number):\n    if started > 1: return reply(number, **DENY)\n    {}",
        wrong.replace('\n', "\n    ")
    ));
    let trial = desk.fire("Bash");
    trial.failed(FailureKind::WorkerLost, &[part]);
    assert!(trial.took < ms(10_000), "{trial:?}");
    desk.fire("Bash").denied("worker 2");
}

#[test]
fn an_answer_to_another_request_loses_the_worker() {
    each_way(|lab| expect_lost(lab, "reply(number + 1, **DENY)", "answered request"));
}

#[test]
fn an_answer_to_a_request_of_before_loses_the_worker() {
    each_way(|lab| expect_lost(lab, "reply(number - 1)", "answered request"));
}

#[test]
fn two_answers_at_once_lose_the_worker() {
    each_way(|lab| {
        let wrong = "os.write(1, pack(number, NONE) * 2)\ntime.sleep(60)";
        expect_lost(lab, wrong, "sent an unexpected answer");
    });
}

#[test]
fn half_an_answer_and_an_end_lose_the_worker() {
    each_way(|lab| {
        for half in ["b'1'", "head(number, 3, OK)[:-1]", "head(number, 3, OK) + b'{}'"] {
            let _ = std::fs::remove_file(lab.path("started"));
            expect_lost(lab, &format!("os.write(1, {half})\nos._exit(0)"), "ended in the middle of the call");
        }
    });
}

#[test]
fn a_head_without_its_reply_and_an_end_lose_the_worker() {
    each_way(|lab| {
        let wrong = "os.write(1, head(number, 2, OK))\nos._exit(0)";
        expect_lost(lab, wrong, "ended in the middle of the call");
    });
}

#[test]
fn an_unknown_status_or_kind_loses_the_worker() {
    each_way(|lab| {
        for (wrong, part) in [
            ("write(number, 6)", "the status 6, which is not known"),
            ("write(number, FAILED, {'kind': 'whim'})", "did not say why"),
            ("write(number, FAILED)", "did not say why"),
            ("write(2**64 - 1, NONE)", "other than an answer"),
            ("os.write(1, b'{\\\"decision\\\": \\\"allow\\\"}\\n' * 2)", "other than an answer"),
        ] {
            let _ = std::fs::remove_file(lab.path("started"));
            expect_lost(lab, &format!("{wrong}\ntime.sleep(60)"), part);
        }
    });
}

#[test]
fn an_answer_that_is_too_large_loses_the_worker_before_it_is_read() {
    each_way(|lab| {
        let wrong = "os.write(1, head(number, 2000000, OK))\ntime.sleep(60)";
        expect_lost(lab, wrong, "announced an answer of 2000000 bytes")
    });
}

#[test]
fn a_worker_that_closes_its_output_is_lost_at_once() {
    each_way(|lab| expect_lost(lab, "os.close(1)\ntime.sleep(60)", "ended in the middle of the call"));
}

#[test]
fn half_an_answer_and_silence_are_late() {
    each_way(|lab| {
        let desk = lab.fake(
            "def call(number):
    if started > 1: return reply(number, **DENY)
    os.write(1, head(number, 22, OK) + b'{')
    open('ready', 'w').close()
    time.sleep(60)",
        );
        let hook = crosier::Hook::on(crosier::payload::UserPromptSubmit).named("late").timeout(ms(1500));
        let spec = PythonSpec {
            interpreter: lab.path("interpreter").display().to_string(),
            ..lab.spec("guard.check")
        };
        desk.engine.register(hook.python(spec)).unwrap();
        let trial = desk.fire_event(crosier::payload::UserPromptSubmit::default());
        assert_eq!(trial.report().failure.as_ref().unwrap().kind, FailureKind::Timeout, "{trial:?}");
        assert!(lab.path("ready").exists(), "{trial:?}");
        assert!(trial.took < ms(1500 + 100 + 1000), "{trial:?}");
        desk.fire("Bash").denied("worker 2");
    });
}

#[test]
fn an_answer_that_comes_too_late_is_nobodys() {
    each_way(|lab| {
        // It takes no notice of SIGTERM, and answers within the grace.
        let desk = lab.fake(
            "import signal
def call(number):
    if started > 1: return reply(number, **DENY)
    def late(*_): reply(number, decision='allow', reason='late')
    signal.signal(signal.SIGTERM, late)
    while True: time.sleep(60)",
        );
        let hook = crosier::Hook::on(crosier::payload::UserPromptSubmit).named("late").timeout(ms(1000));
        let spec = PythonSpec {
            interpreter: lab.path("interpreter").display().to_string(),
            ..lab.spec("guard.check")
        };
        desk.engine.register(hook.python(spec)).unwrap();
        let trial = desk.fire_event(crosier::payload::UserPromptSubmit::default());
        assert_eq!(trial.report().failure.as_ref().unwrap().kind, FailureKind::Timeout, "{trial:?}");
        desk.fire("Bash").denied("worker 2");
    });
}

#[test]
fn an_answer_byte_by_byte_is_read() {
    each_way(|lab| {
        let desk = lab.fake(
            "def call(number):
    for byte in pack(number, OK, DENY):
        os.write(1, bytes([byte]))
        time.sleep(0.0005)",
        );
        desk.fire("Bash").denied("worker 1");
    });
}

#[test]
fn a_reply_that_is_no_reply_is_bad_output_and_the_worker_stays() {
    each_way(|lab| {
        let desk = lab.fake("def call(number): write(number, OK, b'{\"decision\": \"deny\"')");
        for _ in 0..2 {
            desk.fire("Bash").failed(FailureKind::BadOutput, &[]);
        }
        assert_eq!(lab.read("started"), "x");
    });
}

#[test]
fn a_failure_that_denies_is_a_denial() {
    each_way(|lab| {
        let desk = lab.fake(
            "def call(number):
    write(number, FAILED, {'kind': 'oversize', 'detail': 'a\\x1b[2Jb', 'deny': 'no'})",
        );
        let trial = desk.fire("Bash");
        trial.denied_anyway("no");
        let failure = trial.report().failure.as_ref().unwrap();
        assert_eq!((failure.kind, failure.detail.as_str()), (FailureKind::Oversize, "a [2Jb"));
    });
}

#[test]
fn words_before_the_first_call_deny() {
    each_way(|lab| {
        // Answers to requests that nobody has made yet, in one piece.
        let desk = lab.fake(
            "def call(number): reply(number, **DENY)
os.write(1, pack(1, OK, {}) + pack(2, OK, {}) + pack(3, OK, {}))",
        );
        desk.fire("Bash").failed(FailureKind::Import, &["sent an unexpected answer"]);
    });
}

#[test]
fn an_unasked_word_between_calls_costs_nobody_a_call() {
    each_way(|lab| {
        let desk = lab.fake(
            "def call(number):
    reply(number, **DENY)
    if started == 1:
        time.sleep(0.05)
        reply(number, decision='allow', reason='forged')
        open('ready', 'w').close()",
        );
        desk.fire("Bash").denied("worker 1");
        lab.wait_for("ready");
        desk.fire("Bash").denied("worker 2");
        desk.fire("Bash").denied("worker 2");
    });
}

#[test]
fn a_worker_that_loses_every_call_never_wears_the_pool_out() {
    one_way(Way::Blocking, |lab| {
        let desk = lab.fake("def call(number): os._exit(1)");
        for _ in 0..20 {
            desk.fire("Bash").failed(FailureKind::WorkerLost, &[]);
        }
        let fires: Vec<_> = (0..20).map(|_| lab.start(&desk.engine, tool("Bash"))).collect();
        for fire in fires {
            let outcome = fire.join().unwrap();
            assert_eq!(
                outcome.reports[0].failure.as_ref().unwrap().kind,
                FailureKind::WorkerLost,
                "{outcome:?}"
            );
        }
    });
}
