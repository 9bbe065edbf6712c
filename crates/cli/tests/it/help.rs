//! Help that helps: every command shows an example, and the example is the last thing that is seen.

use crate::lab::Lab;

/// The commands that the help lists, all groups together.
pub(crate) fn commands(help: &str) -> Vec<&str> {
    let (_, list) = help.split_once("\n\nGet started:\n").unwrap();
    let (list, _) = list.split_once("\nOptions:\n").unwrap();
    let named = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    named.filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn commands_are_grouped_by_what_people_do() {
    let whole = Lab::new().run(&["--help"]).exits(0).stdout;
    let heads: Vec<&str> = [
        "Get started:",
        "Write hooks:",
        "Test:",
        "See what happened:",
        "Run:",
        "Shell integration:",
        "Options:",
    ]
    .into();
    let found: Vec<&str> = whole.lines().filter(|line| heads.contains(line)).collect();
    // Every command has its place: nothing is left over.
    assert_eq!(found, heads, "{whole}");
    assert!(!whole.contains("\nMore:\n"), "{whole}");
}

#[test]
fn there_is_a_page_of_the_manual_and_a_completion_for_every_command() {
    let lab = Lab::new();
    let whole = lab.run(&["--help"]).exits(0).stdout;
    lab.run(&["man", "--out", "pages"]).exits(0);
    for command in commands(&whole) {
        let page = lab.run(&["man", command]).exits(0).stdout;
        assert_eq!(page, lab.read(&format!("pages/crosier-{command}.1")));
        assert!(page.contains(&format!(".TH crosier-{command} 1")) && page.contains("Example:"), "{page}");
        for shell in ["bash", "zsh", "fish"] {
            lab.run(&["completions", shell]).exits(0).says(command);
        }
    }
    lab.run(&["man", "audit", "verify"]).exits(0).says("crosier\\-audit\\-verify");
    lab.run(&["man", "frob"]).exits(64).complains("there is no command `frob`");
}

#[test]
fn every_help_ends_with_an_example() {
    let lab = Lab::new();
    let ends_well = |text: &str, what: &str| {
        let (_, example) = text.rsplit_once("Example:\n").unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(example.contains("crosier") && !example.contains("\n\n"), "{what}: {example}");
    };
    let whole = lab.run(&["--help"]).exits(0).stdout;
    ends_well(&whole, "crosier");
    let commands = commands(&whole);
    for known in ["check", "demo", "log", "man", "run", "test"] {
        assert!(commands.contains(&known), "{commands:?}");
    }
    for command in commands {
        let help = lab.run(&[command, "--help"]).exits(0).stdout;
        ends_well(&help, command);
        // What follows the options is broken by hand.
        let (_, after) = help.split_once("Print version\n").unwrap_or(("", &help));
        let wide = after.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{command}");
        let orphan = after
            .lines()
            .find(|line| line.split(' ').count() == 1 && line.len() > 2 && !line.ends_with([':', '.']));
        assert_eq!(orphan, None, "{command}: a line was broken by hand and once more");
        // The short form and the long way round are the same.
        assert_eq!(help, lab.run(&["help", command]).exits(0).stdout, "{command}");
    }
    for part in ["verify", "show", "stats"] {
        ends_well(&lab.run(&["audit", part, "--help"]).exits(0).stdout, part);
    }
}

#[test]
fn what_is_for_ourselves_is_not_shown() {
    let whole = Lab::new().run(&["--help"]).exits(0).stdout;
    assert!(!whole.contains("background  ") && !whole.contains("panic"), "{whole}");
}

#[test]
fn the_version_is_that_of_the_package() {
    Lab::new().run(&["--version"]).exits(0).says(env!("CARGO_PKG_VERSION"));
}
