//! Reads Zstandard frames one after the other, as one text.
//!
//! The decoder holds a window of text back until its frame ends, which for most sessions is the
//! whole text. So it is fed block by block, and a frame that breaks off is ended after its last
//! complete block.

use std::io::{self, Read};

use ruzstd::decoding::StreamingDecoder;

/// An empty last block.
const LAST: [u8; 3] = [1, 0, 0];
const MAGIC: u32 = 0xfd2f_b528;

pub(crate) struct Zstd<R: Read> {
    state: ZstdState<R>,
}

enum ZstdState<R: Read> {
    Between(R),
    Inside(Box<StreamingDecoder<ZstdFrame<R>, ruzstd::decoding::FrameDecoder>>),
    Ended,
}

impl<R: Read> Zstd<R> {
    /// Starts at the beginning of a frame.
    pub(crate) fn new(source: R) -> Self {
        Self {
            state: ZstdState::Between(source),
        }
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, ZstdState::Ended) {
                ZstdState::Ended => return Ok(0),
                ZstdState::Between(source) => match ZstdFrame::begin(source)? {
                    Some(frame) => {
                        let decoder = StreamingDecoder::new(frame).map_err(io::Error::other)?;
                        self.state = ZstdState::Inside(Box::new(decoder));
                    }
                    None => return Ok(0),
                },
                ZstdState::Inside(mut decoder) => {
                    let read = decoder.read(buffer)?;
                    if read > 0 || buffer.is_empty() {
                        self.state = ZstdState::Inside(decoder);
                        return Ok(read);
                    }
                    let frame = decoder.into_inner();
                    if frame.is_cut {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    self.state = ZstdState::Between(frame.source);
                }
            }
        }
    }
}

/// Reads the bytes of one frame block by block.
struct ZstdFrame<R: Read> {
    source: R,
    has_checksum: bool,
    ready: Vec<u8>,
    consumed: usize,
    is_last: bool,
    is_cut: bool,
}

impl<R: Read> ZstdFrame<R> {
    /// The next frame, unless there is none. Frames without text are skipped.
    fn begin(mut source: R) -> io::Result<Option<Self>> {
        loop {
            let mut magic = Vec::new();
            source.by_ref().take(4).read_to_end(&mut magic)?;
            let Ok(bytes) = <[u8; 4]>::try_from(magic.as_slice()) else {
                let end = if magic.is_empty() {
                    Ok(None)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
                return end;
            };
            let number = u32::from_le_bytes(bytes);
            if number == MAGIC {
                break;
            }
            if number & 0xffff_fff0 != 0x184d_2a50 {
                return Err(io::Error::other("what follows is not compressed"));
            }
            let mut size = [0; 4];
            source.read_exact(&mut size)?;
            let size = u64::from(u32::from_le_bytes(size));
            io::copy(&mut source.by_ref().take(size), &mut io::sink())?;
        }
        let mut ready = MAGIC.to_le_bytes().to_vec();
        let mut descriptor = [0];
        source.read_exact(&mut descriptor)?;
        let [flags] = descriptor;
        let is_single = flags & 0x20 != 0;
        let content_size = match flags >> 6 {
            0 => u64::from(is_single),
            n => 1 << n,
        };
        let dictionary = match flags & 3 {
            3 => 4,
            n => u64::from(n),
        };
        ready.push(flags);
        let rest = u64::from(!is_single) + dictionary + content_size;
        if source.by_ref().take(rest).read_to_end(&mut ready)? as u64 != rest {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let has_checksum = flags & 4 != 0;
        Ok(Some(Self {
            source,
            has_checksum,
            ready,
            consumed: 0,
            is_last: false,
            is_cut: false,
        }))
    }

    /// Makes the next block ready; ends the frame if the block is incomplete.
    fn next_block(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.consumed = 0;
        self.source.by_ref().take(3).read_to_end(&mut self.ready)?;
        let mut size = 0;
        if let [first, second, third] = *self.ready.as_slice() {
            let header = u32::from_le_bytes([first, second, third, 0]);
            self.is_last = header & 1 != 0;
            let is_repeated_byte = (header >> 1) & 3 == 1;
            size = if is_repeated_byte {
                1
            } else {
                u64::from(header >> 3)
            };
            size += if self.is_last && self.has_checksum {
                4
            } else {
                0
            };
        }
        let is_whole = self.ready.len() == 3
            && self
                .source
                .by_ref()
                .take(size)
                .read_to_end(&mut self.ready)? as u64
                == size;
        if !is_whole {
            self.is_cut = true;
            self.is_last = true;
            self.ready = LAST.to_vec();
            self.ready
                .extend(if self.has_checksum { &[0; 4][..] } else { &[] });
        }
        Ok(())
    }
}

impl<R: Read> Read for ZstdFrame<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.consumed == self.ready.len() && !self.is_last {
            self.next_block()?;
        }
        let rest = self.ready.get(self.consumed..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(rest) {
            *place = *byte;
        }
        self.consumed += count;
        Ok(count)
    }
}
