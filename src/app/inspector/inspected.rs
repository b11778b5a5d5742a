//! The inspected item, and the phrases that several tabs use.

use itertools::Itertools as _;
use ratatui::text::Span;

use super::page::PageBuilder;
use crate::analysis::account::{Account, Sums};
use crate::analysis::calls::{Earlier, Place};
use crate::analysis::lint::{Finding, Severity};
use crate::analysis::phrases;
use crate::app::screen::Screen;
use crate::app::text::viewport::Focus;
use crate::model::body::Key;
use crate::model::entry::{Entry, EntryId};
use crate::model::figures;
use crate::model::meta::LaneFacts;
use crate::model::record::Origin;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;
use crate::render::wrap::{self, Piece};
use crate::session::Session;

/// Maximum number of links that are followed from a record to its nearest ancestor that is an
/// entry.
const LINKS: usize = 64;

/// Figures of the turn of an item.
pub struct TurnSummary {
    pub prompt: EntryId,
    pub number: usize,
    /// Its formatted cost; empty if unknown.
    pub cost: String,
    pub time: Sums,
}

impl TurnSummary {
    /// The turn of this number, from 0.
    pub fn of(transcript: &Transcript, account: &Account, turn: usize) -> Option<Self> {
        let prompt = transcript.turns().get(turn)?.prompt;
        let figures = account.turn(transcript, turn);
        let cost = phrases::cost(&figures.cost()).unwrap_or_default();
        Some(Self {
            prompt,
            number: turn + 1,
            cost,
            time: figures.time,
        })
    }
}

pub struct InspectedItem<'a> {
    pub session: &'a Session,
    pub screen: &'a Screen,
    pub focus: Focus,
    pub entry: &'a Entry,
    /// Earlier calls with the same arguments.
    pub earlier: Earlier,
    pub turn: Option<TurnSummary>,
}

