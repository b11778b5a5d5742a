//! The view of hits: each item that matches the search, with the matching line.
//!
//! Invariant: only texts in the window are read; bodies that are on disk are requested.

use ratatui::style::Style;
use ratatui::text::Span;

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, Sheet};
use crate::analysis::search::texts;
use crate::app::input::action::Action;
use crate::app::text::viewport::Focus;
use crate::listing::sort::Value;
use crate::listing::table::{Cell, CellLook, Column, Listing, cell};
use crate::model::entry::{Block, BlockKind, Entry, EntryId};
use crate::model::figures::count;
use crate::model::text::without_sgr;
use crate::model::transcript::Transcript;
use crate::render::wrap;
use crate::session::indexes::Needs;
use crate::session::search::Search;
use crate::session::search::progress::BlockHits;

/// Greatest width of the name of a sub-agent.
const LANE: usize = 20;
const HINTS: &[Hint] = &[(&[Action::Search], "search anew")];

/// The view of hits.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    list: List<HitKey>,
    /// The number of the search, and the revision of its hits.
    built_from: Option<(u32, u32)>,
}

impl Hits {
    fn refresh(&mut self, scene: &PageScene<'_>) {
        let made = scene
            .search
            .map(|search| (search.generation, search.changes));
        if self.built_from == made {
            return;
        }
        let is_other_search = self.built_from.map(|made| made.0) != made.map(|made| made.0);
        self.built_from = made;
        let hits = scene
            .search
            .map(|search| search.hits.iter().copied().map(HitKey).collect());
        self.list.set(hits.unwrap_or_default(), false);
        if let Some(focus) = scene.focus.filter(|_| is_other_search) {
            self.list.choose_where(|HitKey(hit)| hit.focus == focus);
        }
    }
}

fn title(search: Option<&Search>) -> Vec<Span<'static>> {
    let mut title = vec![Span::raw("HITS")];
    if let Some(search) = search {
        let literally = if search.mistake.is_some() {
            " taken literally"
        } else {
            ""
        };
        let found = count(search.total() as u64, "hit");
        let items = count(search.hits.len() as u64, "item");
        let open = if search.is_complete { "" } else { ", so far" };
        title.push(Span::raw(format!(
            "  /{}{literally}  {found} in {items}{open}",
            search.typed
        )));
    }
    title
}

fn nothing(search: Option<&Search>) -> &'static str {
    match search {
        None => "Nothing is searched for; / searches.",
        Some(search) if search.is_complete => "The search finds nothing here.",
        Some(_) => "The session is being searched.",
    }
}

/// The key of a hit, compared by block, because the number of matches in it may change.
#[derive(Clone, Copy, Debug)]
struct HitKey(BlockHits);

impl PartialEq for HitKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.focus == other.0.focus
    }
}

/// The hits of a search in their order.
#[derive(Clone, Copy)]
struct HitList<'a>(&'a PageScene<'a>, &'a Search);

/// A hit with its block.
struct HitRow<'a> {
    transcript: &'a Transcript,
    hit: BlockHits,
    entry: &'a Entry,
    block: &'a Block,
    search: &'a Search,
}

type HitColumn<'a> = Column<HitRow<'a>>;

impl<'a> Listing for HitList<'a> {
    type Key = HitKey;
    type Row = HitRow<'a>;

    fn columns(&self, _: usize) -> Vec<HitColumn<'a>> {
        vec![
            HitColumn::words("time", 8, 3)
                .value(|row| Value::time(row.entry.at))
                .dim(),
            HitColumn::figures("line", 6, 2)
                .value(|row| Value::int(Some(row.entry.origin.line)))
                .dim(),
            HitColumn::words("who", 8, 4).cell(speaker),
            HitColumn::figures("hits", 4, 1)
                .value(|row| Value::int(Some(row.hit.lines).filter(|lines| *lines > 1)))
                .dim(),
            HitColumn::rest("the first line with one", 20).cell(matching_line),
        ]
    }

    fn row(&self, HitKey(hit): &HitKey) -> Option<HitRow<'a>> {
        let (Self(scene, search), hit) = (*self, *hit);
        let entry = scene.transcript.get(hit.focus.entry)?;
        let block = entry.blocks.get(hit.focus.block)?;
        Some(HitRow {
            transcript: scene.transcript,
            hit,
            entry,
            block,
            search,
        })
    }
}

