//! The kitty graphics protocol with Unicode placeholders: an image is transmitted once and shown
//! wherever cells refer to it, so that it scrolls, is covered and passes through tmux like text.
//!
//! A cell encodes row and column of the image in combining marks, the lowest byte of its id in the
//! text colour and the highest in a third mark. The bytes between are 0, so that terminals and
//! multiplexers with 256 colours preserve it.
//!
//! Invariant: all commands have `q=2`, so that the terminal does not reply; the only exception is
//! [`question`].

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Base64 bytes per transmitted piece.
const PIECE: usize = 4_096;
/// The placeholder character of a cell of an image.
const PLACEHOLDER: char = '\u{10eeee}';
/// The id of the image in [`question`]; it is never drawn.
const QUERY_ID: u32 = 31;

/// The combining marks for 0, 1, 2 …: the first of each run and the length of the run.
const MARKS: [(u32, u32); 86] = [
    (0x305, 1),
    (0x30d, 2),
    (0x310, 1),
    (0x312, 1),
    (0x33d, 3),
    (0x346, 1),
    (0x34a, 3),
    (0x350, 3),
    (0x357, 1),
    (0x35b, 1),
    (0x363, 13),
    (0x483, 5),
    (0x592, 4),
    (0x597, 3),
    (0x59c, 6),
    (0x5a8, 2),
    (0x5ab, 2),
    (0x5af, 1),
    (0x5c4, 1),
    (0x610, 8),
    (0x657, 5),
    (0x65d, 2),
    (0x6d6, 7),
    (0x6df, 4),
    (0x6e4, 1),
    (0x6e7, 2),
    (0x6eb, 2),
    (0x730, 1),
    (0x732, 2),
    (0x735, 2),
    (0x73a, 1),
    (0x73d, 1),
    (0x73f, 3),
    (0x743, 1),
    (0x745, 1),
    (0x747, 1),
    (0x749, 2),
    (0x7eb, 7),
    (0x7f3, 1),
    (0x816, 4),
    (0x81b, 9),
    (0x825, 3),
    (0x829, 5),
    (0x951, 1),
    (0x953, 2),
    (0xf82, 2),
    (0xf86, 2),
    (0x135d, 3),
    (0x17dd, 1),
    (0x193a, 1),
    (0x1a17, 1),
    (0x1a75, 8),
    (0x1b6b, 1),
    (0x1b6d, 7),
    (0x1cd0, 3),
    (0x1cda, 2),
    (0x1ce0, 1),
    (0x1dc0, 2),
    (0x1dc3, 7),
    (0x1dcb, 2),
    (0x1dd1, 22),
    (0x1dfe, 1),
    (0x20d0, 2),
    (0x20d4, 4),
    (0x20db, 2),
    (0x20e1, 1),
    (0x20e7, 1),
    (0x20e9, 1),
    (0x20f0, 1),
    (0x2cef, 3),
    (0x2de0, 32),
    (0xa66f, 1),
    (0xa67c, 2),
    (0xa6f0, 2),
    (0xa8e0, 18),
    (0xaab0, 1),
    (0xaab2, 2),
    (0xaab7, 2),
    (0xaabe, 2),
    (0xaac1, 1),
    (0xfe20, 7),
    (0x10a0f, 1),
    (0x10a38, 1),
    (0x1d185, 5),
    (0x1d1aa, 4),
    (0x1d242, 3),
];

/// The combining mark of a number below 297.
fn mark(number: u32) -> Option<char> {
    let mut left = number;
    for (first, count) in MARKS {
        if left < count {
            return char::from_u32(first + left);
        }
        left -= count;
    }
    None
}

/// An id that other programs are unlikely to use: ids start at a random one.
pub(crate) fn next_id() -> u32 {
    static START: OnceLock<u16> = OnceLock::new();
    static COUNT: AtomicU16 = AtomicU16::new(0);
    let [.., low, high] = RandomState::new().hash_one(0).to_be_bytes();
    let start = START.get_or_init(|| u16::from_be_bytes([low, high]));
    loop {
        let number = start.wrapping_add(COUNT.fetch_add(1, Ordering::Relaxed));
        let [high, low] = number.to_be_bytes();
        if high != 0 && low != 0 {
            return u32::from_be_bytes([high, 0, 0, low]);
        }
    }
}

/// The text colour that encodes the lowest byte of an id.
pub(crate) fn colour(id: u32) -> u8 {
    let [.., low] = id.to_be_bytes();
    low
}

/// The characters of a cell of an image; `None` beyond the 297th row or column.
pub fn symbol(id: u32, row: u16, column: u16) -> Option<String> {
    let [high, ..] = id.to_be_bytes();
    let marks = [mark(row.into())?, mark(column.into())?, mark(high.into())?];
    Some([PLACEHOLDER].into_iter().chain(marks).collect())
}

