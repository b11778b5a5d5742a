//! Memory that was freed and not yet returned to the system.

// Only the program allocates with it; the library and its tests call the function below.
use mimalloc as _;

/// Returns what the calling thread and ended threads have freed. The allocator does that by itself
/// only while something allocates, so a program at rest would keep what reading a session took.
#[expect(
    unsafe_code,
    reason = "the crate of the allocator has no safe function for it"
)]
pub(crate) fn release_free() {
    unsafe extern "C" {
        fn mi_collect(force: bool);
    }
    // SAFETY: declared as in `mimalloc.h`; any thread may call it at any time.
    unsafe { mi_collect(true) }
}
