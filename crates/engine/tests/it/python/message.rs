//! What listeners hear of a python hook: started, what it prints while it runs, one response.

use std::time::Duration;

use crosier::{FailureKind, HookEnd, Listener, Message, MessageKind, Received};

use super::lab::{each_way, ms, tool};

/// All that was heard, when nothing more will come.
fn all(listener: &Listener) -> Vec<Message> {
    let heard = std::iter::from_fn(|| listener.try_next());
    heard
        .map(|heard| match heard {
            Received::Message(message) => message,
            Received::Missed(missed) => panic!("{missed} were missed"),
        })
        .collect()
}

/// What was told while the hooks ran, piece by piece, and at the end of each.
pub(super) fn said(listener: &Listener) -> Vec<String> {
    let said = all(listener).into_iter().filter_map(|message| match message.kind {
        MessageKind::Started => None,
        MessageKind::Progress { stdout, .. } | MessageKind::Response { stdout, .. } => Some(stdout),
    });
    said.collect()
}

#[test]
fn prints_become_progress_and_the_response_has_them() {
    each_way(|lab| {
        let desk = lab.desk(
            "def prints(event):
    print('to stdout')
    print('to stderr', file=sys.stderr)
    os.write(1, b'raw\\n')
    subprocess.run(['echo', 'of a child'])
    print('h\\u00e4, \\ud800, no newline', end='')
    return deny('printed')",
        );
        let listener = desk.engine.subscribe(1000);
        desk.fire("prints").denied("printed");
        let messages = all(&listener);
        assert!(messages.iter().all(|message| message.hook_id == messages[0].hook_id));
        assert!(messages.iter().all(|message| &*message.hook_name == "guard"));
        assert_eq!(messages[0].kind, MessageKind::Started);
        let whole = "to stdout\nto stderr\nraw\nof a child\nh\u{e4}, \\ud800, no newline";
        let told: String = messages
            .iter()
            .filter_map(|message| match &message.kind {
                MessageKind::Progress { stdout, stderr } => {
                    assert_eq!(stderr, "");
                    Some(stdout.as_str())
                }
                _ => None,
            })
            .collect();
        assert_eq!(told, whole);
        let MessageKind::Response { outcome, exit_code, stdout, stderr } = &messages.last().unwrap().kind
        else {
            panic!("{messages:?}");
        };
        assert_eq!(
            (*outcome, *exit_code, stdout.as_str(), stderr.as_str()),
            (HookEnd::Success, None, whole, "")
        );
    });
}

#[test]
fn a_print_is_told_while_the_hook_runs() {
    each_way(|lab| {
        let desk = lab.desk(
            "def waits(event):\n    print('now')\n    while not os.path.exists('go'): time.sleep(0.002)",
        );
        desk.pid();
        let listener = desk.engine.subscribe(1000);
        let fire = lab.start(&desk.engine, tool("waits"));
        loop {
            match listener.next_within(Duration::from_secs(20)) {
                Some(Received::Message(message)) => match message.kind {
                    MessageKind::Progress { stdout, .. } => {
                        assert_eq!(stdout, "now\n");
                        break;
                    }
                    MessageKind::Started => {}
                    MessageKind::Response { .. } => panic!("it is over"),
                },
                other => panic!("{other:?}"),
            }
        }
        lab.write("go", "");
        assert_eq!(fire.join().unwrap().reports[0].failure, None);
    });
}

#[test]
fn what_is_printed_while_importing_is_told_with_the_first_call() {
    each_way(|lab| {
        let desk = lab.desk("print('imported')");
        let listener = desk.engine.subscribe(1000);
        desk.pid();
        assert_eq!(said(&listener), ["imported\n", "imported\n"]);
    });
}

#[test]
fn what_is_printed_between_calls_is_not_the_next_hooks() {
    each_way(|lab| {
        let desk = lab.desk(
            "def later(event):
    def work():
        while not os.path.exists('go'): time.sleep(0.002)
        print('of the call before')
        ready()
    threading.Thread(target=work).start()
def quiet(event): pass",
        );
        let listener = desk.engine.subscribe(1000);
        desk.fire("later").no_opinion();
        lab.write("go", "");
        lab.wait_for("ready");
        desk.fire("quiet").no_opinion();
        assert_eq!(said(&listener), ["", ""]);
    });
}

#[test]
fn a_thread_that_prints_for_ever_does_not_hold_the_answer_back() {
    each_way(|lab| {
        let desk = lab.desk(
            "def floods(event):
    subprocess.Popen(['sh', '-c', 'while :; do echo flood; done'])
    def work():
        while True: os.write(2, b'flood\\n' * 5000)
    for _ in range(2): threading.Thread(target=work, daemon=True).start()
    time.sleep(0.05)
    return deny('answered')",
        );
        let listener = desk.engine.subscribe(16);
        for _ in 0..5 {
            let trial = desk.fire("floods");
            trial.denied("answered");
            assert!(trial.took < ms(15_000), "{trial:?}");
        }
        drop(listener);
        desk.engine.shut_down();
        super::vitals::survivors(lab.folder()).into_iter().for_each(super::vitals::kill);
    });
}

#[test]
fn a_flood_is_told_up_to_a_limit_and_its_beginning_is_in_the_response() {
    each_way(|lab| {
        let desk = lab.desk("def floods(event):\n    for n in range(100_000): print('a line of output', n)");
        let listener = desk.engine.subscribe(100_000);
        desk.fire("floods").no_opinion();
        let said = said(&listener);
        let (last, told) = said.split_last().unwrap();
        assert!(last.len() <= 64 * 1024 && last.starts_with("a line of output 0\n"), "{}", last.len());
        let told: usize = told.iter().map(String::len).sum();
        assert!(told > 1_000_000 && told < 1_300_000, "{told}");
    });
}

#[test]
fn a_late_hook_is_told_as_cancelled_with_what_it_printed() {
    each_way(|lab| {
        let desk = lab.desk("def late(event):\n    print('not done')\n    ready()\n    time.sleep(60)");
        let listener = desk.engine.subscribe(1000);
        desk.hang("late");
        let last = all(&listener).pop().unwrap();
        let MessageKind::Response { outcome, stdout, .. } = last.kind else { panic!("{last:?}") };
        assert_eq!((outcome, stdout.as_str()), (HookEnd::Cancelled, "not done\n"));
    });
}

#[test]
fn a_failed_hook_is_told_as_an_error() {
    each_way(|lab| {
        let desk = lab.desk(
            "def raises(event):
    print('so far')
    raise ValueError
def dies(event):
    print('so far')
    os._exit(1)",
        );
        let listener = desk.engine.subscribe(1000);
        for (function, kind) in [("raises", FailureKind::Error), ("dies", FailureKind::WorkerLost)] {
            desk.fire(function).failed(kind, &[]);
            let last = all(&listener).pop().unwrap();
            let MessageKind::Response { outcome, stdout, .. } = last.kind else { panic!("{last:?}") };
            assert_eq!((outcome, stdout.as_str()), (HookEnd::Error, "so far\n"));
        }
    });
}
