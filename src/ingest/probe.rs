//! Detects the format of a file from its beginning; where a record is longer than that, from its
//! [`skeleton`].

mod skeleton;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use memchr::{memchr, memrchr};

use crate::formats::decoder::{Format, unframed};

use crate::formats::definition::head::Head;
use crate::formats::generic::Generic;
use crate::formats::json::{self, Json};
use crate::formats::probe::{Confidence, Probe, ProbeResult};
use crate::formats::roots::Root;
use crate::formats::{self, DetectMode, Detection, detect_text, roots, tried};
use crate::model::record::Shape;
use crate::model::text::text_of;
use crate::source::document::{Split, split, split_values};
use crate::source::packed::Packing;
use crate::source::pattern::{from_root, matches};

/// Bytes of a file that are parsed as they are.
pub(crate) const HEAD: usize = 256 << 10;
/// Limit of the bytes that are read for a title, or of a pipe before its first record has ended: a
/// prompt may have large images before or after its text.
pub(crate) const LONGEST: usize = 16 << 20;
/// Limit of the records that are parsed.
const RECORDS: usize = 50;
/// Number of lines that confirm the format of a file at its agent's path.
const FIRST_LINES: usize = 8;

/// Detects the format of a file from its beginning. `is_whole`: that is the whole file.
pub(crate) fn detect_file(path: &Path, head: &[u8], is_whole: bool) -> Detection {
    detect_file_with_verdicts(path, head, is_whole, DetectMode::UntilCertain)
}

/// Like [`detect_file`], with the verdicts of all formats if all are queried.
pub(crate) fn detect_file_with_verdicts(
    path: &Path,
    head: &[u8],
    is_whole: bool,
    mode: DetectMode,
) -> Detection {
    let beginning = head.get(..HEAD).unwrap_or(head);
    let detection = detect_beginning(path, beginning, is_whole && head.len() <= HEAD, mode);
    // A truncated text may have the common form of many formats.
    let is_sure =
        is_certain_of_agent(&detection) && detection.verdict.confidence > Confidence::Maybe;
    if is_sure || !skeleton::is_needed(beginning) {
        return detection;
    }
    let skeleton = if head.len() > HEAD {
        skeleton::of(&mut &*head)
    } else {
        skeleton::of_file(path)
    };
    let Ok((text, is_all)) = skeleton else {
        return detection;
    };
    let by_skeleton = detect_beginning(path, &text, is_all, mode);
    let is_better = by_skeleton.verdict.confidence > detection.verdict.confidence;
    let is_first = is_certain_of_agent(&by_skeleton) && !is_certain_of_agent(&detection);
    if is_better || is_first {
        by_skeleton
    } else {
        detection
    }
}

