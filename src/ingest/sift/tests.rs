use std::fs;
use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use proptest::prelude::{prop, proptest};

use super::{BLOCK, Listings, Sifted, search};

fn sifted(path: &Path) -> io::Result<Sifted> {
    search((path, false), None, &[], &Listings::default(), &with_x)
}

fn with_x(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut from = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        if bare.contains(&b'x') {
            lines.push(from..from + bare.len());
        }
        from += line.len();
    }
    lines
}

proptest! {
    /// Long, short and empty lines, in files of many blocks and in two halves: each matching line
    /// is found with its offset and its number, wherever blocks end.
    #[test]
    fn lines_are_found_with_their_places(
        lines in prop::collection::vec((0usize..400, prop::bool::weighted(0.2)), 1..60),
        scale in prop::sample::select(vec![1usize, 700, 3_000]),
        is_ended in prop::bool::ANY,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let mut text = Vec::new();
        let mut expected = Vec::new();
        for (number, (len, is_hit)) in (1u32..).zip(&lines) {
            let line = format!("{}{}", "a".repeat(len * scale), if *is_hit { "x" } else { "" });
            if *is_hit {
                expected.push((text.len() as u64, u32::try_from(line.len()).unwrap(), number));
            }
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
        if !is_ended {
            text.pop();
        }
        fs::write(&path, &text).unwrap();
        let found = match sifted(&path).unwrap() {
            Sifted::Lines(mut files) => files.remove(0).lines,
            Sifted::Nothing | Sifted::NotRecords => Vec::new(),
            Sifted::Whole(_) => panic!("it is a file of lines"),
        };
        let places: Vec<_> = found.iter().map(|line| (line.at, line.len, line.line)).collect();
        assert_eq!(places, expected);
    }
}

#[test]
fn a_large_file_is_read_in_two_halves() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let mut text = Vec::new();
    let mut expected = Vec::new();
    for number in 1u32.. {
        let is_hit = number % 1_000 == 7;
        expected.extend(is_hit.then_some(number));
        text.extend_from_slice(if is_hit { b"x" } else { b"a" });
        text.extend_from_slice(&[b'b'; 999]);
        text.push(b'\n');
        if text.len() > 18 << 20 {
            break;
        }
    }
    fs::write(&path, &text).unwrap();
    let Sifted::Lines(files) = sifted(&path).unwrap() else {
        panic!("there are hits")
    };
    assert_eq!(
        files[0]
            .lines
            .iter()
            .map(|line| line.line)
            .collect::<Vec<_>>(),
        expected
    );
    assert!(
        files[0]
            .lines
            .iter()
            .all(|line| line.at == u64::from(line.line - 1) * 1_001 && line.len == 1_000)
    );
}

const WHOLE: Sifted = Sifted::Whole(None);

#[test]
fn archives_documents_and_files_without_hits_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let packed = |text: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let long = [vec![b'a'; 3 * BLOCK], b"\nbxb\n".to_vec()].concat();
    for (path, expected) in [
        (write("a.jsonl.gz", &packed(&long)), WHOLE),
        (
            write("b.jsonl.gz", &packed(&long[..3 * BLOCK])),
            Sifted::Nothing,
        ),
        (write("c.jsonl.gz", &packed(&long)[..40]), WHOLE),
        (write("d.json", b"{\n\"x\": 1}"), WHOLE),
        (write("e.json", b"{\n\"y\": 1}"), Sifted::Nothing),
        (write("f.jsonl", b""), Sifted::Nothing),
        (
            write("g.jsonl", b"\xef\xbb\xbf {\"y\": 1}\n"),
            Sifted::Nothing,
        ),
        (write("h.jsonl", b"SQLite\n"), Sifted::NotRecords),
    ] {
        let expected = if expected == WHOLE {
            Sifted::Whole(Some(vec![path.clone()]))
        } else {
            expected
        };
        assert_eq!(sifted(&path).unwrap(), expected, "{}", path.display());
    }
    assert!(sifted(&dir.path().join("missing")).is_err());
}
