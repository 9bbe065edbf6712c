//! The project's own behaviour corpus, run by the program that users run.

use std::path::Path;

use crate::lab::Lab;

#[test]
fn every_case_of_the_corpus_passes() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/cases");
    let ran = Lab::new().run(&["test", cases.to_str().unwrap()]);
    assert!(ran.code == Some(0) && ran.stdout.ends_with(" 0 failed\n"), "{}{}", ran.stdout, ran.stderr);
    let passed: usize = ran.stdout.split_whitespace().next().unwrap().parse().unwrap();
    assert!(passed > 1_060, "only {passed} cases were found");
}
