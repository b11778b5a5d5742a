//! Returning freed memory to the system.
#![expect(
    unsafe_code,
    reason = "the crate of the allocator has no safe functions for it"
)]

use std::ffi::{c_int, c_long};

// Only the program allocates with it; the library and its tests call the functions below.
use mimalloc as _;

// As declared in `mimalloc.h`.
unsafe extern "C" {
    fn mi_collect(force: bool);
    fn mi_option_set(option: c_int, value: c_long);
}

/// The delay in milliseconds before freed memory is returned.
const PURGE_DELAY: c_int = 15;

/// Returns freed memory after a millisecond instead of ten, in which a session that is read frees
/// tens of megabytes.
pub fn release_early() {
    // SAFETY: any thread may call it at any time.
    unsafe { mi_option_set(PURGE_DELAY, 1) }
}

/// Returns what the calling thread and ended threads have freed. The allocator does that by itself
/// only while something allocates, so a program at rest would keep what reading a session took.
pub(crate) fn release_free() {
    // SAFETY: any thread may call it at any time.
    unsafe { mi_collect(true) }
}
