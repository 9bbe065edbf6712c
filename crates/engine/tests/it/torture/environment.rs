//! What a hook finds in its environment, and what it does not.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crosier::payload::{PreToolUse, Stop};
use crosier::{Base, Engine, Event, FailureKind, Hook};
use serde_json::json;

use super::lab::{Guard, Lab, alone, each_way, event};

/// The environment that a hook has which writes it down.
fn seen_by(
    lab: &Lab,
    guard: Guard<'_>,
    inherited: &[(&str, &str)],
    event: impl Into<Event>,
) -> BTreeMap<String, String> {
    let inherited = inherited.iter().map(|(name, value)| (name.into(), value.into()));
    seen_with(lab, guard, Some(inherited.collect()), event)
}

fn seen_with(
    lab: &Lab,
    guard: Guard<'_>,
    inherited: Option<Vec<(OsString, OsString)>>,
    event: impl Into<Event>,
) -> BTreeMap<String, String> {
    let mut builder = Engine::builder().folder(lab.folder()).session_id("s-1");
    if let Some(inherited) = inherited {
        builder = builder.environment(inherited);
    }
    let outcome = lab.fire(&builder.hook(guard.hook()).build().unwrap(), event);
    assert_eq!(outcome.reports[0].failure, None, "{outcome:?}");
    let written = lab.read("env");
    let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    written.split('\0').filter_map(pair).collect()
}

fn writer(lab: &Lab) -> Guard<'_> {
    lab.argv(["/bin/sh", "-c", "env -0 > env"])
}

const PATH: (&str, &str) = ("PATH", "/usr/bin:/bin");

fn an_event() -> PreToolUse {
    let base = Base::default()
        .session_id("s-9".to_owned())
        .cwd("/tmp".to_owned())
        .agent_id("agent1".to_owned())
        .orchestrator_id("o-1".to_owned());
    event().with_base(base)
}

