//! The list of hits: each item in which the search found something, with the line that it found.
//!
//! Invariant: only texts of the window are looked at; what is on disk of them is asked for.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, Sheet, SheetRow};
use super::table::{Column, Table};
use crate::analysis::search::texts;
use crate::app::input::action::Action;
use crate::app::text::viewport::Focus;
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::figures::count;
use crate::model::text::without_sgr;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolKind;
use crate::render::theme::Theme;
use crate::render::wrap;
use crate::session::indexes::Needs;
use crate::session::search::Search;
use crate::session::search::progress::Hit;

const COLUMNS: &[Column] = &[
    Column::words("time", 8, 3),
    Column::figures("line", 6, 2),
    Column::words("who", 8, 4),
    Column::figures("hits", 4, 1),
    Column::rest("the first line with one", 20),
];
/// The column of the line that was found.
const FOUND: usize = 4;
/// What its keys do.
const HINTS: &[Hint] = &[(&[Action::Search], "search anew")];

/// The page.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    list: List<Focus>,
    /// The search, and how often its hits had changed.
    made: Option<(u32, u32)>,
}

impl Hits {
    fn refresh(&mut self, scene: &PageScene<'_>) {
        let made = scene
            .search
            .map(|search| (search.generation, search.changes));
        if self.made == made {
            return;
        }
        let is_other_search = self.made.map(|made| made.0) != made.map(|made| made.0);
        self.made = made;
        let hits = scene
            .search
            .map(|search| search.hits.iter().map(|hit| hit.focus).collect());
        self.list.set(hits.unwrap_or_default(), false);
        if let Some(focus) = scene.focus.filter(|_| is_other_search) {
            self.list.choose_key(&focus);
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

fn nothing(search: Option<&Search>) -> Option<&'static str> {
    match search {
        None => Some("Nothing is searched for; / searches."),
        Some(search) if !search.hits.is_empty() => None,
        Some(search) if search.is_complete => Some("The search finds nothing here."),
        Some(_) => Some("The session is being searched."),
    }
}

/// Who says what was found, or what kind of call it is.
fn who(entry: &Entry, kind: &BlockKind, theme: &Theme) -> Span<'static> {
    match kind {
        BlockKind::Call(call) if call.kind == ToolKind::Other => {
            Span::styled(call.name.to_string(), theme.tool)
        }
        BlockKind::Call(call) => Span::styled(call.kind.word(), theme.tool),
        BlockKind::Result(_) => Span::styled("stray", theme.warn),
        BlockKind::Thinking(_) => Span::styled("think", theme.voice.thinking),
        BlockKind::Text(_)
        | BlockKind::Image(_)
        | BlockKind::Break(_)
        | BlockKind::Raw(_)
        | BlockKind::Aside(..) => {
            Span::styled(without_sgr(entry.speaker()).into_owned(), theme.dim)
        }
    }
}

fn line(scene: &PageScene<'_>, table: &Table, hit: Hit, is_chosen: bool) -> Option<Line<'static>> {
    let (theme, search) = (scene.theme, scene.search?);
    let entry = scene.transcript.get(hit.focus.entry)?;
    let block = entry.blocks.get(hit.focus.block)?;
    let number = match entry.origin.line {
        0 => String::new(),
        line => line.to_string(),
    };
    let cells = vec![
        Span::styled(
            entry.at.map(Timestamp::clock).unwrap_or_default(),
            theme.dim,
        ),
        Span::styled(number, theme.dim),
        who(entry, &block.kind, theme),
        Span::styled(
            if hit.lines > 1 {
                hit.lines.to_string()
            } else {
                String::new()
            },
            theme.dim,
        ),
    ];
    let mut line = table.row(cells, theme);
    line.spans.push(Span::raw(" "));
    let room = table.width_of(FOUND).unwrap_or_default();
    let plain = if is_chosen {
        theme.focus
    } else {
        Style::default()
    };
    let cut = theme.glyphs().cut;
    match texts::first_match(
        &search.pattern,
        &texts::of_block(entry, block, hit.focus.block),
    ) {
        Some((text, found)) => {
            let indent = (text.len() - text.trim_start().len()).min(found.start);
            let found = found.start - indent..found.end - indent;
            let text = text.get(indent..).unwrap_or_default();
            let styles = [plain, plain.patch(theme.hit.any)];
            line.spans
                .extend(wrap::fit_match(text, found, room, styles, cut));
        }
        None => line
            .spans
            .push(Span::styled("being read from the file", theme.dim)),
    }
    Some(line)
}

impl Page for Hits {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        let title = title(scene.search);
        if let Some(words) = nothing(scene.search) {
            let line = Line::styled(words, scene.theme.dim);
            return Sheet {
                title,
                rows: vec![SheetRow {
                    line,
                    ..SheetRow::default()
                }],
                ..Sheet::default()
            };
        }
        let (height, _) = scene.divide(1, 0);
        self.list.fit(height);
        let table = Table::fit(COLUMNS, scene.columns());
        let hits = scene
            .search
            .map(|search| search.hits.as_slice())
            .unwrap_or_default();
        let rows = self.list.window().filter_map(|(number, _, is_chosen)| {
            let line = line(scene, &table, *hits.get(number)?, is_chosen)?;
            Some(SheetRow {
                line,
                is_chosen,
                number,
            })
        });
        Sheet {
            title,
            heads: vec![table.heads(None, scene.theme)],
            rows: rows.collect(),
            ..Sheet::default()
        }
    }

    fn act(&mut self, _scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        let action = match action {
            Action::NextHit => Action::Next,
            Action::PreviousHit => Action::Previous,
            action => action,
        };
        if self.list.act(action, times) {
            Answer::Done
        } else {
            Answer::Pass
        }
    }

    fn look_at(&mut self, _scene: &PageScene<'_>, focus: Focus) {
        self.list.choose_key(&focus);
    }

    fn choose(&mut self, number: usize) {
        self.list.choose(number);
    }

    fn forget(&mut self) {
        *self = Self::default();
    }

    fn hints(&self) -> &'static [Hint] {
        HINTS
    }

    fn ends_with_session(&self) -> bool {
        false
    }

    fn target(&self, _scene: &PageScene<'_>) -> Option<Focus> {
        self.list.chosen().copied()
    }

    fn bodies(&self, _scene: &PageScene<'_>) -> Vec<EntryId> {
        self.list
            .window()
            .map(|(_, focus, _)| focus.entry)
            .collect()
    }
}
