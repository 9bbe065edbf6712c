//! Programs that cannot be started: the failure `spawn`, a message for each cause, and the policy applied.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use crosier::{Cwd, Engine, FailureKind};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::lab::{Lab, Way, each_way, event, ms, one_way};

fn expect_spawn_failure(trial: &super::lab::Trial<'_>, detail: impl Into<String>) {
    trial.failed(FailureKind::Spawn, detail);
    trial.took_at_most(ms(20_000));
}

#[test]
fn a_program_that_does_not_exist_says_so() {
    each_way(|lab| {
        let detail = "the program does not exist: /no/such/program";
        expect_spawn_failure(&lab.argv(["/no/such/program", "x"]).fire(), detail);
    });
}

#[test]
fn a_program_that_path_does_not_have_says_so() {
    each_way(|lab| {
        let detail = "the program `no-such-program` is in no folder of its PATH";
        expect_spawn_failure(&lab.argv(["no-such-program"]).fire(), detail);
    });
}

#[test]
fn a_program_is_not_looked_for_in_relative_folders_of_path() {
    each_way(|lab| {
        lab.script("planted", "#!/bin/sh\ncat allow\n");
        let detail = "the program `planted` is in no folder of its PATH";
        expect_spawn_failure(&lab.argv(["planted"]).env("PATH", ".::bin:/usr/bin:/bin").fire(), detail);
    });
}

#[test]
fn a_program_is_looked_for_in_the_path_that_the_hook_has() {
    each_way(|lab| {
        lab.script("mine", "#!/bin/sh\necho no >&2; exit 2\n");
        let path = format!("/nowhere:{}:/usr/bin:/bin", lab.folder().display());
        lab.argv(["mine"]).env("PATH", &path).fire().denied("no");
    });
}

