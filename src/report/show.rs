//! `tv show`: a transcript as text, laid out as on the screen, or as JSON an entry a line.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use ratatui::text::Span;
use rustix::fs::{self, FileType};
use rustix::stdio;

use super::entry;
use super::follow;
use super::json;
use super::outcome::{Outcome, Trouble};
use super::reading::{self, Reading};
use super::rows::{GUTTER, Paper};
use crate::analysis::account::Account;
use crate::analysis::awaited::Awaited;
use crate::analysis::reading::order;
use crate::analysis::secrets::Mask;
use crate::analysis::{phrases, plans};
use crate::ingest::{OpenError, Pager, Target, WatchMode};
use crate::model::body::Body;
use crate::model::entry::details::{Details, Of};
use crate::model::entry::rewording;
use crate::model::entry::{Entry, EntryId, Role};
use crate::model::meta::LaneFacts;
use crate::model::text::{Name, Text};
use crate::model::tool::ToolCall;
use crate::model::transcript::Transcript;
use crate::render::code::Colours;
use crate::render::lay_out;
use crate::render::row::{Item, LaneLine, Level, Look, Row, RowKind};
use crate::render::theme::Theme;
use crate::render::wrap;

/// Larger files are paged in as they are written instead of being held.
const HELD_BELOW: u64 = 32 << 20;

/// What to show, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The session.
    pub target: Target,
    /// An entry that it must have.
    pub entry: Option<String>,
    /// Columns and colours.
    pub paper: Paper,
    /// How much is shown.
    pub level: Level,
    /// Entries as JSON instead of text.
    pub json: bool,
    /// Go on with what is appended, until interrupted; how changes are noticed.
    pub follow: Option<WatchMode>,
    /// Which branches.
    pub branch: Choice,
    /// Keys and tokens are masked.
    pub redact: bool,
}

/// Which branches of a session are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// All of them in file order; what was left is dimmed.
    #[default]
    All,
    /// What the session goes on from.
    Active,
    /// What the model saw when the session left the branch of this number.
    Number(usize),
}

/// Writes a transcript.
pub fn write(options: &Options, out: &mut dyn Write) -> Result<Outcome, Trouble> {
    if is_output(&options.target.path) {
        let path = options.target.path.display();
        return Err(OpenError(format!("{path}: the output goes into the session itself")).into());
    }
    if let Some(mode) = options.follow {
        return follow::write(options, mode, out);
    }
    let mut reading = reading::read(&options.target, is_large(&options.target))?;
    if let Some(name) = &options.entry {
        reading.find(name)?;
    }
    let mut printer = Printer::new(options);
    printer.chosen = chosen(options, &reading)?;
    for id in order(&reading.transcript) {
        printer.print(id, &mut reading, out)?;
    }
    printer.print_left_over(&mut reading, out)?;
    Ok(printer.end(Outcome::of(reading.failure().into_iter().collect())))
}

/// Whether a file is what is written to: it would never end, and nothing is written to sessions.
fn is_output(path: &Path) -> bool {
    let Ok(output) = fs::fstat(stdio::stdout()) else { return false };
    let is_file = FileType::from_raw_mode(output.st_mode).is_file();
    is_file && fs::stat(path).is_ok_and(|file| (file.st_dev, file.st_ino) == (output.st_dev, output.st_ino))
}

/// The entries of the chosen branch with the sub-agents that they started; none if all are shown.
fn chosen(options: &Options, reading: &Reading) -> Result<Option<HashSet<EntryId>>, Trouble> {
    let transcript = &reading.transcript;
    let on_main = |id: &EntryId| transcript.get(*id).is_some_and(|entry| entry.lane.is_none());
    let mut shown: HashSet<EntryId> = match options.branch {
        Choice::All => return Ok(None),
        Choice::Active => {
            let abandoned = &transcript.branches().abandoned;
            let ids = transcript.order().iter().filter(|id| on_main(id) && !abandoned.contains(id));
            ids.copied().collect()
        }
        Choice::Number(number) => match transcript.seen_on(number) {
            Some(ids) => ids.into_iter().collect(),
            None => return Err(no_branch(number, reading).into()),
        },
    };
    for lane in transcript.lanes() {
        // A sub-agent that nobody is known to have started belongs to the session as it is now.
        let is_shown = match transcript.root_caller(lane) {
            Some(caller) => shown.contains(&caller),
            None => options.branch == Choice::Active,
        };
        if is_shown {
            shown.extend(lane.entries.iter().copied());
        }
    }
    Ok(Some(shown))
}

fn no_branch(number: usize, reading: &Reading) -> OpenError {
    let path = reading::shown(&reading.target.path);
    OpenError(match reading.transcript.branches().list.len() {
        0 => format!("{path} has no branch {number}: it never left one; `--branch all` shows everything"),
        1 => format!("{path} has no branch {number}, only branch 1"),
        last => format!("{path} has no branch {number}, only branches 1 to {last}; `tv stats` lists them"),
    })
}

