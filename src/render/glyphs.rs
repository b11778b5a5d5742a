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
    /// The filled part of a bar.
    pub full: &'static str,
    /// The rest of a bar.
    pub empty: &'static str,
    /// Sorted, the least first.
    pub rising: &'static str,
    /// Sorted, the greatest first.
    pub falling: &'static str,
    /// Bars of growing height.
    pub ramp: [&'static str; 8],
    /// Between what is multiplied.
    pub times: &'static str,
    /// Leads to a node of a tree below which others follow.
    pub twig: &'static str,
    /// Leads to the last node of a tree.
    pub last_twig: &'static str,
    /// Was left behind.
    pub left: &'static str,
    /// Waits for somebody.
    pub waits: &'static str,
    /// Bars of time.
    pub time: TimeGlyphs,
}

/// What bars of time are made of; each sign is one column wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeGlyphs {
    /// A call on the critical path.
    pub path: &'static str,
    /// A call beside it.
    pub beside: &'static str,
    /// The model, where nobody waited for it.
    pub model_beside: &'static str,
    /// A sub-agent runs, and nothing more is known.
    pub caller: &'static str,
    /// A human is waited for.
    pub human: &'static str,
    /// Nobody came back for long.
    pub idle: &'static str,
    /// A request is made again.
    pub retry: &'static str,
    /// The file does not tell.
    pub unknown: &'static str,
    /// Goes on.
    pub goes_on: &'static str,
    /// Takes less than half of the column.
    pub short: &'static str,
    /// The same on the critical path.
    pub short_path: &'static str,
    /// Begins where another one ends.
    pub joint: &'static str,
    /// Time is left out.
    pub gap: &'static str,
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
        full: "█",
        empty: "░",
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
        full: "#",
        empty: ".",
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
