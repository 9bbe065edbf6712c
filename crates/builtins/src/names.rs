//! Tables that are looked up by the names of programs, options and files.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table by names. Its keys come with the program or its configuration, so an attacker cannot choose colliding ones,
/// and a hash that is fast for short names is enough.
pub(crate) type NameMap<K, V> = HashMap<K, V, BuildHasherDefault<NameHasher>>;

/// FNV-1a.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameHasher(u64);

const START: u64 = 0xcbf2_9ce4_8422_2325;

impl NameHasher {
    const fn add(hash: u64, byte: u8) -> u64 {
        (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3)
    }
}

impl Default for NameHasher {
    fn default() -> Self {
        Self(START)
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| Self::add(hash, *byte));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The hash of a name, and the row that it belongs to.
pub(crate) type Slot = (u64, u16);

/// The hash of a name, at compile time too.
pub(crate) const fn hash(name: &str) -> u64 {
    let (bytes, mut hash, mut at) = (name.as_bytes(), START, 0);
    while at < bytes.len() {
        hash = NameHasher::add(hash, bytes[at]);
        at += 1;
    }
    hash
}

/// Slots in the order that [`rows`] needs. A table that is sorted at compile time costs no time at startup.
pub(crate) const fn sorted<const N: usize>(mut slots: [Slot; N]) -> [Slot; N] {
    let mut end = 1;
    while end < N {
        let mut at = end;
        while at > 0 && slots[at].0 < slots[at - 1].0 {
            slots.swap(at, at - 1);
            at -= 1;
        }
        end += 1;
    }
    slots
}

/// The rows that have this name, in order. Other names can have the same hash: the caller compares them.
pub(crate) fn rows(slots: &[Slot], name: &str) -> impl Iterator<Item = usize> {
    let hash = hash(name);
    let first = slots.partition_point(|(other, _)| *other < hash);
    slots[first..].iter().take_while(move |(other, _)| *other == hash).map(|(_, row)| usize::from(*row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found() {
        const SLOTS: [Slot; 4] = sorted([(hash("b"), 0), (hash("a"), 1), (hash("c"), 2), (hash("a"), 3)]);
        let found = |name| rows(&SLOTS, name).collect::<Vec<_>>();
        assert_eq!((found("a"), found("b"), found("x")), (vec![1, 3], vec![0], vec![]));
        let mut hasher = NameHasher::default();
        hasher.write(b"name");
        assert_eq!(hasher.finish(), hash("name"));
    }
}
