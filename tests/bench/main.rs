//! Measures what a reader waits for: `cargo bench`, or `cargo bench -- 1000` for a file of 1 000 MB.
//! Makes its own sessions. Times are printed beside yardsticks of the same run; only counts are asserted.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a program for developers that prints, and stops where something is wrong"
)]

mod measures;
mod sessions;

use std::path::{Path, PathBuf};

fn main() {
    let asked: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if asked.is_empty() { vec![10, 100] } else { asked };
    let folder = folder();
    for megabytes in sizes {
        let session = sessions::at(&folder.join(format!("claude-{megabytes}.jsonl")), megabytes);
        println!("\n{megabytes} MB, {} records, {} entries", session.records, session.entries);
        println!("{:-<78}", "");
        measures::throughput(&session);
        measures::opening(&session);
        measures::appends(&session);
        if megabytes <= 10 {
            measures::layout(&session);
        }
    }
}

/// Sessions are kept between runs, beside the build.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-sessions");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
