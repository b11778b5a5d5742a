//! The lines of a file at the end of the session, as far as its calls determine them, each with the
//! call that wrote it.

use std::collections::HashMap;

use ratatui::text::Span;

use crate::analysis::calls::Place;
use crate::analysis::files::steps::{FileStep, step_of};
use crate::analysis::files::version::Version;
use crate::analysis::files::{FileUses, Op, Use};
use crate::app::input::action::Action;
use crate::app::text::viewport::Focus;
use crate::app::views::list::List;
use crate::app::views::page::{Answer, PageScene, Sheet};
use crate::listing::sort::Value;
use crate::listing::table::{Column, Listing, cell};
use crate::model::entry::EntryId;
use crate::model::figures::count;
use crate::model::text::Text;
use crate::model::tool::ToolCall;
use crate::model::transcript::Transcript;
use crate::render::wrap;

/// What was read of a use: `None` if it neither changed nor showed the file.
type Steps = HashMap<(Place, Op), Option<FileStep>>;

#[derive(Debug, Default)]
pub(super) struct FileLines {
    list: List<usize>,
    lines: Vec<AuthoredLine>,
    steps: Steps,
    /// Uses whose bodies are on disk.
    missing: Vec<(Place, Op)>,
    is_whole: bool,
    generation: Option<u64>,
}

#[derive(Debug)]
struct AuthoredLine {
    number: Option<usize>,
    text: String,
    /// The use that wrote it, by its index, and its call.
    by: Option<(usize, Place)>,
    /// Whether the line before has another author.
    is_first: bool,
}

impl FileLines {
    /// Replays the uses of the file again if there are others, or if bodies have come.
    fn refresh(&mut self, path: &str, file: &FileUses, generation: u64, transcript: &Transcript) {
        let is_new = self.generation != Some(generation);
        if is_new {
            self.missing = file.uses.iter().map(|one| (one.place, one.op)).collect();
            self.missing.retain(|key| !self.steps.contains_key(key));
        }
        let before = self.steps.len();
        for key in std::mem::take(&mut self.missing) {
            let mut uses = file.uses.iter();
            let used = uses.find(|one| (one.place, one.op) == key);
            let call = used.and_then(|used| Some((used, used.place.call(transcript)?)));
            match call.filter(|(used, call)| !is_away(used, call)) {
                Some((used, call)) => {
                    let step = step_of(call, path, (used.op, used.by_shell));
                    self.steps.insert(key, step);
                }
                None => self.missing.push(key),
            }
        }
        if !is_new && self.steps.len() == before {
            return;
        }
        self.generation = Some(generation);
        let mut version = Version::default();
        for (number, one) in file.uses.iter().enumerate() {
            let step = self
                .steps
                .get(&(one.place, one.op))
                .and_then(Option::as_ref);
            if let Some(step) =
                step.filter(|step| one.outcome.is_good() || **step == FileStep::Unknown)
            {
                version.apply(step, u32::try_from(number).unwrap_or(u32::MAX));
            }
        }
        self.is_whole = version.is_whole() && self.missing.is_empty();
        self.lines.clear();
        for run in version.runs() {
            let mut last = None;
            for (at, line) in run.lines.iter().enumerate() {
                let number = line.by.map(|by| by.change as usize);
                let by = number.and_then(|number| Some((number, file.uses.get(number)?.place)));
                self.lines.push(AuthoredLine {
                    number: run.at.map(|from| from + at),
                    text: line.text.trim_end().replace('\t', "    "),
                    by,
                    is_first: last != Some(by),
                });
                last = Some(by);
            }
        }
        self.list.set((0..self.lines.len()).collect(), false);
    }

    /// Entries whose bodies would complete it.
    pub(super) fn bodies(&self) -> Vec<EntryId> {
        self.missing.iter().map(|(place, _)| place.entry).collect()
    }

    pub(super) fn choose(&mut self, number: usize) {
        self.list.choose(number);
    }

