//! Records of `inspect-eval`.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use tv_fuzz::{decoding, mutate};

fuzz_target!(|data: &[u8]| decoding::decode("inspect-eval", data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::session(data, size, max_size, seed)
});
