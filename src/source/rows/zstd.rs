//! What some agents keep compressed: long rows and whole archives.

use std::io::{self, Read};

use ruzstd::decoding::StreamingDecoder;

/// The first bytes of each frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// More than this does not come out of one value.
const LIMIT: u64 = 1 << 30;

/// Whether bytes are compressed.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The bytes as they were before they were compressed.
pub fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut rest = bytes;
    let mut out = Vec::new();
    while is_packed(rest) {
        let decoder = StreamingDecoder::new(&mut rest).map_err(io::Error::other)?;
        let room = LIMIT.saturating_sub(out.len() as u64);
        if decoder.take(room + 1).read_to_end(&mut out)? as u64 > room {
            return Err(io::Error::other("it would become too long"));
        }
    }
    Ok(out)
}
