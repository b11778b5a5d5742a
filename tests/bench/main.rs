//! Measures the latencies that a user notices. Generates its own sessions, and prints times beside
//! yardsticks from the same run; only counts are asserted.
//!
//! ```text
//! cargo bench                              decoding, applying, frames, searching, following; 10 and 100 MB
//! cargo bench -- 1000                      the same with a session of 1 000 MB
//! cargo bench -- terminal 10 100 1000      tv in a terminal beside less, lnav, jless and tail
//! cargo bench -- big [lanes database …]    sessions that are large in one way
//! cargo bench -- soak 30 [--seed 7]        30 minutes of growing sessions, random keys and sizes
//! ```
//!
//! `--tv PATH` measures another build, `--beside PATH` an additional one in the same run of
//! `terminal`, in place of the other programs; `--keep` keeps generated files of more than 200 MB for
//! the next run.
//!
//! It uses no benchmark library: the interesting values are those of whole programs in a terminal,
//! and ratios to a yardstick on the same bytes in the same run, which neither `criterion` nor `divan`
//! measures.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a program for developers that prints, and stops where something is wrong"
)]

mod big;
mod console;
mod measures;
mod sessions;
mod soak;
mod terminal;
mod viewer;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use sessions::Shape;
use words::Words;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let keep = taken(&mut arguments, "--keep", false).is_some();
    let seed = taken(&mut arguments, "--seed", true).map_or(7, |seed| seed.parse().unwrap());
    taken(&mut arguments, "--tv", true);
    taken(&mut arguments, "--beside", true);
    let folder = folder();
    let words = Words::new(seed);
    let numbers = |default: &[u64]| {
        let asked: Vec<u64> = arguments
            .iter()
            .filter_map(|argument| argument.parse().ok())
            .collect();
        if asked.is_empty() {
            default.to_vec()
        } else {
            asked
        }
    };
    match arguments.first().map(String::as_str) {
        Some("terminal") => terminal::run(&folder, &numbers(&[10, 100]), &words),
        Some("big") => big::run(&folder, &arguments[1..], keep, &words),
        Some("soak") => {
            let minutes = arguments
                .get(1)
                .map_or(30.0, |minutes| minutes.parse().unwrap());
            soak::run(minutes, seed);
        }
        _ => pieces(&folder, &numbers(&[10, 100]), &words),
    }
    if !keep {
        forget_large(&folder);
    }
}

fn pieces(folder: &Path, sizes: &[u64], words: &Words) {
    measures::formats(words);
    measures::apply(words);
    for &megabytes in sizes {
        let path = sessions::file(folder, Shape::Claude, megabytes, words);
        println!("\n{megabytes} MB\n{:-<90}", "");
        measures::opening(&path);
        measures::appends(&path, words);
        measures::frames(&path);
        measures::search(&path);
    }
}

/// The program that is measured.
fn program() -> String {
    let mut arguments: Vec<String> = std::env::args().collect();
    taken(&mut arguments, "--tv", true).unwrap_or_else(|| env!("CARGO_BIN_EXE_tv").to_owned())
}

/// Another build that it is compared with.
fn beside() -> Option<String> {
    taken(&mut std::env::args().collect(), "--beside", true)
}

/// Takes an option and its value out of the arguments.
fn taken(arguments: &mut Vec<String>, name: &str, has_value: bool) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == name)?;
    let option = arguments.remove(at);
    if has_value {
        (at < arguments.len()).then(|| arguments.remove(at))
    } else {
        Some(option)
    }
}

/// Sessions are kept between runs, beside the build.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-sessions");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Files that nobody wants to find on a disk later.
fn forget_large(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry
            .metadata()
            .is_ok_and(|found| found.is_file() && found.len() > 200_000_000)
        {
            fs::remove_file(entry.path()).unwrap();
        }
    }
}
