//! Lines to rows of any width.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tv_fuzz::painting;

fuzz_target!(|data: &[u8]| painting::wrapped(data));