impl<'a> InspectedItem<'a> {
    /// The call, if the item is one.
    pub fn call(&self) -> Option<&'a ToolCall> {
        self.entry.call(self.focus.block)
    }

    /// `entry 598  line 4731  byte 3114882`, with the file if there are several.
    pub(crate) fn place_words(&self, id: Option<EntryId>, origin: Origin) -> String {
        let entry = id.and_then(|id| self.session.transcript.place_of(id));
        let parts = [
            entry.map(|place| format!("entry {}", place + 1)),
            (origin.line > 0).then(|| format!("line {}", origin.line)),
            (origin.len > 0).then(|| format!("byte {}", origin.at)),
            (origin.file.0 > 0).then(|| self.file(origin)).flatten(),
        ];
        parts.into_iter().flatten().join("  ")
    }

    /// The name of a file of the session.
    pub fn file(&self, origin: Origin) -> Option<String> {
        let path = self.session.file.path(origin.file)?;
        let name = path.file_name()?.to_string_lossy();
        Some(Text::clean(&name).to_string())
    }

    /// The item's findings of the lint, except notes.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Finding> {
        let focus = self.focus;
        let of_entry = self.session.indexes.findings.of_entry(focus.entry).iter();
        of_entry.filter(move |finding| {
            finding.block == focus.block && finding.severity > Severity::Note
        })
    }

    /// How a call ended, in colour: `✓ done`, `✗ failed  exit 101`.
    pub fn verdict(&self, call: &ToolCall, id: EntryId) -> Vec<Piece> {
        let theme = &self.screen.theme;
        let glyphs = theme.glyphs();
        let (glyph, words, style) = match &call.state {
            _ if self.session.runs(id, call, self.screen.now) => {
                (glyphs.outcome.running, "running", theme.warn)
            }
            ToolState::Pending | ToolState::Running | ToolState::Streaming(_) => {
                (glyphs.outcome.lost, "no result", theme.warn)
            }
            ToolState::Acknowledged(_) => (glyphs.outcome.lost, "no end recorded", theme.warn),
            ToolState::Done(_) if call.state.is_unrecorded() => {
                (glyphs.outcome.lost, "not recorded how it ended", theme.dim)
            }
            ToolState::Done(_) => (glyphs.outcome.done, "done", theme.good),
            ToolState::Failed(_) => (glyphs.outcome.failed, "failed", theme.bad),
            ToolState::Refused(_) => (glyphs.outcome.refused, "refused", theme.warn),
            ToolState::Stopped(_) => (glyphs.outcome.lost, "stopped", theme.warn),
            ToolState::Lost => (glyphs.outcome.lost, "interrupted, no result", theme.warn),
        };
        let mut spans = vec![Span::styled(format!("{glyph} {words}"), style)];
        let facts = call
            .state
            .result()
            .map(|result| result.facts.to_string())
            .unwrap_or_default();
        if let Some(facts) = facts.lines().next().filter(|facts| !facts.is_empty()) {
            let facts = if theme.ascii {
                facts.replace('·', glyphs.dot)
            } else {
                facts.to_owned()
            };
            spans.push(Span::styled(format!("  {facts}"), theme.text));
        }
        spans
    }

    /// A row that leads to another call: `#204 grep 12ms ✓ done  "sleep"`.
    pub fn other(&self, name: &str, place: Place, page: &mut PageBuilder<'_>) {
        let Some((entry, call)) = self.find(place) else {
            return;
        };
        let theme = &self.screen.theme;
        let number = self.session.indexes.calls.number(place);
        let mut spans = Vec::new();
        spans.extend(number.map(|number| Span::styled(format!("#{number} "), theme.accent)));
        spans.push(Span::styled(format!("{} ", call.shown_name()), theme.tool));
        let at = call.started.or(entry.at).map(Timestamp::clock);
        spans.extend(at.map(|at| Span::styled(format!("{at}  "), theme.dim)));
        let took = call
            .duration(entry.call_time(call))
            .map(|took| format!("{}  ", theme.took(took)));
        spans.extend(took.map(|took| Span::styled(took, theme.text)));
        spans.extend(self.verdict(call, place.entry));
        let head = call.about(self.session.transcript.meta().root.as_deref());
        let size = call
            .state
            .result()
            .map(|result| figures::bytes(u64::from(result.body.bytes)));
        let tail: Vec<String> = size.into_iter().chain([head]).collect();
        spans.push(Span::styled(format!("  {}", tail.join("  ")), theme.dim));
        let room = page.width().saturating_sub(super::page::NAME).max(1);
        let spans = wrap::fit(&spans, room, theme.glyphs().cut);
        page.link(name, &spans, Some(place));
    }

    fn find(&self, place: Place) -> Option<(&'a Entry, &'a ToolCall)> {
        let entry = self.session.transcript.get(place.entry)?;
        Some((entry, entry.call(place.block)?))
    }

    /// A row that leads to the parent entry.
    pub fn parent(&self, page: &mut PageBuilder<'_>) {
        let theme = &self.screen.theme;
        let transcript = &self.session.transcript;
        let mut spans = Vec::new();
        if let Some(turn) = &self.turn {
            spans.push(Span::styled(format!("turn {}  ", turn.number), theme.text));
        }
        let lane = self.entry.lane.as_ref();
        let lane = lane.and_then(|name| transcript.lane(name));
        let lane = lane.map_or_else(|| "main lane".to_owned(), LaneFacts::title);
        spans.push(Span::styled(format!("{lane}  "), theme.text));
        let parent = self.entry.parent.as_ref();
        let target = parent.and_then(|key| nearest_entry(transcript, key));
        if let Some(key) = parent {
            let word = match (
                transcript.find(key).and_then(|id| transcript.get(id)),
                target,
            ) {
                (Some(entry), _) => format!("{} ", entry.role.word()),
                (None, Some(_)) => "record ".to_owned(),
                (None, None) if transcript.is_linked_tree() => "not in the file: ".to_owned(),
                (None, None) => String::new(),
            };
            spans.push(Span::styled(format!("{word}{key}"), theme.dim));
        }
        let target = target.or(self
            .turn
            .as_ref()
            .map(|turn| turn.prompt)
            .filter(|id| *id != self.focus.entry));
        page.link(
            "parent",
            &spans,
            target.map(|entry| Focus { entry, block: 0 }),
        );
    }

    /// Phrases for an abandoned branch, an undone entry or a copy.
    pub(crate) fn state_phrases(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(branch) = self.session.transcript.branches().of(self.focus.entry) {
            words.push(format!(
                "on branch {}: {}",
                branch.number,
                phrases::abandoned_reason(branch.why)
            ));
        }
        if self.entry.marks.undone {
            words.push("undone: the agent says the model no longer sees it".to_owned());
        }
        if self.entry.marks.copy {
            words.push("a copy of another entry: counted nowhere".to_owned());
        }
        words
    }
}

/// The entry of a record, or its nearest ancestor, since not every record is an entry.
fn nearest_entry(transcript: &Transcript, key: &Key) -> Option<EntryId> {
    let mut key = transcript.print_of(key);
    for _ in 0..LINKS {
        if let Some(id) = transcript.find_print(key) {
            return Some(id);
        }
        key = transcript.parent_of(key)??;
    }
    None
}
