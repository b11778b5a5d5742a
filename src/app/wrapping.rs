//! What becomes of lines that are longer than the screen is wide, and the numbers beside the text.
//!
//! Invariant: whatever changes here, the line that is read stays where it is.

use super::action::{Action, Way};
use super::arrange::with_layouts;
use super::layout::divide;
use super::reader::Reader;
use super::viewport::{Anchor, Focus, Rows};
use crate::model::entry::Entry;
use crate::render::row::Row;

/// So far a key scrolls sideways.
const STEP: usize = 16;
/// Nobody scrolls farther.
const FARTHEST: u16 = 20_000;

/// The reader's wishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrapping {
    /// The first column of long lines that is shown; `None` if they are wrapped. Prose always is.
    pub sideways: Option<u16>,
    /// What stands beside the text.
    pub numbers: Numbers,
    /// Whether lanes of calls in flight do.
    pub lanes: bool,
    /// Whether long times stand between entries.
    pub rulers: bool,
}

impl Default for Wrapping {
    fn default() -> Self {
        Self { sideways: None, numbers: Numbers::None, lanes: true, rulers: true }
    }
}

/// What stands beside the first row of each item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// Nothing.
    #[default]
    None,
    /// The line of its record in the file.
    Lines,
    /// The byte at which that begins.
    Bytes,
}

impl Numbers {
    /// The next kind.
    fn next(self) -> Self {
        match self {
            Self::None => Self::Lines,
            Self::Lines => Self::Bytes,
            Self::Bytes => Self::None,
        }
    }

    /// The name in settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lines => "lines",
            Self::Bytes => "bytes",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::None, Self::Lines, Self::Bytes].into_iter().find(|numbers| numbers.word() == name)
    }
}

/// Carries out an action of this room.
pub fn act(reader: &mut Reader, action: Action, times: usize) {
    match action {
        Action::ToggleWrap => wrap(reader, reader.text.wrapping.sideways.is_some()),
        Action::Sideways(way) => sideways(reader, way, times),
        _ => number(reader, reader.text.wrapping.numbers.next()),
    }
}

/// Wraps long lines, or cuts them.
pub fn wrap(reader: &mut Reader, wraps: bool) {
    if wraps != reader.text.wrapping.sideways.is_none() {
        keeping_place(reader, |reader| reader.text.wrapping.sideways = (!wraps).then_some(0));
    }
    reader.screen.say(if wraps { "long lines are wrapped" } else { "long lines are cut; zl and zh scroll" });
}

/// Scrolls long lines sideways.
fn sideways(reader: &mut Reader, way: Way, times: usize) {
    let Some(from) = reader.text.wrapping.sideways else {
        return reader.screen.say("long lines are wrapped; w cuts them");
    };
    let by = u16::try_from(times.saturating_mul(STEP)).unwrap_or(FARTHEST);
    let to = match way {
        Way::Next => from.saturating_add(by).min(FARTHEST),
        Way::Previous => from.saturating_sub(by),
    };
    reader.text.wrapping.sideways = Some(to);
    reader.look_changed();
    reader.screen.say(format!("from column {} on", to + 1));
}

/// Shows this kind of numbers.
pub fn number(reader: &mut Reader, numbers: Numbers) {
    if numbers != reader.text.wrapping.numbers {
        keeping_place(reader, |reader| reader.text.wrapping.numbers = numbers);
    }
    reader.screen.say(match numbers {
        Numbers::None => "no numbers",
        Numbers::Lines => "lines of the file",
        Numbers::Bytes => "bytes of the file",
    });
}

/// Shows lanes of calls in flight, or not.
pub fn show_lanes(reader: &mut Reader, is_shown: bool) {
    if is_shown != reader.text.wrapping.lanes {
        keeping_place(reader, |reader| reader.text.wrapping.lanes = is_shown);
    }
    reader.screen.say(if is_shown { "lanes of calls in flight" } else { "no lanes" });
}

/// Shows long times between entries, or not.
pub fn show_rulers(reader: &mut Reader, is_shown: bool) {
    if is_shown != reader.text.wrapping.rulers {
        keeping_place(reader, |reader| reader.text.wrapping.rulers = is_shown);
    }
    reader.screen.say(if is_shown { "long times stand between entries" } else { "no times between entries" });
}

/// Columns of the numbers with a blank behind them: as many as those of the newest entry need.
pub fn width_of_numbers(reader: &Reader) -> u16 {
    let least = match reader.text.wrapping.numbers {
        Numbers::None => return 0,
        Numbers::Lines => 4,
        Numbers::Bytes => 7,
    };
    let last = reader.session.transcript.order().last().and_then(|id| reader.session.transcript.get(*id));
    let digits = last.map_or(1, |entry| number_of(reader, entry, 0).to_string().len());
    u16::try_from(digits.max(least) + 1).unwrap_or(u16::MAX)
}

/// The number beside a block of an entry.
pub fn number_of(reader: &Reader, entry: &Entry, block: usize) -> u64 {
    let bodies = entry.blocks.get(block).map(|block| block.kind.bodies()).unwrap_or_default();
    let origin = bodies.first().map_or(entry.origin, |body| body.from);
    match reader.text.wrapping.numbers {
        Numbers::Bytes => origin.at,
        Numbers::None | Numbers::Lines => u64::from(origin.line),
    }
}

/// Changes how lines are laid out. The row that holds the window is found again by the line that it is of.
fn keeping_place(reader: &mut Reader, change: impl FnOnce(&mut Reader)) {
    let before = anchored(reader);
    change(reader);
    reader.look_changed();
    let (Some((rows, row)), Anchor::Row { entry, block, node, line, .. }) = (before, reader.text.view.anchor)
    else {
        return;
    };
    let number = rows.iter().take(row + 1).filter(|row| !row.continues).count();
    let Some((rows, _)) = anchored(reader) else { return };
    let starts = rows.iter().enumerate().filter(|(_, row)| !row.continues).map(|(place, _)| place);
    let row = starts.take(number).last().unwrap_or(0);
    reader.text.view.anchor = Anchor::Row { entry, block, row, node, line };
}

/// The rows of the block that holds the window, and which of them does.
fn anchored(reader: &mut Reader) -> Option<(Vec<Row>, usize)> {
    let Anchor::Row { entry, block, row, .. } = reader.text.view.anchor else { return None };
    let frame = divide(reader);
    let laid =
        with_layouts(reader, frame, |layouts, _| Some(layouts.rows(layouts.place(Focus { entry, block })?)))?;
    Some((laid.iter().filter(|row| row.block == block).cloned().collect(), row))
}
