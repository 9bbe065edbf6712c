//! What an agent sends to `crosier hook`: read and answered, or refused in the agent's own way. Every agent's reader gets
//! every text: any agent may send anything.
#![no_main]

use crosier_dialect::{ALL, Read, Verdict, catalog, closed, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let catalog = catalog();
    for &agent in ALL {
        match read(agent, None, bytes, &catalog) {
            Ok(Read::Call(call)) => {
                let verdict = Verdict { hide: true, halt: Some(String::new()), ..call.verdict(&[]) };
                let _ = call.answer(&verdict);
            }
            Ok(_) => {}
            Err(unreadable) => {
                let _ = closed(agent, unreadable.event, None, &unreadable.why);
            }
        }
    }
});
