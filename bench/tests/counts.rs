//! Fails when a fire of 0, 1 or 10 callbacks takes over a tenth more instructions than was accepted.
//!
//! Accept new counts, one profile at a time:
//! `CROSIER_GENERATE=1 cargo test -p bench --test counts` and the same with `--release`.

use std::process::Command;

#[test]
fn a_fire_takes_no_more_instructions_than_accepted() {
    #[expect(clippy::disallowed_methods, reason = "tests are told by the environment what to write")]
    let accept = std::env::var_os("CROSIER_GENERATE").is_some();
    let how = if accept { "accept" } else { "compare" };
    let output = Command::new(env!("CARGO_BIN_EXE_bench")).args(["--part", "counts", how]).output().unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
