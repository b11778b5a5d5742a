//! The language of definitions.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tv_fuzz::defining;

fuzz_target!(|data: &[u8]| defining::define(data));
