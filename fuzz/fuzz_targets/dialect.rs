//! What an agent sends to `crosier hook`: read and answered, or refused in the agent's own way.
#![no_main]

use crosier_dialect::{ALL, Read, Verdict, catalog, closed, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let agent = ALL[usize::from(first) % ALL.len()];
    match read(agent, None, rest, &catalog()) {
        Ok(Read::Call(call)) => {
            let verdict = Verdict { hide: true, halt: Some(String::new()), ..call.verdict(&[]) };
            let _ = call.answer(&verdict);
        }
        Ok(_) => {}
        Err(unreadable) => {
            let _ = closed(agent, unreadable.event, None, &unreadable.why);
        }
    }
});
