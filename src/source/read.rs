//! Reads at an offset that survive interruptions.

use std::io;

use super::fs::File;

/// Reads at an offset until the buffer is full or the file ends. Returns how many bytes it read.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    fill(|rest, at| file.read_at(rest, at), buffer, at)
}

/// Reads `len` bytes at an offset; fewer if the file ends before.
pub(crate) fn read_range(file: &File, at: u64, len: usize) -> io::Result<Vec<u8>> {
    let left = file.metadata()?.len.saturating_sub(at);
    let mut bytes = vec![0; len.min(usize::try_from(left).unwrap_or(usize::MAX))];
    let read = read_at(file, &mut bytes, at)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Fills a buffer: short reads are continued, interrupted ones retried.
fn fill(
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
    buffer: &mut [u8],
    at: u64,
) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match read(rest, at + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use std::io;

    use proptest::prelude::{any, prop, proptest};

    use super::fill;

    proptest! {
        #[test]
        fn short_and_interrupted_reads_lose_nothing(
            content in prop::collection::vec(any::<u8>(), 0..200),
            sizes in prop::collection::vec(0usize..9, 1..20),
            at in 0usize..50,
        ) {
            let mut turn = 0;
            let reader = |buffer: &mut [u8], at: u64| {
                let size = sizes[turn % sizes.len()];
                turn += 1;
                if size == 0 && turn % sizes.len() != 0 {
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
                let rest = content.get(usize::try_from(at).unwrap()..).unwrap_or_default();
                let size = size.max(1).min(buffer.len()).min(rest.len());
                buffer[..size].copy_from_slice(&rest[..size]);
                Ok(size)
            };
            let mut buffer = vec![0; 120];
            let read = fill(reader, &mut buffer, at as u64).unwrap();
            let expected = content.get(at..).unwrap_or_default();
            assert_eq!(&buffer[..read], &expected[..expected.len().min(120)]);
        }
    }
}