fn detect_beginning(path: &Path, head: &[u8], is_whole: bool, mode: DetectMode) -> Detection {
    let text = text_of(head);
    let text = text.trim_start_matches('\u{feff}');
    // Querying all definitions whether an object is a chat would parse them for nothing.
    let is_object = text.trim_start().starts_with('{');
    if !is_object && let Some(detection) = detect_text(text, mode) {
        return detection;
    }
    let split = split(text.as_bytes());
    let lines = parsed_lines(text, is_whole);
    let is_document = split
        .as_ref()
        .is_some_and(|split| is_document(text, split, &lines));
    let split = split.filter(|split| {
        is_document
            || text
                .get(split.root.end..)
                .is_some_and(|rest| rest.trim().is_empty())
    });
    let header_text = split
        .as_ref()
        .and_then(|split| split.header.as_deref())
        .map(String::from_utf8_lossy);
    let header = header_text.as_ref().and_then(|text| json::parse(text).ok());
    let ranges = split.iter().flat_map(|split| &split.elements).take(RECORDS);
    let elements: Vec<Json<'_>> = ranges
        .filter_map(|range| json::parse(text.get(range.clone())?).ok())
        .filter(Json::is_object)
        .collect();
    let probe = Probe {
        lines: if is_document { &[] } else { &lines },
        header: header.as_ref(),
        elements: &elements,
        is_document,
        is_whole,
        ..Probe::at(path)
    };
    let mut detection = detect(&probe, mode);
    let root = split
        .as_ref()
        .and_then(|split| text.get(split.root.clone()))
        .unwrap_or_default();
    // A line format cannot read a value over several lines, even if it recognizes the content.
    let is_over_lines = detection.verdict.shape == Shape::Lines && root.contains('\n');
    let is_sure =
        is_certain_of_agent(&detection) && detection.verdict.confidence > Confidence::Maybe;
    if is_document && (!is_sure || is_over_lines) {
        let is_news =
            |other: &Detection| is_over_lines || other.format.name() != detection.format.name();
        detection = as_values(path, text, is_whole, mode)
            .filter(is_news)
            .unwrap_or(detection);
    }
    let is_complete = split.is_some_and(|split| split.is_complete());
    let may_change = if is_document {
        !is_complete
    } else {
        lines.len() < RECORDS
    };
    detection.is_provisional = may_change
        && head.len() < HEAD
        && (detection.is_provisional || !is_certain_of_agent(&detection));
    if text.trim().is_empty() && is_unclaimed(&detection) {
        detection.format = &Generic;
        detection.verdict =
            ProbeResult::yes(Confidence::Maybe, Shape::Lines, "the file is empty so far");
    }
    detection
}

/// Like [`formats::detect`]. Between formats that fit equally, the folder of the file decides, unless
/// one is certain.
fn detect(probe: &Probe<'_>, mode: DetectMode) -> Detection {
    let detection = formats::detect(probe, mode);
    let confidence = detection.verdict.confidence;
    if confidence == Confidence::Certain || !probe.children.is_empty() {
        return detection;
    }
    let mut verdicts = owners(probe.path)
        .into_iter()
        .map(|owner| (owner, owner.sniff(probe)));
    let fits =
        |(_, verdict): &(_, ProbeResult)| verdict.confidence >= confidence.max(Confidence::Maybe);
    match verdicts.find(fits) {
        Some((format, verdict)) if format.name() != detection.format.name() => {
            let aside = detection
                .aside
                .filter(|_| verdict.confidence == Confidence::Maybe);
            Detection {
                format,
                verdict,
                aside,
                ..detection
            }
        }
        _ => detection,
    }
}

/// The agents in whose folders a file is: below a home directory, else below another folder to
/// which the agent's may have been moved, which several agents may name alike.
fn owners(path: &Path) -> Vec<&'static dyn Format> {
    let path = from_root(path);
    let lies_at = |folder: &str, files: &str| {
        let pattern = Path::new(folder).join(files);
        let is_named = pattern
            .iter()
            .next()
            .is_some_and(|first| !first.as_encoded_bytes().starts_with(b"*"));
        is_named && matches(&Path::new("**").join(&pattern), &path)
    };
    let in_home = |root: &Root| {
        root.files()
            .any(|files| !root.home.is_empty() && lies_at(root.home, files))
    };
    let is_moved = |root: &Root| {
        root.variables
            .iter()
            .any(|(_, below)| root.files().any(|files| lies_at(below, files)))
    };
    let whose = |has_it: &dyn Fn(&Root) -> bool| {
        tried()
            .filter(|format| roots(*format).any(has_it))
            .collect::<Vec<_>>()
    };
    [whose(&in_home), whose(&is_moved)].concat()
}

/// A document that no agent writes may hold an agent's records, each over several lines or all in
/// an array, pretty-printed or taken from a log.
fn as_values(path: &Path, text: &str, is_whole: bool, mode: DetectMode) -> Option<Detection> {
    let ranges = split_values(text.as_bytes())?.elements;
    let parse = |range: Range<usize>| json::parse(text.get(range)?).ok();
    let seen = ranges.len().min(RECORDS);
    // Values that are no records are shown as such, and do not affect the detection of the others.
    let values: Vec<Json<'_>> = ranges
        .into_iter()
        .take(RECORDS)
        .filter_map(parse)
        .filter(Json::is_object)
        .collect();
    if values.len() * 2 <= seen {
        return None;
    }
    let probe = Probe {
        lines: &values,
        is_whole,
        ..Probe::at(path)
    };
    let mut detection = detect(&probe, mode);
    let is_agents = is_certain_of_agent(&detection) && detection.verdict.shape == Shape::Lines;
    detection.verdict.shape = Shape::Values;
    is_agents.then_some(detection)
}

