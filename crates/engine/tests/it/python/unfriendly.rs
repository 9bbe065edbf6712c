//! Hooks that raise, return or do what they should not: all are reports, and the next call is served.

use crosier::FailureKind;

use super::desk::Desk;
use super::lab::{each_way, ms};

/// The worker survives, and serves the next call.
#[track_caller]
fn expect_same_worker(desk: &Desk<'_>, before: i32) {
    assert_eq!(desk.pid(), before, "the worker was replaced");
}

#[test]
fn whatever_is_raised_is_an_error_with_its_last_frame() {
    each_way(|lab| {
        let desk = lab.desk(
            "class Odd(BaseException):
    def __str__(self): raise RuntimeError
def exits(event): sys.exit(2)
def exits_quietly(event): raise SystemExit
def interrupts(event): raise KeyboardInterrupt
def recurses(event): return recurses(event)
def starves(event): return bytearray(1 << 62)
def generates(event): raise GeneratorExit
def divides(event): return 1 // 0
def stops(event): raise StopIteration
def asserts(event): assert event.tool_name == 'never'
def odd(event): raise Odd
def chains(event):
    try: divides(event)
    except ZeroDivisionError as exc: raise ValueError('two\\nlines') from exc",
        );
        let before = desk.pid();
        for (function, parts) in [
            ("exits", &["SystemExit: 2", "guard.py:", "in exits"][..]),
            ("exits_quietly", &["SystemExit", "in exits_quietly"]),
            ("interrupts", &["KeyboardInterrupt", "in interrupts"]),
            ("recurses", &["RecursionError", "in recurses"]),
            ("starves", &["MemoryError", "in starves"]),
            ("generates", &["GeneratorExit"]),
            ("divides", &["ZeroDivisionError", "in divides"]),
            ("stops", &["StopIteration"]),
            ("asserts", &["AssertionError", "in asserts"]),
            ("odd", &["Odd"]),
            ("chains", &["ValueError: two lines", "in chains"]),
            ("missing", &["KeyError: 'missing'", "in check"]),
        ] {
            let trial = desk.fire(function);
            trial.failed(FailureKind::Error, parts);
            assert!(!trial.report().failure.as_ref().unwrap().detail.contains('\n'), "{trial:?}");
        }
        expect_same_worker(&desk, before);
    });
}

#[test]
fn what_cannot_be_understood_is_bad_output() {
    each_way(|lab| {
        let desk = lab.desk(
            "class Loop(dict): pass
loop = {}
loop['tool'] = loop
def lists(event): return [deny('x')]
def texts(event): return 'deny'
def numbers(event): return 1
def truths(event): return True
def falses(event): return False
def yields(event): yield deny('x')
def classes(event): return HookResult
def echoes(event): return event
def sets(event): return {'updated_input': {1, 2}}
def nan(event): return {'updated_input': {'x': float('nan')}}
def bytes_(event): return {'reason': b'x'}
def loops(event): return loop
def words(event): return {'decision': 'perhaps'}
def types(event): return {'decision': 'deny', 'reason': 7}
def typos(event): return {'descision': 'deny'}
def others(event): return {'hookSpecificOutput': {'hookEventName': 'Stop'}}
def deep(event):
    value = 'x'
    for _ in range(200): value = [value]
    return {'updated_input': value}",
        );
        let before = desk.pid();
        for (function, part) in [
            ("lists", "returned a list"),
            ("texts", "returned a str"),
            ("numbers", "returned a int"),
            ("truths", "returned a bool"),
            ("falses", "returned a bool"),
            ("yields", "returned a generator"),
            ("classes", "returned a type"),
            ("echoes", "returned a HookEvent"),
            ("sets", "reply.updated_input"),
            ("nan", "reply.updated_input.x"),
            ("bytes_", "reply.reason"),
            ("loops", "contains itself"),
            ("words", "perhaps"),
            ("types", "reason"),
            ("typos", "decision"),
            ("others", "Stop"),
            ("deep", ""),
        ] {
            desk.fire(function).failed(FailureKind::BadOutput, &[part]);
        }
        expect_same_worker(&desk, before);
    });
}

