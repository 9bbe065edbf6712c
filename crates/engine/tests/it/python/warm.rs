//! Workers that are started ahead of the first event.

use std::time::{Duration, Instant};

use crosier::payload::PreToolUse;
use crosier::{FailureKind, Hook, PythonSpec};

use super::lab::{Way, each_way, ms, one_way, python, tool};
use super::vitals::survivors;

#[test]
fn a_warm_worker_is_the_one_that_answers() {
    each_way(|lab| {
        let desk = lab.desk("open('imported', 'a').write('x')");
        let warmed = desk.engine.warm();
        assert_eq!(warmed.len(), 1);
        let info = warmed[0].1.as_ref().unwrap();
        assert_eq!(info.executable, python());
        assert!(info.version.starts_with("3."), "{info:?}");
        assert_eq!(survivors(lab.folder()), [desk.pid()]);
        assert_eq!(lab.read("imported"), "x");
    });
}

#[test]
fn what_cannot_be_called_is_said_hook_by_hook() {
    each_way(|lab| {
        lab.module("guard.py", "");
        lab.write("broken.py", "def check(event) return");
        let hook = |name: &str, spec: PythonSpec| Hook::on(PreToolUse).named(name).python(spec);
        let missing = PythonSpec { interpreter: "/no/python".to_owned(), ..lab.spec("guard.check") };
        let engine = lab.engine([
            hook("good", lab.spec("guard.check")),
            hook("syntax", lab.spec("broken.check")),
            hook("function", lab.spec("guard.nothing")),
            hook("module", lab.spec("nowhere.check")),
            hook("interpreter", missing),
        ]);
        let warmed = engine.warm();
        let said: Vec<(String, Result<(), String>)> = warmed
            .into_iter()
            .map(|(entry, result)| {
                let result = result.map(|_| ()).map_err(|failure| {
                    assert_eq!(failure.kind, FailureKind::Import);
                    failure.detail
                });
                (entry.name.to_string(), result)
            })
            .collect();
        for (name, part) in [
            ("syntax", "broken.py:1"),
            ("function", "there is no such function"),
            ("module", "No module named"),
            ("interpreter", "/no/python"),
        ] {
            let (_, result) = said.iter().find(|(other, _)| other == name).unwrap();
            assert!(result.as_ref().unwrap_err().contains(part), "{result:?}");
        }
        assert_eq!(said[0], ("good".to_owned(), Ok(())));
        assert_eq!(survivors(lab.folder()).len(), 1);
    });
}

#[test]
fn commands_and_callbacks_need_no_warming() {
    one_way(Way::Blocking, |lab| {
        let hook = Hook::on(PreToolUse).callback(|_: &PreToolUse| crosier::Reply::none());
        assert!(lab.engine([hook]).warm().is_empty());
    });
}

#[test]
fn warming_takes_no_longer_than_the_hook_may() {
    one_way(Way::Blocking, |lab| {
        lab.write("slow.py", "import time\ntime.sleep(60)\ndef check(event): pass");
        let hook = Hook::on(PreToolUse).named("slow").timeout(ms(1000)).python(lab.spec("slow.check"));
        let engine = lab.engine([hook]);
        let begun = Instant::now();
        let failure = engine.warm().remove(0).1.unwrap_err();
        assert!(begun.elapsed() < Duration::from_millis(1000 + 100 + 1000), "{:?}", begun.elapsed());
        assert_eq!(failure.kind, FailureKind::Timeout);
        assert!(failure.detail.contains("'slow' was still being imported"), "{failure:?}");
        lab.expect_no_survivor();
    });
}

#[test]
fn warming_twice_changes_nothing() {
    each_way(|lab| {
        let desk = lab.desk("");
        assert!(desk.engine.warm()[0].1.is_ok());
        let pid = desk.pid();
        assert!(desk.engine.warm()[0].1.is_ok());
        assert_eq!(desk.pid(), pid);
        desk.fire_event(tool("pid")).denied(&pid.to_string());
    });
}
