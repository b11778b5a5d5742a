//! The signs that are not words, in Unicode and in ASCII.

/// Signs that are not words. Each of them is one column wide but for `ellipsis`, `arrow` and the task
/// boxes in ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Stands for what was cut off within a row; one column in both sets.
    pub cut: &'static str,
    /// In front of the count of hidden lines.
    pub(crate) ellipsis: &'static str,
    /// A fold that is closed.
    pub(crate) closed: &'static str,
    /// A fold that is open.
    pub(crate) open: &'static str,
    /// Ended well.
    pub done: &'static str,
    /// Failed.
    pub(crate) failed: &'static str,
    /// Running.
    pub(crate) running: &'static str,
    /// Not allowed.
    pub(crate) refused: &'static str,
    /// Will never end.
    pub(crate) lost: &'static str,
    /// Head of a lane.
    pub(crate) lane_opens: &'static str,
    /// Lane.
    pub(crate) lane: &'static str,
    /// Lane of a call without a result.
    pub(crate) lane_waits: &'static str,
    /// End of a lane.
    pub(crate) lane_closes: &'static str,
    /// Head and end of a lane in one.
    pub(crate) lane_single: &'static str,
    /// More lanes than columns.
    pub(crate) lane_more: &'static str,
    /// Horizontal rule.
    pub(crate) rule: &'static str,
    /// Vertical bar of quotes and tables.
    pub(crate) bar: &'static str,
    /// Crossing of the two in a table.
    pub cross: &'static str,
    /// Bullet of a list.
    pub(crate) bullet: &'static str,
    /// Bullet of a list within a list.
    pub(crate) bullet_inner: &'static str,
    /// A task that is open.
    pub(crate) todo: &'static str,
    /// A task in work.
    pub(crate) doing: &'static str,
    /// A task that is done.
    pub(crate) did: &'static str,
    /// From here to there.
    pub(crate) arrow: &'static str,
    /// Compaction.
    pub(crate) compacted: &'static str,
    /// Removed lines in a count.
    pub(crate) minus: &'static str,
    /// Between facts.
    pub(crate) dot: &'static str,
    /// The filled part of a bar.
    pub(crate) full: &'static str,
    /// The rest of a bar.
    pub(crate) empty: &'static str,
    /// In a bar of what fills the context: system prompt and tools.
    pub(crate) fill_fixed: &'static str,
    /// In such a bar: what was said to the model, and summaries.
    pub(crate) fill_said: &'static str,
    /// In such a bar: what the model wrote.
    pub(crate) fill_model: &'static str,
    /// In such a bar: results of tools.
    pub(crate) fill_result: &'static str,
    /// Sorted, the least first.
    pub(crate) rising: &'static str,
    /// Sorted, the greatest first.
    pub(crate) falling: &'static str,
    /// Bars of growing height.
    pub(crate) ramp: [&'static str; 8],
    /// Between what is multiplied.
    pub(crate) times: &'static str,
    /// Leads to a node of a tree below which others follow.
    pub(crate) twig: &'static str,
    /// Leads to the last node of a tree.
    pub(crate) last_twig: &'static str,
    /// Was left behind.
    pub(crate) left: &'static str,
    /// Waits for somebody.
    pub(crate) waits: &'static str,
    /// Bars of time.
    pub(crate) time: TimeGlyphs,
}

/// What bars of time are made of; each sign is one column wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeGlyphs {
    /// A call on the critical path.
    pub(crate) path: &'static str,
    /// A call beside it.
    pub(crate) beside: &'static str,
    /// The model, where nobody waited for it.
    pub(crate) model_beside: &'static str,
    /// A sub-agent runs, and nothing more is known.
    pub(crate) caller: &'static str,
    /// A human is waited for.
    pub(crate) human: &'static str,
    /// Nobody came back for long.
    pub(crate) idle: &'static str,
    /// A request is made again.
    pub(crate) retry: &'static str,
    /// The file does not tell.
    pub(crate) unknown: &'static str,
    /// Goes on.
    pub(crate) goes_on: &'static str,
    /// Takes less than half of the column.
    pub(crate) short: &'static str,
    /// The same on the critical path.
    pub(crate) short_path: &'static str,
    /// Begins where another one ends.
    pub(crate) joint: &'static str,
    /// Time is left out.
    pub(crate) gap: &'static str,
}

impl Glyphs {
    /// For UTF-8 terminals.
    pub(crate) const UNICODE: Self = Self {
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
        lane_more: "+",
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
        full: "█",
        empty: "░",
        fill_fixed: "▓",
        fill_said: "▚",
        fill_model: "▒",
        fill_result: "█",
        rising: "↑",
        falling: "↓",
        ramp: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
        times: "×",
        twig: "├",
        last_twig: "└",
        left: "○",
        waits: "◔",
        time: TimeGlyphs {
            path: "━",
            beside: "░",
            model_beside: "▒",
            caller: "─",
            human: "·",
            idle: "╌",
            retry: "!",
            unknown: "?",
            goes_on: "▶",
            short: "▏",
            short_path: "╸",
            joint: "▕",
            gap: "┊",
        },
    };

    /// For all others.
    pub(crate) const ASCII: Self = Self {
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
        lane_more: "+",
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
        full: "#",
        empty: ".",
        fill_fixed: "=",
        fill_said: "%",
        fill_model: "+",
        fill_result: "#",
        rising: "^",
        falling: "v",
        ramp: ["_", ".", "-", "=", "+", "*", "%", "#"],
        times: "x",
        twig: "|",
        last_twig: "`",
        left: "o",
        waits: "%",
        time: TimeGlyphs {
            path: "=",
            beside: "-",
            model_beside: "%",
            caller: "_",
            human: ".",
            idle: ",",
            retry: "!",
            unknown: "?",
            goes_on: ">",
            short: "'",
            short_path: "+",
            joint: "|",
            gap: ":",
        },
    };
}