/// The speaker of a hit, or the kind of its call.
fn speaker(row: &HitRow<'_>, look: &CellLook<'_>) -> Cell {
    let theme = look.theme;
    match &row.block.kind {
        BlockKind::Call(call) => cell(call.shown_name(), theme.tool),
        BlockKind::Result(_) => cell("orphan", theme.warn),
        BlockKind::Thinking(_) => cell("think", theme.voice.thinking),
        BlockKind::Text(_)
        | BlockKind::Image(_)
        | BlockKind::Break(_)
        | BlockKind::Raw(_)
        | BlockKind::Aside(..) => {
            let speaker = without_sgr(row.entry.speaker()).into_owned();
            cell(speaker, theme.dim)
        }
    }
}

/// The matching line, cut so that the match is visible.
fn matching_line(row: &HitRow<'_>, look: &CellLook<'_>) -> Cell {
    let theme = look.theme;
    let texts = texts::of_entry_in(row.transcript, row.entry);
    let texts = texts.iter().find(|text| text.block == row.hit.focus.block);
    let found = texts.and_then(|text| texts::first_match(&row.search.pattern, text));
    let Some((text, found)) = found else {
        return cell("being read from the file", theme.dim);
    };
    let indent = (text.len() - text.trim_start().len()).min(found.start);
    let found = found.start - indent..found.end - indent;
    let text = text.get(indent..).unwrap_or_default();
    let plain = look.focus_or(Style::default());
    let styles = [plain, plain.patch(theme.hit.any)];
    let cut = theme.glyphs().cut;
    let mut spans = lane(row, look);
    let room = look.width.saturating_sub(wrap::width_of(&spans));
    spans.extend(wrap::fit_match(text, found, room, styles, cut));
    spans
}

/// The sub-agent of a hit before its line; the lane of the session itself has no name.
fn lane(row: &HitRow<'_>, look: &CellLook<'_>) -> Cell {
    let lane = row.entry.lane.as_ref();
    let lane = lane.filter(|lane| !row.transcript.is_main_lane(Some(lane)));
    let Some(lane) = lane.and_then(|lane| row.transcript.lane(lane)) else {
        return Vec::new();
    };
    let label = without_sgr(&lane.label);
    let words = Value::line(&label).words();
    let name = [Span::styled(words, look.theme.tool)];
    let mut spans = wrap::fit(&name, LANE.min(look.width / 3), look.theme.glyphs().cut);
    spans.push(Span::raw("  "));
    spans
}

impl Page for Hits {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        let title = title(scene.search);
        let Some(search) = scene.search.filter(|search| !search.hits.is_empty()) else {
            return Sheet::empty(title, nothing(scene.search), scene);
        };
        let (height, _) = scene.divide(1, 0);
        self.list.fit(height);
        let (heads, rows) = self.list.write(&HitList(scene, search), scene);
        Sheet {
            title,
            heads: vec![heads],
            rows,
            ..Sheet::default()
        }
    }

    fn act(&mut self, _scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        let action = match action {
            Action::NextHit => Action::Next,
            Action::PreviousHit => Action::Previous,
            action => action,
        };
        self.list.act(action, times).unwrap_or(Answer::Pass)
    }

    fn choose_focus(&mut self, _scene: &PageScene<'_>, focus: Focus) {
        self.list.choose_where(|HitKey(hit)| hit.focus == focus);
    }

    fn choose(&mut self, number: usize) {
        self.list.choose(number);
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn hints(&self) -> &'static [Hint] {
        HINTS
    }

    fn ends_with_session(&self) -> bool {
        false
    }

    fn target(&self, _scene: &PageScene<'_>) -> Option<Focus> {
        self.list.chosen().map(|HitKey(hit)| hit.focus)
    }

    fn bodies(&self, _scene: &PageScene<'_>) -> Vec<EntryId> {
        self.list
            .window()
            .map(|(_, HitKey(hit), _)| hit.focus.entry)
            .collect()
    }
}
