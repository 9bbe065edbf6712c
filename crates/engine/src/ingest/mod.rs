//! Prepares a fired event: fills in missing base fields and binds it to the engine's catalog. It is immutable
//! from here on.
//!
//! Input: what a host fired. Output: an [`Event`] that every later module reads. Its JSON is made once, when
//! the first hook needs it, and again only after a rewrite. Nothing here reads a payload.

mod clock;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

pub use clock::timestamp;
use crosier_protocol::{Catalog, Defaults, Event};

/// The values for missing base fields.
pub(crate) fn defaults(session_id: Option<String>, cwd: String) -> Arc<Defaults> {
    let session_id = session_id.unwrap_or_else(new_session_id);
    Arc::new(Defaults::new(session_id, cwd, clock::now))
}

/// A unique id (UUID, version 7). It is not a secret: the seeds of the standard library's hashers are random
/// enough, and need no system call.
fn new_session_id() -> String {
    let random = || RandomState::new().hash_one(()).to_le_bytes();
    let mut bytes = [0; 10];
    let halves = random().into_iter().chain(random());
    bytes.iter_mut().zip(halves).for_each(|(byte, random)| *byte = random);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = u64::try_from(now).unwrap_or(u64::MAX);
    uuid::Builder::from_unix_timestamp_millis(now, &bytes).into_uuid().to_string()
}

/// The event with its base fields filled in and its row from the engine's catalog.
#[inline]
pub(crate) fn ingest(event: impl Into<Event>, defaults: &Arc<Defaults>, catalog: &Catalog) -> Event {
    event.into().completed(defaults).bound(catalog)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn sessions_have_names_of_their_own_that_say_when() {
        let names: HashSet<String> = (0..1_000).map(|_| new_session_id()).collect();
        assert_eq!(names.len(), 1_000);
        for name in names {
            let id = uuid::Uuid::parse_str(&name).unwrap();
            assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
        }
    }
}
