//! What members of archives are read as.

use std::fs::{self, File};
use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::{LONGEST, Zip, is_log};

/// An archive of these members: name, method, text. With its directory, unless it is being written.
fn archive(members: &[(&str, u8, &str)], is_whole: bool) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, method, text) in members {
        let packed = match method {
            8 => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(text.as_bytes()).unwrap();
                encoder.finish().unwrap()
            }
            93 => compress_to_vec(text.as_bytes(), CompressionLevel::Fastest),
            _ => text.as_bytes().to_vec(),
        };
        let len = |len: usize| u32::try_from(len).unwrap().to_le_bytes();
        let name_len = u16::try_from(name.len()).unwrap().to_le_bytes();
        let about = [
            &[20, 0, 0, 0, *method, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
            &len(packed.len()),
            &len(text.len()),
            &name_len,
            &[0, 0],
        ]
        .concat();
        directory.extend(
            [
                b"PK\x01\x02\x14\x00".as_slice(),
                &about,
                &[0; 10],
                &len(bytes.len()),
                name.as_bytes(),
            ]
            .concat(),
        );
        bytes.extend([b"PK\x03\x04".as_slice(), &about, name.as_bytes(), &packed].concat());
    }
    if is_whole {
        let (at, size) = (bytes.len(), directory.len());
        let count = u16::try_from(members.len()).unwrap().to_le_bytes();
        let place = [size, at]
            .map(|number| u32::try_from(number).unwrap().to_le_bytes())
            .concat();
        bytes.extend(
            [
                &directory[..],
                b"PK\x05\x06\0\0\0\0",
                &count,
                &count,
                &place,
                &[0, 0],
            ]
            .concat(),
        );
    }
    bytes
}

fn lines(bytes: &[u8]) -> (String, Option<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.eval");
    fs::write(&path, bytes).unwrap();
    let mut text = Vec::new();
    let end = Zip::new(File::open(&path).unwrap().into())
        .unwrap()
        .read_to_end(&mut text);
    (
        String::from_utf8_lossy(&text).into_owned(),
        end.err().map(|error| error.kind().to_string()),
    )
}

const MEMBERS: [(&str, u8, &str); 6] = [
    ("_journal/start.json", 8, "{\"a\":\n1}"),
    ("samples/10_epoch_1.json", 93, "10"),
    ("samples/2_epoch_1.json", 0, "2"),
    ("header.json", 8, "{}"),
    ("notes.txt", 0, "no part of it"),
    ("header.json", 8, "{\"b\":\r\n2}"),
];

#[test]
fn members_are_lines_and_the_last_of_a_name_counts() {
    let (text, end) = lines(&archive(&MEMBERS, true));
    assert_eq!(
        (text.as_str(), end),
        ("{\"b\":  2}\n{\"a\": 1}\n2\n10\n", None)
    );
    assert!(is_log(&archive(&MEMBERS, true)) && !is_log(&archive(&MEMBERS[4..], true)));
}

#[test]
fn without_a_directory_all_that_is_there_is_read() {
    let whole = archive(&MEMBERS, false);
    let (text, end) = lines(&whole);
    assert_eq!(text, "{\"b\":  2}\n{\"a\": 1}\n2\n10\n");
    assert!(end.is_some(), "it breaks off");
    for len in 0..whole.len() {
        let (part, _) = lines(&whole[..len]);
        assert!(part.lines().count() <= 4, "{len}: {part}");
    }
}

#[test]
fn a_damaged_directory_hides_nothing() {
    let mut bytes = archive(&MEMBERS, true);
    let at = bytes
        .windows(4)
        .rposition(|four: &[u8]| four == b"PK\x01\x02")
        .unwrap();
    bytes[at] = 0;
    let (text, end) = lines(&bytes);
    assert_eq!(text, "{\"b\":  2}\n{\"a\": 1}\n2\n10\n");
    assert!(end.is_some(), "the damage is said");
}

#[test]
fn a_broken_member_spares_the_others() {
    let mut bytes = archive(&MEMBERS, true);
    let at = bytes
        .windows(4)
        .position(|four| four == [0x28, 0xb5, 0x2f, 0xfd])
        .unwrap();
    bytes[at] = 0;
    let (text, end) = lines(&bytes);
    assert!(text.starts_with("{\"b\":  2}\n{\"a\": 1}\n2\n"), "{text}");
    assert!(end.is_some());
}

