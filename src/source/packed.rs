//! Compressed files, read as text from beginning to end.
//!
//! Invariant: what was decompressed before a file breaks off, or before it exceeds its memory
//! budget, is returned; an error follows.

use std::borrow::Cow;
use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::budget;
use super::fs::File;
use super::read::read_range;
use super::zip::{self, Zip};
use super::zstd::Zstd;

/// Bytes from which a compression is recognised.
const MAGIC: usize = 64;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
    /// `.eval`: a zip archive of several files.
    Zip,
}

impl Packing {
    /// The compression of a file with this beginning.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ if zip::is_log(head) => Some(Self::Zip),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Zip => "zip",
        }
    }
}

/// The compression of a file, if it is compressed.
pub(crate) fn packing_of(file: &File) -> io::Result<Option<Packing>> {
    Ok(Packing::of(&read_range(file, 0, MAGIC)?))
}

/// Opens the text in a compressed file.
pub fn open(file: File, packing: Packing) -> io::Result<Box<dyn Read>> {
    let text: Box<dyn Read> = match packing {
        Packing::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(file))),
        Packing::Zstd => Box::new(Zstd::new(BufReader::new(file))),
        Packing::Zip => Box::new(Zip::new(file)?),
    };
    Ok(Box::new(Measured {
        text,
        packing,
        remaining: budget::MEMORY,
        is_over: false,
    }))
}

/// Opens the text of a file, compressed or not.
pub(crate) fn text_of(file: File) -> io::Result<Box<dyn Read>> {
    match packing_of(&file)? {
        Some(packing) => open(file, packing),
        None => Ok(Box::new(file)),
    }
}

/// The beginning of the text in a compressed file, and whether that is all of it.
pub(crate) fn read_head(file: File, packing: Packing, len: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut head = Vec::new();
    let text = open(file, packing)?;
    let read = text.take(len as u64 + 1).read_to_end(&mut head);
    // A file that breaks off is recognised by its beginning.
    if head.is_empty() {
        read?;
    }
    let is_whole = head.len() <= len;
    head.truncate(len);
    Ok((head, is_whole))
}

/// The text of a value, decompressed if it is a zstd frame.
pub(crate) fn unpack(packed: &[u8]) -> io::Result<Cow<'_, [u8]>> {
    let packing = Packing::Zstd;
    if Packing::of(packed) != Some(packing) {
        return Ok(Cow::Borrowed(packed));
    }
    let mut all = Vec::new();
    let text = Zstd::new(packed);
    Measured {
        text,
        packing,
        remaining: budget::LONGEST,
        is_over: false,
    }
    .read_to_end(&mut all)?;
    Ok(Cow::Owned(all))
}

struct Measured<T: Read> {
    text: T,
    packing: Packing,
    remaining: u64,
    /// Whether there was more than the limit.
    is_over: bool,
}

impl<T: Read> Read for Measured<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let name = self.packing.name();
        if self.is_over {
            return Err(budget::exceeded(name));
        }
        let read = self.text.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted | io::ErrorKind::FileTooLarge => error,
            io::ErrorKind::UnexpectedEof => {
                io::Error::other(format!("the {name} archive breaks off here"))
            }
            _ => io::Error::other(format!("the {name} archive is damaged here ({error})")),
        })?;
        self.is_over = read as u64 > self.remaining;
        if self.is_over && self.remaining == 0 {
            return Err(budget::exceeded(name));
        }
        let kept = read.min(usize::try_from(self.remaining).unwrap_or(usize::MAX));
        self.remaining -= kept as u64;
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::{Read, Write};

    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::{Measured, Packing, open, packing_of, read_head};

    fn text() -> Vec<u8> {
        (0..20_000)
            .flat_map(|n: u32| format!("{{\"n\":{n},\"of\":{}}}\n", n * 7919 % 1013).into_bytes())
            .collect()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8], packing: Packing) -> (Vec<u8>, Option<String>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl.packed");
        fs::write(&path, bytes).unwrap();
        let file = || super::File::from(File::open(&path).unwrap());
        assert_eq!(packing_of(&file()).unwrap(), Some(packing));
        let mut all = Vec::new();
        let end = open(file(), packing).unwrap().read_to_end(&mut all);
        (all, end.err().map(|error| error.to_string()))
    }

    #[test]
    fn archives_of_several_parts_are_read_to_the_end() {
        let text = text();
        let half = text.len() / 2;
        let parts =
            |pack: &dyn Fn(&[u8]) -> Vec<u8>| [pack(&text[..half]), pack(&text[half..])].concat();
        let zstd = |text: &[u8]| compress_to_vec(text, CompressionLevel::Fastest);
        assert_eq!(read(&parts(&gzip), Packing::Gzip), (text.clone(), None));
        assert_eq!(read(&parts(&zstd), Packing::Zstd), (text.clone(), None));
        let skippable = [
            &zstd(&text)[..],
            &[0x52, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3],
        ]
        .concat();
        assert_eq!(read(&skippable, Packing::Zstd), (text, None));
    }

    #[test]
    fn an_archive_that_breaks_off_gives_what_came() {
        let text = text();
        for (packed, packing) in [
            (gzip(&text), Packing::Gzip),
            (
                compress_to_vec(&text[..], CompressionLevel::Fastest),
                Packing::Zstd,
            ),
        ] {
            let (most, end) = read(&packed[..packed.len() * 3 / 4], packing);
            assert!(
                most.len() > text.len() / 4 && text.starts_with(&most),
                "{packing:?} {}",
                most.len()
            );
            assert_eq!(
                end.unwrap(),
                format!("the {} archive breaks off here", packing.name())
            );
            for end in 5..64 {
                let (few, end) = read(&packed[..end], packing);
                assert!(text.starts_with(&few) && end.is_some(), "{packing:?}");
            }
        }
    }

    #[test]
    fn no_more_is_read_than_may_be_held() {
        let mut bomb = Measured {
            text: std::io::repeat(b'a'),
            packing: Packing::Zstd,
            remaining: 100_000,
            is_over: false,
        };
        let mut all = Vec::new();
        let end = bomb.read_to_end(&mut all).unwrap_err();
        assert_eq!(
            (all.len(), end.kind()),
            (100_000, std::io::ErrorKind::FileTooLarge)
        );
        assert!(
            end.to_string().contains("takes more than 400 MB of memory"),
            "{end}"
        );
    }

    #[test]
    fn reading_the_beginning_says_whether_it_is_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.zst");
        fs::write(
            &path,
            compress_to_vec(&b"hello"[..], CompressionLevel::Fastest),
        )
        .unwrap();
        let file = || super::File::from(File::open(&path).unwrap());
        assert_eq!(
            read_head(file(), Packing::Zstd, 5).unwrap(),
            (b"hello".to_vec(), true)
        );
        assert_eq!(
            read_head(file(), Packing::Zstd, 4).unwrap(),
            (b"hell".to_vec(), false)
        );
    }
}
