//! What is seen of an installation.

use std::os::unix::fs::PermissionsExt;

use crosier_install::detect::Detection;
use crosier_install::installed::find_installed;
use crosier_install::{Program, Scope};

use crate::lab::{Lab, row};

#[test]
fn an_agent_is_there_when_its_program_or_its_folder_is() {
    let mut lab = Lab::new();
    assert_eq!(row("claude").detect(&lab.places), None);
    let folder = lab.write(".claude/x", "").parent().unwrap().to_owned();
    assert_eq!(row("claude").detect(&lab.places), Some(Detection::Folder(folder)));
    let program = lab.write("bin/claude", "");
    lab.places.search_path = vec![program.parent().unwrap().to_owned()];
    assert!(matches!(row("claude").detect(&lab.places), Some(Detection::Folder(_))), "it cannot be run");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(row("claude").detect(&lab.places), Some(Detection::Program(program)));
}

#[test]
fn a_line_of_another_program_is_outdated() {
    let lab = Lab::new();
    lab.install("gemini").unwrap();
    let other = Program { program: "/new/crosier".into(), ..lab.program.clone() };
    let mut request = lab.request();
    request.program = &other;
    let found = find_installed(row("gemini"), &request).unwrap();
    assert_eq!(found[0].outdated.as_deref(), Some("it calls /opt/my tools/crosier, not /new/crosier"));
    lab.install_as("gemini", &request).unwrap();
    assert_eq!(find_installed(row("gemini"), &request).unwrap()[0].outdated, None);
    lab.uninstall("gemini");
    assert!(!lab.home.join(".gemini").exists(), "also after an update nothing is left");
}

#[test]
fn switches_of_agents_are_seen() {
    for (agent, file, text, what) in [
        ("claude", ".claude/settings.json", r#"{"disableAllHooks": true}"#, "disableAllHooks"),
        ("gemini", ".gemini/settings.json", r#"{"hooksConfig": {"enabled": false}}"#, "hooksConfig.enabled"),
        (
            "gemini",
            ".gemini/settings.json",
            r#"{"hooksConfig": {"disabled": ["crosier"]}}"#,
            "hooksConfig.disabled",
        ),
        ("droid", ".factory/settings.json", r#"{"hooksDisabled": true}"#, "hooksDisabled"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "features.hooks"),
    ] {
        let lab = Lab::new();
        lab.write(file, text);
        lab.install(agent).unwrap();
        let found = find_installed(row(agent), &lab.request()).unwrap();
        assert!(found[0].obstacles.iter().any(|why| why.contains(what)), "{agent} {found:?}");
    }
}

#[test]
fn gemini_cli_needs_a_trusted_folder_for_a_project() {
    let lab = Lab::new();
    let mut request = lab.request();
    request.scope = Scope::Project;
    lab.install_as("gemini", &request).unwrap();
    assert_eq!(find_installed(row("gemini"), &lab.request()).unwrap()[0].obstacles.len(), 1);
    let folder = lab.places.project.display();
    lab.write(".gemini/trustedFolders.json", &format!(r#"{{"{folder}": "TRUST_FOLDER"}}"#));
    assert_eq!(find_installed(row("gemini"), &lab.request()).unwrap()[0].obstacles, Vec::<String>::new());
}

#[test]
fn codex_needs_a_trusted_project_too() {
    let lab = Lab::new();
    let mut request = lab.request();
    (request.scope, request.trust) = (Scope::Project, true);
    lab.install_as("codex", &request).unwrap();
    let obstacles = || find_installed(row("codex"), &lab.request()).unwrap()[0].obstacles.clone();
    assert!(
        obstacles().len() == 1 && obstacles()[0].contains("only in a trusted project"),
        "{:?}",
        obstacles()
    );
    let config = lab.read(".codex/config.toml");
    let with = |level: &str| {
        let folder = lab.places.project.display();
        lab.write(
            ".codex/config.toml",
            &format!("{config}\n[projects.\"{folder}\"]\ntrust_level = \"{level}\"\n"),
        );
        obstacles()
    };
    assert_eq!(with("trusted"), Vec::<String>::new());
    assert_eq!(with("untrusted").len(), 1);
}

#[test]
fn a_matcher_that_somebody_put_on_the_line_makes_it_outdated() {
    let lab = Lab::new();
    lab.install("droid").unwrap();
    let text = lab.read(".factory/settings.json");
    let narrow = text.replacen("\"hooks\": [\n", "\"matcher\": \"Execute\",\n        \"hooks\": [\n", 2);
    assert_ne!(text, narrow);
    lab.write(".factory/settings.json", &narrow);
    assert!(find_installed(row("droid"), &lab.request()).unwrap()[0].outdated.is_some());
    lab.install("droid").unwrap();
    assert!(!lab.read(".factory/settings.json").contains("matcher"));
}
