//! The details of the chosen node: a branch compared to the active path, a sub-agent with those
//! that it started.

use itertools::Itertools as _;
use ratatui::text::{Line, Span};

use super::nodes::Node;
use super::rows::{branch_of, fate_label, of_lane as started_by};
use crate::analysis::account::PathFacts;
use crate::analysis::agents::AgentState;
use crate::analysis::calls::Place;
use crate::analysis::compare::{ComparedSides, Sides};
use crate::analysis::phrases;
use crate::analysis::phrases::title_of;
use crate::app::views::page::PageScene;
use crate::app::views::tools::foot::line;
use crate::listing::call::PlacedCall;
use crate::model::branches::Branch;
use crate::model::entry::{BlockKind, EntryId};
use crate::model::figures::{count, duration};
use crate::model::meta::LaneFacts;
use crate::model::text::{Name, Text, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::render::wrap::{self, Piece};

/// Maximum number of bytes of a text that are read.
const TEXT: usize = 1_000;
/// Width of the label of a side.
const SIDE: usize = 11;

/// Height of the foot.
pub(crate) const LINES: usize = 4;

/// The figures of a node with all nodes below it.
pub(crate) struct Whole {
    pub(crate) branches: usize,
    /// Sessions that are read as one.
    pub(crate) sessions: usize,
    pub(crate) agents: usize,
    /// The figures of the node and those below it together.
    pub(crate) facts: PathFacts,
}

/// `12 entries, 1 turn, 4 calls, $0.31, 2m05s`
fn figures(facts: &PathFacts) -> String {
    let work = &facts.work;
    let parts = [
        Some(count(facts.entries as u64, "entry")),
        (facts.turns > 0).then(|| count(facts.turns as u64, "turn")),
        Some(count(u64::from(work.facts.calls), "call")),
        (work.facts.errors > 0).then(|| format!("{} failed", work.facts.errors)),
        phrases::cost(&work.cost()),
        work.duration_ms().filter(|ms| *ms > 0).map(duration),
    ];
    parts.into_iter().flatten().join(", ")
}

/// A branch compared to the active path.
pub(crate) fn of_branch(scene: &PageScene<'_>, number: usize, sides: &Sides) -> Vec<Line<'static>> {
    let theme = scene.theme;
    let Some(branch) = branch_of(scene, number) else {
        return Vec::new();
    };
    let text = |words: String| vec![Span::styled(words, theme.text)];
    let dim = |words: String| vec![Span::styled(words, theme.dim)];
    let why = if branch.is_active {
        "the session came back to it: all of it is on the active path".to_owned()
    } else {
        phrases::abandoned_reason(branch.why).to_owned()
    };
    let left = scene
        .transcript
        .abandoned_at(branch)
        .map(|at| format!("left at {}", at.clock()));
    let head = vec![
        text(format!("branch {number}")),
        text(why),
        dim(left.unwrap_or_default()),
        branch
            .parent
            .map(|parent| dim(format!("within branch {parent}")))
            .unwrap_or_default(),
    ];
    if branch.is_active {
        return vec![
            line(scene, head),
            line(scene, vec![text(figures(&branch_facts(scene, branch)))]),
        ];
    }
    let compared = sides.compare(scene.transcript);
    let common = match sides
        .common
        .and_then(|id| Some((id, scene.transcript.get(id)?)))
    {
        Some((id, entry)) => {
            let turn = scene
                .indexes
                .account
                .turn_of(scene.transcript, id)
                .map(|turn| format!(" in turn {}", turn + 1));
            let at = entry
                .at
                .map(|at| format!(" {}", at.clock()))
                .unwrap_or_default();
            let words = format!(
                "parted after {}{at}{}: ",
                entry.role.word(),
                turn.unwrap_or_default()
            );
            vec![
                Span::styled(words, theme.dim),
                Span::styled(entry_words(scene, id), theme.text),
            ]
        }
        None => dim("nothing is common to both".to_owned()),
    };
    let same = match compared.same {
        0 => Vec::new(),
        n => dim(format!(
            "the first {} the same",
            if n == 1 {
                "step is".to_owned()
            } else {
                format!("{n} steps are")
            }
        )),
    };
    vec![
        line(scene, head),
        line(scene, vec![common, same]),
        side(
            scene,
            &format!("branch {number}"),
            &compared.branch,
            first(&compared, 0),
        ),
        side(scene, "active", &compared.active, first(&compared, 1)),
    ]
}

fn branch_facts(scene: &PageScene<'_>, branch: &Branch) -> PathFacts {
    PathFacts::of(
        branch
            .entries
            .iter()
            .filter_map(|id| scene.transcript.get(*id)),
    )
}

fn first(compared: &ComparedSides, side: usize) -> Option<Place> {
    compared.differs.get(side).copied().flatten()
}

/// One of the two sides: its figures, and its first different step.
fn side(
    scene: &PageScene<'_>,
    name: &str,
    facts: &PathFacts,
    differs: Option<Place>,
) -> Line<'static> {
    let theme = scene.theme;
    let mut spans = vec![
        Span::styled(format!("{name:<SIDE$}"), theme.dim),
        Span::styled(figures(facts), theme.text),
        Span::styled(format!(" {} ", theme.glyphs().dot), theme.dim),
    ];
    match differs {
        Some(place) => {
            spans.push(Span::styled("then ", theme.dim));
            spans.extend(short_text(scene, place));
        }
        None => spans.push(Span::styled("nothing further", theme.dim)),
    }
    wrap::fit(&spans, scene.columns(), theme.glyphs().cut).into()
}

/// A short text of a prompt or a call.
fn short_text(scene: &PageScene<'_>, place: Place) -> Vec<Piece> {
    let theme = scene.theme;
    if let Some(call) = place.call(scene.transcript) {
        let headline = call.about(scene.transcript.root_of(place.entry).map(Text::as_str));
        return vec![
            Span::styled(format!("{} ", call.shown_name()), theme.tool),
            Span::styled(headline, theme.text),
        ];
    }
    vec![
        Span::styled("you ", theme.voice.user),
        Span::styled(entry_words(scene, place.entry), theme.text),
    ]
}

/// The text of an entry, or its call.
fn entry_words(scene: &PageScene<'_>, id: EntryId) -> String {
    let Some(entry) = scene.transcript.get(id) else {
        return String::new();
    };
    let says = entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Text(body) if !body.stub.is_blank() => Some(body.stub.to_string()),
        BlockKind::Call(call) => Some(format!(
            "{} {}",
            call.shown_name(),
            call.about(scene.transcript.root_of(id).map(Text::as_str))
        )),
        BlockKind::Break(what) => Some(what.words().to_string()),
        _ => None,
    });
    let says = says.unwrap_or_else(|| title_of(entry).to_string());
    without_sgr(wrap::head(&says, TEXT)).replace('\n', " ")
}

