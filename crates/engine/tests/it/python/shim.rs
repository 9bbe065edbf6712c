//! The interpreter behind the one that is named: shims, wrappers, environments of their own.

use crosier::{Engine, FailureKind, PythonSpec};

use super::lab::{Way, each_way, one_way, python, tool};

#[test]
fn a_shim_is_asked_once_for_the_interpreter_behind_it() {
    each_way(|lab| {
        let shim = lab.script("python", format!("#!/bin/sh\necho >> started\nexec {} \"$@\"\n", python()));
        let desk = lab.desk_with("def dies(event): os._exit(1)", |spec| PythonSpec {
            interpreter: shim.clone(),
            ..spec
        });
        for _ in 0..4 {
            assert!(desk.pid() > 0);
            desk.fire("dies").failed(FailureKind::WorkerLost, &[]);
        }
        assert_eq!(lab.read("started").len(), 1);
        // Another engine in the same process, folder and environment has it from the first.
        let other = lab.desk_with("", |spec| PythonSpec { interpreter: shim.clone(), ..spec });
        assert!(other.pid() > 0);
        assert_eq!(lab.read("started").len(), 1);
    });
}

#[test]
fn what_a_wrapper_sets_is_there_in_every_worker() {
    each_way(|lab| {
        let lines = "#!/bin/sh\necho >> started\nexport LICENCE='a \"b\" \u{e4}' PYTHONPATH=/x\nunset HOME\n";
        let wrapper = lab.script("python", format!("{lines}exec {} \"$@\"\n", python()));
        let code = "def dies(event): os._exit(1)
def shows(event): return deny(f\"{os.environ.get('LICENCE')} {os.environ.get('HOME')} {'/x' in sys.path}\")";
        lab.module("guard.py", code);
        let spec = PythonSpec { interpreter: wrapper, ..lab.spec("guard.check") };
        let engine =
            Engine::builder().environment([("HOME".into(), "/home/me".into())]).hook(lab.guard(spec));
        let engine = engine.build().unwrap();
        for _ in 0..2 {
            let outcome = lab.fire(&engine, tool("shows"));
            assert_eq!(outcome.reason.as_deref(), Some("a \"b\" \u{e4} None False"), "{outcome:?}");
            lab.fire(&engine, tool("dies"));
        }
        assert_eq!(lab.read("started").len(), 1);
    });
}

#[test]
fn a_relative_interpreter_is_relative_to_the_configuration() {
    each_way(|lab| {
        std::fs::create_dir(lab.path("bin")).unwrap();
        std::os::unix::fs::symlink(python(), lab.path("bin/python")).unwrap();
        let named = |spec| PythonSpec { interpreter: "bin/python".to_owned(), ..spec };
        assert!(lab.desk_with("", named).pid() > 0);
    });
}

#[test]
fn an_interpreter_behind_a_shim_that_is_gone_is_asked_for_again() {
    each_way(|lab| {
        let real = lab.path("real");
        std::os::unix::fs::symlink(python(), &real).unwrap();
        // An interpreter calls itself by the path that it was started with.
        let shim =
            lab.script("python", format!("#!/bin/sh\necho >> started\nexec {} \"$@\"\n", real.display()));
        let desk = lab.desk_with("def dies(event): os._exit(1)", |spec| PythonSpec {
            interpreter: shim.clone(),
            ..spec
        });
        assert!(desk.pid() > 0);
        desk.fire("dies").failed(FailureKind::WorkerLost, &[]);
        std::fs::remove_file(&real).unwrap();
        lab.script("python", format!("#!/bin/sh\necho >> started\nexec {} \"$@\"\n", python()));
        assert!(desk.pid() > 0);
        assert_eq!(lab.read("started").len(), 2);
    });
}

#[test]
fn a_venv_is_the_interpreter_of_its_hooks() {
    one_way(Way::Blocking, |lab| {
        // What makes a venv: this file beside the folder of the interpreter.
        let home = std::path::Path::new(python()).parent().unwrap();
        lab.write(
            "venv/pyvenv.cfg",
            format!("home = {}\ninclude-system-site-packages = false\n", home.display()),
        );
        std::fs::create_dir_all(lab.path("venv/bin")).unwrap();
        std::os::unix::fs::symlink(python(), lab.path("venv/bin/python")).unwrap();
        let interpreter = lab.path("venv/bin/python").display().to_string();
        let desk = lab
            .desk_with("def prefix(event): return deny(sys.prefix)\ndef dies(event): os._exit(1)", |spec| {
                PythonSpec { interpreter: interpreter.clone(), ..spec }
            });
        for _ in 0..2 {
            desk.fire("prefix").denied(lab.path("venv").to_str().unwrap());
            // The second worker is started by the name that the first gave itself: still the venv's.
            desk.fire("dies").failed(FailureKind::WorkerLost, &[]);
        }
    });
}
