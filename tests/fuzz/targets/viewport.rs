//! The window on the rows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tv_fuzz::scrolling;

fuzz_target!(|data: &[u8]| scrolling::viewport(data));
