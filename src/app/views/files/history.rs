//! The history of a file by use, with an excerpt of what the chosen use read or changed in the
//! foot.

use std::collections::HashMap;

use ratatui::text::{Line, Span};

use crate::analysis::brief::notes::first_line;
use crate::analysis::calls::{Outcome, Place};
use crate::analysis::files::{FileUses, Flag, Op, Use};
use crate::app::input::action::Action;
use crate::app::text::viewport::Focus;
use crate::app::views::list::List;
use crate::app::views::page::{Answer, PageScene, Sheet};
use crate::listing::sort::Value;
use crate::listing::table::{Cell, CellLook, Column, Listing, cell};
use crate::model::change::{self, changed_lines};
use crate::model::entry::EntryId;
use crate::model::text::{Name, Text, without_sgr};
use crate::model::tool::ToolCall;
use crate::render::tool::change_text;
use crate::render::wrap;

/// Minimum and maximum height of the foot in lines, and the divisor of the page's height in
/// between.
const FOOT: (usize, usize, usize) = (3, 18, 3);
/// Maximum number of lines of the foot for problems.
const WORDS: usize = 2;
/// Maximum number of cached line counts.
const COUNTED: usize = 400;
/// Maximum number of bytes of a text that the foot reads.
const LOOKED_AT: usize = 32_000;

/// Cached numbers of added and removed lines by call, with the revision of its entry.
type LineCounts = HashMap<(EntryId, usize), (u32, (usize, usize))>;

/// The key of a use. It has the operation, because a call may both read and write a file.
type UseKey = (Place, Op);

fn key_of(used: &Use) -> UseKey {
    (used.place, used.op)
}

/// The history view of a file.
#[derive(Debug, Default)]
pub(crate) struct History {
    uses: List<UseKey>,
    generation: Option<u64>,
    counts: LineCounts,
}

impl History {
    /// Updates the list of uses.
    pub(crate) fn refresh(&mut self, file: &FileUses, generation: u64, follows: bool) {
        if self.generation != Some(generation) {
            self.generation = Some(generation);
            self.uses
                .set(file.uses.iter().map(key_of).collect(), follows);
        }
    }

    /// Chooses the use at an item; without one, the first change, or the first use of a file that was
    /// not changed.
    pub(crate) fn choose_focus(&mut self, focus: Option<Focus>) {
        if let Some(focus) = focus {
            self.uses.choose_where(|(place, _)| *place == focus);
        } else {
            self.uses.choose(0);
            self.uses
                .choose_where(|(_, op)| matches!(op, Op::Edit | Op::Write));
        }
    }

    pub(crate) fn choose(&mut self, number: usize) {
        self.uses.choose(number);
    }

    /// Moves the cursor, if the action does so.
    pub(crate) fn act(&mut self, action: Action, times: usize) -> Option<Answer> {
        self.uses.act(action, times)
    }

    /// The call of the chosen use.
    pub(crate) fn target(&self) -> Option<Focus> {
        self.uses.chosen().map(|(place, _)| *place)
    }

    /// Lays out the page.
    pub(crate) fn arrange(&mut self, path: &Text, scene: &PageScene<'_>) -> Sheet {
        let Some(file) = scene.indexes.files.file(path) else {
            return Sheet::default();
        };
        let (least, most, share) = FOOT;
        let (height, foot) = scene.divide(1, (scene.height / share).clamp(least, most));
        self.uses.fit(height);
        self.count_lines(file, path, scene);
        let uses = UseList {
            file,
            path,
            counts: &self.counts,
            scene,
        };
        let (heads, rows) = self.uses.write(&uses, scene);
        let chosen = self
            .uses
            .chosen()
            .and_then(|key| file.uses.iter().find(|used| key_of(used) == *key));
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
        let right = vec![Span::styled("+ lines  h all files", scene.theme.dim)];
        Sheet {
            title,
            right,
            heads: vec![heads],
            rows,
            foot,
            ..Sheet::default()
        }
    }

    /// Counts the lines that visible changes added and removed. The counts of a change are unknown
    /// while its body is on disk and was never visible.
    fn count_lines(&mut self, file: &FileUses, path: &str, scene: &PageScene<'_>) {
        if self.counts.len() >= COUNTED {
            self.counts.clear();
        }
        let used = |number: usize| file.uses.get(number);
        let in_sight = self.uses.window().filter_map(|(number, ..)| used(number));
        let is_change = |used: &&Use| matches!(used.op, Op::Edit | Op::Write) && !used.by_shell;
        for Use { place, .. } in in_sight.filter(is_change) {
            let Some(entry) = scene.transcript.get(place.entry) else {
                continue;
            };
            let key = (place.entry, place.block);
            let known = self.counts.get(&key);
            if known.is_some_and(|(revision, _)| *revision == entry.revision) {
                continue;
            }
            let call = entry.call(place.block);
            if let Some(counts) = call.and_then(|call| changed_lines(call, path)) {
                self.counts.insert(key, (entry.revision, counts));
            }
        }
    }
}