#[test]
fn every_variable_about_the_event_is_there() {
    each_way(|lab| {
        let env = seen_by(lab, writer(lab), &[PATH], an_event());
        let folder = lab.folder().to_str().unwrap();
        for (name, value) in [
            ("CROSIER_EVENT", "PreToolUse"),
            ("CROSIER_HOOK", "guard"),
            ("CROSIER_TOOL_NAME", "Bash"),
            ("CROSIER_SESSION_ID", "s-9"),
            ("CROSIER_AGENT_ID", "agent1"),
            ("CROSIER_ORCHESTRATOR_ID", "o-1"),
            ("CROSIER_PROJECT_DIR", folder),
            ("CROSIER_CONFIG_DIR", folder),
            ("CROSIER_CWD", "/tmp"),
            ("CROSIER_DEPTH", "1"),
            ("MASSGEN_HOOK_TYPE", "PreToolUse"),
            ("MASSGEN_TOOL_NAME", "Bash"),
            ("MASSGEN_SESSION_ID", "s-9"),
            ("MASSGEN_AGENT_ID", "agent1"),
            ("MASSGEN_ORCHESTRATOR_ID", "o-1"),
            ("CLAUDE_PROJECT_DIR", folder),
        ] {
            assert_eq!(env.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert!(!env.contains_key("CROSIER_ASYNC_PHASE"));
    });
}

#[test]
fn the_project_folder_of_the_agent_is_kept_and_the_depth_cannot_be_reset() {
    each_way(|lab| {
        let mut writer = writer(lab);
        writer.spec.env.push(("CROSIER_DEPTH".to_owned(), "0".to_owned()));
        let inherited = [PATH, ("CLAUDE_PROJECT_DIR", "/agent/project"), ("CROSIER_DEPTH", "2")];
        let env = seen_by(lab, writer, &inherited, an_event());
        let value = |name: &str| env.get(name).map(String::as_str);
        assert_eq!(value("CLAUDE_PROJECT_DIR"), Some("/agent/project"));
        assert_eq!(value("CROSIER_PROJECT_DIR"), lab.folder().to_str());
        assert_eq!(value("CROSIER_DEPTH"), Some("3"));
    });
}

#[test]
fn the_project_folder_is_clean() {
    each_way(|lab| {
        let mut writer = writer(lab);
        std::fs::create_dir_all(lab.folder().join("elsewhere")).unwrap();
        writer.spec.project_dir = lab.folder().join("elsewhere/..");
        let env = seen_by(lab, writer, &[PATH], an_event());
        let folder = lab.folder().canonicalize().unwrap();
        assert_eq!(env.get("CROSIER_PROJECT_DIR").map(String::as_str), folder.to_str());
    });
}

#[test]
fn what_an_event_does_not_have_is_empty_and_not_inherited() {
    each_way(|lab| {
        let hook = Hook::on(Stop).named("guard").command(writer(lab).spec);
        let inherited = ["CROSIER_TOOL_NAME", "MASSGEN_AGENT_ID", "CROSIER_ORCHESTRATOR_ID"];
        let inherited = inherited.map(|name| (name.into(), "of an outer hook".into()));
        let engine = Engine::builder().environment(inherited).hook(hook).build().unwrap();
        lab.fire(&engine, Stop::default());
        let env = lab.read("env");
        for name in ["CROSIER_TOOL_NAME", "MASSGEN_AGENT_ID", "CROSIER_ORCHESTRATOR_ID"] {
            assert!(env.contains(&format!("{name}=\0")), "{env}");
        }
    });
}

#[test]
fn without_an_environment_a_hook_has_a_plain_path_and_nothing_of_the_host() {
    each_way(|lab| {
        let env = seen_with(lab, writer(lab), None, event());
        assert_eq!(env["PATH"], "/usr/bin:/bin");
        let foreign = |name: &&String| {
            !["CROSIER_", "MASSGEN_", "CLAUDE_"].iter().any(|start| name.starts_with(start))
                // The shell's own.
                && !["PATH", "PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str())
        };
        assert_eq!(env.keys().filter(foreign).collect::<Vec<_>>(), Vec::<&String>::new());
    });
}

#[test]
fn credentials_and_loaders_are_held_back_and_the_rest_is_inherited() {
    each_way(|lab| {
        let held_back = [
            "OPENAI_API_KEY",
            "GH_TOKEN",
            "AWS_SECRET",
            "DB_PASSWORD",
            "PASSWORD_FILE",
            "GOOGLE_CREDENTIALS",
            "my_token",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "BASH_ENV",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PERL5OPT",
            "RUBYOPT",
            "NODE_OPTIONS",
            "GIT_DIR",
            "GIT_SSH_COMMAND",
        ];
        let passed = ["HOME", "LANG", "KEYBOARD", "TOKENIZERS_PARALLELISM", "MY_VARIABLE"];
        let mut inherited: Vec<_> = held_back.into_iter().chain(passed).map(|name| (name, "x")).collect();
        inherited.push(PATH);
        let env = seen_by(lab, writer(lab), &inherited, event());
        for name in held_back {
            assert!(!env.contains_key(name), "{name} came through");
        }
        for name in passed {
            assert_eq!(env.get(name).map(String::as_str), Some("x"), "{name}");
        }
    });
}

#[test]
fn a_name_in_env_pass_comes_through_and_no_other() {
    each_way(|lab| {
        let mut guard = writer(lab);
        guard.spec.env_pass = vec!["GH_TOKEN".to_owned(), "ABSENT_TOKEN".to_owned()];
        let env = seen_by(lab, guard, &[PATH, ("GH_TOKEN", "t"), ("NPM_TOKEN", "n")], event());
        assert_eq!(env.get("GH_TOKEN").map(String::as_str), Some("t"));
        assert!(!env.contains_key("NPM_TOKEN") && !env.contains_key("ABSENT_TOKEN"));
    });
}

#[test]
fn variables_of_the_hook_win() {
    each_way(|lab| {
        let guard = writer(lab).env("MODE", "strict").env("CROSIER_HOOK", "mine").env("EMPTY", "");
        let env = seen_by(lab, guard, &[PATH, ("MODE", "loose")], event());
        assert_eq!((&*env["MODE"], &*env["CROSIER_HOOK"], &*env["EMPTY"]), ("strict", "mine", ""));
    });
}

#[test]
fn values_that_the_environment_cannot_carry_are_left_out_and_the_hook_still_denies() {
    each_way(|lab| {
        let base = Base::default()
            .session_id("s\0s".to_owned())
            .orchestrator_id("x".repeat(32 * 1024 + 1))
            .agent_id("y".repeat(32 * 1024));
        let event = PreToolUse::new("t".repeat(1 << 20), json!({})).with_base(base);
        let env = seen_by(lab, writer(lab), &[PATH, ("CROSIER_TOOL_NAME", "outer")], event.clone());
        for name in ["TOOL_NAME", "SESSION_ID", "ORCHESTRATOR_ID"] {
            assert!(!env.contains_key(&format!("CROSIER_{name}")), "{name}");
            assert!(!env.contains_key(&format!("MASSGEN_{name}")), "{name}");
        }
        assert_eq!(env["CROSIER_AGENT_ID"].len(), 32 * 1024);
        // The event itself has them all.
        lab.shell("cat > copy; cat deny").fire_at(event).denied("no");
        let wire: serde_json::Value = serde_json::from_str(&lab.read("copy")).unwrap();
        assert_eq!(wire["session_id"], "s\0s");
        assert_eq!(wire["tool_name"].as_str().unwrap().len(), 1 << 20);
    });
}

#[test]
fn bytes_in_the_environment_that_are_no_text_are_passed_on() {
    each_way(|lab| {
        let odd = (OsString::from("ODD"), OsString::from_vec(vec![b'a', 0xff, b'b']));
        let guard = lab.shell(r#"test "$ODD" = "$(printf 'a\377b')" && exit 2"#);
        let engine = Engine::builder().environment([odd]).hook(guard.hook()).build().unwrap();
        assert!(lab.fire(&engine, event()).is_denied());
    });
}

#[test]
fn an_inherited_variable_that_nobody_can_carry_does_not_stop_the_hooks() {
    each_way(|lab| {
        let guard = lab.shell("exit 2");
        let odd = [("NUL", "a\0b"), ("", "nameless"), ("A=B", "x"), ("N\0L", "x")];
        let odd = odd.map(|(name, value)| (name.into(), value.into()));
        let engine = Engine::builder().environment(odd).hook(guard.hook()).build().unwrap();
        let outcome = lab.fire(&engine, event());
        assert_eq!(outcome.reports[0].failure, None, "{outcome:?}");
        assert!(outcome.is_denied());
    });
}

#[test]
fn hooks_that_start_agents_that_start_hooks_are_refused_when_it_goes_too_deep() {
    each_way(|lab| {
        let fire = |depth: &str| {
            let inherited = [("CROSIER_DEPTH".into(), depth.into())];
            let engine = Engine::builder().environment(inherited).hook(lab.shell("exit 2").hook());
            lab.fire(&engine.build().unwrap(), event())
        };
        for depth in ["0", "3", ""] {
            assert!(fire(depth).reports[0].failure.is_none(), "{depth}");
        }
        for depth in ["4", "5", "4294967295", "99999999999", "-1", "nonsense"] {
            let outcome = fire(depth);
            let failure = outcome.reports[0].failure.as_ref().unwrap();
            assert_eq!(failure.kind, FailureKind::Delivery);
            assert!(failure.detail.contains("levels deep"), "{failure}");
            assert!(outcome.is_denied() && outcome.by_failure, "{outcome:?}");
        }
    });
}

/// Runs in the hook of a hook of a hook: each level is a process with an engine whose only hook is this test.
#[test]
fn an_engine_in_the_hook_of_an_engine_ends() {
    alone(|| {
        let log = std::env::temp_dir().join(format!("crosier-torture-depth-{}", outermost()));
        let exe = std::env::current_exe().unwrap();
        let name = "torture::environment::an_engine_in_the_hook_of_an_engine_ends";
        let line = format!(
            "echo \"$CROSIER_DEPTH\" >> '{}'; exec '{}' --exact {name} --test-threads=1 > /dev/null 2>&1",
            log.display(),
            exe.display()
        );
        let hook = Hook::on(PreToolUse).command(crosier::CommandSpec::shell(line, "/"));
        let engine = Engine::builder().environment(inherited()).hook(hook).build().unwrap();
        let outcome = engine.fire_blocking(event());
        let failure = outcome.failures().next().map(|(_, failure)| failure.kind);
        // The innermost engine refuses and says so; the levels above it go on.
        assert_eq!(failure, (depth() == 4).then_some(FailureKind::Delivery), "{outcome:?}");
        if depth() == 0 {
            let levels = std::fs::read_to_string(&log).unwrap();
            std::fs::remove_file(&log).unwrap();
            assert_eq!(levels, "1\n2\n3\n4\n");
        }
    });
}

#[expect(clippy::disallowed_methods, reason = "this test is a host, and hands its environment on")]
fn inherited() -> Vec<(OsString, OsString)> {
    let mut all: Vec<_> = std::env::vars_os().filter(|(name, _)| name != "OUTERMOST").collect();
    all.push(("OUTERMOST".into(), outermost().into()));
    all
}

#[expect(clippy::disallowed_methods, reason = "this test is a host, and hands its environment on")]
fn outermost() -> String {
    std::env::var("OUTERMOST").unwrap_or_else(|_| std::process::id().to_string())
}

#[expect(clippy::disallowed_methods, reason = "this test is a host, and hands its environment on")]
fn depth() -> u32 {
    std::env::var("CROSIER_DEPTH").ok().and_then(|depth| depth.parse().ok()).unwrap_or(0)
}