/// The verdict of the format at whose path a file is, from its first lines, if it is certain: then
/// no other format is queried.
pub(crate) fn certain(format: &dyn Format, path: &Path, head: &[u8]) -> Option<ProbeResult> {
    let whole = memrchr(b'\n', head).and_then(|end| head.get(..end))?;
    let lines = str::from_utf8(whole).ok()?.lines().take(FIRST_LINES);
    let lines: Option<Vec<Json<'_>>> = lines
        .map(|line| json::read(line).filter(Json::is_object))
        .collect();
    let lines = lines.filter(|lines| lines.len() > 1)?;
    let verdict = format.sniff(&Probe {
        lines: &lines,
        ..Probe::at(path)
    });
    ((verdict.confidence, verdict.shape) == (Confidence::Certain, Shape::Lines)).then_some(verdict)
}

/// Detects the format of a folder from the names in it.
pub(crate) fn detect_folder(path: &Path, children: &[String], mode: DetectMode) -> Detection {
    detect(
        &Probe {
            children,
            is_whole: true,
            ..Probe::at(path)
        },
        mode,
    )
}

/// Whether no format reads the file.
pub(crate) fn is_unclaimed(detection: &Detection) -> bool {
    detection.verdict.confidence < Confidence::Maybe
}

/// Whether a format of a specific agent reads the file.
pub(crate) fn is_certain_of_agent(detection: &Detection) -> bool {
    !is_unclaimed(detection) && detection.format.name() != Generic.name()
}

/// Whether a folder holds sessions of many files each.
pub(crate) fn is_folder_of_sessions(detection: &Detection) -> bool {
    is_certain_of_agent(detection) && detection.verdict.shape == Shape::Folder
}

/// The format to which a file belongs in any folder, by its name.
pub(crate) fn claimed(path: &Path) -> Option<&'static dyn Format> {
    static CLAIMS: LazyLock<Vec<(PathBuf, &'static dyn Format)>> =
        LazyLock::new(|| by_pattern(|head| &head.claims));
    let mut claims = CLAIMS.iter();
    let claim = claims.find(|(pattern, _)| matches(pattern, path))?;
    Some(claim.1)
}

