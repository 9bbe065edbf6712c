//! Modules that change: the next call has the new code, and the worker stays.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use crosier::FailureKind;

use super::lab::{Lab, each_way, tool};

/// Writes a new version of a file, with a time of its own: two may be written within one tick of the clock.
fn change(lab: &Lab, name: &str, code: &str, version: u64) {
    let path = lab.write(name, code);
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + version);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn answer(text: &str) -> String {
    format!("import os\nfrom crosier import deny\ndef check(event): return deny(f'{text} {{os.getpid()}}')\n")
}

#[test]
fn a_changed_module_is_picked_up_without_losing_the_worker() {
    each_way(|lab| {
        change(lab, "guard.py", &answer("first"), 0);
        let engine = lab.engine([lab.guard(lab.spec("guard.check"))]);
        let reason = || lab.fire(&engine, tool("Bash")).reason.unwrap().to_string();
        let first = reason();
        let pid = first.strip_prefix("first ").unwrap().to_owned();
        for version in 1..6 {
            change(lab, "guard.py", &answer(&format!("number-{version}")), version);
            assert_eq!(reason(), format!("number-{version} {pid}"));
            assert_eq!(reason(), format!("number-{version} {pid}"));
        }
    });
}

#[test]
fn a_changed_neighbour_is_picked_up() {
    each_way(|lab| {
        change(lab, "rules.py", "WORD = 'old'", 0);
        lab.write(
            "guard.py",
            "from crosier import deny\nimport rules\ndef check(event): return deny(rules.WORD)",
        );
        let engine = lab.engine([lab.guard(lab.spec("guard.check"))]);
        assert_eq!(lab.fire(&engine, tool("Bash")).reason.as_deref(), Some("old"));
        change(lab, "rules.py", "WORD = 'new'", 1);
        assert_eq!(lab.fire(&engine, tool("Bash")).reason.as_deref(), Some("new"));
    });
}

#[test]
fn an_import_that_failed_is_tried_again_when_the_file_appears_or_changes() {
    each_way(|lab| {
        let engine = lab.engine([lab.guard(lab.spec("guard.check"))]);
        let fire = || {
            let outcome = lab.fire(&engine, tool("Bash"));
            let failure = outcome.reports[0].failure.clone();
            (failure.map(|failure| (failure.kind, failure.detail)), outcome)
        };
        for (version, code, cause) in [
            (0, None, "No module named"),
            (1, Some("def check(event) return"), "guard.py:1"),
            (2, Some("raise ValueError('not yet')"), "ValueError: not yet"),
            (3, Some("import nowhere_to_be_found"), "nowhere_to_be_found"),
            (4, Some("def other(event): pass"), "there is no such function"),
            (5, Some("import sys; sys.exit()"), "SystemExit"),
        ] {
            if let Some(code) = code {
                change(lab, "guard.py", code, version);
            }
            let (failure, outcome) = fire();
            let (kind, detail) = failure.unwrap();
            assert_eq!(kind, FailureKind::Import, "{detail}");
            assert!(detail.contains(cause), "{detail}");
            assert!(outcome.is_denied() && outcome.by_failure, "{outcome:?}");
            assert!(detail.contains("guard"), "{detail}");
        }
        change(lab, "guard.py", &answer("at last"), 6);
        assert!(fire().1.reason.unwrap().starts_with("at last"));
    });
}

#[test]
fn an_import_that_failed_is_not_tried_at_every_call() {
    each_way(|lab| {
        lab.write("guard.py", "open('tried', 'a').write('x')\nraise ValueError");
        let engine = lab.engine([lab.guard(lab.spec("guard.check"))]);
        for _ in 0..5 {
            assert!(lab.fire(&engine, tool("Bash")).is_denied());
        }
        // Writing beside the module changes its folder, which is watched for modules that appear: once more.
        assert!(lab.read("tried").len() <= 2, "{}", lab.read("tried"));
    });
}

