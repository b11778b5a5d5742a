//! A pipe that is read on a thread of its own, so that a silent writer holds up nobody.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use crossbeam_channel::{Receiver, Sender, bounded};

/// How much is read at once.
const CHUNK: usize = 64 << 10;
/// How many chunks wait at most; then the writer waits.
const WAITING: usize = 32;

/// What came out of it.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Bytes.
    Bytes(Vec<u8>),
    /// It was closed; says why if that was no proper end.
    End(Option<io::Error>),
}
/// Starts to read a named pipe or a character device, or standard input; `wake` is called after each piece. The thread ends
/// with the pipe or the receiver.
pub(crate) fn start(path: Option<PathBuf>, wake: impl Fn() + Send + 'static) -> Receiver<Piece> {
    let (sender, receiver) = bounded(WAITING);
    std::thread::spawn(move || {
        let end = match open(path) {
            Ok(mut source) => pump(&mut *source, &sender, &wake),
            Err(error) => Some(error),
        };
        if sender.send(Piece::End(end)).is_ok() {
            wake();
        }
    });
    receiver
}

fn open(path: Option<PathBuf>) -> io::Result<Box<dyn Read>> {
    Ok(match path {
        Some(path) => Box::new(File::options().read(true).open(path)?),
        None => Box::new(io::stdin().lock()),
    })
}

fn pump(source: &mut dyn Read, sender: &Sender<Piece>, wake: &dyn Fn()) -> Option<io::Error> {
    let mut buffer = vec![0; CHUNK];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return None,
            Ok(read) => {
                let bytes = buffer.get(..read).unwrap_or_default().to_vec();
                if sender.send(Piece::Bytes(bytes)).is_err() {
                    return None;
                }
                wake();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Some(error),
        }
    }
}