/// A sub-agent: the call that started it, its task, its usage with those that it started, and its
/// last step.
pub(crate) fn of_lane(scene: &PageScene<'_>, name: &Name, whole: &Whole) -> Vec<Line<'static>> {
    let Some(lane) = scene.transcript.lane(name) else {
        return Vec::new();
    };
    let theme = scene.theme;
    let dim = |words: String| vec![Span::styled(words, theme.dim)];
    let (call, fate) = started_by(scene, lane);
    let (sign, style, word) = fate_label(fate, call.map(|(_, call)| call), theme);
    let models = model_of(scene, lane);
    let started = match call {
        Some((place, call)) => {
            let number = scene.indexes.calls.number(place).unwrap_or(0);
            let turn = scene
                .indexes
                .account
                .turn_of(scene.transcript, place.entry)
                .map(|turn| format!(" in turn {}", turn + 1));
            let facts = call
                .state
                .result()
                .map(|result| result.facts.to_string())
                .unwrap_or_default();
            let facts = facts
                .lines()
                .next()
                .map(|facts| format!(" {} {facts}", theme.glyphs().dot))
                .unwrap_or_default();
            // From the call to its result, unlike the sub-agent's own work.
            let took = PlacedCall::at(scene.calls, place)
                .and_then(|call| call.duration())
                .map(|took| format!(", which took {}", theme.took(took)));
            format!(
                "started by #{number} {}{}{}{facts}",
                call.shown_name(),
                turn.unwrap_or_default(),
                took.unwrap_or_default()
            )
        }
        None if lane.is_session => "a session by itself".to_owned(),
        None => "no call in the session started it".to_owned(),
    };
    let asked = call.map_or_else(String::new, |(_, call)| call.headline.to_string());
    let asked = if asked.is_empty() {
        lane.label.to_string()
    } else {
        asked
    };
    let own = scene.indexes.account.path(Some(name));
    let with = if whole.agents > 0 {
        dim(format!(
            "with {}: {}",
            count(whole.agents as u64, "sub-agent of its own"),
            figures(&whole.facts)
        ))
    } else {
        Vec::new()
    };
    let last = lane
        .entries
        .iter()
        .rev()
        .copied()
        .map(|id| entry_words(scene, id))
        .find(|words| !words.is_empty());
    let why = match fate {
        AgentState::Missing => "; what it did is recorded elsewhere",
        AgentState::Open => "; nobody waits for it any more",
        _ => "",
    };
    let head = vec![
        vec![Span::styled(format!("{sign} {word}{why}"), style)],
        dim(started),
        dim(models.map(ToString::to_string).unwrap_or_default()),
    ];
    let mut lines = vec![
        line(scene, head),
        line(scene, vec![label_and_words(scene, "asked", &asked)]),
    ];
    if fate != AgentState::Missing || own.work.facts.calls > 0 {
        lines.push(line(
            scene,
            vec![label_and_words(scene, "own work", &figures(&own)), with],
        ));
        lines.push(line(
            scene,
            vec![label_and_words(scene, "last", &last.unwrap_or_default())],
        ));
    }
    lines
}

fn label_and_words(scene: &PageScene<'_>, label: &str, words: &str) -> Vec<Piece> {
    let words = without_sgr(wrap::head(words, TEXT)).replace('\n', " ");
    vec![
        Span::styled(format!("{label:<SIDE$}"), scene.theme.dim),
        Span::styled(words, scene.theme.text),
    ]
}

/// The first model that answered in a sub-agent.
fn model_of<'a>(scene: &PageScene<'a>, lane: &LaneFacts) -> Option<&'a Name> {
    lane.entries
        .iter()
        .find_map(|id| scene.transcript.get(*id)?.model.as_ref())
}