fn is_large(target: &Target) -> bool {
    std::fs::metadata(&target.path).is_ok_and(|file| file.is_file() && file.len() > HELD_BELOW)
}

/// Writes entries, each once.
pub(crate) struct Printer<'a> {
    options: &'a Options,
    theme: Theme,
    colours: Colours,
    printed: HashSet<EntryId>,
    turns: HashMap<EntryId, usize>,
    /// The entries of the chosen branch; none if all are shown.
    chosen: Option<HashSet<EntryId>>,
    /// What masks keys and tokens, if they are to be masked.
    mask: Option<Mask>,
}

impl<'a> Printer<'a> {
    /// For these options.
    pub(crate) fn new(options: &'a Options) -> Self {
        let (theme, colours) = if options.paper.colour {
            (Theme::dark(), Colours::now())
        } else {
            (Theme::mono(), Colours::never())
        };
        Self {
            options,
            theme: theme.with_ascii(options.paper.ascii),
            colours,
            printed: HashSet::new(),
            turns: HashMap::new(),
            chosen: None,
            mask: options.redact.then(Mask::default),
        }
    }

    /// What is written from here on was not there before: it gets as many colours again.
    pub(crate) fn colour_again(&self) {
        self.colours.go_on();
    }

    /// How writing ended, with a word on what was masked.
    pub(crate) fn end(&self, outcome: Outcome) -> Outcome {
        match &self.mask {
            Some(mask) => Outcome::Saying(mask.words(), Box::new(outcome)),
            None => outcome,
        }
    }

    /// The entry as it may be written, whole.
    fn told(&mut self, entry: &Entry, pager: Option<&mut Pager>) -> Entry {
        let mut entry = reading::whole(entry, pager);
        if let Some(mask) = &mut self.mask {
            rewording::entry(&mut entry, &mut |text: &Text| mask.text(text));
        }
        entry
    }

    /// As [`Printer::told`], with what its records hold besides, or all of them.
    fn told_with_details(
        &mut self,
        entry: &Entry,
        is_whole: bool,
        mut pager: Option<&mut Pager>,
    ) -> (Entry, Vec<(usize, Of, Details)>) {
        let mut details = reading::details(entry, is_whole, pager.as_deref_mut());
        if let Some(mask) = &mut self.mask {
            for (_, _, details) in &mut details {
                rewording::details(details, &mut |text: &Text| mask.text(text));
            }
        }
        (self.told(entry, pager), details)
    }

    /// Writes a line. What was not masked as a text of its entry, such as a label, is masked here.
    fn write_line(&mut self, line: String, out: &mut dyn Write) -> io::Result<()> {
        let masked = self.mask.as_mut().and_then(|mask| mask.apply(&line));
        writeln!(out, "{}", masked.unwrap_or(line))
    }