#[test]
fn a_program_without_its_exec_bit_says_so() {
    each_way(|lab| {
        let path = lab.script("hook.sh", "#!/bin/sh\ncat allow\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let detail = format!("the program is not executable: {path}; try `chmod +x`");
        expect_spawn_failure(&lab.argv([&path]).fire(), detail);
    });
}

#[test]
fn a_program_that_is_a_folder_says_so() {
    each_way(|lab| {
        let path = lab.folder().display().to_string();
        expect_spawn_failure(&lab.argv([&path]).fire(), format!("the program is a folder: {path}"));
    });
}

#[test]
fn a_missing_interpreter_says_so() {
    each_way(|lab| {
        let path = lab.script("hook.py", "#!/no/such/python -I\nprint('{}')\n");
        let detail =
            format!("its first line names an interpreter that does not exist: `/no/such/python` in {path}");
        expect_spawn_failure(&lab.argv([&path]).fire(), detail);
    });
}

#[test]
fn a_first_line_with_a_carriage_return_says_so() {
    each_way(|lab| {
        let path = lab.script("hook.sh", "#!/bin/sh\r\ncat allow\r\n");
        let detail = format!(
            "its first line ends in a carriage return, so no `/bin/sh` is found: {path}; save it with Unix line ends"
        );
        expect_spawn_failure(&lab.argv([&path]).fire(), detail);
    });
}

#[test]
fn a_program_without_a_first_line_says_so() {
    each_way(|lab| {
        let path = lab.script("hook", "cat allow\n");
        let detail = format!("the program has no `#!` line and is not a binary: {path}");
        expect_spawn_failure(&lab.argv([&path]).fire(), detail);
    });
}

const TOO_LARGE: &str = "its arguments and environment are too large for the operating system";

#[test]
fn arguments_that_are_too_large_say_so() {
    each_way(|lab| {
        let huge = "x".repeat(4 << 20);
        expect_spawn_failure(&lab.argv(["/bin/true", &huge]).fire(), TOO_LARGE);
        expect_spawn_failure(&lab.shell(format!(": {huge}")).fire(), TOO_LARGE);
    });
}

#[test]
fn an_environment_that_is_too_large_says_so() {
    each_way(|lab| {
        let variables = (0..400).map(|n| (format!("BALLAST_{n}").into(), OsString::from("x".repeat(30_000))));
        let engine = Engine::builder().folder(lab.folder()).environment(variables);
        let engine = engine.hook(lab.shell("cat allow").hook()).build().unwrap();
        let outcome = lab.fire(&engine, event());
        let failure = outcome.reports[0].failure.as_ref().unwrap();
        assert_eq!((failure.kind, failure.detail.as_str()), (FailureKind::Spawn, TOO_LARGE));
        assert_eq!(outcome.is_denied(), lab.way == Way::Blocking, "{outcome:?}");
    });
}

#[test]
fn arguments_that_the_operating_system_cannot_carry_are_a_failure() {
    each_way(|lab| {
        lab.argv(["/bin/echo", "a\0b"]).fire().failed_somehow(FailureKind::Spawn);
        lab.shell("cat allow # \0").fire().failed_somehow(FailureKind::Spawn);
    });
}

#[test]
fn no_program_at_all_says_so() {
    each_way(|lab| expect_spawn_failure(&lab.argv(Vec::<String>::new()).fire(), "its `argv` is empty"));
}

#[test]
fn a_folder_that_was_deleted_says_so() {
    each_way(|lab| {
        let gone = lab.path("gone");
        fs::create_dir(&gone).unwrap();
        let guard = lab.shell("cat allow").cwd(Cwd::Folder(gone.clone()));
        fs::remove_dir(&gone).unwrap();
        let detail = format!("its working directory does not exist: {}", gone.display());
        expect_spawn_failure(&guard.fire(), detail);
    });
}

#[test]
fn a_folder_that_is_a_file_says_so() {
    each_way(|lab| {
        let file = lab.path("deny");
        let guard = lab.shell("cat allow").cwd(Cwd::Folder(file.clone()));
        let detail = format!("its working directory is a file, not a folder: {}", file.display());
        expect_spawn_failure(&guard.fire(), detail);
    });
}

#[test]
fn a_program_that_is_being_written_is_waited_for_until_the_deadline() {
    each_way(|lab| {
        let path = lab.path("program");
        fs::copy("/bin/echo", &path).unwrap();
        let open = fs::OpenOptions::new().append(true).open(&path).unwrap();
        let program = path.to_str().unwrap();
        let trial = lab.argv([program, r#"{"decision":"allow"}"#]).timeout(ms(250)).fire();
        trial.failed_somehow(FailureKind::Spawn);
        let detail = &trial.report().failure.as_ref().unwrap().detail;
        assert!(detail.contains("Text file busy"), "{detail}");
        drop(open);
        lab.argv([program, r#"{"decision":"deny","reason":"no"}"#]).fire().denied("no");
    });
}

#[test]
fn a_program_that_is_being_written_does_not_hold_up_a_shutdown() {
    each_way(|lab| {
        let path = lab.path("program");
        fs::copy("/bin/echo", &path).unwrap();
        let open = fs::OpenOptions::new().append(true).open(&path).unwrap();
        let engine =
            lab.engine([lab.argv([path.to_str().unwrap()]).timeout(Duration::from_secs(600)).hook()]);
        let listener = engine.subscribe(8);
        let fire = lab.start(&engine, event());
        assert!(listener.next_within(Duration::from_secs(20)).is_some());
        engine.shut_down();
        let outcome = fire.join().unwrap();
        assert_eq!(outcome.reports[0].failure.as_ref().unwrap().kind, FailureKind::Error, "{outcome:?}");
        drop(open);
    });
}

#[test]
fn a_program_that_was_replaced_since_it_was_registered_runs_as_it_is_now() {
    each_way(|lab| {
        let path = lab.script("hook.sh", "#!/bin/sh\ncat allow\n");
        let engine = lab.engine([lab.argv([&path]).hook()]);
        assert_eq!(lab.fire(&engine, event()).decision, Some(crosier::Decision::Allow));
        lab.script("new", "#!/bin/sh\ncat deny\n");
        fs::rename(lab.path("new"), &path).unwrap();
        assert!(lab.fire(&engine, event()).is_denied());
        fs::remove_file(&path).unwrap();
        let outcome = lab.fire(&engine, event());
        let failure = outcome.reports[0].failure.as_ref().unwrap();
        assert_eq!(failure.kind, FailureKind::Spawn);
        assert_eq!(failure.detail, format!("the program does not exist: {path}"));
    });
}

#[test]
fn a_hook_that_rewrites_itself_while_it_runs_is_heard_and_runs_anew_next_time() {
    each_way(|lab| {
        let path = lab.script(
            "hook.sh",
            "#!/bin/sh\nprintf '#!/bin/sh\\necho changed >&2; exit 2\\n' > next; chmod +x next\n\
             mv next \"$0\"\necho first >&2; exit 2\n",
        );
        let engine = lab.engine([lab.argv([&path]).hook()]);
        assert_eq!(lab.fire(&engine, event()).reason.as_deref(), Some("first"));
        assert_eq!(lab.fire(&engine, event()).reason.as_deref(), Some("changed"));
    });
}

#[test]
fn a_hook_that_edits_its_own_configuration_changes_nothing_until_that_is_loaded_again() {
    each_way(|lab| {
        let path = lab.write(
            "crosier.yaml",
            "hooks:\n  PreToolUse:\n    - name: guard\n      command: 'echo \"hooks: {Stop: [{command: ls}]}\" > crosier.yaml; exit 2'\n",
        );
        let load = || {
            let config = crosier::config::Loader::default().file(&path).load().unwrap();
            Engine::builder().config(config).build().unwrap()
        };
        let engine = load();
        for _ in 0..2 {
            assert_eq!(lab.fire(&engine, event()).by.as_deref(), Some("guard"));
        }
        assert!(lab.fire(&load(), event()).reports.is_empty());
    });
}

/// Does something while this process can open only so few descriptors more.
fn with_descriptors_left<T>(more: usize, work: impl FnOnce() -> T) -> T {
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(200), ..before }).unwrap();
    let mut taken: Vec<fs::File> = std::iter::from_fn(|| fs::File::open("/dev/null").ok()).collect();
    taken.truncate(taken.len() - more);
    let done = work();
    setrlimit(Resource::Nofile, before).unwrap();
    done
}

fn expect_no_descriptors(lab: &Lab, more: usize) {
    let engine = lab.engine([lab.shell("cat allow").hook()]);
    let runtime = super::lab::runtime();
    let outcome = with_descriptors_left(more, || match lab.way {
        Way::Blocking => engine.fire_blocking(event()),
        Way::Async => runtime.block_on(engine.fire(event())),
    });
    let failure = outcome.reports[0].failure.as_ref().unwrap_or_else(|| panic!("{more}: {outcome:?}"));
    assert_eq!(failure.kind, FailureKind::Spawn, "{outcome:?}");
    assert!(failure.detail.contains("Too many open files"), "{failure}");
    assert_eq!(outcome.is_denied(), lab.way == Way::Blocking, "{outcome:?}");
    drop(runtime);
    // It was not broken by that: what it runs now can still be stopped.
    let engine = lab.engine([lab.shell("sleep 60").hook()]);
    with_descriptors_left(more, || engine.fire_blocking(event()));
    let fire = lab.start(&engine, event());
    assert!(super::vitals::until(|| !super::vitals::survivors(lab.folder()).is_empty()));
    engine.shut_down();
    assert!(fire.join().unwrap().reports[0].failure.is_some());
}

#[test]
fn no_descriptors_left_says_so_and_the_next_fire_works() {
    each_way(|lab| expect_no_descriptors(lab, 0));
}

#[test]
fn too_few_descriptors_left_say_so_and_the_next_fire_works() {
    each_way(|lab| (1..6).for_each(|more| expect_no_descriptors(lab, more)));
}

#[test]
fn any_number_of_descriptors_left_gives_the_deny_or_a_failure() {
    one_way(Way::Blocking, |lab| {
        for more in 0..14 {
            let engine = lab.engine([lab.shell("cat deny").hook()]);
            let outcome = with_descriptors_left(more, || engine.fire_blocking(event()));
            assert!(outcome.is_denied(), "{more}: {outcome:?}");
        }
    });
}
