//! The history of a file, use by use, and under it what the chosen one read or changed.

use std::collections::HashMap;

use ratatui::text::{Line, Span};

use crate::analysis::calls::{Place, call_at};
use crate::analysis::files::{File, Flag, Op, Outcome, Use};
use crate::app::input::action::Action;
use crate::app::text::viewport::Focus;
use crate::app::views::list::List;
use crate::app::views::page::{PageScene, Sheet, SheetRow};
use crate::app::views::table::{Column, Table};
use crate::model::change::{self, changed_lines};
use crate::model::entry::EntryId;
use crate::model::text::{Name, Text, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::render::tool::change_text;
use crate::render::wrap::{self, Frame};

/// Columns of the history.
const COLUMNS: &[Column] = &[
    Column::words("", 1, 9),
    Column::words("time", 8, 6),
    Column::words("lane", 14, 3),
    Column::words("op", 8, 8),
    Column::figures("lines", 10, 5),
    Column::words("", 1, 7),
    Column::rest("call", 14),
];
/// Lines of the foot, at least and at most; between them a share of the page.
const FOOT: (usize, usize, usize) = (3, 18, 3);
/// Lines of the foot about what went wrong, at most.
const WORDS: usize = 2;
/// Changes that are counted for the window, at most.
const COUNTED: usize = 400;
/// Bytes of a text that are looked at for the foot.
const LOOKED_AT: usize = 32_000;

/// The uses of a file.
#[derive(Debug, Default)]
pub(crate) struct History {
    uses: List<Place>,
    generation: Option<u64>,
    /// Lines that calls added and removed, by the state of their entries.
    counts: HashMap<(EntryId, usize), (u32, (usize, usize))>,
}

impl History {
    /// Takes in the uses as they are now.
    pub(crate) fn refresh(&mut self, file: &File, generation: u64, follows: bool) {
        if self.generation != Some(generation) {
            self.generation = Some(generation);
            self.uses
                .set(file.uses.iter().map(|one| one.place).collect(), follows);
        }
    }

    /// Chooses the use of an item; without one, the last.
    pub(crate) fn look_at(&mut self, focus: Option<Focus>) {
        match focus {
            Some(focus) => self.uses.choose_key(&focus),
            None => self.uses.choose(usize::MAX),
        }
    }

    /// Chooses a row.
    pub(crate) fn choose(&mut self, number: usize) {
        self.uses.choose(number);
    }

    /// Moves the cursor, if that is what an action does.
    pub(crate) fn act(&mut self, action: Action, times: usize) -> bool {
        self.uses.act(action, times)
    }

    /// The call of the chosen use.
    pub(crate) fn target(&self) -> Option<Focus> {
        self.uses.chosen().copied()
    }

    /// Writes out the window.
    pub(crate) fn arrange(&mut self, path: &Text, scene: &PageScene<'_>) -> Sheet {
        let Some(file) = scene.indexes.files.file(path) else {
            return Sheet::default();
        };
        let (least, most, share) = FOOT;
        let (height, foot) = scene.divide(1, (scene.height / share).clamp(least, most));
        self.uses.fit(height);
        let table = Table::fit(COLUMNS, scene.columns());
        let window: Vec<(usize, Place, bool)> = self
            .uses
            .window()
            .map(|(number, place, is_chosen)| (number, *place, is_chosen))
            .collect();
        let rows = window.into_iter().map(|(number, place, is_chosen)| {
            let one = file.uses.get(number).filter(|one| one.place == place);
            let cells = one
                .map(|one| self.cells(one, path, is_chosen, scene))
                .unwrap_or_default();
            SheetRow {
                line: table.row(cells, scene.theme),
                is_chosen,
                number,
            }
        });
        let rows = rows.collect();
        let chosen = self
            .uses
            .chosen()
            .and_then(|place| file.uses.iter().find(|one| one.place == *place));
        let foot = match chosen.filter(|_| foot > 0) {
            Some(one) => foot_lines((one, path), foot, scene),
            None => Vec::new(),
        };
        let room = scene.width.saturating_sub(40).max(12);
        let name = wrap::fit_path(path, room, scene.theme.glyphs().cut);
        let title = vec![
            Span::raw("FILES"),
            Span::raw(format!("  {name}")),
            Span::styled(
                format!("  r {}  e {}  w {}", file.reads, file.edits, file.writes),
                scene.theme.dim,
            ),
        ];
        let right = vec![Span::styled("h all files", scene.theme.dim)];
        Sheet {
            title,
            right,
            heads: vec![table.heads(None, scene.theme)],
            rows,
            foot,
        }
    }

    fn cells(
        &mut self,
        one: &Use,
        path: &str,
        is_chosen: bool,
        scene: &PageScene<'_>,
    ) -> Vec<Span<'static>> {
        let (theme, glyphs) = (scene.theme, scene.theme.glyphs());
        let call = call_of(one.place, scene);
        let (sign, sign_style) = match one.outcome {
            Outcome::Done if call.is_some_and(|call| call.state.is_unrecorded()) => {
                (glyphs.outcome.lost, theme.dim)
            }
            Outcome::Done => (glyphs.outcome.done, theme.good),
            Outcome::Failed => (glyphs.outcome.failed, theme.bad),
            Outcome::Open if call.is_some_and(|call| scene.runs(one.place.entry, call)) => {
                (glyphs.outcome.running, theme.warn)
            }
            Outcome::Open => (glyphs.outcome.lost, theme.dim),
        };
        let lines = self
            .lines((one, path), call, scene)
            .map(|(added, removed)| match removed {
                0 => format!("+{added}"),
                _ => format!("+{added} {}{removed}", glyphs.minus),
            });
        let words = if is_chosen { theme.focus } else { theme.text };
        let (what, what_style) = match (one.flag(), call) {
            (Some(flag), _) => (flag.word().to_owned(), theme.warn),
            (None, Some(call)) => (beside_path(&call.headline, path), theme.dim),
            (None, None) => (String::new(), theme.dim),
        };
        vec![
            Span::styled(if one.flag().is_some() { "!" } else { "" }, theme.warn),
            Span::styled(one.at.map(Timestamp::clock).unwrap_or_default(), theme.dim),
            Span::styled(
                lane_of(one.lane.as_ref(), scene),
                if one.lane.is_some() {
                    theme.tool
                } else {
                    theme.dim
                },
            ),
            Span::styled(op_of(one), words),
            Span::styled(lines.unwrap_or_default(), theme.text),
            Span::styled(sign, sign_style),
            Span::styled(what, what_style),
        ]
    }

    /// Lines that a change added and removed; nothing while they are on disk and were never in sight.
    fn lines(
        &mut self,
        (one, path): (&Use, &str),
        call: Option<&ToolCall>,
        scene: &PageScene<'_>,
    ) -> Option<(usize, usize)> {
        let is_change = matches!(one.op, Op::Edit | Op::Write) && !one.by_shell;
        let key = (one.place.entry, one.place.block);
        let revision = scene.transcript.get(one.place.entry)?.revision;
        if let Some((known, counts)) = self.counts.get(&key)
            && *known == revision
        {
            return Some(*counts);
        }
        let counts = changed_lines(call.filter(|_| is_change)?, path)?;
        if self.counts.len() >= COUNTED {
            self.counts.clear();
        }
        self.counts.insert(key, (revision, counts));
        Some(counts)
    }
}

