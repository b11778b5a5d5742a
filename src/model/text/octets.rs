//! Operations on eight bytes as one number, because a pass over every byte of a session must not go
//! byte by byte.
//!
//! Results have the highest bit of each matching byte set. Above the first match other bits may be
//! set, too: only whether there is a match, and the first one in a little-endian number, are
//! reliable.

/// Bytes equal to `byte`.
pub(crate) const fn equal(word: u64, byte: u8) -> u64 {
    less_than(word ^ all(byte), 1)
}

/// Bytes below `byte`, which is at most 128.
pub(crate) const fn less_than(word: u64, byte: u8) -> u64 {
    word.wrapping_sub(all(byte)) & !word & all(0x80)
}

/// Bytes that are not ASCII.
pub(crate) const fn non_ascii(word: u64) -> u64 {
    word & all(0x80)
}

const fn all(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

#[cfg(test)]
mod tests {
    use super::{equal, less_than, non_ascii};

    #[test]
    fn each_byte_is_found_wherever_it_stands() {
        for at in 0..8 {
            for byte in 0..=u8::MAX {
                let mut bytes = [b'x'; 8];
                bytes[at] = byte;
                let word = u64::from_le_bytes(bytes);
                let first = |found: u64| (found != 0).then(|| found.trailing_zeros() as usize / 8);
                let here = |is_such: bool| is_such.then_some(at);
                assert_eq!(
                    first(equal(word, b'"')),
                    here(byte == b'"'),
                    "{byte} at {at}"
                );
                assert_eq!(
                    first(less_than(word, b' ')),
                    here(byte < b' '),
                    "{byte} at {at}"
                );
                assert_eq!(first(non_ascii(word)), here(byte >= 0x80), "{byte} at {at}");
            }
        }
    }
}
