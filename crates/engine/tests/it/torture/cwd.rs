//! Where a hook runs.

use std::fs;

use crosier::payload::PreToolUse;
use crosier::{Base, Cwd, FailureKind};

use super::lab::{Lab, each_way, event};

fn event_in(folder: &str) -> PreToolUse {
    event().with_base(Base::default().cwd(folder.to_owned()))
}

/// A folder for the agent, apart from the configuration's.
fn agents_folder(lab: &Lab) -> String {
    let folder = lab.path("agent");
    fs::create_dir_all(&folder).unwrap();
    folder.canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_hook_runs_in_the_folder_of_its_configuration_wherever_the_agent_is() {
    each_way(|lab| {
        let agent = agents_folder(lab);
        let trial = lab.shell("pwd -P; echo \"$CROSIER_CWD\"").text().fire_at(event_in(&agent));
        let home = lab.folder().canonicalize().unwrap();
        assert_eq!(trial.outcome.context, [format!("{}\n{agent}", home.display())]);
    });
}

#[test]
fn a_hook_runs_where_the_event_is_when_it_says_so() {
    each_way(|lab| {
        let agent = agents_folder(lab);
        let line = "pwd -P; echo \"$CROSIER_PROJECT_DIR\"";
        let trial = lab.shell(line).cwd(Cwd::Event).text().fire_at(event_in(&agent));
        assert_eq!(trial.outcome.context, [format!("{agent}\n{}", lab.folder().display())]);
    });
}

#[test]
fn a_hook_in_the_folder_of_the_event_fails_when_that_is_gone() {
    each_way(|lab| {
        let trial = lab.shell("cat deny").cwd(Cwd::Event).fire_at(event_in("/no/such/folder"));
        trial.failed(FailureKind::Spawn, "its working directory does not exist: /no/such/folder");
    });
}

#[test]
fn a_folder_of_the_event_that_is_no_path_is_a_failure() {
    each_way(|lab| {
        for folder in ["", "a\0b", "\u{fffd}"] {
            let trial = lab.shell("cat allow").cwd(Cwd::Event).fire_at(event_in(folder));
            trial.failed_somehow(FailureKind::Spawn);
        }
    });
}

#[test]
fn a_hook_that_deletes_its_folder_while_it_runs_is_heard() {
    each_way(|lab| {
        let folder = lab.path("short-lived");
        fs::create_dir(&folder).unwrap();
        let line = "rmdir ../short-lived; echo no >&2; exit 2";
        lab.shell(line).cwd(Cwd::Folder(folder.clone())).fire().denied("no");
        assert!(!folder.exists());
    });
}

#[test]
fn words_of_argv_reach_the_program_untouched_by_a_shell() {
    each_way(|lab| {
        let words = ["printf", "%s\\n", "$HOME", "a b", "*", "; exit 2", "`id`", "", "\u{e4}'\""];
        let trial = lab.argv(words).text().fire();
        trial.no_opinion();
        assert_eq!(trial.outcome.context, [words[2..].join("\n")]);
    });
}
