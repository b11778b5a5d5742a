//! Writes entries of a transcript, each once, as text or as JSON.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use ratatui::style::Style;
use ratatui::text::Span;

use super::entry;
use super::json;
use super::reading::{Contents, NamedSessions, Reading};
use super::rows::{GUTTER, Paper};
use crate::analysis::account::Account;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::calls::lifecycle;
use crate::analysis::calls::lookup::Lookup;
use crate::analysis::reading::runs_of_traces;
use crate::analysis::{phrases, plans};
use crate::ingest::WatchMode;
use crate::model::body::Body;
use crate::model::entry::details::{Details, records_below};
use crate::model::entry::{Block, BlockKind, Entry, EntryId, Role};
use crate::model::found::agent_name;
use crate::model::meta::LaneFacts;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::tool::work::EndLine;
use crate::model::transcript::Transcript;
use crate::render::code::Colours;
use crate::render::lay_out;
use crate::render::row::{Gutter, Item, LaneLine, Level, Look, Row, RowKind, Times};
use crate::render::theme::Theme;
use crate::render::wrap;

/// Options of `tv show`.
pub struct PrintOptions {
    pub sessions: NamedSessions,
    /// Whether they are read as one session.
    pub is_joined: bool,
    pub paper: Paper,
    pub level: Level,
    /// Entries as JSON instead of text.
    pub json: bool,
    /// How changes are detected; `None` stops at the end of the session.
    pub follow: Option<WatchMode>,
    /// The branches to show.
    pub branch: BranchChoice,
}

/// The branches of a session that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BranchChoice {
    /// All branches in file order; abandoned ones are dimmed.
    #[default]
    All,
    Active,
    /// What the model saw when the session left the branch of this number.
    Number(usize),
}

