//! Settings, keys and times.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tv_fuzz::parsing;

fuzz_target!(|data: &[u8]| parsing::set(data));