/// The formats by patterns of paths in their heads.
fn by_pattern(
    patterns: fn(&'static Head) -> &'static [&'static str],
) -> Vec<(PathBuf, &'static dyn Format)> {
    let of_format = |format: &'static dyn Format| {
        let patterns = patterns(format.head()).iter();
        patterns.map(move |pattern| (Path::new("**").join(pattern), format))
    };
    formats::registry().flat_map(of_format).collect()
}

/// Whether a file's name is one of a session: `.jsonl`, `.ndjson` or `.json`, archives
/// `….jsonl.reset.<date>`, or one that a format names.
pub(crate) fn may_contain_session(path: &Path) -> bool {
    static NAMES: LazyLock<Vec<(PathBuf, &'static dyn Format)>> =
        LazyLock::new(|| by_pattern(|head| &head.names));
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    name.contains(".json")
        || name.ends_with(".ndjson")
        || NAMES.iter().any(|(pattern, _)| matches(pattern, path))
}

/// Why these bytes are no session, if that is visible without any format: what they are, and what
/// helps.
pub(crate) fn foreign(head: &[u8]) -> Option<&'static str> {
    let is = |magic: &[u8]| head.starts_with(magic);
    if Packing::of(head).is_some() {
        return Some("compressed more than once; unpack it and open the session file in it");
    }
    if is(b"version https://git-lfs.github.com/") {
        return Some("a pointer of Git LFS: the file itself is not here; try `git lfs pull`");
    }
    if is(&[0xff, 0xfe]) || is(&[0xfe, 0xff]) {
        return Some("UTF-16 text; try `iconv -f UTF-16 -t UTF-8 FILE | tv -`");
    }
    if is(&[0x37, 0x7f, 0x06, 0x82]) || is(&[0x37, 0x7f, 0x06, 0x83]) {
        return Some(
            "the log of an SQLite database; open the database itself, whose name lacks the `-wal`",
        );
    }
    if is(b"PK\x03\x04") || is(b"BZh") || is(&[0xfd, b'7', b'z', b'X', b'Z']) {
        return Some("an archive; unpack it and open the session file in it");
    }
    // A crash may leave NUL bytes in a session, but every session contains the beginning of an
    // object.
    let is_binary = memchr(0, head).is_some() && memchr::memmem::find(head, b"{\"").is_none();
    is_binary.then_some("a binary file, not a session")
}

/// Why a file that no agent's format claims holds no records; `None` if it may hold some.
pub(crate) fn without_records(head: &[u8], detection: &Detection) -> Option<&'static str> {
    /// Divisor: at most one in so many bytes of a session may be invalid.
    const BROKEN: usize = 10;
    if is_certain_of_agent(detection) || head.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let text = text_of(head);
    let text = text.trim_start_matches('\u{feff}');
    let begins = |line: &str| unframed(line.trim()).starts_with(['{', '[']);
    if begins(text) || !parsed_lines(text, true).is_empty() {
        return None;
    }
    let is_broken = |c: &char| {
        *c == char::REPLACEMENT_CHARACTER || (c.is_control() && !c.is_ascii_whitespace())
    };
    // A crash may leave NUL bytes, and tool output has escapes.
    let broken = text
        .chars()
        .filter(is_broken)
        .filter(|c| !matches!(c, '\0' | '\u{1b}'))
        .count();
    if broken * BROKEN > text.len() {
        return Some(
            "a binary file, not a session; sessions are files of JSON records, or databases",
        );
    }
    let has_record = text.lines().any(begins);
    (!has_record).then_some(
        "text without a JSON record in its beginning; a session is a file of JSON records",
    )
}

/// The first objects of a text read as lines. Some lines hold several, some are cut or no JSON.
fn parsed_lines(text: &str, is_whole: bool) -> Vec<Json<'_>> {
    let mut objects = Vec::new();
    for line in text.split_inclusive('\n') {
        if objects.len() >= RECORDS {
            break;
        }
        let is_ended = is_whole || line.ends_with('\n');
        let line = unframed(line.trim());
        // With a comma it is an element of a document with one element a line.
        if !line.starts_with('{') || line.ends_with(',') {
            continue;
        }
        match json::parse(line) {
            Ok(object) => objects.push(object),
            Err(damage) if damage.trailing && is_ended => {
                let parts = json::split(line)
                    .into_iter()
                    .filter_map(|range| line.get(range));
                objects.extend(parts.filter_map(|part| json::parse(part).ok()));
            }
            Err(_) => {}
        }
    }
    objects
}

/// Whether a text is one value over several lines, or an array. A truncated line makes the next
/// ones seem to be parts of its value, so lines that are records by themselves count against that.
fn is_document(text: &str, split: &Split, lines: &[Json<'_>]) -> bool {
    let root = text.get(split.root.clone()).unwrap_or_default();
    if root.starts_with('[') {
        return true;
    }
    let inner = root.lines().count();
    inner > 1 && (split.is_complete() && lines.is_empty() || lines.len() * 4 < inner)
}

/// The format's reason for the detection, for the header.
pub(crate) fn reason(detection: &Detection) -> String {
    match detection.verdict.reason.as_str() {
        "" => format!("read as {}", Format::name(detection.format)),
        reason => reason.to_owned(),
    }
}
