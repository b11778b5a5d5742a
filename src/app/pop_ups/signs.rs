//! The marks and signs of all screens with their meanings, and the kind and marks of the chosen row;
//! parts of the help.

use crate::analysis::activity::{Activity, Wish};
use crate::analysis::wall::SessionRow;
use crate::app::screens::AppScreen;
use crate::app::state::App;
use crate::model::entry::{BlockKind, Break, Entry, Role};
use crate::model::tally::unknown::Judged;
use crate::model::tool::{ToolKind, ToolState};
use crate::render::glyphs::OutcomeGlyphs;
use crate::render::theme::Theme;

/// Groups of signs, with the meaning of each.
pub(crate) fn signs(theme: &Theme) -> Vec<(String, &'static str)> {
    let glyphs = theme.glyphs();
    let (outcome, lane, time, chart) = (&glyphs.outcome, &glyphs.lane, &glyphs.time, &glyphs.chart);
    let (at_least, at_most) = if theme.ascii {
        (">=", "<=")
    } else {
        ("\u{2265}", "\u{2264}")
    };
    let spine = &glyphs.spine;
    let of = |signs: &[&str], words| (signs.join(" "), words);
    vec![
        of(&[outcome.done, outcome.failed], "ended well, failed"),
        of(&[outcome.refused, outcome.lost], "refused, lost"),
        of(&[outcome.running, time.goes_on], "runs"),
        of(&[outcome.waits, outcome.left], "waits, idle or left"),
        of(&["!"], "a finding: failures"),
        of(&["~$"], "estimated by prices"),
        of(&["$1+", at_least], "at least so much"),
        of(&["$?", "?", at_most], "unknown, at most"),
        of(&[glyphs.rising, glyphs.falling], "tokens in, out"),
        of(&["5m", "1h"], "cache kept so long"),
        of(&["p50", "p95"], "% are less"),
        of(&["6+60"], "failed, other errors"),
        of(&["bad"], "unread records"),
        of(&["96%"], "place in the session"),
        of(&[glyphs.times, glyphs.compacted], "so often, compaction"),
        of(&["r", "e", "w"], "read, edited, wrote"),
        of(&[glyphs.closed, glyphs.open], "closed, open"),
        of(&[glyphs.goes_on, glyphs.cut], "goes on, is cut"),
        of(&[lane.opens, lane.closes, lane.waits], "call, end, no end"),
        of(
            &[spine.window, spine.prompt, spine.mark],
            "sight, prompt, mark",
        ),
        of(&[spine.failure, glyphs.hit], "map: failure, hit"),
        of(&[time.path, time.beside], "waited for, or not"),
        of(&[time.human, time.idle, time.gap], "you, nobody, cut out"),
        of(&[time.model_beside, time.delivery], "model beside, told"),
        of(&[chart.fixed, chart.said], "context: fixed, said"),
        of(&[chart.model, chart.result], "model, results"),
    ]
}

/// The kind of the chosen row and its marks, as they stand there, with their meanings.
pub(crate) fn of_chosen(app: &App) -> Vec<(String, &'static str)> {
    match app.mode.screen() {
        AppScreen::Session => of_item(app).unwrap_or_default(),
        AppScreen::Wall => app.wall.chosen().map(of_session).into_iter().collect(),
        AppScreen::Picker => app
            .picker
            .chosen_row()
            .map(of_session)
            .into_iter()
            .collect(),
        AppScreen::Ledger => Vec::new(),
    }
}

/// The state of a session.
fn of_session(row: &SessionRow) -> (String, &'static str) {
    let words = match &row.activity {
        Activity::Tool { .. } => "a call runs",
        Activity::Model { .. } => "the model answers",
        Activity::Retry { .. } => "a request failed and is sent again",
        Activity::Waiting { wish, .. } => match wish {
            Wish::Prompt => "it is done and waits for your next prompt",
            Wish::Permission => "it may not go on without your permission",
            Wish::Question => "it asks you something",
        },
        Activity::Idle { .. } => "nothing was written for an hour; it may go on",
        Activity::Ended => "its agent recorded that it ended",
        Activity::Unclean => "stopped amid a call or an answer",
        Activity::Unknown => "its records do not tell what it does",
    };
    (row.activity.word().to_owned(), words)
}

