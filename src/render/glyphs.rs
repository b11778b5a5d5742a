//! The signs besides letters and digits, in Unicode and in ASCII.

/// Signs besides letters and digits. Each of them is one column wide, except `ellipsis`, `arrow`
/// and the task boxes in ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Replaces text that was cut off within a row; one column in both sets.
    pub cut: &'static str,
    /// Before the continuation of a line on the next row.
    pub(crate) goes_on: &'static str,
    /// Before the count of hidden lines.
    pub(crate) ellipsis: &'static str,
    /// A closed fold.
    pub(crate) closed: &'static str,
    /// An open fold.
    pub(crate) open: &'static str,
    /// Between the start and the end of a change.
    pub(crate) arrow: &'static str,
    pub(crate) compacted: &'static str,
    /// Removed lines in a count.
    pub(crate) minus: &'static str,
    /// A hit of a search.
    pub(crate) hit: &'static str,
    /// Separator of facts.
    pub(crate) dot: &'static str,
    /// Sort order: ascending.
    pub(crate) rising: &'static str,
    /// Sort order: descending.
    pub(crate) falling: &'static str,
    pub(crate) times: &'static str,
    /// Outcome of a call, a sub-agent or a branch.
    pub outcome: OutcomeGlyphs,
    /// Lanes of calls, beside the text.
    pub(crate) lane: LaneGlyphs,
    /// Lines that separate and connect.
    pub line: LineGlyphs,
    /// Bullets and boxes of list items.
    pub(crate) list: ListGlyphs,
    pub(crate) chart: ChartGlyphs,
    pub(crate) time: TimeGlyphs,
    /// Marks of the whole session, right of the text.
    pub(crate) spine: SpineGlyphs,
}

/// Outcome of a call, a sub-agent or a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeGlyphs {
    /// Succeeded.
    pub done: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) running: &'static str,
    pub(crate) refused: &'static str,
    /// Will never end.
    pub(crate) lost: &'static str,
    /// Abandoned.
    pub(crate) left: &'static str,
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
    /// Head and end of a lane on one row.
    pub(crate) single: &'static str,
    /// More lanes than columns.
    pub(crate) more: &'static str,
}

/// Lines that separate and connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineGlyphs {
    pub(crate) rule: &'static str,
    /// Vertical bar of quotes and tables.
    pub(crate) bar: &'static str,
    /// Crossing of the two in a table.
    pub cross: &'static str,
    /// Before a node of a tree that others follow.
    pub(crate) twig: &'static str,
    /// Before the last node of a tree.
    pub(crate) last_twig: &'static str,
}

/// Bullets and boxes of list items; the boxes of tasks are wider in ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListGlyphs {
    pub(crate) bullet: &'static str,
    /// Bullet of a nested list.
    pub(crate) bullet_inner: &'static str,
    pub(crate) todo: &'static str,
    /// A task in progress.
    pub(crate) doing: &'static str,
    /// A finished task.
    pub(crate) did: &'static str,
}

/// Bars of amounts; the last four signs show the classes of the context's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChartGlyphs {
    /// The filled part of a bar.
    pub(crate) full: &'static str,
    /// The empty part of a bar.
    pub(crate) empty: &'static str,
    /// Bars of increasing height.
    pub(crate) ramp: [&'static str; 8],
    /// In a bar of the context: system prompt and tools.
    pub(crate) fixed: &'static str,
    /// In a bar of the context: messages to the model, and summaries.
    pub(crate) said: &'static str,
    /// In a bar of the context: output of the model.
    pub(crate) model: &'static str,
    /// In a bar of the context: results of tools.
    pub(crate) result: &'static str,
}

/// Bars of time; each sign is one column wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeGlyphs {
    /// A call on the critical path.
    pub(crate) path: &'static str,
    /// A call beside the critical path.
    pub(crate) beside: &'static str,
    /// The model, while nobody was waiting for it.
    pub(crate) model_beside: &'static str,
    /// A running sub-agent, without further facts.
    pub(crate) caller: &'static str,
    /// The model was notified that background work had ended.
    pub(crate) delivery: &'static str,
    /// Waiting for a human.
    pub(crate) human: &'static str,
    /// Nobody came back for a long time.
    pub(crate) idle: &'static str,
    /// A request is repeated.
    pub(crate) retry: &'static str,
    pub(crate) unknown: &'static str,
    pub(crate) goes_on: &'static str,
    /// Shorter than half of the column.
    pub(crate) short: &'static str,
    /// Shorter than half of the column, on the critical path.
    pub(crate) short_path: &'static str,
    /// The start of a call where another one ends.
    pub(crate) joint: &'static str,
    pub(crate) gap: &'static str,
}

/// Marks of the whole session, right of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpineGlyphs {
    /// The range in the window.
    pub(crate) window: &'static str,
    pub(crate) prompt: &'static str,
    pub(crate) failure: &'static str,
    /// A mark of the user.
    pub(crate) mark: &'static str,
}

impl Glyphs {
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

    /// For all other terminals.
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
