//! A line that a client of `crosier serve` sends: a message with parameters that are checked, or a refusal.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    let _ = crosier_serve::read_any_line(line);
});
