//! The signs that are not words, in Unicode and in ASCII.

/// Signs that are not words. Each of them is one column wide but for `ellipsis`, `arrow` and the task
/// boxes in ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Stands for what was cut off within a row; one column in both sets.
    pub cut: &'static str,
    /// In front of the count of hidden lines.
    pub ellipsis: &'static str,
    /// A fold that is closed.
    pub closed: &'static str,
    /// A fold that is open.
    pub open: &'static str,
    /// Ended well.
    pub done: &'static str,
    /// Failed.
    pub failed: &'static str,
    /// Running.
    pub running: &'static str,
    /// Not allowed.
    pub refused: &'static str,
    /// Will never end.
    pub lost: &'static str,
    /// Head of a lane.
    pub lane_opens: &'static str,
    /// Lane.
    pub lane: &'static str,
    /// Lane of a call without a result.
    pub lane_waits: &'static str,
    /// End of a lane.
    pub lane_closes: &'static str,
    /// Head and end of a lane in one.
    pub lane_single: &'static str,
    /// Horizontal rule.
    pub rule: &'static str,
    /// Vertical bar of quotes and tables.
    pub bar: &'static str,
    /// Crossing of the two in a table.
    pub cross: &'static str,
    /// Bullet of a list.
    pub bullet: &'static str,
    /// Bullet of a list within a list.
    pub bullet_inner: &'static str,
    /// A task that is open.
    pub todo: &'static str,
    /// A task in work.
    pub doing: &'static str,
    /// A task that is done.
    pub did: &'static str,
    /// From here to there.
    pub arrow: &'static str,
    /// Compaction.
    pub compacted: &'static str,
    /// Removed lines in a count.
    pub minus: &'static str,
    /// Between facts.
    pub dot: &'static str,
    /// So many times.
    pub times: &'static str,
}

impl Glyphs {
    /// For UTF-8 terminals.
    pub const UNICODE: Self = Self {
        cut: "…",
        ellipsis: "…",
        closed: "▸",
        open: "▾",
        done: "✓",
        failed: "✗",
        running: "●",
        refused: "⊘",
        lost: "╌",
        lane_opens: "╭",
        lane: "│",
        lane_waits: "╎",
        lane_closes: "╰",
        lane_single: "─",
        rule: "─",
        bar: "│",
        cross: "┼",
        bullet: "•",
        bullet_inner: "◦",
        todo: "☐",
        doing: "◐",
        did: "☑",
        arrow: "→",
        compacted: "↯",
        minus: "−",
        dot: "·",
        times: "×",
    };

    /// For all others.
    pub const ASCII: Self = Self {
        cut: "~",
        ellipsis: "...",
        closed: ">",
        open: "v",
        done: "+",
        failed: "x",
        running: "*",
        refused: "/",
        lost: "?",
        lane_opens: ".",
        lane: "|",
        lane_waits: ":",
        lane_closes: "'",
        lane_single: "-",
        rule: "-",
        bar: "|",
        cross: "+",
        bullet: "*",
        bullet_inner: "-",
        todo: "[ ]",
        doing: "[~]",
        did: "[x]",
        arrow: "->",
        compacted: "#",
        minus: "-",
        dot: "-",
        times: "x",
    };
}
