//! What two tv say to each other: the one that shows sessions asks, the one beside the files
//! answers.
//!
//! A frame is its length, a number and a message. An answer has the number of its question; 0 is
//! for events. Lengths are limited, and what is longer than it says ends the connection.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::expansion::ClosedReason;
use super::metadata::{Metadata, PathKind};

/// Changes with the messages.
pub(super) const PROTOCOL: u16 = 2;
/// What the far side writes first.
pub(super) const MAGIC: &[u8] = b"tv serve\n";
/// Longest frame, in bytes: the listing of a folder with some hundred thousand files.
const LONGEST: u32 = 64 << 20;
pub(super) const LONGEST_GREETING: u32 = 1 << 20;
/// Longest part of a file in one answer.
pub(super) const PORTION: usize = 1 << 20;
/// The number of events.
pub(super) const EVENT: u32 = 0;
/// The number of questions that are not answered.
pub(super) const UNANSWERED: u32 = u32::MAX;
/// Bytes of the beginning of a file that come with its facts: as many as the detection of its format
/// and the row of a list read, so that both are one way there and back.
pub(super) const BEGINNING: usize = 256 << 10;

/// A path or a name, which may have any bytes.
pub(super) type Bytes = Vec<u8>;

/// Follows [`MAGIC`], after the protocol's number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Greeting {
    /// The far tv's version.
    pub(super) version: String,
    /// The reader's home there.
    pub(super) home: Option<Bytes>,
    /// The variables there that move the folders of agents.
    pub(super) variables: Vec<(String, Bytes)>,
}

/// What the far side says of itself.
pub struct Introduction {
    /// The version of its tv.
    pub version: String,
    /// The reader's home there.
    pub home: Option<PathBuf>,
    /// The variables there that move the folders of agents.
    pub variables: Vec<(String, PathBuf)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum WireRequest {
    Metadata {
        path: Bytes,
        follows: bool,
    },
    Entries(Bytes),
    Real(Bytes),
    /// Facts about a file and its beginning.
    Look(Bytes),
    Open(Bytes),
    Read {
        file: u32,
        at: u64,
        len: u32,
    },
    /// Of an open file.
    Facts(u32),
    /// Of an open file.
    PathNow(u32),
    Locked {
        file: u32,
        start: u64,
        length: u64,
    },
    Close(u32),
    /// The files that each of some patterns names.
    Named(Vec<Bytes>),
    Running {
        number: i64,
        start: Option<String>,
    },
    /// The reader named this path.
    Permit(Bytes),
    /// Report changes of exactly these paths.
    Watch {
        watch: u32,
        paths: Vec<Bytes>,
        renew: bool,
    },
    Unwatch(u32),
    FileSystem(Bytes),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum WireAnswer {
    Done,
    Metadata(Metadata),
    Entries(Vec<(Bytes, PathKind)>),
    Path(Option<Bytes>),
    Seen {
        metadata: Metadata,
        real: Option<Bytes>,
        beginning: Bytes,
        /// The folder with the file's name without its ending, if there is none.
        missing: Option<Bytes>,
    },
    Opened {
        file: u32,
        metadata: Metadata,
    },
    Flag(bool),
    Number(i64),
    Named(Vec<NamedThere>),
    /// The system's number of an error, and the words for it.
    Error(Option<i32>, String),
}

/// What a pattern names.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct NamedThere {
    pub(super) files: Vec<(Bytes, Option<Metadata>)>,
    pub(super) folders: Vec<Bytes>,
    /// What cannot be opened: path, reason, and whether it has the name of a file.
    pub(super) closed: Vec<(Bytes, ClosedReason, bool)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireChange {
    pub(super) watch: u32,
    pub(super) paths: Vec<Bytes>,
    pub(super) everything: bool,
}

/// An answer, or a part of a file as it is.
#[derive(Debug)]
pub(super) enum Reply {
    Answer(WireAnswer),
    Content(Vec<u8>),
}

impl Reply {
    pub(super) fn write(&self, number: u32, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Answer(answer) => write_frame(out, number, &[0], &encoded(answer)?),
            Self::Content(bytes) => write_frame(out, number, &[1], bytes),
        }
    }

    pub(super) fn read(mut frame: Vec<u8>) -> io::Result<Self> {
        match frame.first() {
            Some(0) => decoded(frame.get(1..).unwrap_or_default()).map(Self::Answer),
            Some(1) => {
                frame.remove(0);
                Ok(Self::Content(frame))
            }
            _ => Err(malformed()),
        }
    }
}

pub(super) fn encoded(message: &impl Serialize) -> io::Result<Vec<u8>> {
    postcard::to_stdvec(message).map_err(io::Error::other)
}

pub(super) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    postcard::from_bytes(bytes).ok().ok_or_else(malformed)
}

pub(super) fn malformed() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "what it says is no message of tv",
    )
}

pub(super) fn write_frame(
    out: &mut dyn Write,
    number: u32,
    kind: &[u8],
    bytes: &[u8],
) -> io::Result<()> {
    let len = u32::try_from(4 + kind.len() + bytes.len())
        .ok()
        .filter(|len| *len <= LONGEST)
        .ok_or_else(|| io::Error::other("too much for one message"))?;
    let mut head = Vec::with_capacity(9);
    head.extend_from_slice(&len.to_le_bytes());
    head.extend_from_slice(&number.to_le_bytes());
    head.extend_from_slice(kind);
    // One write: of two small ones the second would wait until the first is acknowledged.
    if bytes.len() < PORTION {
        head.extend_from_slice(bytes);
        out.write_all(&head)?;
    } else {
        out.write_all(&head)?;
        out.write_all(bytes)?;
    }
    out.flush()
}

/// The next frame; `None` at the end. Takes no more memory than bytes arrive.
pub(super) fn read_frame(input: &mut dyn Read) -> io::Result<Option<(u32, Vec<u8>)>> {
    read_frame_within(input, LONGEST)
}

pub(super) fn read_frame_within(
    input: &mut dyn Read,
    longest: u32,
) -> io::Result<Option<(u32, Vec<u8>)>> {
    let mut len = [0; 4];
    match input.read_exact(&mut len) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let len = u32::from_le_bytes(len);
    let content = len.checked_sub(4).filter(|_| len <= longest);
    let content = content.ok_or_else(malformed)?;
    let mut number = [0; 4];
    input.read_exact(&mut number)?;
    let mut bytes = Vec::new();
    input.take(u64::from(content)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != u64::from(content) {
        return Ok(None);
    }
    Ok(Some((u32::from_le_bytes(number), bytes)))
}

pub(super) fn bytes_of(path: &Path) -> Bytes {
    path.as_os_str().as_bytes().to_vec()
}

/// A path in a message: absolute, with no way back and no byte that the system does not take.
pub(super) fn path_of(bytes: Bytes) -> io::Result<PathBuf> {
    let path = PathBuf::from(OsString::from_vec(bytes));
    let is_plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    let is_sane = path.is_absolute()
        && path.components().all(is_plain)
        && !path.as_os_str().as_bytes().contains(&0);
    if is_sane { Ok(path) } else { Err(malformed()) }
}

/// A name in a folder.
pub(super) fn name_of(bytes: Bytes) -> io::Result<OsString> {
    let is_name = !matches!(&*bytes, b"" | b"." | b"..")
        && !bytes.iter().any(|byte| matches!(byte, 0 | b'/'));
    if is_name {
        Ok(OsString::from_vec(bytes))
    } else {
        Err(malformed())
    }
}
