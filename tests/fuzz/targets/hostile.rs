//! Definitions that are written to cost time, memory or the stack.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tv_fuzz::defining;

fuzz_target!(|data: &[u8]| defining::hostile(data));
