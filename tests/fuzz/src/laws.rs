//! The laws for any input.

use std::fmt::Debug;

use ratatui::buffer::CellWidth;
use ratatui::style::Style;
use ratatui::text::Line;
use tv::model::edit::Batch;
use tv::model::entry::Entry;
use tv::model::tally::Tally;
use tv::model::transcript::Transcript;
use tv::render::code::Colours;
use tv::render::lay_out;
use tv::render::row::{Item, Level, Look, Row};
use tv::render::theme::Theme;

/// Characters that control a terminal or hide text. Listed again here, so that the list of the
/// program is not checked against itself.
pub fn is_hostile(c: char) -> bool {
    let is_format = matches!(c, '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe03}'..='\u{fe0d}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e001f}' | '\u{e0080}'..='\u{e00ff}'
        | '\u{e01f0}'..='\u{e0fff}');
    is_format || c.is_control() && !matches!(c, '\n' | '\t')
}

/// A cleaned text has no hostile characters and, if allowed, only complete colours.
pub fn assert_clean(text: &str, may_colour: bool) {
    let mut rest = text;
    while let Some(at) = rest.find(is_hostile) {
        let found = &rest[at..];
        let colour = found.strip_prefix("\u{1b}[").filter(|_| may_colour);
        let end = colour.and_then(|body| body.find(|c: char| !matches!(c, '0'..='9' | ';' | ':')));
        match (colour, end) {
            (Some(body), Some(end)) if body[end..].starts_with('m') => rest = &body[end + 1..],
            _ => panic!("{:?} in {text:?}", found.chars().next()),
        }
    }
}

/// The same for all strings within a value, by its `Debug` output: that escapes what is not
/// printable, and contains every field, also those added later.
pub fn assert_clean_within(value: &impl Debug) {
    let told = format!("{value:?}");
    let mut rest = told.as_str();
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at + 1..];
        let kind = escape.chars().next().unwrap_or('0');
        assert!(!matches!(kind, '0' | 'r'), "\\{kind} in {told}");
        rest = &escape[kind.len_utf8().min(escape.len())..];
        if kind != 'u' {
            continue;
        }
        let (code, after) = rest[1..].split_once('}').expect("an escape ends");
        let c = u32::from_str_radix(code, 16)
            .ok()
            .and_then(char::from_u32)
            .expect("a character");
        let end = after.strip_prefix('[').and_then(|body| {
            let end = body.find(|c: char| !matches!(c, '0'..='9' | ';' | ':'))?;
            body[end..].starts_with('m').then_some(end)
        });
        assert!(
            !is_hostile(c) || c == '\u{1b}' && end.is_some(),
            "{c:?} in {told}"
        );
        rest = after;
    }
}

/// Every record is counted in one of the sums; passed ones have a reason, faulty ones a position.
pub fn assert_conserved(tally: &Tally) {
    assert_eq!(
        tally.records(),
        tally.shown + tally.merged + tally.passed + tally.faulty
    );
    assert_eq!(
        tally.passed,
        tally.reasons.values().sum::<u64>(),
        "every pass has a reason"
    );
    assert_eq!(
        tally.faulty.min(1000),
        tally.faults.len() as u64,
        "every fault has a place"
    );
    assert_eq!(
        tally.bytes.passed,
        tally.bytes.reasons.values().sum::<u64>()
    );
    assert_eq!(
        tally.files.total(),
        (tally.records(), tally.bytes.total()),
        "files have all records"
    );
}

/// Rows are not wider than requested, and contain no control characters.
pub fn assert_rows(rows: &[Row], width: usize) {
    for row in rows {
        let right: usize = columns(&Line::from(row.right.clone()));
        let taken = columns(&row.line) + right;
        assert!(taken <= width, "{taken} of {width}: {row:?}");
        for span in row.line.spans.iter().chain(&row.right) {
            assert!(
                !span
                    .content
                    .chars()
                    .any(|c| c == '\n' || c == '\t' || is_hostile(c)),
                "{span:?}"
            );
        }
    }
}

/// Width in columns as ratatui counts it: by grapheme.
pub fn columns(line: &Line<'_>) -> usize {
    line.styled_graphemes(Style::new())
        .map(|one| usize::from(one.symbol.cell_width()))
        .sum()
}

/// All entries laid out at a width and a level.
pub fn assert_laid_out(transcript: &Transcript, width: u16, level: Level) {
    let (theme, colours) = (Theme::dark(), Colours::never());
    let look = Look {
        level,
        ..Look::full(width, &theme, &colours)
    };
    for entry in transcript.entries() {
        assert_rows(&lay_out(&Item::of(entry), &look), usize::from(width));
    }
}

/// A transcript of these batches.
pub fn tell(batches: impl IntoIterator<Item = Batch>) -> Transcript {
    let mut transcript = Transcript::new();
    for batch in batches {
        transcript.apply(batch);
    }
    transcript.update_derived();
    transcript
}

/// Entries without the fields that depend on how often and in which chunks they were sent.
pub fn timeless(transcript: &Transcript) -> Vec<Entry> {
    transcript
        .entries()
        .map(|entry| Entry {
            revision: 0,
            ..entry.clone()
        })
        .collect()
}

/// Compares entry by entry, and reports the first that differs. Beside broken records the order is
/// free: what a stream has said so far is before or after the broken record, depending on where
/// the reading ended.
pub fn assert_same(left: &Transcript, right: &Transcript) {
    let (mut a, mut b) = (timeless(left), timeless(right));
    let is_sound = right.tally().faulty == 0;
    if !is_sound {
        a.sort_by(|a, b| a.key.cmp(&b.key));
        b.sort_by(|a, b| a.key.cmp(&b.key));
    }
    for (a, b) in a.iter().zip(&b) {
        assert_eq!(a, b);
    }
    assert_eq!(a.len(), b.len());
    assert_eq!(left.tally(), right.tally());
    assert_eq!(left.totals().sum(), right.totals().sum());
    assert!(
        !is_sound || left.turns() == right.turns(),
        "{:?} {:?}",
        left.turns(),
        right.turns()
    );
}

/// No hostile character anywhere in a transcript.
pub fn assert_transcript_clean(transcript: &Transcript) {
    assert_clean_within(&transcript.meta());
    assert_clean_within(&transcript.lanes());
    assert_clean_within(&transcript.notices());
    assert_clean_within(&transcript.tally());
    for entry in transcript.entries() {
        assert_clean_within(entry);
    }
}