/// Writes entries, each once.
pub(crate) struct Printer<'a> {
    options: &'a PrintOptions,
    now: fn() -> Timestamp,
    theme: Theme,
    colours: Colours,
    printed: HashSet<EntryId>,
    turns: HashMap<EntryId, usize>,
    /// The last timestamp of the entry written last.
    day: Option<Timestamp>,
    /// The entries of the chosen branch; `None` if all are shown.
    chosen: Option<HashSet<EntryId>>,
    /// Runs of traces that are folded into a row, by the first entry.
    runs: HashMap<EntryId, Vec<EntryId>>,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(options: &'a PrintOptions, now: fn() -> Timestamp) -> Self {
        let (theme, colours) = if options.paper.colour {
            (Theme::dark(), Colours::immediate())
        } else {
            (Theme::mono(), Colours::never())
        };
        Self {
            options,
            now,
            theme: theme.with_ascii(options.paper.ascii),
            colours,
            printed: HashSet::new(),
            turns: HashMap::new(),
            day: None,
            chosen: None,
            runs: HashMap::new(),
        }
    }

    /// Restricts the output to these entries; `None` is all.
    pub(super) fn with_chosen(self, chosen: Option<HashSet<EntryId>>) -> Self {
        Self { chosen, ..self }
    }

    /// Folds the runs of traces among all existing entries, if traces are shown. Traces that are
    /// appended later get rows of their own.
    pub(super) fn with_runs(mut self, order: &[EntryId], transcript: &Transcript) -> Self {
        if self.options.json || self.options.level != Level::Full {
            return self;
        }
        let below_calls = |lane: &Name| has_caller(lane, transcript);
        let is_below = |id: &EntryId| transcript.lane_at(*id).is_some_and(below_calls);
        let above: Vec<EntryId> = order
            .iter()
            .filter(|id| !is_below(id) && self.is_chosen(**id))
            .copied()
            .collect();
        let lanes = transcript
            .lanes()
            .iter()
            .filter(|lane| below_calls(&lane.name));
        let lanes = lanes.map(|lane| lane.entries.as_slice());
        let runs = lanes
            .chain([above.as_slice()])
            .flat_map(|order| runs_of_traces(transcript, order));
        self.runs = runs.filter_map(|run| Some((*run.first()?, run))).collect();
        self
    }

    /// Renews the budget of highlighting for entries that are appended.
    pub(crate) fn reset_colour_budget(&self) {
        self.colours.reset_budget();
    }

    fn is_chosen(&self, id: EntryId) -> bool {
        self.chosen
            .as_ref()
            .is_none_or(|chosen| chosen.contains(&id))
    }

    /// Maps the state to the ids of another transcript of the session.
    pub(crate) fn remap(&mut self, lookup: &Lookup<'_>) {
        self.printed = lookup.entries(&self.printed);
        self.turns.clear();
    }

    pub(crate) fn has_printed(&self, id: EntryId) -> bool {
        self.printed.contains(&id)
    }

    /// Writes which session it is: its title, then its agent, model, folder, branch and cost.
    pub(super) fn print_head(&self, reading: &Reading, out: &mut dyn Write) -> io::Result<()> {
        if self.options.json {
            return Ok(());
        }
        let transcript = &reading.transcript;
        let meta = transcript.meta();
        let agent = agent_name(reading.opened.format, meta.agent.as_deref());
        let facts = [
            // Joined sessions may be of several agents.
            Some(agent).filter(|_| !transcript.is_joined()),
            meta.model.as_deref().map(phrases::model),
            meta.cwd.as_ref().map(ToString::to_string),
            meta.fact("git branch").map(ToString::to_string),
            phrases::cost(&reading.account.cost(transcript)),
        ];
        if let Some(title) = meta.title() {
            self.print_line(title.to_string(), self.theme.heading, out)?;
        }
        let facts = phrases::joined(facts, self.options.paper.ascii);
        if facts.is_empty() {
            return Ok(());
        }
        self.print_line(facts, self.theme.dim, out)
    }

    fn print_line(&self, words: String, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let words = Span::styled(words, style);
        let line = wrap::fit(&[words], self.width(), self.theme.glyphs().cut).into();
        let row = Row {
            line,
            ..Row::default()
        };
        writeln!(out, "{}", self.options.paper.line(&row))
    }

    /// Writes an entry at its position in the file. From level 4 on, the entries of a sub-agent
    /// follow the call that started it; at lower levels only the call names them. While following
    /// they stay in file order, because their call is already written.
    pub(crate) fn print(
        &mut self,
        id: EntryId,
        reading: &mut Reading,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if !self.is_chosen(id) {
            return Ok(());
        }
        if self.options.json {
            return self.print_json(id, reading, out);
        }
        let Some(entry) = reading.transcript.get(id) else {
            return Ok(());
        };
        let depth = u16::from(entry.lane.is_some());
        let has_caller = entry
            .lane
            .as_ref()
            .is_some_and(|lane| has_caller(lane, &reading.transcript));
        if has_caller && !self.opens_lanes() {
            self.printed.insert(id);
            return Ok(());
        }
        if has_caller && self.options.follow.is_none() {
            return Ok(());
        }
        self.print_with_lanes(id, depth, reading, out)
    }

    /// Writes the entries that no call leads to, at level 4 and above, so that nothing stays
    /// hidden.
    pub(crate) fn print_unreached(
        &mut self,
        reading: &mut Reading,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.options.json || !self.opens_lanes() {
            return Ok(());
        }
        for id in reading.transcript.order().to_vec() {
            self.print_with_lanes(id, 1, reading, out)?;
        }
        Ok(())
    }

    fn opens_lanes(&self) -> bool {
        self.options.level >= Level::Full
    }

    fn print_with_lanes(
        &mut self,
        id: EntryId,
        depth: u16,
        reading: &mut Reading,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        // Lanes of a malformed file may start each other in a cycle; each entry is written once.
        let mut waiting = vec![(id, depth)];
        while let Some((id, depth)) = waiting.pop() {
            if !self.is_chosen(id) || !self.printed.insert(id) {
                continue;
            }
            self.print_text(id, depth, reading, out)?;
            self.printed
                .extend(self.runs.get(&id).into_iter().flatten());
            if !self.opens_lanes() || self.options.follow.is_some() {
                continue;
            }
            let Some(entry) = reading.transcript.get(id) else {
                continue;
            };
            let lanes = entry
                .calls()
                .flat_map(|call| reading.transcript.lanes_begun(id, &call.key));
            let below: Vec<EntryId> = lanes
                .flat_map(|lane| lane.entries.iter().copied())
                .collect();
            waiting.extend(
                below
                    .into_iter()
                    .rev()
                    .map(|id| (id, depth.saturating_add(1))),
            );
        }
        Ok(())
    }

    fn print_json(
        &mut self,
        id: EntryId,
        reading: &mut Reading,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if !self.printed.insert(id) {
            return Ok(());
        }
        let mut pager = reading.pager.take();
        let entry = reading.transcript.get(id);
        let line = entry.map(|entry| {
            let is_over = self.is_over(entry, reading);
            entry::of((id, entry), Contents::of(pager.as_mut()), reading, is_over)
        });
        let written = line.map_or(Ok(()), |line| json::write_line(out, &line));
        reading.pager = pager;
        written
    }

    /// Whether the session has ended. Only computed for entries with work in the background or
    /// reports of it.
    fn is_over(&self, entry: &Entry, reading: &Reading) -> bool {
        let has_work = entry.calls().any(|call| call.state.work().is_some());
        let now = (self.now)();
        !((has_work || entry.marks.reports) && reading.activity(now).is_ongoing(now))
    }

    fn print_text(
        &mut self,
        id: EntryId,
        depth: u16,
        reading: &mut Reading,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let turn = self.turn_line(id, reading);
        let is_over = reading
            .transcript
            .get(id)
            .is_none_or(|entry| self.is_over(entry, reading));
        let Reading {
            transcript,
            account,
            pager,
            ..
        } = reading;
        let Some(entry) = transcript.get(id) else {
            return Ok(());
        };
        let is_settled = !entry.calls().any(|call| call.state.is_open());
        let mut portioned = Portioned {
            id,
            depth,
            turn,
            is_awaited: is_settled || Awaited::of(transcript).has(transcript, id),
            is_over,
            transcript,
            account,
            contents: Contents::of(pager.as_mut()),
            entry: entry.clone(),
            above: None,
        };
        let (paper, level) = (self.options.paper, self.options.level);
        let (mut first, mut has_rows) = (0, false);
        while first == 0 || first < entry.blocks.len() {
            let end = end_of_portion(entry, first, level);
            let rows = self.rows_of(&mut portioned, first..end);
            if !rows.is_empty()
                && !std::mem::replace(&mut has_rows, true)
                && let Some(day) = self.new_day(entry)
            {
                let rule = self.theme.glyphs().line.rule.repeat(2);
                self.print_line(format!("{rule} {day} {rule}"), self.theme.dim, out)?;
            }
            for row in rows {
                writeln!(out, "{}", paper.line(&row))?;
            }
            first = end;
        }
        if has_rows && entry.at.is_some() {
            self.day = entry.last_time();
        }
        Ok(())
    }

    fn width(&self) -> usize {
        usize::from(self.options.paper.width.saturating_sub(GUTTER).max(1))
    }

    /// The rows of some blocks of an entry. Only these blocks are in memory meanwhile.
    fn rows_of(&self, portioned: &mut Portioned<'_>, blocks: Range<usize>) -> Vec<Row> {
        let Portioned {
            id,
            depth,
            transcript,
            account,
            ..
        } = *portioned;
        let Portioned {
            contents, entry, ..
        } = portioned;
        let Some(known) = transcript.get(id) else {
            return Vec::new();
        };
        let level = self.options.level;
        let within = known
            .blocks
            .get(blocks.start..blocks.end.min(known.blocks.len()))
            .unwrap_or_default();
        let own = entry.blocks.iter_mut().skip(blocks.start);
        for (own, known) in own.zip(within) {
            if let Cow::Owned(whole) = contents.with_bodies(known) {
                *own = whole;
            }
        }
        let mut details: Vec<(usize, Arc<Details>)> = portioned.above.take().into_iter().collect();
        if level >= Level::Full {
            let shown = transcript.shown_above(id);
            let found = contents.details(known, blocks.clone(), shown, level == Level::Raw);
            details.extend(
                found
                    .into_iter()
                    .map(|(block, _, details)| (block, Arc::new(details))),
            );
        }
        let earlier = plans::earlier(transcript, id, blocks.clone()).into_iter();
        let earlier: Vec<(usize, Body)> = earlier
            .map(|(block, _, input)| (block, contents.with_content(input)))
            .collect();
        let earlier: Vec<(usize, &Body)> = earlier
            .iter()
            .map(|(block, input)| (*block, input))
            .collect();
        let run: Vec<&Entry> = self
            .runs
            .get(&id)
            .into_iter()
            .flatten()
            .filter_map(|id| transcript.get(*id))
            .collect();
        let spent = tokens_and_cost(known, self.options.paper.ascii);
        let ends = lifecycle::reports(transcript, known, portioned.is_over);
        let root = transcript.meta().root.as_deref();
        let ends: Vec<EndLine> = ends
            .iter()
            .map(|ends| phrases::end(ends, root, true))
            .collect();
        let item = Item {
            run: &run,
            details: &details,
            plans: &earlier,
            turn: portioned.turn.as_deref(),
            usage: spent.as_deref(),
            dim: known.marks.copy
                || (self.chosen.is_none() && transcript.branches().of(id).is_some()),
            is_awaited: portioned.is_awaited,
            is_running: !portioned.is_over,
            ends: &ends,
            lanes: &self.lane_lines(id, within, transcript, account),
            depth,
            blocks: (blocks.start, blocks.end),
            ..Item::of(entry)
        };
        let look = Look {
            width: self.options.paper.width.saturating_sub(GUTTER).max(1),
            level,
            thinking: true,
            intents: true,
            times: if transcript.has_times() {
                Times::Seconds
            } else {
                Times::None
            },
            lines: 0,
            theme: &self.theme,
            colours: &self.colours,
            sideways: None,
            root,
            pictures: None,
        };
        let mut rows = lay_out(&item, &look);
        if blocks.start == 0 && self.chosen.is_none() {
            insert_branch_line(&mut rows, id, transcript, &look);
        }
        if known.calls().nth(1).is_none() {
            // A single call needs no bracket.
            let brackets = rows.iter_mut().filter(|row| row.gutter != Gutter::Open);
            brackets.for_each(|row| row.gutter = Gutter::None);
        }
        let own = entry.blocks.iter_mut().skip(blocks.start);
        own.zip(within)
            .for_each(|(own, known)| own.clone_from(known));
        portioned.above = details.pop();
        rows
    }

    /// The date of an entry with the time zone; `None` if it is that of the entry above.
    fn new_day(&self, entry: &Entry) -> Option<String> {
        let at = entry.at?;
        let is_new = self.day.is_none_or(|before| !before.is_same_day(at));
        is_new.then(|| format!("{} {}", at.date(), at.zone()))
    }

    fn turn_line(&mut self, id: EntryId, reading: &Reading) -> Option<String> {
        let Reading {
            transcript,
            account,
            ..
        } = reading;
        if self.turns.len() != transcript.turns().len() {
            let turns = transcript.turns().iter().enumerate();
            self.turns = turns.map(|(number, turn)| (turn.prompt, number)).collect();
        }
        let figures = account.turn(transcript, *self.turns.get(&id)?);
        Some(phrases::turn(&figures, 0, self.options.paper.ascii)).filter(|facts| !facts.is_empty())
    }

    fn lane_lines(
        &self,
        id: EntryId,
        blocks: &[Block],
        transcript: &Transcript,
        account: &Account,
    ) -> Vec<LaneLine> {
        let lanes = blocks.iter().filter_map(Block::call).flat_map(|call| {
            transcript
                .lanes_begun(id, &call.key)
                .map(move |lane| (call, lane))
        });
        let line = |(call, lane): (&ToolCall, &LaneFacts)| LaneLine {
            call: call.key.clone(),
            label: lane.label.clone(),
            facts: phrases::lane(lane, transcript, account, self.options.paper.ascii),
            is_open: self.opens_lanes(),
            last: phrases::last_signs(lane, transcript, 1),
            since: None,
        };
        lanes.map(line).collect()
    }
}

