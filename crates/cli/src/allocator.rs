//! Memory for the commands that handle one event and end, `hook` and `fire`.
//!
//! Such a process makes a thousand small allocations within a millisecond, and an allocator that serves any program spends
//! a third of all its instructions on them. So its first thread takes small pieces from one block, and reuses those that it
//! frees by their size. Other threads, other commands and large pieces use the system's allocator, and so does everything
//! after the block is used up.
#![expect(unsafe_code, reason = "an allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::ptr;

/// The size of the block. Its pages take no memory before they are used.
const BLOCK: usize = 1 << 20;
/// The sizes of pieces are multiples of this, and so are their addresses.
const GRAIN: usize = 16;
/// Larger pieces come from the system.
const LARGEST: usize = 4096;
const SIZES: usize = LARGEST / GRAIN;

/// The allocator of this program.
pub(crate) struct Allocator {
    block: UnsafeCell<Block>,
}

#[repr(C, align(4096))]
struct Block {
    memory: [u8; BLOCK],
    /// How many bytes were handed out.
    used: usize,
    /// The last freed piece of each size; a free piece begins with the address of the next.
    free: [*mut u8; SIZES],
}

// SAFETY: everything in the block but its address is used by one thread only, the one that called `use_block`.
unsafe impl Sync for Allocator {}

thread_local! {
    // Whose block this thread uses. A constant without a destructor: reading it neither allocates nor registers anything.
    static USED: Cell<*const Allocator> = const { Cell::new(ptr::null()) };
}

impl Allocator {
    pub(crate) const fn new() -> Self {
        let block = Block { memory: [0; BLOCK], used: 0, free: [ptr::null_mut(); SIZES] };
        Self { block: UnsafeCell::new(block) }
    }

    /// From now on, small pieces for this thread come from the block. Only for the first thread of the program.
    pub(crate) fn use_block(&self) {
        USED.set(self);
    }

    fn has(&self, piece: *mut u8) -> bool {
        (piece as usize).wrapping_sub(self.block.get() as usize) < BLOCK
    }

    /// The number of a size, if this thread gets pieces of it from the block.
    fn size_of(&self, layout: Layout) -> Option<usize> {
        let is_small = layout.size() <= LARGEST && layout.align() <= GRAIN;
        (is_small && ptr::eq(USED.get(), self)).then(|| layout.size().saturating_sub(1) / GRAIN)
    }
}

// SAFETY: a piece of the block is at least as large as its layout, aligned to `GRAIN`, and in use only once: it is cut off
// the unused part, or taken from the list of free pieces of its size. All else is the system's.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(size) = self.size_of(layout) else { return unsafe { System.alloc(layout) } };
        // SAFETY: only this thread uses the block, and not while it is in here.
        unsafe {
            let block = self.block.get();
            let list = (&raw mut (*block).free).cast::<*mut u8>().add(size);
            let free = *list;
            if !free.is_null() {
                *list = *free.cast::<*mut u8>();
                return free;
            }
            let (used, length) = ((*block).used, (size + 1) * GRAIN);
            if used + length > BLOCK {
                return System.alloc(layout);
            }
            (*block).used = used + length;
            (&raw mut (*block).memory).cast::<u8>().add(used)
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if !self.has(piece) {
            return unsafe { System.dealloc(piece, layout) };
        }
        // What another thread frees is not reused.
        let Some(size) = self.size_of(layout) else { return };
        // SAFETY: as in `alloc`; the piece has this size, and room for an address.
        unsafe {
            let list = (&raw mut (*self.block.get()).free).cast::<*mut u8>().add(size);
            *piece.cast::<*mut u8>() = *list;
            *list = piece;
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, wanted: usize) -> *mut u8 {
        if !self.has(piece) {
            return unsafe { System.realloc(piece, layout, wanted) };
        }
        // SAFETY: the caller promises that this is a valid layout.
        let new_layout = unsafe { Layout::from_size_align_unchecked(wanted, layout.align()) };
        let is_same = self.size_of(new_layout).is_some_and(|size| Some(size) == self.size_of(layout));
        if is_same {
            return piece;
        }
        // SAFETY: both pieces are at least as large as what is copied, and different.
        unsafe {
            let new = self.alloc(new_layout);
            if !new.is_null() {
                ptr::copy_nonoverlapping(piece, new, layout.size().min(wanted));
                self.dealloc(piece, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    #[test]
    fn pieces_are_reused_by_their_size_and_keep_their_content_when_they_grow() {
        static ALLOCATOR: Allocator = Allocator::new();
        let allocator = &ALLOCATOR;
        let in_block = |piece: *mut u8| allocator.has(piece);
        unsafe {
            let before = allocator.alloc(layout(20));
            assert!(!in_block(before), "the block is not used yet");
            allocator.use_block();
            allocator.dealloc(before, layout(20));
            let first = allocator.alloc(layout(20));
            let second = allocator.alloc(layout(20));
            assert!(in_block(first) && in_block(second) && first != second);
            assert_eq!(first as usize % GRAIN, 0);
            first.write_bytes(7, 20);
            allocator.dealloc(second, layout(20));
            assert_eq!(allocator.alloc(layout(32)), second);
            assert_eq!(allocator.realloc(first, layout(20), 32), first);
            let grown = allocator.realloc(first, layout(32), 33);
            assert!(grown != first && (0..20).all(|at| *grown.add(at) == 7));
            let large = allocator.realloc(grown, layout(33), LARGEST + 1);
            assert!(!in_block(large) && (0..20).all(|at| *large.add(at) == 7));
            allocator.dealloc(large, layout(LARGEST + 1));
            let aligned = Layout::from_size_align(64, 64).unwrap();
            let other = allocator.alloc(aligned);
            assert!(!in_block(other));
            allocator.dealloc(other, aligned);
            let zeroed = allocator.alloc_zeroed(layout(20));
            assert!((0..20).all(|at| *zeroed.add(at) == 0));
            let from_elsewhere = std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    let piece = allocator.alloc(layout(20));
                    (allocator.has(piece), allocator.dealloc(piece, layout(20))).0
                });
                other.join().unwrap()
            });
            assert!(!from_elsewhere);
            USED.set(ptr::null());
        }
    }

    #[test]
    fn after_the_block_is_used_up_the_system_serves() {
        static ALLOCATOR: Allocator = Allocator::new();
        let allocator = &ALLOCATOR;
        allocator.use_block();
        let pieces: Vec<*mut u8> =
            (0..=BLOCK / LARGEST).map(|_| unsafe { allocator.alloc(layout(LARGEST)) }).collect();
        let (last, first) = pieces.split_last().unwrap();
        assert!(first.iter().all(|piece| allocator.has(*piece)) && !allocator.has(*last));
        pieces.iter().for_each(|piece| unsafe { allocator.dealloc(*piece, layout(LARGEST)) });
        USED.set(ptr::null());
    }
}
