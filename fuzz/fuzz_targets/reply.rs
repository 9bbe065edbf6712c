//! What a hook prints, as a reply to each event: read or refused, never a panic.
#![no_main]

use crosier::protocol::{Reply, event::TABLE};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let row = &TABLE[usize::from(first) % TABLE.len()];
    if let Ok(reply) = Reply::decode(rest, row) {
        // A denial survives whatever else the reply asks for.
        assert_eq!(reply.denies(), reply.denial_only().is_some());
    }
});