/// The active path or a turn, with all nodes below it.
pub(crate) fn of_whole(
    scene: &PageScene<'_>,
    node: &Node,
    own: &PathFacts,
    whole: &Whole,
) -> Vec<Line<'static>> {
    let theme = scene.theme;
    let text = |words: String| vec![Span::styled(words, theme.text)];
    let left = scene
        .transcript
        .branches()
        .list
        .iter()
        .filter(|branch| !branch.is_active)
        .count();
    let mut parts = Vec::new();
    if whole.sessions > 0 {
        parts.push(count(whole.sessions as u64, "session"));
    }
    if whole.branches > 0 {
        parts.push(format!("{} left", count(whole.branches as u64, "branch")));
    }
    if whole.agents > 0 {
        parts.push(count(whole.agents as u64, "sub-agent"));
    }
    let below = if parts.is_empty() {
        "nothing hangs on it".to_owned()
    } else {
        parts.join(", ")
    };
    let one = |words: String| vec![line(scene, vec![text(words)])];
    let labelled =
        |label: &str, words: &str| line(scene, vec![label_and_words(scene, label, words)]);
    match node {
        Node::Active if whole.sessions > 0 => vec![
            labelled("in it", &below),
            labelled("all of it", &figures(&whole.facts)),
        ],
        Node::Active => {
            let hint = if left > 0 {
                "choose a branch to compare it with the active path"
            } else {
                ""
            };
            vec![
                labelled("active", &figures(own)),
                labelled("beside it", &below),
                labelled("all of it", &figures(&whole.facts)),
                line(scene, vec![vec![Span::styled(hint, theme.dim)]]),
            ]
        }
        Node::Turn(prompt) => {
            let at = scene.transcript.get(*prompt).and_then(|entry| entry.at);
            let all = label_and_words(scene, "all of it", &figures(own));
            let at = text(at.map(Timestamp::clock).unwrap_or_default());
            vec![
                labelled("asked", &entry_words(scene, *prompt)),
                line(scene, vec![all, at]),
                labelled("in it", &below),
            ]
        }
        Node::Call(place) | Node::Work(place) => {
            let call = place.call(scene.transcript);
            let root = scene.transcript.root_of(place.entry).map(Text::as_str);
            let headline = call.map(|call| call.about(root)).unwrap_or_default();
            let number = scene.indexes.calls.number(*place).unwrap_or(0);
            let is_work = matches!(node, Node::Work(_));
            let runs = call.is_some_and(|call| scene.calls.runs(place.entry, call));
            let mut lines = one(match call.map(|call| call.state.word()) {
                _ if is_work && runs => format!("#{number}: it goes on in the background"),
                _ if is_work => format!("#{number}: nothing tells how it ended"),
                verdict => format!(
                    "#{number} {}: a sub-agent whose own transcript is not here",
                    verdict.unwrap_or_default()
                ),
            });
            lines.push(labelled("asked", &headline));
            lines
        }
        Node::CallGroup => {
            one("of these nothing tells how they ended; unfold to see them".to_owned())
        }
        Node::Branch(_) | Node::Lane(_) => Vec::new(),
    }
}
