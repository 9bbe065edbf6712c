//! What a host sends as an event: completed and written as JSON, or refused.
#![no_main]

use crosier::protocol::{Catalog, Event};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let catalog = Catalog::default();
    let kinds: Vec<_> = catalog.rows().collect();
    let kind = kinds[usize::from(first) % kinds.len()].clone();
    if let Ok(event) = Event::from_json(kind, rest) {
        let _ = event.wire();
    }
});
