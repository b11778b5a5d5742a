//! Files as they are opened, of whatever format they turn out to be.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use tv_fuzz::{mutate, reading};

fuzz_target!(|data: &[u8]| reading::session(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::session(data, size, max_size, seed)
});
