//! Hooks that write where the engine listens: the worker is lost, and nothing wrong is believed.

use crosier::FailureKind;

use super::desk::Desk;
use super::lab::each_way;

#[track_caller]
fn expect_lost(desk: &Desk<'_>, function: &str, part: &str) {
    let before = desk.pid();
    desk.fire(function).failed(FailureKind::WorkerLost, &[part]);
    assert_ne!(desk.pid(), before);
}

#[test]
fn noise_on_the_channel_loses_the_worker() {
    each_way(|lab| {
        let desk = lab.desk(
            "import struct
def text(event): os.write(251, b'hello, I am a print()')
def line(event): os.write(251, b'hello\\n')
def long(event): os.write(251, struct.pack('<3Q', 1, 9999999999, 3))
def null(event): os.write(251, b'null\\n')
def zeros(event): os.write(251, bytes(8))",
        );
        for (function, part) in [
            ("text", "something other than an answer"),
            ("line", "something other than an answer"),
            ("long", "announced an answer of 9999999999 bytes"),
            ("null", "something other than an answer"),
            ("zeros", "its worker answered request 0 instead of"),
        ] {
            expect_lost(&desk, function, part);
        }
    });
}

#[test]
fn an_endless_flood_on_the_channel_loses_the_worker_at_once() {
    each_way(|lab| {
        let desk = lab.desk("def floods(event):\n    while True: os.write(251, b'x' * 65536)");
        expect_lost(&desk, "floods", "something other than an answer");
    });
}

#[test]
fn an_answer_of_the_hooks_own_beside_the_workers_loses_the_worker() {
    each_way(|lab| {
        // An allow that the hook forged, for whatever request there may be; then it returns its deny.
        let desk = lab.desk(
            "import struct
def forges(event):
    for number in range(1, 9):
        os.write(251, struct.pack('<3Q', number, 0, 4))
    time.sleep(0.05)
    return deny('the real one')",
        );
        expect_lost(&desk, "forges", "its worker answered");
    });
}

#[test]
fn a_channel_that_does_not_block_costs_nobody_a_call() {
    each_way(|lab| {
        // Its worker cannot wait for requests any more, and ends.
        let desk = lab.desk("def hurries(event):\n    os.set_blocking(250, False)\n    return deny('done')");
        let before = desk.pid();
        desk.fire("hurries").denied("done");
        super::vitals::expect_exited(before);
        assert_ne!(desk.pid(), before);
    });
}

#[test]
fn a_closed_channel_loses_the_worker() {
    each_way(|lab| {
        let desk = lab.desk("def closes(event): os.closerange(3, 300)\ndef output(event): os.close(251)");
        for function in ["closes", "output"] {
            expect_lost(&desk, function, "its worker ended in the middle of the call");
        }
    });
}

#[test]
fn a_closed_input_lets_this_call_answer_and_the_next_finds_a_new_worker() {
    each_way(|lab| {
        let desk = lab.desk("def closes(event):\n    os.close(250)\n    return deny('closed')");
        for _ in 0..3 {
            let before = desk.pid();
            desk.fire("closes").denied("closed");
            super::vitals::expect_exited(before);
            assert_ne!(desk.pid(), before);
        }
    });
}

#[test]
fn what_is_written_after_the_answer_costs_nobody_a_call() {
    each_way(|lab| {
        // A second answer to the same request, when the first has long arrived.
        let desk = lab.desk(
            "def twice(event):
    def again():
        os.write(251, b'2 none 0\\n')
        ready()
    threading.Timer(0.1, again).start()
    return deny('once')",
        );
        let before = desk.pid();
        desk.fire("twice").denied("once");
        lab.wait_for("ready");
        assert_ne!(desk.pid(), before);
    });
}
