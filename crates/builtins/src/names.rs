//! Tables that are looked up by the names of programs, options and files.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table by names. Its keys come with the program or its configuration, so nobody can choose them to collide, and
/// a hash that is quick for a few letters will do.
pub(crate) type NameMap<K, V> = HashMap<K, V, BuildHasherDefault<NameHasher>>;

/// FNV-1a.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
