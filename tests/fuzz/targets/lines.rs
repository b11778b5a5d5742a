//! Bytes to lines, and documents to their parts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tv_fuzz::reading;

fuzz_target!(|data: &[u8]| reading::lines(data));
