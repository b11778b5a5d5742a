//! Cells of databases.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tv_fuzz::cells;

fuzz_target!(|data: &[u8]| cells::read(data));
