//! Facts about an entry that are needed for all entries at once: visibility, number of lines,
//! states of calls. They stay in memory when the entry is packed.

use crate::model::entry::{BlockKind, Break, Entry, Marks, Role};
use crate::model::tool::is_textual;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntrySummary {
    pub(crate) marks: Marks,
    /// Whether it is in the main lane.
    pub(crate) is_main: bool,
    pub(crate) blocks: u16,
    /// Estimated lines of its bodies, each block cut after [`SHORT`].
    pub(crate) short: u16,
    /// Estimated lines of its bodies, each block cut after [`LONG`].
    pub(crate) long: u32,
    /// Number of calls with an id of their own.
    pub(crate) calls: u16,
    /// Number of those calls without a result.
    pub(crate) open: u16,
    /// Number of failures; see [`Entry::has_failed`].
    pub(crate) errors: u16,
    /// Whether any of its blocks is an error.
    pub(crate) is_error: bool,
    /// Whether it is a record that could not be read.
    pub(crate) is_broken: bool,
    /// Whether the history was shortened here.
    pub(crate) compaction: CompactionKind,
    /// Whether it is an answer of the model.
    pub(crate) is_answer: bool,
    /// Whether it holds a stray result.
    pub(crate) is_stray: bool,
    /// Whether the work was interrupted here.
    pub(crate) is_interruption: bool,
    /// Whether it consists only of redacted thinking.
    pub(crate) is_redacted: bool,
}

/// Whether an entry is a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CompactionKind {
    #[default]
    None,
    /// Only old tool outputs were dropped.
    Partial,
    /// The history was replaced by a summary.
    Whole,
}

/// Effect of an entry on the open calls before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// A new request was made.
    Answer,
    /// No results come any more: the history was replaced, and the calls with it, or the work was
    /// interrupted.
    Cut,
    /// No effect.
    None,
}

impl Boundary {
    pub(crate) fn of(entry: &Entry) -> Self {
        let cuts = |kind: &BlockKind| {
            kind.is_compaction() || matches!(kind, BlockKind::Break(Break::Interrupted(_)))
        };
        let is_cut = || entry.has(cuts);
        Self::from_marks(entry.marks, entry.role == Role::Assistant, is_cut)
    }

    /// Like [`Boundary::of`], from a glance.
    pub(crate) fn of_summary(glance: &EntrySummary) -> Self {
        let is_cut = || glance.is_interruption || glance.compaction == CompactionKind::Whole;
        Self::from_marks(glance.marks, glance.is_answer, is_cut)
    }

    /// A copy has no effect.
    fn from_marks(marks: Marks, is_answer: bool, is_cut: impl FnOnce() -> bool) -> Self {
        match is_answer {
            _ if marks.copy => Self::None,
            true => Self::Answer,
            false if is_cut() => Self::Cut,
            false => Self::None,
        }
    }
}

/// Lines of a block in a preview.
pub(crate) const SHORT: u32 = 12;
/// Limit of the counted lines of a block.
pub(crate) const LONG: u32 = 2_000;
/// Estimated bytes of a line.
const LINE_BYTES: u32 = 90;

impl EntrySummary {
    pub(crate) fn of(entry: &Entry) -> Self {
        let mut glance = Self {
            marks: entry.marks,
            is_main: entry.lane.is_none(),
            is_answer: entry.role == Role::Assistant,
            blocks: u16::try_from(entry.blocks.len()).unwrap_or(u16::MAX),
            is_redacted: entry.is_redacted(),
            ..Self::default()
        };
        for block in &entry.blocks {
            glance.add_size(&block.kind);
            let is_error = block.kind.is_error();
            glance.is_error |= is_error;
            match &block.kind {
                BlockKind::Call(call) if !is_textual(&call.key) => {
                    glance.calls = glance.calls.saturating_add(1);
                    glance.open = glance
                        .open
                        .saturating_add(u16::from(call.state.result().is_none()));
                }
                BlockKind::Break(Break::Compaction { partial, .. }) => {
                    let this = if *partial {
                        CompactionKind::Partial
                    } else {
                        CompactionKind::Whole
                    };
                    glance.compaction = glance.compaction.max(this);
                }
                BlockKind::Break(Break::Interrupted(_)) => glance.is_interruption = true,
                _ => {}
            }
            glance.is_stray |= matches!(block.kind, BlockKind::Result(_));
            glance.is_broken |= is_error && matches!(block.kind, BlockKind::Raw(_));
            glance.errors = glance
                .errors
                .saturating_add(u16::from(entry.has_failed(&block.kind)));
        }
        glance
    }

    fn add_size(&mut self, kind: &BlockKind) {
        let lines = kind
            .bodies()
            .map(|body| body.lines.max(body.bytes / LINE_BYTES));
        let lines = lines.fold(0, u32::saturating_add);
        self.short = self
            .short
            .saturating_add(u16::try_from(lines.min(SHORT)).unwrap_or(u16::MAX));
        self.long = self.long.saturating_add(lines.min(LONG));
    }
}
