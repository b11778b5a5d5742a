//! Rows of the tree: guide lines, label, state and figures.

use std::collections::{HashMap, HashSet};

use ratatui::style::Style;
use ratatui::text::Span;

use super::nodes::{Node, Nodes, Twig, caller};
use crate::analysis::account::PathFacts;
use crate::analysis::agents::{AgentState, fate};
use crate::analysis::calls::Place;
use crate::analysis::phrases;
use crate::analysis::phrases::title_of;
use crate::app::views::page::PageScene;
use crate::listing::call::PlacedCall;
use crate::listing::sort::Value;
use crate::listing::table::{Cell, CellLook, Column, Listing, cell};
use crate::model::branches::{Branch, Why};
use crate::model::figures;
use crate::model::meta::LaneFacts;
use crate::model::text::{Text, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;
use crate::render::theme::Theme;
use crate::render::wrap;

/// Width from which labels are not abbreviated.
const WIDE_FROM: usize = 60;

/// The nodes of the tree that are not folded.
pub(crate) struct NodeList<'a> {
    pub(crate) scene: &'a PageScene<'a>,
    pub(crate) nodes: &'a Nodes,
    pub(crate) folded: &'a HashSet<Node>,
    /// The figures of the visible nodes.
    pub(crate) facts: &'a HashMap<Node, PathFacts>,
}

pub(crate) struct NodeRow<'a> {
    node: &'a Node,
    /// The guide lines before the label.
    front: String,
    words: RowTexts,
    facts: &'a PathFacts,
    scene: &'a PageScene<'a>,
}

type NodeColumn<'a> = Column<NodeRow<'a>>;

impl<'a> Listing for NodeList<'a> {
    type Key = Node;
    type Row = NodeRow<'a>;

    fn columns(&self, width: usize) -> Vec<NodeColumn<'a>> {
        let title = if width < WIDE_FROM { 22 } else { 34 };
        let at = if self.scene.indexes.calls.are_of_days() {
            11
        } else {
            5
        };
        vec![
            NodeColumn::words("", self.scene.transcript.sessions_width(), 9).cell(|row, look| {
                let session = session_of(row.scene.transcript, row.node);
                vec![look.theme.session_mark(session)]
            }),
            NodeColumn::rest("", title).cell(|row, look| {
                let title = without_sgr(wrap::head(&row.words.title, TITLE)).into_owned();
                vec![
                    Span::styled(row.front.clone(), look.theme.dim),
                    Span::styled(title, look.focus_or(plain(row, look))),
                ]
            }),
            NodeColumn::words("fate", 14, 9).cell(|row, _| {
                let (sign, style, fate) = &row.words.fate;
                let gap = if sign.is_empty() { "" } else { " " };
                cell(format!("{sign}{gap}{fate}"), *style)
            }),
            NodeColumn::words("at", at, 3)
                .value(|row| {
                    let is_dated = row.scene.indexes.calls.are_of_days();
                    let words = row.words.at.map(|at| at.minute_or_dated(is_dated));
                    Value::text(words)
                })
                .dim(),
            NodeColumn::figures("entries", 7, 4)
                .value(|row| Value::int(Some(row.facts.entries)))
                .style(plain),
            NodeColumn::figures("calls", 9, 6).cell(|row, look| {
                let work = &row.facts.work.facts;
                let failed = look.theme.glyphs().outcome.failed;
                let words = match (row.facts.entries, work.errors) {
                    (0, _) => return Cell::new(),
                    (_, 0) => work.calls.to_string(),
                    (_, errors) => format!("{} {errors}{failed}", work.calls),
                };
                cell(words, plain(row, look))
            }),
            NodeColumn::figures("cost", 9, 8)
                .value(|row| Value::text(phrases::cost(&row.facts.work.cost())))
                .style(plain),
            NodeColumn::figures("took", 7, 7).cell(|row, look| {
                let took = node_duration(row.scene, row.node, row.facts);
                cell(took, plain(row, look))
            }),
        ]
    }

    fn row(&self, node: &Node) -> Option<NodeRow<'a>> {
        let twig = self.nodes.twig(node)?;
        Some(NodeRow {
            node: &twig.node,
            front: front(
                self.nodes,
                twig,
                self.folded.contains(node),
                self.scene.theme,
            ),
            words: words(self.scene, node, self.nodes.descendants(node).len()),
            facts: self.facts.get(node)?,
            scene: self.scene,
        })
    }
}

fn plain(row: &NodeRow<'_>, look: &CellLook<'_>) -> Style {
    if row.words.is_dim {
        look.theme.dim
    } else {
        look.theme.text
    }
}

/// Depth from which nodes are not indented any further.
const DEEP: usize = 10;
/// Maximum number of bytes of a title.
const TITLE: usize = 400;

