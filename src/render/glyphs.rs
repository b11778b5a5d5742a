//! The signs that are not words, in Unicode and in ASCII.

/// Signs that are not words. Each of them is one column wide but for `ellipsis`, `arrow` and the task
/// boxes in ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Stands for what was cut off within a row; one column in both sets.
    pub cut: &'static str,
    /// In front of what a line goes on with on the next row.
    pub(crate) goes_on: &'static str,
    /// In front of the count of hidden lines.
    pub(crate) ellipsis: &'static str,
    /// A fold that is closed.
    pub(crate) closed: &'static str,
    /// A fold that is open.
    pub(crate) open: &'static str,
    /// From here to there.
    pub(crate) arrow: &'static str,
    /// Compaction.
    pub(crate) compacted: &'static str,
    /// Removed lines in a count.
    pub(crate) minus: &'static str,
    /// A hit of a search.
    pub(crate) hit: &'static str,
    /// Between facts.
    pub(crate) dot: &'static str,
    /// Sorted, the least first.
    pub(crate) rising: &'static str,
    /// Sorted, the greatest first.
    pub(crate) falling: &'static str,
    /// Between what is multiplied.
    pub(crate) times: &'static str,
    /// What came of a call, a sub-agent or a branch.
    pub outcome: OutcomeGlyphs,
    /// Lanes of calls beside the text.
    pub(crate) lane: LaneGlyphs,
    /// Lines that part and join.
    pub line: LineGlyphs,
    /// What stands in front of the items of a list.
    pub(crate) list: ListGlyphs,
    /// Bars of amounts.
    pub(crate) chart: ChartGlyphs,
    /// Bars of time.
    pub(crate) time: TimeGlyphs,
    /// Marks of the whole session, right of the text.
    pub(crate) spine: SpineGlyphs,
}

/// What came of a call, a sub-agent or a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeGlyphs {
    /// Ended well.
    pub done: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) running: &'static str,
    /// Not allowed.
    pub(crate) refused: &'static str,
    /// Will never end.
    pub(crate) lost: &'static str,
    /// Was left behind.
    pub(crate) left: &'static str,
    /// Waits for somebody.
    pub(crate) waits: &'static str,
}

/// Lanes of calls beside the text: from the head of a call to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneGlyphs {
    /// Head of a lane.
    pub(crate) opens: &'static str,
    /// Lane.
    pub(crate) within: &'static str,
    /// Lane of a call without a result.
    pub(crate) waits: &'static str,
    /// End of a lane.
    pub(crate) closes: &'static str,
    /// Head and end of a lane in one.
    pub(crate) single: &'static str,
    /// More lanes than columns.
    pub(crate) more: &'static str,
}

/// Lines that part and join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineGlyphs {
    pub(crate) rule: &'static str,
    /// Vertical bar of quotes and tables.
    pub(crate) bar: &'static str,
    /// Crossing of the two in a table.
    pub cross: &'static str,
    /// Leads to a node of a tree below which others follow.
    pub(crate) twig: &'static str,
    /// Leads to the last node of a tree.
    pub(crate) last_twig: &'static str,
}

/// What stands in front of the items of a list; the boxes of tasks are wider in ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListGlyphs {
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
}

/// What bars of amounts are made of; the last four show what fills the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChartGlyphs {
    /// The filled part of a bar.
    pub(crate) full: &'static str,
    /// The rest of a bar.
    pub(crate) empty: &'static str,
    /// Bars of growing height.
    pub(crate) ramp: [&'static str; 8],
    /// In a bar of what fills the context: system prompt and tools.
    pub(crate) fixed: &'static str,
    /// In such a bar: what was said to the model, and summaries.
    pub(crate) said: &'static str,
    /// In such a bar: what the model wrote.
    pub(crate) model: &'static str,
    /// In such a bar: results of tools.
    pub(crate) result: &'static str,
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
    /// The model was told that work in the background had ended.
    pub(crate) delivery: &'static str,
    /// A human is waited for.
    pub(crate) human: &'static str,
    /// Nobody came back for long.
    pub(crate) idle: &'static str,
    /// A request is made again.
    pub(crate) retry: &'static str,
    /// The file does not say.
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

/// Marks of the whole session, right of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpineGlyphs {
    /// What is in the window.
    pub(crate) window: &'static str,
    pub(crate) prompt: &'static str,
    pub(crate) failure: &'static str,
    /// What the reader has marked.
    pub(crate) mark: &'static str,
}

impl Glyphs {
    /// For UTF-8 terminals.
    pub(crate) const UNICODE: Self = Self {
        cut: "…",
        goes_on: "↳",
        ellipsis: "…",
        closed: "▸",
        open: "▾",
        arrow: "→",
        compacted: "↯",
        minus: "−",
        hit: "▪",
        dot: "·",
        rising: "↑",
        falling: "↓",
        times: "×",
        outcome: OutcomeGlyphs {
            done: "✓",
            failed: "✗",
            running: "●",
            refused: "⊘",
            lost: "╌",
            left: "○",
            waits: "◔",
        },
        lane: LaneGlyphs {
            opens: "╭",
            within: "│",
            waits: "╎",
            closes: "╰",
            single: "─",
            more: "+",
        },
        line: LineGlyphs {
            rule: "─",
            bar: "│",
            cross: "┼",
            twig: "├",
            last_twig: "└",
        },
        list: ListGlyphs {
            bullet: "•",
            bullet_inner: "◦",
            todo: "☐",
            doing: "◐",
            did: "☑",
        },
        chart: ChartGlyphs {
            full: "█",
            empty: "░",
            ramp: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
            fixed: "▓",
            said: "▚",
            model: "▒",
            result: "█",
        },
        time: TimeGlyphs {
            path: "━",
            beside: "░",
            model_beside: "▒",
            caller: "─",
            delivery: "◆",
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
        spine: SpineGlyphs {
            window: "▐",
            prompt: "╴",
            failure: "E",
            mark: "◆",
        },
    };

    /// For all others.
    pub(crate) const ASCII: Self = Self {
        cut: "~",
        goes_on: ">",
        ellipsis: "...",
        closed: ">",
        open: "v",
        arrow: "->",
        compacted: "#",
        minus: "-",
        hit: "=",
        dot: "-",
        rising: "^",
        falling: "v",
        times: "x",
        outcome: OutcomeGlyphs {
            done: "+",
            failed: "x",
            running: "*",
            refused: "/",
            lost: "?",
            left: "o",
            waits: "%",
        },
        lane: LaneGlyphs {
            opens: ".",
            within: "|",
            waits: ":",
            closes: "'",
            single: "-",
            more: "+",
        },
        line: LineGlyphs {
            rule: "-",
            bar: "|",
            cross: "+",
            twig: "|",
            last_twig: "`",
        },
        list: ListGlyphs {
            bullet: "*",
            bullet_inner: "-",
            todo: "[ ]",
            doing: "[~]",
            did: "[x]",
        },
        chart: ChartGlyphs {
            full: "#",
            empty: ".",
            ramp: ["_", ".", "-", "=", "+", "*", "%", "#"],
            fixed: "=",
            said: "%",
            model: "+",
            result: "#",
        },
        time: TimeGlyphs {
            path: "=",
            beside: "-",
            model_beside: "%",
            caller: "_",
            delivery: "*",
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
        spine: SpineGlyphs {
            window: "#",
            prompt: "+",
            failure: "E",
            mark: "'",
        },
    };
}
