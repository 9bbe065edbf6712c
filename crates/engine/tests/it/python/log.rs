//! What is logged of python hooks: hooks and kinds by default, a traceback for who asks for it.

use super::lab::{Way, one_way, tool};
use crate::logged::Logged;

#[test]
fn an_exception_is_logged_by_its_kind_and_its_traceback_for_who_asks() {
    one_way(Way::Async, |lab| {
        let log = Logged::default();
        tracing::subscriber::set_global_default(log.clone()).unwrap();
        let desk = lab.desk(
            "def inner(event): raise ValueError(event.args['command'] + ' hunter2')
def raises(event): return inner(event)
def dies(event): os._exit(1)
def prints(event): print('hunter2')",
        );
        for function in ["raises", "dies", "prints", "nothing"] {
            lab.fire(&desk.engine, tool(function));
        }
        let by_default = log.by_default();
        assert_eq!(by_default.matches("hook failed").count(), 3, "{by_default}");
        assert!(by_default.contains("kind=error") && by_default.contains("kind=worker_lost"), "{by_default}");
        assert!(!by_default.contains("hunter2") && !by_default.contains("Traceback"), "{by_default}");
        let all = log.all();
        for part in ["DEBUG", "Traceback", "in raises", "in inner", "ValueError: ls hunter2"] {
            assert!(all.contains(part), "no {part} in {all}");
        }
    });
}