/// An entry that is laid out in portions of blocks.
struct Portioned<'a> {
    id: EntryId,
    depth: u16,
    turn: Option<String>,
    is_awaited: bool,
    /// Whether the session has ended.
    is_over: bool,
    transcript: &'a Transcript,
    account: &'a Account,
    contents: Contents<'a>,
    /// The entry; only the blocks being laid out are in memory.
    entry: Entry,
    /// The details of the last record above the current blocks.
    above: Option<(usize, Arc<Details>)>,
}

/// Maximum number of blocks that are laid out at once.
const BLOCKS: usize = 256;

/// The end of the portion that begins at block `first`. A sentence is not separated from the call
/// that it introduces, and at level 5 the blocks of a record are not separated, because its details
/// are shown once.
fn end_of_portion(entry: &Entry, first: usize, level: Level) -> usize {
    let is_kind = |at: usize, is: fn(&BlockKind) -> bool| {
        entry.blocks.get(at).is_some_and(|block| is(&block.kind))
    };
    let leads = |end: usize| {
        is_kind(end - 1, |kind| matches!(kind, BlockKind::Text(_)))
            && is_kind(end, |kind| matches!(kind, BlockKind::Call(_)))
    };
    let is_end = |end: &usize| {
        !leads(*end) && (level != Level::Raw || !records_below(entry, *end - 1).is_empty())
    };
    (first.saturating_add(BLOCKS)..entry.blocks.len())
        .find(is_end)
        .unwrap_or(usize::MAX)
}

