//! Rulers: long pauses between entries, and the start of a day: `── 4 m 12 s you ──`, `── Sat 31
//! Jan 2026 ──`.
//!
//! Invariant: a ruler is the last row of the entry above it, so no row above moves when it appears
//! with the entry below; it is not an item, and is not counted. Time of tools has no ruler: calls
//! show their duration.

use ratatui::text::Span;

use super::sequence::depth_of;
use crate::analysis::account::{Account, Class};
use crate::model::entry::EntryId;
use crate::model::figures;
use crate::model::transcript::Transcript;
use crate::render::row::{Look, Row, RowKind};
use crate::render::wrap;

/// The shortest pause with a ruler, in ms.
const LEAST_MS: u64 = 30_000;
/// Columns of indentation per level of sub-agents, and their limit.
const INDENT: (usize, usize) = (2, 8);

/// The pause between two entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruler {
    pub(crate) ms: u64,
    /// What the time was spent on, or waiting for.
    pub(crate) class: Class,
    /// Whether the duration is an upper bound, since the entry above has no time.
    pub(crate) is_bound: bool,
    /// Depth of the entry below in sub-agents.
    pub(crate) depth: u16,
}

/// The ruler between an entry and the next shown one; `None` if the pause is short.
pub(crate) fn between(
    transcript: &Transcript,
    account: &Account,
    above: EntryId,
    below: EntryId,
) -> Option<Ruler> {
    let before = account
        .before(below)
        .filter(|before| before.ms() >= LEAST_MS)?;
    let (above, below) = (transcript.get(above)?, transcript.get(below)?);
    // Time after the start of a message belongs to the message.
    if below.at.is_none_or(|at| before.from >= at) {
        return None;
    }
    let is_bound = above.at.is_none() && above.lane == below.lane;
    Some(Ruler {
        ms: before.ms(),
        class: before.class,
        is_bound,
        depth: depth_of(transcript, below),
    })
}

/// The date of an entry; `None` if the entry above is of the same day.
pub(crate) fn new_day(transcript: &Transcript, above: EntryId, below: EntryId) -> Option<String> {
    let (above, below) = (transcript.get(above)?, transcript.get(below)?);
    let (before, at) = (above.last_time()?, below.at?);
    (!before.is_same_day(at)).then(|| at.date())
}

/// The row of a ruler, of a new day, or of both.
pub fn row(ruler: Option<&Ruler>, day: Option<&str>, block: usize, look: &Look<'_>) -> Row {
    let (theme, glyphs) = (look.theme, look.theme.glyphs());
    let width = usize::from(look.width);
    let (step, most) = INDENT;
    let depth = ruler.map_or(0, |ruler| usize::from(ruler.depth));
    let indent = " ".repeat((depth * step).min(most).min(width / 4));
    let took = ruler.map(|ruler| {
        let at_most = theme.at_most(ruler.is_bound);
        let took = figures::elapsed(ruler.ms);
        format!("{at_most} {took} {}", ruler.class.word())
            .trim_start()
            .to_owned()
    });
    let parts: Vec<&str> = took.as_deref().into_iter().chain(day).collect();
    let rule = glyphs.line.rule.repeat(2);
    let words = format!(
        "{indent}{rule} {} {rule}",
        parts.join(&format!(" {} ", glyphs.dot))
    );
    let line = wrap::fit(&[Span::styled(words, theme.dim)], width, glyphs.cut);
    Row {
        line: line.into(),
        kind: RowKind::Ruler,
        block,
        ..Row::default()
    }
}
