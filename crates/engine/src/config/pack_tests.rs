use super::super::{Config, Loader, Problems};
use super::*;

const GIT: Pack = Pack::new(
    "test:git",
    "1",
    "guards for git",
    "hooks:
  PreToolUse:
    - {name: no-force, matcher: Bash, command: ./pack.sh, priority: 10, env: {A: a}}
    - {name: no-rm, matcher: Bash, command: ./pack.sh}
",
);

fn loader() -> Loader {
    Loader::new(Catalog::default()).pack(GIT)
}

fn load(text: &str) -> Result<Config, Problems> {
    loader().text("crosier.yaml", text, "/").load()
}

fn hooks(config: &Config) -> Vec<(&str, i32)> {
    config.hooks.iter().map(|hook| (hook.name().unwrap_or_default(), hook.priority)).collect()
}

#[test]
fn the_hooks_of_a_pack_come_before_those_of_the_file() {
    let config = load("extends: test:git\nhooks: {PreToolUse: [{name: own, command: x}]}").unwrap();
    assert_eq!(hooks(&config), [("no-force", 10), ("no-rm", 100), ("own", 100)]);
    assert!(load("extends: [test:git]").is_ok(), "a pack alone is a configuration");
}

#[test]
fn the_mode_of_a_file_holds_for_its_packs() {
    let config =
        load("extends: test:git\nmode: warn\nhooks: {PreToolUse: [{name: no-rm, mode: enforce}]}").unwrap();
    let modes: Vec<_> = config.hooks.iter().map(|hook| hook.enforcement).collect();
    assert_eq!(modes, [crate::Enforcement::Warn, crate::Enforcement::Enforce]);
    let problems = load("extends: test:git\nmode: loud\n").unwrap_err().to_string();
    assert_eq!(problems.matches("error").count(), 1, "{problems}");
}

#[test]
fn an_entry_without_a_handler_changes_a_hook_and_one_with_a_handler_replaces_it() {
    let config = load(
        "extends: test:git
hooks:
  PreToolUse:
    - {name: no-force, enabled: false, priority: 7}
    - {name: no-rm, argv: [mine]}
",
    )
    .unwrap();
    assert_eq!(hooks(&config), [("no-force", 7), ("no-rm", 100)]);
    assert!(!config.hooks[0].enabled);
    assert!(format!("{:?}", config.hooks[1].handler).contains("mine"));
}

#[test]
fn a_wrong_change_is_shown_where_it_is_written() {
    let text = "extends: test:git\nhooks:\n  PreToolUse:\n    - {name: no-rm, priority: high}\n";
    let problems = load(text).unwrap_err().to_string();
    assert!(problems.contains("crosier.yaml:4:7: error: `priority` must be"), "{problems}");
    let text = "extends: test:git\nhooks:\n  PreToolUse:\n    - {name: no-such, enabled: false}\n";
    assert!(load(text).unwrap_err().to_string().contains("this hook runs nothing"));
    let text = "extends: test:git\nhooks:\n  Stop:\n    - {name: no-rm, enabled: false}\n";
    assert!(load(text).unwrap_err().to_string().contains("this hook runs nothing"), "another event");
}

#[test]
fn a_pack_counts_once_and_only_its_first_file_changes_it() {
    let both = loader().text("a.yaml", "extends: test:git", "/").text("b.yaml", "extends: test:git", "/");
    assert_eq!(both.load().unwrap().hooks.len(), 2);
    let change = "extends: test:git\nhooks: {PreToolUse: [{name: no-rm, enabled: false}]}";
    let both = loader().text("a.yaml", "extends: test:git", "/").text("b.yaml", change, "/");
    let problems = both.load().unwrap_err().to_string();
    assert!(
        problems.contains("b.yaml:2:") && problems.contains("which an earlier file extends"),
        "{problems}"
    );
}

#[test]
fn a_later_layer_that_changes_a_packs_hook_gets_one_of_its_own() {
    let later =
        |text: &str| loader().packs_in_force(vec!["test:git".to_owned()]).text("b.yaml", text, "/").load();
    assert!(later("extends: test:git").unwrap().hooks.is_empty());
    let config = later("extends: test:git\nhooks: {PreToolUse: [{name: no-rm, priority: 3}]}").unwrap();
    assert_eq!(config.hooks.len(), 1);
    assert_eq!((config.hooks[0].name(), config.packs.len()), (Some("no-rm"), 0));
}

#[test]
fn an_unknown_pack_is_an_error_that_names_the_nearest() {
    let problems = load("extends: test:gti").unwrap_err().to_string();
    assert!(
        problems.contains("there is no pack `test:gti`") && problems.contains("did you mean `test:git`?")
    );
    let problems = load("extends: ./no/such.yaml").unwrap_err().to_string();
    assert!(problems.contains("the pack cannot be read"), "{problems}");
}

#[test]
fn a_file_can_be_a_pack() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("team.yaml"), "hooks: {Stop: [{name: team, command: x}]}").unwrap();
    let text = "extends: ./team.yaml\nhooks: {Stop: [{name: team, timeout: 3}]}";
    let config = loader().text("crosier.yaml", text, folder.path()).load().unwrap();
    assert_eq!(config.hooks[0].timeout, Some(std::time::Duration::from_secs(3)));
    std::fs::write(folder.path().join("team.yaml"), "extends: test:git").unwrap();
    let loaded = loader().text("crosier.yaml", "extends: ./team.yaml", folder.path()).load();
    assert!(loaded.unwrap_err().to_string().contains("which a pack cannot"));
}

#[test]
fn settings_for_the_host_are_read_and_checked() {
    let config = load("trust: ['lib/*.py']\nlog: off\ndaemon: auto\n").unwrap();
    assert_eq!(config.settings.trust, ["lib/*.py"]);
    assert_eq!((config.settings.log, config.settings.daemon), (Some(false), Some(true)));
    assert!(load("log: sometimes").unwrap_err().to_string().contains("use one of on, off"));
}

#[test]
fn of_several_permissions_the_strictest_counts() {
    let run = "hooks: {PreToolUse: [{name: ask, run: /perms check shell}]}\npermissions: {shell: ask}";
    let loaded = loader().text("a.yaml", run, "/").text("b.yaml", "permissions: {shell: allow}", "/").load();
    assert!(loaded.is_ok());
}