/// The uses of a file by time.
struct UseList<'a> {
    file: &'a FileUses,
    path: &'a str,
    counts: &'a LineCounts,
    scene: &'a PageScene<'a>,
}

/// A use of a file.
struct UseRow<'a> {
    used: &'a Use,
    call: Option<&'a ToolCall>,
    path: &'a str,
    /// Numbers of added and removed lines.
    lines: Option<(usize, usize)>,
    scene: &'a PageScene<'a>,
}

type UseColumn<'a> = Column<UseRow<'a>>;

impl<'a> Listing for UseList<'a> {
    type Key = UseKey;
    type Row = UseRow<'a>;

    fn columns(&self, _: usize) -> Vec<UseColumn<'a>> {
        vec![
            UseColumn::words("", 1, 9)
                .value(|row| Value::text(row.used.flag().map(|_| "!")))
                .style(|_, look| look.theme.warn),
            UseColumn::words("time", 8, 6)
                .value(|row| Value::time(row.used.at))
                .dim(),
            UseColumn::words("lane", 14, 3)
                .value(|row| Value::text(Some(lane_of(row.used.lane.as_ref(), row.scene))))
                .style(|row, look| match row.used.lane {
                    Some(_) => look.theme.tool,
                    None => look.theme.dim,
                }),
            UseColumn::words("op", 8, 8)
                .value(|row| Value::text(Some(op_of(row.used))))
                .style(|_, look| look.focus_or(look.theme.text)),
            UseColumn::figures("lines", 10, 5).cell(|row, look| {
                let minus = look.theme.glyphs().minus;
                let words = row.lines.map(|lines| match lines {
                    (added, 0) => format!("+{added}"),
                    (added, removed) => format!("+{added} {minus}{removed}"),
                });
                cell(words.unwrap_or_default(), look.theme.text)
            }),
            UseColumn::words("", 1, 7).cell(outcome),
            UseColumn::rest("call", 14).cell(|row, look| match (row.used.flag(), row.call) {
                (Some(flag), _) => cell(flag.word(), look.theme.warn),
                (None, Some(call)) => cell(beside_path(&call.headline, row.path), look.theme.dim),
                (None, None) => Cell::new(),
            }),
        ]
    }

    fn row(&self, key: &UseKey) -> Option<UseRow<'a>> {
        let used = self.file.uses.iter().find(|used| key_of(used) == *key)?;
        let lines = self.counts.get(&(used.place.entry, used.place.block));
        Some(UseRow {
            used,
            call: used.place.call(self.scene.transcript),
            path: self.path,
            lines: lines.map(|(_, lines)| *lines),
            scene: self.scene,
        })
    }
}

fn outcome(row: &UseRow<'_>, look: &CellLook<'_>) -> Cell {
    let (glyphs, theme) = (look.theme.glyphs().outcome, look.theme);
    let runs = |call: &ToolCall| row.scene.calls.runs(row.used.place.entry, call);
    let (sign, style) = match (row.used.outcome, row.call) {
        (Outcome::Done, _) => (glyphs.done, theme.good),
        (Outcome::Failed | Outcome::Refused | Outcome::Lost, _) => (glyphs.failed, theme.bad),
        (Outcome::Open, Some(call)) if runs(call) => (glyphs.running, theme.warn),
        (Outcome::Open | Outcome::Unrecorded, _) => (glyphs.lost, theme.dim),
    };
    cell(sign, style)
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

/// What a call is about other than the file, whose name is in the title.
fn beside_path(headline: &Text, path: &str) -> String {
    let words = first_line(headline);
    match words.find(path).and_then(|at| words.get(at + path.len()..)) {
        Some(rest) if !words.contains(' ') => rest.trim_start_matches(':').to_owned(),
        _ => words,
    }
}

/// Describes the problem of a use in a sentence.
pub(crate) fn words_of(one: &Use, scene: &PageScene<'_>) -> String {
    let who = |place: Place| {
        let lane = scene
            .transcript
            .get(place.entry)
            .and_then(|entry| entry.lane.as_ref());
        let at = place
            .call(scene.transcript)
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

/// The foot: the problem of the use, then the beginning of what it changed or read.
fn foot_lines(
    (one, path): (&Use, &str),
    height: usize,
    scene: &PageScene<'_>,
) -> Vec<Line<'static>> {
    let (theme, cut) = (scene.theme, scene.theme.glyphs().cut);
    let mut lines: Vec<Line<'static>> = Vec::new();
    if one.flag().is_some() {
        let words = Span::styled(words_of(one, scene), theme.warn);
        lines.extend(wrap::wrap(&[words], &scene.frame(WORDS)));
    }
    let Some(call) = one.place.call(scene.transcript) else {
        return lines;
    };
    let parts = change::of_call(call).filter(|_| call.is_on_file());
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