/// Lengths of members are written behind them, or in 64 bits.
#[test]
fn a_member_without_its_length_ends_before_the_next_one() {
    let whole = archive(&MEMBERS, true);
    let len = archive(&MEMBERS, false).len();
    let (mut behind, mut long) = (Vec::new(), Vec::new());
    let starts: Vec<usize> = (0..len)
        .filter(|at| whole[*at..].starts_with(b"PK\x03\x04"))
        .collect();
    for (at, end) in starts.iter().zip(starts[1..].iter().chain([&len])) {
        let member = &whole[*at..*end];
        let sizes = [&member[18..22], &[0; 4], &member[22..26], &[0; 4]].concat();
        let name_end = 30 + usize::from(member[26]);
        let flags = [
            &member[..6],
            &[8, 0],
            &member[8..18],
            &[0; 8],
            &member[26..],
        ]
        .concat();
        behind.extend(
            [
                &flags[..],
                b"PK\x07\x08\0\0\0\0",
                &sizes[..4],
                &sizes[8..12],
            ]
            .concat(),
        );
        let extra = [&[1, 0, 16, 0], &sizes[8..], &sizes[..8]].concat();
        let head = [
            &member[..18],
            &[0xff; 8],
            &member[26..28],
            &[20, 0],
            &member[30..name_end],
        ]
        .concat();
        long.extend([&head[..], &extra, &member[name_end..]].concat());
    }
    for mut bytes in [behind, long] {
        bytes.extend(b"PK\x01\x02 and what is left of a directory");
        let (text, end) = lines(&bytes);
        assert_eq!(text, "{\"b\":  2}\n{\"a\": 1}\n2\n10\n");
        assert!(end.is_some(), "it breaks off");
    }
}

#[test]
fn a_header_is_found_wherever_it_begins() {
    // Around the end of what is looked through first.
    for len in 4_090..4_100 {
        let text = "1".repeat(len);
        let mut bytes = archive(
            &[
                ("samples/1_epoch_1.json", 0, &text),
                ("samples/2_epoch_1.json", 0, "2"),
            ],
            false,
        );
        bytes[18..22].fill(0);
        let (text, _) = lines(&bytes);
        assert_eq!(text.lines().map(str::len).collect::<Vec<_>>(), [len, 1]);
    }
}

#[test]
fn what_is_listed_as_several_members_is_read_once() {
    let text = format!("[{}0]", "0,".repeat(1 << 20));
    let mut bytes = archive(
        &[
            ("samples/1_epoch_1.json", 8, &text),
            ("samples/2_epoch_1.json", 8, "2"),
        ],
        true,
    );
    let second = bytes
        .windows(4)
        .rposition(|four| four == b"PK\x01\x02")
        .unwrap();
    bytes[second + 42..second + 46].fill(0);
    let (text, end) = lines(&bytes);
    assert_eq!(
        text.lines().map(str::len).collect::<Vec<_>>(),
        [(2 << 20) + 3, 1]
    );
    assert_eq!(end, Some(std::io::ErrorKind::InvalidData.to_string()));
}

/// The header of one member stands in the end of another one.
#[test]
fn members_that_overlap_by_their_names_are_not_taken_for_listed() {
    let inner = archive(&[("samples/2_epoch_1.json", 0, "2")], false);
    let outer = format!("\"{}\"", String::from_utf8_lossy(&inner));
    let long = format!("samples/{}_epoch_1.json", "1".repeat(100));
    let mut bytes = archive(
        &[(&long, 0, &outer), ("samples/2_epoch_1.json", 0, "2")],
        true,
    );
    let second = bytes
        .windows(4)
        .rposition(|four| four == b"PK\x01\x02")
        .unwrap();
    let at = bytes
        .windows(4)
        .enumerate()
        .filter(|(_, four)| *four == b"PK\x03\x04")
        .nth(1)
        .unwrap()
        .0;
    bytes[second + 42..second + 46].copy_from_slice(&u32::try_from(at).unwrap().to_le_bytes());
    let (_, end) = lines(&bytes);
    assert_eq!(end, Some(std::io::ErrorKind::InvalidData.to_string()));
}

#[test]
fn a_member_that_grows_beyond_all_measure_spares_the_others() {
    let longest = usize::try_from(LONGEST).unwrap();
    let text = " ".repeat(longest + 1);
    let bytes = archive(
        &[
            ("samples/1_epoch_1.json", 8, &text),
            ("samples/2_epoch_1.json", 8, "2"),
        ],
        true,
    );
    let (text, end) = lines(&bytes);
    assert_eq!(text.lines().map(str::len).collect::<Vec<_>>(), [longest, 1]);
    assert_eq!(end, Some(std::io::ErrorKind::FileTooLarge.to_string()));
}
