//! What a worker finds around it: variables, folders, where modules come from.

use std::ffi::OsString;

use crosier::payload::PreToolUse;
use crosier::{Base, Cwd, Engine, FailureKind, PythonSpec};

use super::lab::{Lab, each_way, tool};

const SHOW: &str = "
def shows(event):
    names = event.args['command'].split()
    return deny(' '.join(f'{name}={os.environ.get(name)}' for name in names))
def path(event): return deny(os.pathsep.join(sys.path))
def where(event): return deny(os.getcwd())
def flags(event): return deny(f'{sys.flags.isolated} {sys.flags.utf8_mode} {sys.flags.no_user_site}')
";

/// What the hook finds of these names in an engine with this environment.
#[track_caller]
fn expect(lab: &Lab, change: impl Fn(PythonSpec) -> PythonSpec, given: &[(&str, &str)], found: &str) {
    lab.module("guard.py", SHOW);
    let variables = given.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let engine = Engine::builder().environment(variables).hook(lab.guard(change(lab.spec("guard.check"))));
    let names: Vec<&str> = found.split(' ').map(|pair| pair.split_once('=').unwrap().0).collect();
    let event = PreToolUse::new("shows", serde_json::json!({"command": names.join(" ")}));
    let outcome = lab.fire(&engine.build().unwrap(), event);
    assert_eq!(outcome.reason.as_deref(), Some(found), "{outcome:?}");
}

#[test]
fn credentials_and_loaders_are_held_back_from_workers() {
    each_way(|lab| {
        let given = [
            ("HOME", "/home/me"),
            ("ANTHROPIC_API_KEY", "x"),
            ("GH_TOKEN", "x"),
            ("AWS_SECRET", "x"),
            ("DB_PASSWORD", "x"),
            ("MY_CREDENTIALS", "x"),
            ("LD_PRELOAD", "x"),
            ("GIT_DIR", "x"),
            ("PYTHONPATH", "/x"),
            ("PYTHONSTARTUP", "/x"),
        ];
        let found = "HOME=/home/me ANTHROPIC_API_KEY=None GH_TOKEN=None AWS_SECRET=None DB_PASSWORD=None \
                     MY_CREDENTIALS=None LD_PRELOAD=None GIT_DIR=None PYTHONPATH=None PYTHONSTARTUP=None";
        expect(lab, |spec| spec, &given, found);
    });
}

#[test]
fn env_pass_lets_one_through_and_env_adds_one() {
    each_way(|lab| {
        let change = |mut spec: PythonSpec| {
            spec.env_pass.push("GH_TOKEN".to_owned());
            spec.env.push(("MODE".to_owned(), "strict".to_owned()));
            spec.env.push(("HOME".to_owned(), "/elsewhere".to_owned()));
            spec
        };
        let given = [("HOME", "/home/me"), ("GH_TOKEN", "t"), ("NPM_TOKEN", "n")];
        expect(lab, change, &given, "HOME=/elsewhere GH_TOKEN=t NPM_TOKEN=None MODE=strict");
    });
}

#[test]
fn a_worker_is_told_the_folder_of_its_configuration_and_how_deep_it_is() {
    each_way(|lab| {
        let folder = lab.folder().display().to_string();
        let found = format!("CROSIER_PROJECT_DIR={folder} CLAUDE_PROJECT_DIR={folder} CROSIER_DEPTH=3");
        expect(lab, |spec| spec, &[("CROSIER_DEPTH", "2"), ("CROSIER_PROJECT_DIR", "/forged")], &found);
    });
}

#[test]
fn python_variables_from_outside_change_nothing() {
    each_way(|lab| {
        lab.module("guard.py", SHOW);
        lab.write("evil/json.py", "raise SystemExit");
        lab.write("evil/sitecustomize.py", "raise SystemExit");
        let evil = lab.path("evil").display().to_string();
        let given = [
            ("PYTHONPATH", evil.as_str()),
            ("PYTHONHOME", "/nowhere"),
            ("PYTHONINSPECT", "1"),
            ("PYTHONUSERBASE", &evil),
            ("PYTHONIOENCODING", "ascii"),
            ("PYTHONWARNINGS", "error"),
        ];
        let variables = given.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let engine = Engine::builder()
            .environment(variables)
            .hook(lab.guard(lab.spec("guard.check")))
            .build()
            .unwrap();
        assert_eq!(lab.fire(&engine, tool("flags")).reason.as_deref(), Some("1 1 1"));
        let path = lab.fire(&engine, tool("path")).reason.unwrap();
        assert!(!path.contains("evil"), "{path}");
    });
}

#[test]
fn the_configurations_folder_is_at_the_end_of_the_path_and_cwd_is_nowhere() {
    each_way(|lab| {
        lab.write("agent/json.py", "raise SystemExit");
        let desk = lab.desk_with(SHOW, |mut spec| {
            spec.paths.push(lab.path("lib"));
            spec.cwd = Cwd::Event;
            spec
        });
        let base = Base::default().cwd(lab.path("agent").display().to_string());
        let event = tool("path").with_base(base);
        let reason = desk.fire_event(event).outcome.reason.unwrap();
        let found: Vec<&str> = reason.split(':').collect();
        let lib = lab.path("lib").display().to_string();
        assert_eq!(found[found.len() - 2..], [lab.folder().to_str().unwrap(), &lib]);
        assert!(!found.iter().any(|folder| folder.is_empty() || folder.contains("agent")), "{found:?}");
    });
}