    /// Moves the cursor, if the action does so.
    pub(super) fn act(&mut self, action: Action, times: usize) -> Option<Answer> {
        self.list.act(action, times)
    }

    /// The call that wrote the chosen line.
    pub(super) fn target(&self) -> Option<Focus> {
        let (_, place) = self.lines.get(*self.list.chosen()?)?.by?;
        Some(place)
    }

    /// Lays out the page.
    pub(super) fn arrange(&mut self, path: &Text, scene: &PageScene<'_>) -> Sheet {
        let files = &scene.indexes.files;
        let Some(file) = files.file(path) else {
            return Sheet::default();
        };
        self.refresh(path, file, files.generation, scene.transcript);
        let room = scene.width.saturating_sub(44).max(12);
        let name = wrap::fit_path(path, room, scene.theme.glyphs().cut);
        let known = if self.is_whole { "" } else { ", not all known" };
        let words = format!("  {}{known}", count(self.lines.len() as u64, "line"));
        let title = vec![
            Span::raw("FILES"),
            Span::raw(format!("  {name}")),
            Span::styled(words, scene.theme.dim),
        ];
        let (height, _) = scene.divide(1, 0);
        self.list.fit(height);
        let lines = LineList {
            lines: &self.lines,
            uses: &file.uses,
            scene,
        };
        let (heads, rows) = self.list.write(&lines, scene);
        Sheet {
            title,
            right: vec![Span::styled("- uses  h all files", scene.theme.dim)],
            heads: vec![heads],
            rows,
            ..Sheet::default()
        }
    }
}

/// Whether bodies that say what a use did are on disk.
fn is_away(used: &Use, call: &ToolCall) -> bool {
    let result = call.state.result().filter(|_| used.op == Op::Read);
    call.input.is_on_disk() || result.is_some_and(|result| result.body.is_on_disk())
}

struct LineList<'a> {
    lines: &'a [AuthoredLine],
    uses: &'a [Use],
    scene: &'a PageScene<'a>,
}

/// A line, and the turn, the time and the sub-agent of its call, on the first line of each call.
struct LineRow<'a> {
    line: &'a AuthoredLine,
    turn: Option<usize>,
    used: Option<&'a Use>,
}

impl<'a> Listing for LineList<'a> {
    type Key = usize;
    type Row = LineRow<'a>;

    fn columns(&self, _: usize) -> Vec<Column<LineRow<'a>>> {
        vec![
            Column::words("turn", 5, 6).value(|row: &LineRow<'a>| {
                Value::text(row.turn.map(|turn| format!("t{}", turn + 1)))
            }),
            Column::words("time", 8, 5)
                .value(|row: &LineRow<'a>| Value::time(row.used.and_then(|used| used.at)))
                .dim(),
            Column::words("lane", 10, 3)
                .value(|row: &LineRow<'a>| {
                    let lane = row.used.and_then(|used| used.lane.as_ref());
                    Value::text(lane.map(Text::as_str))
                })
                .style(|_, look| look.theme.tool),
            Column::figures("line", 6, 7)
                .value(|row: &LineRow<'a>| Value::int(row.line.number))
                .dim(),
            Column::rest("", 20).cell(|row: &LineRow<'a>, look| {
                let style = match row.line.by {
                    Some(_) => look.focus_or(look.theme.text),
                    None => look.theme.dim,
                };
                cell(row.line.text.clone(), style)
            }),
        ]
    }

    fn row(&self, key: &usize) -> Option<LineRow<'a>> {
        let line = self.lines.get(*key)?;
        let by = line.by.filter(|_| line.is_first);
        let transcript = self.scene.transcript;
        let turn = by.and_then(|(_, place)| transcript.turn_of(place.entry));
        Some(LineRow {
            line,
            turn,
            used: by.and_then(|(number, _)| self.uses.get(number)),
        })
    }
}