    fn is_chosen(&self, id: EntryId) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen.contains(&id))
    }

    /// Whether the entry has been written.
    pub(crate) fn has_printed(&self, id: EntryId) -> bool {
        self.printed.contains(&id)
    }

    /// Writes an entry at its place in the file. A sub-agent's entries are written below the call
    /// that started it, from level 4 on; under level 4 their call names them. While following they
    /// stay in file order: their call was written before they came.
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
        let Some(entry) = reading.transcript.get(id) else { return Ok(()) };
        let depth = u16::from(entry.lane.is_some());
        let has_caller = entry.lane.as_ref().is_some_and(|lane| has_caller(lane, &reading.transcript));
        if has_caller && !self.opens_lanes() {
            self.printed.insert(id);
            return Ok(());
        }
        if has_caller && !self.is_following() {
            return Ok(());
        }
        self.print_with_lanes(id, depth, reading, out)
    }

    /// Writes what no call led to, so that nothing stays hidden: at level 4 and above.
    pub(crate) fn print_left_over(&mut self, reading: &mut Reading, out: &mut dyn Write) -> io::Result<()> {
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

    fn is_following(&self) -> bool {
        self.options.follow.is_some()
    }

    fn print_with_lanes(
        &mut self,
        id: EntryId,
        depth: u16,
        reading: &mut Reading,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        // Lanes may start each other in a circle if a file lies; each entry comes once.
        let mut waiting = vec![(id, depth)];
        while let Some((id, depth)) = waiting.pop() {
            if !self.is_chosen(id) || !self.printed.insert(id) {
                continue;
            }
            self.print_text(id, depth, reading, out)?;
            if !self.opens_lanes() || self.is_following() {
                continue;
            }
            let Some(entry) = reading.transcript.get(id) else { continue };
            let lanes = entry.calls().filter_map(|call| reading.transcript.lane_of_call(&call.key));
            let below: Vec<EntryId> = lanes.flat_map(|lane| lane.entries.iter().copied()).collect();
            waiting.extend(below.into_iter().rev().map(|id| (id, depth.saturating_add(1))));
        }
        Ok(())
    }

    fn print_json(&mut self, id: EntryId, reading: &mut Reading, out: &mut dyn Write) -> io::Result<()> {
        if !self.printed.insert(id) {
            return Ok(());
        }
        let Some(entry) = reading.transcript.get(id) else { return Ok(()) };
        let (entry, details) = self.told_with_details(entry, false, reading.pager.as_mut());
        let line = json::line(&entry::of(id, &entry, &details, reading))?;
        self.write_line(line, out)
    }

    fn print_text(
        &mut self,
        id: EntryId,
        depth: u16,
        reading: &mut Reading,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let turn = self.turn_line(id, reading);
        let Reading { transcript, account, pager, .. } = reading;
        let Some(entry) = transcript.get(id) else { return Ok(()) };
        let (entry, details) = if self.options.level < Level::Full {
            (self.told(entry, pager.as_mut()), Vec::new())
        } else {
            self.told_with_details(entry, self.options.level == Level::Raw, pager.as_mut())
        };
        let details: Vec<(usize, Arc<Details>)> =
            details.into_iter().map(|(block, _, details)| (block, Arc::new(details))).collect();
        let paper = self.options.paper;
        let spent = entry
            .usage
            .as_deref()
            .filter(|_| entry.role == Role::Assistant)
            .map(|usage| phrases::spent(usage, entry.model.as_ref(), paper.ascii))
            .filter(|facts| !facts.is_empty());
        let earlier = plans::earlier(transcript, id).into_iter();
        let mut earlier: Vec<(usize, Body)> =
            earlier.map(|(block, _, input)| (block, reading::whole_body(input, pager.as_mut()))).collect();
        if self.mask.is_some() {
            // They are counted where they stand themselves.
            let mut again = Mask::default();
            for (_, input) in &mut earlier {
                rewording::body(input, &mut |text| again.text(text));
            }
        }
        let earlier: Vec<(usize, &Body)> = earlier.iter().map(|(block, input)| (*block, input)).collect();
        let item = Item {
            details: &details,
            plans: &earlier,
            turn: turn.as_deref(),
            spent: spent.as_deref(),
            dim: entry.marks.copy || (self.chosen.is_none() && transcript.branches().of(id).is_some()),
            is_awaited: !entry.calls().any(|call| call.state.is_open())
                || Awaited::of(transcript).has(transcript, id),
            lanes: &self.lane_lines(&entry, transcript, account),
            depth,
            ..Item::of(&entry)
        };
        let look = Look {
            width: paper.width.saturating_sub(GUTTER).max(1),
            level: self.options.level,
            thinking: true,
            times: true,
            theme: &self.theme,
            colours: &self.colours,
            sideways: None,
            pictures: None,
        };
        let mut rows = lay_out(&item, &look);
        if let Some(branch) = transcript.branches().headed_by(id).filter(|_| self.chosen.is_none()) {
            let gaps = rows.iter().take_while(|row| row.kind == RowKind::Gap).count();
            let words = Span::styled(phrases::branch(branch, transcript), self.theme.dim);
            let line = wrap::fit(&[words], usize::from(look.width), self.theme.glyphs().cut).into();
            rows.insert(gaps, Row { line, ..Row::default() });
        }
        for row in rows {
            self.write_line(paper.line(&row), out)?;
        }
        Ok(())
    }

    fn turn_line(&mut self, id: EntryId, reading: &Reading) -> Option<String> {
        let Reading { transcript, account, .. } = reading;
        if self.turns.len() != transcript.turns().len() {
            let turns = transcript.turns().iter().enumerate();
            self.turns = turns.map(|(number, turn)| (turn.prompt, number)).collect();
        }
        let figures = account.turn(transcript, *self.turns.get(&id)?);
        Some(phrases::turn(&figures, self.options.paper.ascii)).filter(|facts| !facts.is_empty())
    }

    fn lane_lines(&self, entry: &Entry, transcript: &Transcript, account: &Account) -> Vec<LaneLine> {
        let lanes = entry.calls().filter_map(|call| Some((call, transcript.lane_of_call(&call.key)?)));
        let line = |(call, lane): (&ToolCall, &LaneFacts)| LaneLine {
            call: call.key.clone(),
            label: lane.label.clone(),
            facts: phrases::lane(lane, account, self.options.paper.ascii),
            is_open: self.opens_lanes(),
            last: phrases::last_signs(lane, transcript, 1),
            since: None,
        };
        lanes.map(line).collect()
    }
}

/// Whether the session has the call that started a lane.
fn has_caller(lane: &Name, transcript: &Transcript) -> bool {
    transcript.lane(lane).is_some_and(|lane| transcript.caller(lane).is_some())
}

#[cfg(test)]
mod tests;