fn call_of<'a>(place: Place, scene: &PageScene<'a>) -> Option<&'a ToolCall> {
    call_at(scene.transcript.get(place.entry)?, place.block)
}

fn op_of(one: &Use) -> &'static str {
    match (one.op, one.by_shell) {
        (Op::Read, false) => "read",
        (Op::Grep, _) => "grep",
        (Op::Edit, _) => "edit",
        (Op::Write, false) => "write",
        (Op::Read, true) => "sh read",
        (Op::Write, true) => "sh write",
    }
}

fn lane_of(lane: Option<&Name>, scene: &PageScene<'_>) -> String {
    let Some(name) = lane else {
        return "main".to_owned();
    };
    let label = scene.transcript.lane(name).map_or(name, |lane| &lane.label);
    first_line(label)
}

fn first_line(text: &Text) -> String {
    without_sgr(text)
        .lines()
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// What a call is about besides the file, whose name stands above all rows.
fn beside_path(headline: &Text, path: &str) -> String {
    let words = first_line(headline);
    match words.find(path).and_then(|at| words.get(at + path.len()..)) {
        Some(rest) if !words.contains(' ') => rest.trim_start_matches(':').to_owned(),
        _ => words,
    }
}

/// What went wrong with a use, in a sentence.
pub(crate) fn words_of(one: &Use, scene: &PageScene<'_>) -> String {
    let who = |place: Place| {
        let lane = scene
            .transcript
            .get(place.entry)
            .and_then(|entry| entry.lane.as_ref());
        let at = call_of(place, scene)
            .and_then(|call| call.state.result()?.at.or(call.started))
            .or_else(|| scene.transcript.get(place.entry)?.at);
        let clock = at
            .map(|at| format!(" at {}", at.clock()))
            .unwrap_or_default();
        format!("{}{clock}", lane_of(lane, scene))
    };
    match one.flag() {
        None => String::new(),
        Some(Flag::Stale { read, change }) => format!(
            "stale read: this edit relies on what was read by {}, before the change by {}",
            who(read),
            who(change)
        ),
        Some(Flag::Clobber { change }) => {
            format!(
                "clobber: this replaces the change by {}, which was not read",
                who(change)
            )
        }
        Some(Flag::Undone { edit }) => {
            format!("undone: this turns back the change by {}", who(edit))
        }
        Some(Flag::Unapplied) => {
            "not applied: this failed, and the file was not changed by the same agent after it"
                .to_owned()
        }
    }
}

/// Under the history: what went wrong, then the beginning of what was changed or read.
fn foot_lines(
    (one, path): (&Use, &str),
    height: usize,
    scene: &PageScene<'_>,
) -> Vec<Line<'static>> {
    let (theme, cut) = (scene.theme, scene.theme.glyphs().cut);
    let mut lines: Vec<Line<'static>> = Vec::new();
    if one.flag().is_some() {
        let words = Span::styled(words_of(one, scene), theme.warn);
        lines.extend(wrap::wrap(&[words], &Frame::of(scene.columns())));
        lines.truncate(WORDS);
    }
    let Some(call) = call_of(one.place, scene) else {
        return lines;
    };
    let parts = change::of_call(call).filter(|_| call.names_a_file());
    let own = parts.map(|lines| change::text(change::of_file(&lines, path).iter()));
    let change = own.or_else(|| change_text(call)).filter(|_| !one.by_shell);
    let is_change = change.is_some();
    let text = change.or_else(|| {
        call.state
            .result()
            .map(|result| result.body.text_or_stub().clone())
    });
    let text = text.unwrap_or_default();
    let plain = without_sgr(wrap::head(&text, LOOKED_AT));
    let room = height.saturating_sub(lines.len());
    let all = plain.lines().count();
    // The last line says how much is cut off.
    let shown = if all > room {
        room.saturating_sub(1)
    } else {
        all
    };
    for line in plain.lines().take(shown) {
        let style = match line.chars().next() {
            Some('+') if is_change => theme.diff.added,
            Some('-') if is_change => theme.diff.removed,
            _ => theme.dim,
        };
        lines.push(Line::from(wrap::fit(
            &[Span::styled(line.to_owned(), style)],
            scene.columns(),
            cut,
        )));
    }
    if all > shown && room > 0 {
        let more = format!("{} +{} lines", theme.glyphs().ellipsis, all - shown);
        lines.push(Line::styled(more, theme.dim));
    }
    lines
}