/// Transmits a PNG that takes this many columns and rows wherever cells refer to it.
pub(crate) fn transmit(id: u32, (columns, rows): (u16, u16), png: &[u8], in_tmux: bool) -> String {
    let data = STANDARD.encode(png);
    let mut pieces = data.as_bytes().chunks(PIECE).peekable();
    let mut out = String::with_capacity(data.len() + data.len() / 50 + 100);
    let mut keys = format!("a=T,U=1,q=2,f=100,t=d,i={id},c={columns},r={rows},");
    while let Some(piece) = pieces.next() {
        let more = u8::from(pieces.peek().is_some());
        let command = format!("{keys}m={more};{}", String::from_utf8_lossy(piece));
        out.push_str(&wrapped(&command, in_tmux));
        "q=2,".clone_into(&mut keys);
    }
    out
}

/// Deletes an image and its data.
pub(crate) fn delete(id: u32, in_tmux: bool) -> String {
    wrapped(&format!("a=d,d=I,q=2,i={id}"), in_tmux)
}

/// Queries support of the protocol; [`is_yes`] parses the reply.
pub(crate) fn question(in_tmux: bool) -> String {
    wrapped(&format!("i={QUERY_ID},s=1,v=1,a=q,t=d,f=24;AAAA"), in_tmux)
}

/// Whether a reply (the text between `ESC _` and ST) confirms support.
pub(crate) fn is_yes(answer: &str) -> bool {
    answer
        .strip_prefix('G')
        .and_then(|rest| rest.split_once(';'))
        .is_some_and(|(keys, message)| {
            message == "OK"
                && keys
                    .split(',')
                    .any(|key| key.strip_prefix("i=") == Some(&QUERY_ID.to_string()))
        })
}

/// A command as an escape sequence, wrapped for tmux if necessary.
fn wrapped(command: &str, in_tmux: bool) -> String {
    if in_tmux {
        format!("\x1bPtmux;\x1b\x1b_G{command}\x1b\x1b\\\x1b\\")
    } else {
        format!("\x1b_G{command}\x1b\\")
    }
}

#[cfg(test)]
mod tests {
    use super::{PIECE, colour, delete, is_yes, mark, next_id, question, symbol, transmit};
    use base64::Engine as _;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn marks_are_those_of_the_specification() {
        // Samples of rowcolumn-diacritics.txt: its beginning, its middle and its end.
        for (number, wanted) in [
            (0, 0x305),
            (1, 0x30d),
            (2, 0x30e),
            (3, 0x310),
            (296, 0x1d244),
            (56, 0x612),
        ] {
            assert_eq!(mark(number).map(u32::from), Some(wanted), "{number}");
        }
        assert_eq!(mark(297), None);
        let all: std::collections::BTreeSet<char> = (0..297).filter_map(mark).collect();
        assert_eq!(all.len(), 297, "no two are the same");
    }

    #[test]
    fn a_cell_names_its_place() {
        let id = 0x2a00_0007;
        assert_eq!(symbol(id, 0, 1).unwrap(), "\u{10eeee}\u{305}\u{30d}\u{59c}");
        assert_eq!(mark(0x2a), Some('\u{59c}'));
        assert_eq!(colour(id), 7);
        assert_eq!(symbol(id, 31, 95).unwrap().width(), 1);
        assert_eq!(symbol(id, 297, 0), None);
    }

    #[test]
    fn an_image_goes_in_pieces() {
        let png: Vec<u8> = (0..7_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let sent = transmit(9, (40, 12), &png, false);
        let commands: Vec<&str> = sent.split_terminator("\x1b\\").collect();
        let (first, data) = commands[0].split_once(';').unwrap();
        assert_eq!(first, "\x1b_Ga=T,U=1,q=2,f=100,t=d,i=9,c=40,r=12,m=1");
        assert_eq!(data.len(), PIECE);
        assert!(commands[1].starts_with("\x1b_Gq=2,m=1;"));
        assert!(commands[2].starts_with("\x1b_Gq=2,m=0;"));
        assert_eq!(commands.len(), 3);
        let data: String = commands
            .iter()
            .map(|command| command.split_once(';').unwrap().1)
            .collect();
        assert_eq!(super::STANDARD.decode(data).unwrap(), png);
        assert_eq!(
            transmit(9, (1, 1), b"abc", true),
            "\x1bPtmux;\x1b\x1b_Ga=T,U=1,q=2,f=100,t=d,i=9,c=1,r=1,m=0;YWJj\x1b\x1b\\\x1b\\"
        );
        assert_eq!(delete(9, false), "\x1b_Ga=d,d=I,q=2,i=9\x1b\\");
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(question(false).contains("a=q"));
        assert!(is_yes("Gi=31;OK") && is_yes("Gi=31,p=1;OK"));
        for answer in ["Gi=31;ENOTSUP", "Gi=3;OK", "i=31;OK", "G", ""] {
            assert!(!is_yes(answer), "{answer}");
        }
    }

    #[test]
    fn numbers_differ_and_fit_their_cells() {
        let ids: Vec<u32> = (0..600).map(|_| next_id()).collect();
        for id in &ids {
            let [high, a, b, low] = id.to_be_bytes();
            assert!(high > 0 && low > 0 && a == 0 && b == 0, "{id:x}");
        }
        assert_eq!(
            ids.iter().collect::<std::collections::HashSet<_>>().len(),
            600
        );
    }
}
