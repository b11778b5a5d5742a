//! Cuts the visible part out of a long text: its first and last lines, and the size of what is
//! hidden.
//!
//! Invariant: only the visible part is read; a text of 50 MB costs as much as one of 50 lines.

use super::wrap;
use crate::model::figures;

/// Row limit of a block at level 4.
pub(crate) const FULL_ROWS: usize = 2_000;
/// Row limit of a block that was opened by hand.
pub(crate) const OPEN_ROWS: usize = 20_000;

/// Level of detail of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The head row only.
    Closed,
    /// The head row and some lines.
    Preview,
    /// All, up to [`FULL_ROWS`].
    Full,
    /// All, up to [`OPEN_ROWS`], because it was opened by hand.
    Open,
    /// All, exactly as recorded.
    Raw,
}

impl Detail {
    pub(crate) fn rows(self) -> usize {
        match self {
            Self::Closed | Self::Preview | Self::Full | Self::Raw => FULL_ROWS,
            Self::Open => OPEN_ROWS,
        }
    }

    /// The maximum number of rows, given that of a preview.
    pub(crate) fn rows_or(self, preview: usize) -> usize {
        if self.is_whole() {
            self.rows()
        } else {
            preview
        }
    }

    /// Whether more than a preview is shown.
    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Self::Full | Self::Open | Self::Raw)
    }

    /// The extent of a body whose preview has `head` and `tail` lines.
    pub fn extent(self, head: usize, tail: usize) -> ExcerptLimits {
        match self {
            Self::Closed | Self::Preview => ExcerptLimits {
                head,
                tail,
                rows_per_line: 2,
            },
            Self::Full | Self::Raw | Self::Open => {
                let rows = self.rows();
                ExcerptLimits {
                    head: rows / 5 * 4,
                    tail: rows / 5,
                    rows_per_line: 0,
                }
            }
        }
    }
}

/// Limits of an excerpt in lines.
#[derive(Clone, Copy, Debug)]
pub struct ExcerptLimits {
    /// Lines from the beginning.
    pub head: usize,
    /// Lines from the end.
    pub tail: usize,
    /// Rows per line; 0 is no limit.
    pub rows_per_line: usize,
}

impl ExcerptLimits {
    pub(crate) fn is_preview(self) -> bool {
        self.rows_per_line > 0
    }
}

/// The visible part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt<'a> {
    pub(crate) head: &'a str,
    pub(crate) hidden_lines: usize,
    pub(crate) hidden_bytes: usize,
    /// The visible end; empty if nothing is hidden.
    pub(crate) tail: &'a str,
}

impl Excerpt<'_> {
    /// Whether text is hidden.
    pub(crate) fn is_cut(&self) -> bool {
        self.hidden_bytes > 0
    }

    /// `+212 lines`, or bytes if it is one long line.
    pub(crate) fn hidden(&self) -> String {
        if self.hidden_lines > 0 {
            format!("+{}", figures::count(self.hidden_lines as u64, "line"))
        } else {
            format!("+{}", figures::bytes(self.hidden_bytes as u64))
        }
    }
}

/// Cuts an excerpt. `lines` is the number of lines of the text, if known.
pub(crate) fn excerpt(
    text: &str,
    lines: usize,
    extent: ExcerptLimits,
    width: usize,
) -> Excerpt<'_> {
    let text = text.trim_end_matches('\n');
    let bytes_of = |rows: usize| rows.saturating_mul(width.max(80)).max(4_096);
    let is_small = text.len() <= bytes_of(extent.head + extent.tail);
    // A row that says "+1 line" takes as much space as that line.
    if is_small && text.lines().nth(extent.head + extent.tail + 1).is_none() {
        return Excerpt {
            head: text,
            hidden_lines: 0,
            hidden_bytes: 0,
            tail: "",
        };
    }
    let head = first_lines(wrap::head(text, bytes_of(extent.head)), extent.head);
    let rest = text.get(head.len()..).unwrap_or_default();
    let tail = last_lines(wrap::tail(rest, bytes_of(extent.tail)), extent.tail);
    let shown = head.lines().count() + tail.lines().count();
    Excerpt {
        head,
        hidden_lines: lines.saturating_sub(shown),
        hidden_bytes: rest.len().saturating_sub(tail.len()),
        tail,
    }
}

fn first_lines(text: &str, count: usize) -> &str {
    match text.match_indices('\n').nth(count.saturating_sub(1)) {
        _ if count == 0 => "",
        Some((end, _)) => wrap::head(text, end),
        None => text,
    }
}

fn last_lines(text: &str, count: usize) -> &str {
    match text.rmatch_indices('\n').nth(count.saturating_sub(1)) {
        _ if count == 0 => "",
        Some((start, _)) => wrap::tail(text, text.len() - start - 1),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{Detail, ExcerptLimits, excerpt};

    const FEW: ExcerptLimits = ExcerptLimits {
        head: 2,
        tail: 2,
        rows_per_line: 0,
    };

    #[test]
    fn shows_both_ends() {
        let text = "1\n2\n3\n4\n5\n6\n7\n";
        let shown = excerpt(text, 7, FEW, 80);
        assert_eq!(
            (shown.head, shown.tail, shown.hidden_lines),
            ("1\n2", "6\n7", 3)
        );
        assert_eq!(shown.hidden(), "+3 lines");
    }

    #[test]
    fn hides_nothing_that_would_fit() {
        let shown = excerpt("1\n2\n3\n4\n5", 5, FEW, 80);
        assert!(!shown.is_cut());
        assert_eq!(shown.head, "1\n2\n3\n4\n5");
    }

    #[test]
    fn one_endless_line_is_cut_in_bytes() {
        let text = "x".repeat(10_000_000);
        let shown = excerpt(&text, 1, Detail::Preview.extent(3, 5), 80);
        assert!(shown.head.len() + shown.tail.len() < 20_000);
        assert_eq!(shown.hidden_lines, 0);
        assert!(shown.hidden().contains("MB"));
    }
}
