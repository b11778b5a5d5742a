//! Sessions whose records hang together in any way, and what they cost.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tv_fuzz::shapes;

fuzz_target!(|data: &[u8]| shapes::cost(data));