/// The guide lines of a row, and the sign of whether it is folded.
fn front(nodes: &Nodes, twig: &Twig, is_folded: bool, theme: &Theme) -> String {
    let glyphs = theme.glyphs();
    let mut parts = Vec::new();
    let mut at = Some(twig);
    while let Some(one) = at.filter(|one| one.depth > 0) {
        let is_own = one.depth == twig.depth;
        parts.push(match (is_own, one.is_last) {
            (true, true) => format!("{} ", glyphs.line.last_twig),
            (true, false) => format!("{} ", glyphs.line.twig),
            (false, true) => "  ".to_owned(),
            (false, false) => format!("{} ", glyphs.lane.within),
        });
        at = nodes.parent_of(one);
    }
    let left_out = parts.len().saturating_sub(DEEP);
    parts.truncate(DEEP);
    parts.reverse();
    let deep = if left_out > 0 {
        format!("{left_out}{}", glyphs.cut)
    } else {
        String::new()
    };
    let fold = match (nodes.has_children(&twig.node), is_folded) {
        (false, _) => "",
        (true, true) => glyphs.closed,
        (true, false) => glyphs.open,
    };
    let gap = if fold.is_empty() { "" } else { " " };
    format!("{deep}{}{fold}{gap}", parts.concat())
}

/// Duration in ms below which a call only started its sub-agent.
const AT_ONCE: u64 = 2_000;

/// The duration of a node; for a sub-agent that is recorded elsewhere, that of its call.
fn node_duration(scene: &PageScene<'_>, node: &Node, facts: &PathFacts) -> String {
    let own = facts
        .work
        .duration_ms()
        .filter(|ms| *ms > 0)
        .map(figures::duration);
    let of_call = || {
        let place = match node {
            Node::Work(place) => {
                let placed = PlacedCall::at(scene.calls, *place)
                    .filter(|one| scene.calls.runs(place.entry, one.call))?;
                return Some(figures::elapsed(scene.now.since(placed.made_at()?)));
            }
            Node::Call(place) => *place,
            Node::Lane(name) => caller(scene.transcript, scene.transcript.lane(name)?)?,
            Node::Active | Node::Turn(_) | Node::Branch(_) | Node::CallGroup => return None,
        };
        let took = PlacedCall::at(scene.calls, place)?
            .duration()
            .filter(|took| took.ms >= AT_ONCE)?;
        Some(scene.theme.took(took))
    };
    own.or_else(of_call).unwrap_or_default()
}

struct RowTexts {
    title: String,
    /// Sign, style and word.
    fate: (&'static str, Style, String),
    at: Option<Timestamp>,
    is_dim: bool,
}

fn words(scene: &PageScene<'_>, node: &Node, held: usize) -> RowTexts {
    let transcript = scene.transcript;
    let theme = scene.theme;
    let glyphs = theme.glyphs();
    let none = ("", theme.text, String::new());
    match node {
        Node::Active => RowTexts {
            title: match transcript.meta().title() {
                Some(title) => format!("active path  {title}"),
                None => "active path".to_owned(),
            },
            fate: none,
            at: transcript.entries().find_map(|entry| entry.at),
            is_dim: false,
        },
        Node::Turn(prompt) => {
            let number = transcript
                .turns()
                .iter()
                .position(|turn| turn.prompt == *prompt)
                .unwrap_or(0);
            let title = transcript.get(*prompt).map(title_of).unwrap_or_default();
            RowTexts {
                title: format!("turn {}  {title}", number + 1),
                fate: none,
                at: transcript.get(*prompt).and_then(|entry| entry.at),
                is_dim: false,
            }
        }
        Node::Branch(number) => match branch_of(scene, *number) {
            Some(branch) => RowTexts {
                title: format!("branch {number}  {}", title_of_branch(scene, branch)),
                fate: if branch.is_active {
                    (
                        glyphs.outcome.running,
                        theme.good,
                        "active again".to_owned(),
                    )
                } else {
                    (
                        glyphs.outcome.left,
                        theme.dim,
                        abandoned_word(branch.why).to_owned(),
                    )
                },
                at: transcript.abandoned_at(branch),
                is_dim: !branch.is_active,
            },
            None => RowTexts {
                title: String::new(),
                fate: none,
                at: None,
                is_dim: true,
            },
        },
        Node::Lane(name) => {
            let Some(lane) = transcript.lane(name) else {
                return RowTexts {
                    title: name.to_string(),
                    fate: none,
                    at: None,
                    is_dim: true,
                };
            };
            let first = lane.entries.iter().find_map(|id| transcript.get(*id)?.at);
            let (call, fate) = of_lane(scene, lane);
            let tool = call
                .map(|(_, call)| format!("{}  ", call.shown_name()))
                .unwrap_or_default();
            RowTexts {
                title: format!("{tool}{}", lane.label),
                fate: fate_label(fate, call.map(|(_, call)| call), theme),
                at: first.or_else(|| call.and_then(|(_, call)| call.started)),
                is_dim: false,
            }
        }
        Node::CallGroup => RowTexts {
            title: format!(
                "{} without a recorded end",
                figures::count(held as u64, "call")
            ),
            fate: none,
            at: None,
            is_dim: true,
        },
        Node::Call(place) | Node::Work(place) => {
            words_of_call(scene, *place).unwrap_or_else(|| RowTexts {
                title: String::new(),
                fate: none,
                at: None,
                is_dim: true,
            })
        }
    }
}

fn words_of_call(scene: &PageScene<'_>, place: Place) -> Option<RowTexts> {
    let transcript = scene.transcript;
    let (entry, call) = transcript.get(place.entry).zip(place.call(transcript))?;
    let about = call.about(transcript.root_of(place.entry).map(Text::as_str));
    let fate = fate(
        transcript,
        None,
        Some(call),
        scene.calls.runs(place.entry, call),
    );
    Some(RowTexts {
        title: format!("{}  {about}", call.shown_name()),
        fate: fate_label(fate, Some(call), scene.theme),
        at: call.started.or(entry.at),
        is_dim: true,
    })
}

/// The joined session of a node; `None` if it is of none, or of all.
fn session_of(transcript: &Transcript, node: &Node) -> Option<usize> {
    let session = match node {
        Node::Turn(prompt) => transcript.session_of(*prompt),
        Node::Lane(lane) => transcript.session_of_lane(lane),
        Node::Call(place) | Node::Work(place) => transcript.session_of(place.entry),
        Node::Branch(number) => {
            let branch = transcript.branches().list.get(number.checked_sub(1)?)?;
            transcript.session_of(*branch.entries.first()?)
        }
        Node::Active | Node::CallGroup => None,
    };
    session.map(|(number, _)| number)
}

/// Why a branch was left, in a word.
fn abandoned_word(why: Why) -> &'static str {
    match why {
        Why::Prompt => "redone",
        Why::ContinuedElsewhere => "left",
        Why::Undone => "undone",
    }
}

