//! The tests of the worker itself, which are written in python.

use std::path::Path;
use std::process::Command;

use super::lab::python;

#[test]
fn the_worker_passes_its_own_tests() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/test_worker.py");
    let output = Command::new(python()).arg(&tests).output().expect("python3 is needed: see CONTRIBUTING.md");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}\n{said}", tests.display(), output.status);
    // A file that has lost its tests passes too.
    let ran = said.lines().find_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse::<u32>().ok());
    assert!(ran.is_some_and(|ran| ran >= 180), "only {ran:?} tests ran:\n{said}");
}
