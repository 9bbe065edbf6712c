//! Globs agree with Python's `fnmatch.fnmatchcase`, row by row of a table that Python made.

use crosier::Matcher;
use proptest::prelude::*;

/// Made by `make_table.py`: pattern, value, whether it matches.
const TABLE: &str = include_str!("fnmatch_table.json");

#[test]
fn every_row_of_the_table_agrees_with_python() {
    let rows: Vec<(String, String, bool)> = serde_json::from_str(TABLE).unwrap();
    assert!(rows.len() >= 3_000);
    let matching = rows.iter().filter(|(.., matches)| *matches).count();
    assert!(matching > 1_000 && rows.len() - matching > 1_000, "{matching} of {}", rows.len());
    let wrong: Vec<&(String, String, bool)> = rows
        .iter()
        .filter(|(pattern, value, matches)| {
            let matcher = Matcher::new(pattern).unwrap_or_else(|error| panic!("{pattern:?}: {error}"));
            matcher.matches(value) != *matches
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_part_of_a_list_means_the_same_as_alone() {
    let rows: Vec<(String, String, bool)> = serde_json::from_str(TABLE).unwrap();
    for (pattern, value, matches) in &rows {
        for list in [format!("never matches|{pattern}"), format!(" {pattern} | never matches ")] {
            assert_eq!(Matcher::new(&list).unwrap().matches(value), *matches, "{list:?} {value:?}");
        }
    }
}

proptest! {
    /// A pattern without special characters matches itself and nothing else, by whatever path.
    #[test]
    fn a_plain_name_matches_itself_only(name in "[a-zA-Z0-9_.{}$^()+\\\\-]{1,12}", other in "[a-zA-Z0-9_]{0,12}") {
        let plain = Matcher::new(&name).unwrap();
        prop_assert!(plain.matches(&name));
        prop_assert_eq!(plain.matches(&other), name == other);
        // The same as a class, which cannot take the fast path.
        let first: String = name.chars().take(1).collect();
        if first != "\\" && first != "^" && first != "-" {
            let slow = Matcher::new(&format!("[{first}]{}", &name[first.len()..])).unwrap();
            prop_assert!(slow.matches(&name));
            prop_assert_eq!(slow.matches(&other), name == other);
        }
    }

    /// Time is bounded: a pattern full of stars on a long value comes back at once.
    #[test]
    fn stars_never_explode(stars in 1..60_usize, length in 0..3_000_usize) {
        let matcher = Matcher::new(&format!("{}b", "a*".repeat(stars))).unwrap();
        prop_assert!(!matcher.matches(&"a".repeat(length)));
    }

    /// Any text is a matcher or an error, and an accepted one can be asked anything.
    #[test]
    fn any_text_is_a_matcher_or_an_error(text in any::<String>(), value in any::<String>()) {
        if let Ok(matcher) = Matcher::new(&text) {
            let _ = matcher.matches(&value);
            prop_assert_eq!(matcher.text(), text);
        }
    }
}