#[test]
fn a_module_that_is_removed_denies() {
    each_way(|lab| {
        lab.write("guard.py", answer("here"));
        let engine = lab.engine([lab.guard(lab.spec("guard.check"))]);
        assert!(lab.fire(&engine, tool("Bash")).reason.unwrap().starts_with("here"));
        fs::remove_file(lab.path("guard.py")).unwrap();
        let outcome = lab.fire(&engine, tool("Bash"));
        assert_eq!(outcome.reports[0].failure.as_ref().unwrap().kind, FailureKind::Import, "{outcome:?}");
    });
}

#[test]
fn all_workers_of_a_pool_pick_the_change_up() {
    each_way(|lab| {
        let meet = |word: &str| {
            format!(
                "import os, time
from crosier import deny
def check(event):
    open(f'{word}-{{os.getpid()}}', 'w').close()
    while sum(name.startswith('{word}-') for name in os.listdir('.')) < 4: time.sleep(0.002)
    return deny('{word}')"
            )
        };
        change(lab, "guard.py", &meet("old"), 0);
        let engine = lab.engine([lab.guard(lab.spec("guard.check"))]);
        for (version, word) in [(0, "old"), (1, "new")] {
            change(lab, "guard.py", &meet(word), version);
            let fires: Vec<_> = (0..4).map(|_| lab.start(&engine, tool("Bash"))).collect();
            for fire in fires {
                assert_eq!(fire.join().unwrap().reason.as_deref(), Some(word));
            }
        }
    });
}

#[test]
fn a_neighbour_that_is_imported_during_a_call_is_picked_up_when_it_changes() {
    each_way(|lab| {
        change(lab, "rules.py", "WORD = 'old'", 0);
        let code = "def check(event):\n    import crosier, rules\n    return crosier.deny(rules.WORD)";
        lab.write("guard.py", code);
        let engine = lab.engine([lab.guard(lab.spec("guard.check"))]);
        for (version, word) in [(0, "old"), (1, "new"), (2, "newer")] {
            change(lab, "rules.py", &format!("WORD = '{word}'"), version);
            for _ in 0..2 {
                assert_eq!(lab.fire(&engine, tool("Bash")).reason.as_deref(), Some(word));
            }
        }
    });
}

#[test]
fn a_change_whose_time_was_set_back_is_picked_up() {
    each_way(|lab| {
        let code =
            |word: &str| format!("from crosier import deny\ndef check(event): return deny('{word}')\n");
        change(lab, "guard.py", &code("old"), 0);
        let engine = lab.engine([lab.guard(lab.spec("guard.check"))]);
        assert_eq!(lab.fire(&engine, tool("Bash")).reason.as_deref(), Some("old"));
        // More than a tick of the clock of the file system: within one, no stamp can tell two versions apart.
        std::thread::sleep(Duration::from_millis(50));
        change(lab, "guard.py", &code("new"), 0);
        assert_eq!(lab.fire(&engine, tool("Bash")).reason.as_deref(), Some("new"));
    });
}

#[test]
fn a_module_that_appears_in_an_earlier_folder_is_picked_up() {
    each_way(|lab| {
        change(lab, "lib/guard.py", &answer("lib"), 0);
        let mut spec = lab.spec("guard.check");
        spec.paths.push(lab.path("lib"));
        let engine = lab.engine([lab.guard(spec)]);
        assert!(lab.fire(&engine, tool("Bash")).reason.unwrap().starts_with("lib"));
        change(lab, "guard.py", &answer("here"), 0);
        assert!(lab.fire(&engine, tool("Bash")).reason.unwrap().starts_with("here"));
    });
}

#[test]
fn a_worker_whose_modules_are_gone_is_not_used_again() {
    each_way(|lab| {
        let code = "import os, sys
from crosier import deny
def check(event):
    reason = str(os.getpid())
    sys.modules.clear()
    return deny(reason)";
        lab.write("guard.py", code);
        let engine = lab.engine([lab.guard(lab.spec("guard.check"))]);
        let reason = || lab.fire(&engine, tool("Bash")).reason.unwrap().to_string();
        assert_ne!(reason(), reason());
    });
}
