//! Help that helps: every command shows an example, and the example is the last thing that is seen.

use crate::lab::Lab;

#[test]
fn every_help_ends_with_an_example() {
    let lab = Lab::new();
    let ends_well = |text: &str, what: &str| {
        let (_, example) = text.rsplit_once("Example:\n").unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(example.contains("crosier") && !example.contains("\n\n"), "{what}: {example}");
    };
    let whole = lab.run(&["--help"]).exits(0).stdout;
    ends_well(&whole, "crosier");
    let (_, list) = whole.split_once("Commands:\n").unwrap();
    let commands: Vec<&str> = list
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert_eq!(commands.len(), 19, "{commands:?}");
    for command in commands {
        let help = lab.run(&[command, "--help"]).exits(0).stdout;
        ends_well(&help, command);
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
