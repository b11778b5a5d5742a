//! Records of formats that are definitions: the first byte chooses one.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use tv_fuzz::{defining, mutate};

fuzz_target!(|data: &[u8]| defining::decode(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::session(data, size, max_size, seed)
});
