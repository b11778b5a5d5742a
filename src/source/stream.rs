//! Reads a pipe on a thread of its own, so that a silent writer blocks nobody, and a compressed
//! file, so that it is decompressed while it is decoded.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crossbeam_channel::{Receiver, Sender, bounded};

/// Bytes read at once.
const CHUNK: usize = 64 << 10;
/// Capacity of the queue of chunks; when it is full the writer waits.
const WAITING: usize = 32;

#[derive(Debug)]
pub(crate) enum StreamPiece {
    Bytes(Vec<u8>),
    /// The stream was closed; has the error if it did not end properly.
    End(Option<io::Error>),
}
/// Starts to read; `wake` is called after each message. The thread ends with its input or with the
/// receiver.
pub(crate) fn start(
    open: impl FnOnce() -> io::Result<Box<dyn Read>> + Send + 'static,
    wake: impl Fn() + Send + 'static,
) -> Receiver<StreamPiece> {
    let (sender, receiver) = bounded(WAITING);
    std::thread::spawn(move || {
        let end = match open() {
            Ok(mut source) => pump(&mut *source, &sender, &wake),
            Err(error) => Some(error),
        };
        if sender.send(StreamPiece::End(end)).is_ok() {
            wake();
        }
    });
    receiver
}

/// Opens a named pipe, a character device or standard input.
pub(crate) fn pipe(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::options().read(true).open(path)?)
    })
}

fn pump(source: &mut dyn Read, sender: &Sender<StreamPiece>, wake: &dyn Fn()) -> Option<io::Error> {
    let mut buffer = vec![0; CHUNK];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return None,
            Ok(read) => {
                let bytes = buffer.get(..read).unwrap_or_default().to_vec();
                if sender.send(StreamPiece::Bytes(bytes)).is_err() {
                    return None;
                }
                wake();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Some(error),
        }
    }
}