pub(crate) fn branch_of<'a>(scene: &PageScene<'a>, number: usize) -> Option<&'a Branch> {
    scene.transcript.branches().list.get(number.checked_sub(1)?)
}

fn title_of_branch(scene: &PageScene<'_>, branch: &Branch) -> String {
    let entries = || {
        branch
            .entries
            .iter()
            .filter_map(|id| scene.transcript.get(*id))
    };
    let prompt = entries().find(|entry| entry.marks.prompt);
    prompt
        .or_else(|| entries().find(|entry| entry.has_prose()))
        .map(title_of)
        .unwrap_or_default()
        .to_string()
}

/// The call that started a sub-agent, and the sub-agent's fate.
pub(crate) fn of_lane<'a>(
    scene: &PageScene<'a>,
    lane: &'a LaneFacts,
) -> (Option<(Place, &'a ToolCall)>, AgentState) {
    let place = caller(scene.transcript, lane);
    let call = place.and_then(|place| Some((place, place.call(scene.transcript)?)));
    let last = lane.entries.last().map(|id| Place {
        entry: *id,
        block: 0,
    });
    let is_awaited = place
        .or(last)
        .is_some_and(|place| is_worked_on(scene, place));
    (
        call,
        fate(
            scene.transcript,
            Some(lane),
            call.map(|(_, call)| call),
            is_awaited,
        ),
    )
}

/// Whether the agent is at work on the turn of an item. A sub-agent may continue after its call was
/// answered.
fn is_worked_on(scene: &PageScene<'_>, place: Place) -> bool {
    let turn = scene.indexes.account.turn_of(scene.transcript, place.entry);
    scene.is_at_work && scene.transcript.is_newest_turn(turn)
}

/// Sign, style and word of a fate. For a sub-agent that is recorded elsewhere the sign shows how
/// its call ended.
pub(crate) fn fate_label(
    fate: AgentState,
    call: Option<&ToolCall>,
    theme: &Theme,
) -> (&'static str, Style, String) {
    let glyphs = theme.glyphs();
    let (sign, style) = match fate {
        AgentState::Done => (glyphs.outcome.done, theme.good),
        AgentState::Failed => (glyphs.outcome.failed, theme.bad),
        AgentState::Refused => (glyphs.outcome.refused, theme.warn),
        AgentState::Interrupted | AgentState::Open => (glyphs.outcome.lost, theme.warn),
        AgentState::Running => (glyphs.outcome.running, theme.warn),
        AgentState::Waiting => (glyphs.outcome.waits, theme.warn),
        AgentState::Missing
            if call.is_some_and(|call| {
                matches!(call.state, ToolState::Done(_)) && !call.state.is_unrecorded()
            }) =>
        {
            (glyphs.outcome.done, theme.dim)
        }
        AgentState::Missing | AgentState::Unknown => (glyphs.outcome.lost, theme.dim),
    };
    (sign, style, fate.word().to_owned())
}
