//! The head of an HTTP request that the library refuses: what is read of it stands in it, on one line.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|head: &[u8]| {
    let (path, token) = crosier_serve::read_any_head(head);
    assert!(!path.contains(['\n', ' ', '?']));
    let Some(token) = token else { return };
    assert!(!token.contains(&b'\n'));
    assert!(token.is_empty() || head.windows(token.len()).any(|part| part == token));
});