/// Cost and tokens of an answer as text.
fn tokens_and_cost(entry: &Entry, ascii: bool) -> Option<String> {
    let usage = entry
        .usage
        .as_deref()
        .filter(|_| entry.role == Role::Assistant)?;
    Some(phrases::tokens_and_cost(usage, entry.model.as_ref(), ascii))
        .filter(|facts| !facts.is_empty())
}

/// Inserts the line of a branch above its first entry.
fn insert_branch_line(rows: &mut Vec<Row>, id: EntryId, transcript: &Transcript, look: &Look<'_>) {
    let Some(branch) = transcript.branches().beginning_at(id) else {
        return;
    };
    let gaps = rows
        .iter()
        .take_while(|row| row.kind == RowKind::Gap)
        .count();
    let words = Span::styled(phrases::branch(branch, transcript), look.theme.dim);
    let line = wrap::fit(&[words], usize::from(look.width), look.theme.glyphs().cut).into();
    rows.insert(
        gaps,
        Row {
            line,
            ..Row::default()
        },
    );
}

/// Whether the call that started a lane is in the session.
fn has_caller(lane: &Name, transcript: &Transcript) -> bool {
    transcript
        .lane(lane)
        .is_some_and(|lane| transcript.caller(lane).is_some())
}

#[cfg(test)]
mod tests;