#[test]
fn a_huge_return_is_oversize_and_its_deny_counts() {
    each_way(|lab| {
        let desk = lab.desk(
            "def large(event): return {'systemMessage': 'x' * (1 << 20)}
def huge(event): return {'systemMessage': 'x' * (1 << 23)}
def denies(event): return deny('no', system_message='x' * (1 << 21))
def fits(event): return {'decision': 'deny', 'reason': 'x' * ((1 << 20) - 31)}",
        );
        let before = desk.pid();
        desk.fire("large").failed(FailureKind::Oversize, &["1048576 are accepted"]);
        desk.fire("huge").failed(FailureKind::Oversize, &["8388", "1048576 are accepted"]);
        let denied = desk.fire("denies");
        denied.denied_anyway("no");
        assert_eq!(denied.report().failure.as_ref().unwrap().kind, FailureKind::Oversize);
        desk.fire("fits").denied(&"x".repeat((1 << 20) - 31));
        expect_same_worker(&desk, before);
    });
}

#[test]
fn a_hook_that_forks_answers_once() {
    each_way(|lab| {
        let desk = lab.desk(
            "def returns(event):
    child = os.fork()
    if child: os.waitpid(child, 0)
    return deny('parent' if child else 'child')
def raises(event):
    child = os.fork()
    if not child: raise ValueError
    os.waitpid(child, 0)
    return deny('parent')
def stays(event):
    if os.fork() == 0:
        ready()
        time.sleep(0.2)
    return deny('parent')",
        );
        let before = desk.pid();
        for function in ["returns", "raises", "stays"] {
            desk.fire(function).denied("parent");
        }
        lab.wait_for("ready");
        expect_same_worker(&desk, before);
    });
}

#[test]
fn a_child_that_lives_on_delays_nobody() {
    each_way(|lab| {
        let desk =
            lab.desk("def starts(event):\n    subprocess.Popen(['sleep', '60'])\n    return deny('started')");
        let before = desk.pid();
        let trial = desk.fire("starts");
        trial.denied("started");
        assert!(trial.took < ms(10_000), "{trial:?}");
        expect_same_worker(&desk, before);
        // It outlives a worker that ends well, as the child of a command outlives its hook.
        drop(desk);
        let alive = super::vitals::survivors(lab.folder());
        assert_eq!(alive.len(), 1, "{alive:?}");
        alive.into_iter().for_each(super::vitals::kill);
    });
}

#[test]
fn descriptors_that_a_hook_closes_are_missed_by_nobody() {
    each_way(|lab| {
        let desk = lab.desk(
            "def closes(event): os.closerange(0, 250)
def prints(event):
    print('still here')
    return deny('printed')",
        );
        let before = desk.pid();
        desk.fire("closes").no_opinion();
        desk.fire("prints").denied("printed");
        expect_same_worker(&desk, before);
    });
}

#[test]
fn what_a_hook_changes_in_its_process_is_undone_or_harmless() {
    each_way(|lab| {
        let desk = lab.desk(
            "def moves(event): os.chdir('/')
def where(event): return deny(os.getcwd())
def handles(event):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE): signal.signal(number, signal.SIG_IGN)
def alarms(event):
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(3))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
def threads(event):
    def work():
        while True: time.sleep(0.001)
    for _ in range(8): threading.Thread(target=work, daemon=True).start()
def replaces(event): sys.stdout = sys.stderr = sys.stdin = None
def limits(event): sys.setrecursionlimit(120)
def forgets(event): sys.modules.clear()
def patches(event): os.write = os.read = os.getpid = None",
        );
        let folder = std::fs::canonicalize(lab.folder()).unwrap();
        let before = desk.pid();
        for function in ["moves", "handles", "alarms", "threads", "replaces", "limits"] {
            desk.fire(function).no_opinion();
            // Long enough for the alarm to ring while nobody is called.
            std::thread::sleep(ms(if function == "alarms" { 60 } else { 0 }));
            desk.fire("where").denied(folder.to_str().unwrap());
        }
        expect_same_worker(&desk, before);
        desk.fire("patches").no_opinion();
        desk.fire("where").denied(folder.to_str().unwrap());
    });
}

#[test]
fn a_worker_whose_hook_ignores_signals_ends_with_its_engine() {
    each_way(|lab| {
        let desk = lab.desk(
            "import atexit
def stays(event):
    for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
    atexit.register(time.sleep, 60)
    threading.Thread(target=time.sleep, args=[60]).start()",
        );
        desk.fire("stays").no_opinion();
        let begun = std::time::Instant::now();
        drop(desk);
        assert!(begun.elapsed() < ms(1000 + 1000), "{:?}", begun.elapsed());
        lab.expect_no_survivor();
    });
}