/// The kind of the item in focus, how it ended, and what is particular about it.
fn of_item(app: &App) -> Option<Vec<(String, &'static str)>> {
    let reader = &app.reader;
    let focus = reader.text.page_item.or(reader.text.view.focus)?;
    let entry = reader.session.transcript.get(focus.entry)?;
    let kind = &entry.blocks.get(focus.block)?.kind;
    let mut signs = vec![of_kind(entry, kind)];
    if let BlockKind::Call(call) = kind {
        let runs = reader.session.runs(focus.entry, call, reader.screen.now);
        signs.push(of_state(
            &call.state,
            runs,
            &reader.screen.theme.glyphs().outcome,
        ));
    }
    let findings = reader.session.indexes.findings.of_entry(focus.entry).iter();
    let of_block = findings.filter(|finding| finding.block == focus.block);
    signs.extend(of_block.map(|finding| ("!".to_owned(), finding.rule.what)));
    let marks = [
        (entry.marks.copy, "a copy of another entry"),
        (entry.marks.undone, "undone: the model sees it no longer"),
        (entry.marks.retried, "failed, and was asked again"),
        (entry.marks.unsent, "kept from the model"),
        (entry.marks.open, "still being written"),
    ];
    let set = marks.into_iter().filter(|(is_so, _)| *is_so);
    signs.extend(set.map(|(_, words)| ("dim".to_owned(), words)));
    Some(signs)
}

/// The word before a row, and what kind of entry it is.
fn of_kind(entry: &Entry, kind: &BlockKind) -> (String, &'static str) {
    let (word, words) = match kind {
        BlockKind::Text(_) => {
            let words = match entry.role {
                _ if entry.from.is_some() => "sent by an agent, a schedule or a program",
                Role::User if entry.lane.is_some() => "what the agent above asked of this one",
                Role::User if entry.marks.prompt => "a prompt; it opens a turn",
                Role::User => "said by you within a turn",
                Role::Assistant => "an answer of the model",
                Role::System => "what the model was told before all else",
                Role::Harness => "by the agent program, not by you or the model",
            };
            (entry.role.speaker(), words)
        }
        BlockKind::Thinking(_) if kind.is_redacted() => {
            ("think", "reasoning that only the provider can read")
        }
        BlockKind::Thinking(_) => ("think", "reasoning of the model before its answer"),
        BlockKind::Call(call) => {
            let words = match call.kind {
                ToolKind::Run => "a call that runs a command",
                ToolKind::Read => "a call that reads a file",
                ToolKind::Edit => "a call that changes a part of a file",
                ToolKind::Write => "a call that writes a whole file",
                ToolKind::Search => "a call that looks for or lists files",
                ToolKind::Fetch => "a call that loads from the network",
                ToolKind::Delegate => "a call that starts a sub-agent",
                ToolKind::Plan => "a call that changes the plan",
                ToolKind::Other => "a call of another tool",
            };
            return (call.shown_name(), words);
        }
        BlockKind::Result(stray) if stray.duplicate => {
            ("orphan", "a second result of the same call")
        }
        BlockKind::Result(_) => ("orphan", "a result without its call; % looks for it"),
        BlockKind::Image(_) => ("image", "an image; enter shows it where it can be"),
        BlockKind::Break(line) => match line {
            Break::Compaction { .. } => ("compacted", "older entries became a summary"),
            Break::Branch(_) => ("branch", "a path that the session left"),
            Break::Interrupted(_) => ("stopped", "you stopped the work here"),
            Break::Resumed(_) | Break::Continued(_) => {
                ("goes on", "the session was taken up again")
            }
            Break::Error(_) => ("error", "of the agent or its provider, not of a tool"),
            Break::ModelChange(_) | Break::Setting(_) => {
                ("set", "another model or setting from here")
            }
            Break::Ended(_) | Break::Took(_) => ("end", "the work of a turn ended"),
            Break::Waiting(_) => ("waits", "the agent waits for you"),
        },
        BlockKind::Raw(raw) if raw.is_command_output() => {
            ("out", "of a command that you ran yourself")
        }
        BlockKind::Raw(_) if kind.is_error() => ("raw", "a record that cannot be read; r shows it"),
        BlockKind::Raw(_) => ("raw", "a part that tv has no kind for; r shows it"),
        BlockKind::Aside(Judged::Loud, _) => {
            ("new", "a kind of record that tv does not know; r shows it")
        }
        BlockKind::Aside(..) => ("note", "bookkeeping of the agent, not said to the model"),
    };
    (word.to_owned(), words)
}

/// How a call stands.
fn of_state(state: &ToolState, runs: bool, signs: &OutcomeGlyphs) -> (String, &'static str) {
    let (sign, words) = match state {
        _ if runs => (signs.running, "it runs"),
        ToolState::Pending | ToolState::Running | ToolState::Streaming(_) => {
            (signs.lost, "no result is recorded")
        }
        ToolState::Acknowledged(_) => (signs.lost, "it began; no record has its end"),
        ToolState::Done(_) => (signs.done, "ended without an error"),
        ToolState::Failed(_) => (signs.failed, "the tool or its command failed"),
        ToolState::Refused(_) => (signs.refused, "you or a policy refused it"),
        ToolState::Stopped(_) => (signs.lost, "stopped before its end"),
        ToolState::Lost => (signs.lost, "interrupted; no result will come"),
    };
    (sign.to_owned(), words)
}