#[test]
fn pythonpath_counts_when_it_is_asked_for_or_set() {
    each_way(|lab| {
        lab.module("guard.py", SHOW);
        lab.write("lib/extra.py", "from crosier import deny\ndef check(event): return deny('from lib')");
        let given = format!("{}:relative", lab.path("lib").display());
        let fire = |change: fn(&mut PythonSpec)| {
            let mut spec = lab.spec("extra.check");
            change(&mut spec);
            let variables = [(OsString::from("PYTHONPATH"), OsString::from(&given))];
            let engine = Engine::builder().environment(variables).hook(lab.guard(spec)).build().unwrap();
            lab.fire(&engine, tool("Bash"))
        };
        let outcome = fire(|_| ());
        assert_eq!(outcome.reports[0].failure.as_ref().unwrap().kind, FailureKind::Import, "{outcome:?}");
        let passed = fire(|spec| spec.env_pass.push("PYTHONPATH".to_owned()));
        assert_eq!(passed.reason.as_deref(), Some("from lib"), "{passed:?}");
        // One of the configuration's own is relative to it.
        let set = fire(|spec| spec.env.push(("PYTHONPATH".to_owned(), "lib".to_owned())));
        assert_eq!(set.reason.as_deref(), Some("from lib"), "{set:?}");
    });
}

#[test]
fn a_hook_runs_where_it_is_told() {
    each_way(|lab| {
        for folder in ["sub", "agent"] {
            std::fs::create_dir(lab.path(folder)).unwrap();
        }
        let real = |name: &str| std::fs::canonicalize(lab.path(name)).unwrap().display().to_string();
        let event = || {
            let base = Base::default().cwd(lab.path("agent").display().to_string());
            tool("where").with_base(base)
        };
        for (cwd, found) in [
            (Cwd::Folder(lab.folder().to_owned()), real("")),
            (Cwd::Folder(lab.path("sub")), real("sub")),
            (Cwd::Event, real("agent")),
        ] {
            let desk = lab.desk_with(SHOW, |spec| PythonSpec { cwd: cwd.clone(), ..spec });
            desk.fire_event(event()).denied(found.trim_end_matches('/'));
        }
    });
}

#[test]
fn two_hooks_of_one_worker_run_each_in_its_own_folder() {
    each_way(|lab| {
        std::fs::create_dir(lab.path("sub")).unwrap();
        lab.module("guard.py", "def where(event): return {'systemMessage': f'{os.getcwd()} {os.getpid()}'}");
        let hook = |name: &str, folder: &str| {
            let spec = PythonSpec { cwd: Cwd::Folder(lab.path(folder)), ..lab.spec("guard.where") };
            crosier::Hook::on(PreToolUse).named(name).python(spec)
        };
        let engine = lab.engine([hook("a", ""), hook("b", "sub"), hook("c", "")]);
        let outcome = lab.fire(&engine, tool("Bash"));
        let said: Vec<(&str, &str)> =
            outcome.context.iter().map(|line| line.split_once(' ').unwrap()).collect();
        let home = std::fs::canonicalize(lab.folder()).unwrap();
        assert_eq!(
            said.iter().map(|(folder, _)| folder.to_string()).collect::<Vec<_>>(),
            [home.display().to_string(), home.join("sub").display().to_string(), home.display().to_string(),]
        );
        assert!(said.iter().all(|(_, pid)| *pid == said[0].1), "{said:?}");
    });
}

#[test]
fn a_folder_whose_name_is_no_text_is_found() {
    use std::os::unix::ffi::OsStringExt;
    each_way(|lab| {
        let name = OsString::from_vec(b"f\xf6lder".to_vec());
        let folder = lab.folder().join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(
            folder.join("odd.py"),
            "from crosier import deny\ndef check(event): return deny('found')",
        )
        .unwrap();
        let spec = PythonSpec {
            interpreter: super::lab::python().to_owned(),
            ..PythonSpec::new("odd.check", &folder).unwrap()
        };
        let engine = lab.engine([lab.guard(spec)]);
        let outcome = lab.fire(&engine, tool("Bash"));
        assert_eq!(outcome.reason.as_deref(), Some("found"), "{outcome:?}");
    });
}

#[test]
fn a_folder_of_the_event_that_is_gone_denies() {
    each_way(|lab| {
        let desk = lab.desk_with(SHOW, |spec| PythonSpec { cwd: Cwd::Event, ..spec });
        let base = Base::default().cwd("/nowhere/at/all".to_owned());
        let trial = desk.fire_event(tool("where").with_base(base));
        trial.failed(FailureKind::Delivery, &["/nowhere/at/all"]);
    });
}
