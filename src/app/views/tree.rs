//! The view of branches and sub-agents: their parents, size, cost and outcome.
//!
//! Invariant: the tree is rebuilt only when the session changed; figures are computed for visible
//! rows, and the two sides of a branch for the chosen one.

mod foot;
mod nodes;
mod rows;

use std::collections::{HashMap, HashSet};

use foot::Whole;
use nodes::{Node, Nodes, Twig, parent_node};
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, Sheet, SheetRow};
use crate::analysis::account::PathFacts;
use crate::analysis::compare::Sides;
use crate::app::input::action::Action;
use crate::app::outline::row::{start_of_lane, start_of_turn};
use crate::app::text::branches::head_of;
use crate::app::text::viewport::Focus;
use crate::listing::call::PlacedCall;
use crate::model::entry::EntryId;
use crate::model::figures::count;
use crate::model::text::Name;
use crate::model::transcript::Transcript;
use crate::model::turn::Turn;
use crate::render::theme::Theme;
use crate::session::indexes::Needs;

const HINTS: &[Hint] = &[
    (&[Action::Collapse, Action::Unfold], "fold, unfold"),
    (&[Action::LevelUp, Action::LevelDown], "levels"),
];

/// The view of branches and sub-agents.
#[derive(Debug, Default)]
pub(crate) struct TreeView {
    nodes: Nodes,
    rows: List<Node>,
    folded: HashSet<Node>,
    /// The generation of indexes that the tree was built from.
    generation: Option<u64>,
    /// Figures cached since then.
    facts: HashMap<Node, PathFacts>,
    /// The two sides of a branch: its number, the revision of branches, and the sides.
    sides: Option<(usize, u32, Sides)>,
}

impl TreeView {
    fn refresh(&mut self, scene: &PageScene<'_>) {
        let generation = scene.indexes.generation;
        if self.generation == Some(generation) {
            return;
        }
        self.generation = Some(generation);
        self.facts.clear();
        let had_works = self.nodes.has_children(&Node::CallGroup);
        self.nodes = Nodes::of(scene.transcript, &scene.indexes.calls);
        if !had_works && self.nodes.has_children(&Node::CallGroup) {
            self.folded.insert(Node::CallGroup);
        }
        self.rows
            .set(self.nodes.visible(&self.folded), scene.follows);
    }

    fn fold(&mut self, node: &Node, is_folded: bool) {
        if is_folded {
            self.folded.insert(node.clone());
        } else {
            self.folded.remove(node);
        }
        self.show();
    }

    /// Lists the nodes that are not folded. If the chosen node is hidden, the cursor moves to its
    /// nearest visible ancestor.
    fn show(&mut self) {
        let mut chosen = self.rows.chosen().cloned();
        self.rows.set(self.nodes.visible(&self.folded), false);
        while let Some(node) = chosen {
            if self.rows.choose_key(&node) {
                return;
            }
            let above = self
                .nodes
                .twig(&node)
                .and_then(|twig| self.nodes.parent_of(twig));
            chosen = above.map(|twig| twig.node.clone());
        }
    }

    /// Folds the nodes at this depth and below.
    fn show_depth(&mut self, depth: usize) {
        let deep = self
            .nodes
            .with_children()
            .filter(|twig| twig.depth >= depth);
        self.folded = deep.map(|twig| twig.node.clone()).collect();
        self.show();
    }

    /// The smallest depth of a folded node.
    fn depth(&self) -> usize {
        let folded = self
            .folded
            .iter()
            .filter_map(|node| self.nodes.twig(node))
            .map(|twig| twig.depth);
        folded.min().unwrap_or_else(|| self.deepest() + 1)
    }

    fn deepest(&self) -> usize {
        self.nodes
            .with_children()
            .map(|twig| twig.depth)
            .max()
            .unwrap_or(0)
    }

    /// The figures of a node: for a turn with its sub-agents, for other nodes without.
    fn facts(&mut self, scene: &PageScene<'_>, node: &Node) -> PathFacts {
        if let Some(facts) = self.facts.get(node) {
            return facts.clone();
        }
        let facts = facts_of(scene, node);
        self.facts.insert(node.clone(), facts.clone());
        facts
    }

    /// The figures of a node with all nodes below it.
    fn with_descendants(&mut self, scene: &PageScene<'_>, node: &Node) -> Whole {
        let own = self.facts(scene, node);
        let below: Vec<Node> = self
            .nodes
            .descendants(node)
            .iter()
            .map(|twig| twig.node.clone())
            .collect();
        let mut whole = Whole {
            branches: 0,
            sessions: 0,
            agents: 0,
            facts: own,
        };
        for node in below {
            match &node {
                Node::Branch(number) => {
                    let branch = rows::branch_of(scene, *number);
                    if branch.is_none_or(|branch| branch.is_active) {
                        continue;
                    }
                    whole.branches += 1;
                }
                Node::Lane(name) if is_session(scene.transcript, name) => whole.sessions += 1,
                Node::Lane(name) if is_helper(scene.transcript, name) => {}
                Node::Lane(_) | Node::Call(_) => whole.agents += 1,
                Node::Turn(_) | Node::Active | Node::Work(_) | Node::CallGroup => continue,
            }
            let facts = self.facts(scene, &node);
            whole.facts.merge(&facts);
        }
        whole
    }

    fn foot(&mut self, scene: &PageScene<'_>) -> Vec<Line<'static>> {
        let Some(node) = self.rows.chosen().cloned() else {
            return Vec::new();
        };
        match &node {
            Node::Branch(number) => {
                let drawn = scene.transcript.branches_changed();
                let known = self
                    .sides
                    .take()
                    .filter(|(of, at, _)| (*of, *at) == (*number, drawn));
                let sides =
                    known.or_else(|| Some((*number, drawn, Sides::of(scene.transcript, *number)?)));
                let lines = sides
                    .as_ref()
                    .map(|(_, _, sides)| foot::of_branch(scene, *number, sides));
                self.sides = sides;
                lines.unwrap_or_default()
            }
            Node::Lane(name) => {
                let whole = self.with_descendants(scene, &node);
                foot::of_lane(scene, name, &whole)
            }
            Node::Active | Node::Turn(_) | Node::Call(_) | Node::Work(_) | Node::CallGroup => {
                let own = self.facts(scene, &node);
                let whole = self.with_descendants(scene, &node);
                foot::of_whole(scene, &node, &own, &whole)
            }
        }
    }

    fn title(&self, scene: &PageScene<'_>) -> Vec<Span<'static>> {
        let theme = scene.theme;
        let transcript = scene.transcript;
        let left = transcript
            .branches()
            .list
            .iter()
            .filter(|branch| !branch.is_active)
            .count();
        let branches = match left {
            0 => "no branch was left".to_owned(),
            1 => "1 branch left".to_owned(),
            n => format!("{n} branches left"),
        };
        let below = self.nodes.descendants(&Node::Active).iter();
        let (sessions, agents): (Vec<&Twig>, Vec<&Twig>) = below
            .filter(|twig| match &twig.node {
                Node::Lane(name) => !is_helper(transcript, name),
                node => matches!(node, Node::Call(_)),
            })
            .partition(
                |twig| matches!(&twig.node, Node::Lane(name) if is_session(transcript, name)),
            );
        let agents = match agents.len() {
            0 => "no sub-agents".to_owned(),
            n => count(n as u64, "sub-agent"),
        };
        let dot = theme.glyphs().dot;
        let sessions = match sessions.len() {
            0 => String::new(),
            n => format!("{} {dot} ", count(n as u64, "session")),
        };
        let turns = count(transcript.turns().len() as u64, "turn");
        let words = format!("  {sessions}{turns} {dot} {branches} {dot} {agents}");
        vec![Span::raw("TREE"), Span::styled(words, theme.dim)]
    }
}

/// Whether a lane is one of several sessions.
fn is_session(transcript: &Transcript, name: &Name) -> bool {
    transcript.lane(name).is_some_and(|lane| lane.is_session)
}

fn is_helper(transcript: &Transcript, name: &Name) -> bool {
    transcript.lane(name).is_some_and(|lane| lane.is_helper)
}

fn facts_of(scene: &PageScene<'_>, node: &Node) -> PathFacts {
    let (transcript, account) = (scene.transcript, &scene.indexes.account);
    let abandoned = &transcript.branches().abandoned;
    let of = |ids: &mut dyn Iterator<Item = &EntryId>| {
        PathFacts::of(ids.filter_map(|id| transcript.get(*id)))
    };
    // The active path without abandoned branches. Each of several sessions has a path of its own.
    let active = |lane: Option<&Name>| {
        let is_of = |id: EntryId| transcript.main_lane_of(id) == lane;
        let mut facts = account.path(lane);
        let kept = |turn: &&Turn| is_of(turn.prompt) && !abandoned.contains(&turn.prompt);
        facts.turns = transcript.turns().iter().filter(kept).count();
        let left = transcript
            .branches()
            .list
            .iter()
            .filter(|branch| !branch.is_active);
        let left = left
            .flat_map(|branch| &branch.entries)
            .filter(|id| abandoned.contains(*id));
        facts.leave(&PathFacts {
            turns: 0,
            ..of(&mut left.filter(|id| is_of(**id)))
        });
        facts
    };
    match node {
        Node::Active => active(None),
        Node::Lane(name) if is_session(transcript, name) => active(Some(name)),
        Node::Lane(name) => account.path(Some(name)),
        Node::Branch(number) => {
            let Some(branch) = rows::branch_of(scene, *number) else {
                return PathFacts::default();
            };
            of(&mut branch
                .entries
                .iter()
                .filter(|id| branch.is_active || abandoned.contains(*id)))
        }
        Node::Turn(prompt) => {
            let Some(turn) = account.turn_of(transcript, *prompt) else {
                return PathFacts::default();
            };
            let places = transcript.places_of_turn(turn);
            let entries = if transcript.is_joined() {
                let ids = places.filter_map(|place| transcript.order().get(place));
                ids.filter(|id| account.turn_of(transcript, **id) == Some(turn))
                    .count()
            } else {
                places.len()
            };
            PathFacts {
                entries,
                turns: 1,
                work: account.turn(transcript, turn),
            }
        }
        Node::Call(_) | Node::Work(_) | Node::CallGroup => PathFacts::default(),
    }
}

/// The first item of a node.
fn start(transcript: &Transcript, node: &Node) -> Option<Focus> {
    match node {
        Node::Active => {
            let first = || {
                transcript.order().first().map(|entry| Focus {
                    entry: *entry,
                    block: 0,
                })
            };
            start_of_turn(transcript, 0).or_else(first)
        }
        Node::Turn(prompt) => start_of_turn(
            transcript,
            transcript
                .turns()
                .iter()
                .position(|turn| turn.prompt == *prompt)?,
        ),
        Node::Branch(number) => {
            let branch = transcript.branches().list.get(number.checked_sub(1)?)?;
            let first = || {
                Some(Focus {
                    entry: *branch.entries.first()?,
                    block: 0,
                })
            };
            head_of(transcript, *number).or_else(first)
        }
        Node::Lane(name) => start_of_lane(transcript, transcript.lane(name)?),
        Node::Call(place) | Node::Work(place) => Some(*place),
        Node::CallGroup => None,
    }
}

impl Page for TreeView {
    fn needs(&self) -> Needs {
        Needs {
            calls: true,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        let (height, foot) = scene.divide(1, foot::LINES);
        self.rows.fit(height);
        let in_sight = self.rows.window().map(|(_, node, _)| node.clone());
        for node in in_sight.collect::<Vec<Node>>() {
            self.facts(scene, &node);
        }
        let list = rows::NodeList {
            scene,
            nodes: &self.nodes,
            folded: &self.folded,
            facts: &self.facts,
        };
        let (heads, mut out) = self.rows.write(&list, scene);
        let is_behind = scene.indexes.is_behind;
        if out.len() == 1
            && !is_behind
            && scene.is_whole
            && height > 2
            && !self.nodes.has_children(&Node::Active)
        {
            let words = "The session went one way: it left no branch, and started no sub-agent.";
            let line = Line::styled(words, scene.theme.dim);
            out.extend([
                SheetRow::default(),
                SheetRow {
                    line,
                    ..SheetRow::default()
                },
            ]);
        }
        let right = if is_behind {
            vec![Span::styled("adding up", scene.theme.warn)]
        } else {
            Vec::new()
        };
        Sheet {
            title: self.title(scene),
            right,
            heads: vec![heads],
            rows: out,
            foot: if foot > 0 {
                self.foot(scene)
            } else {
                Vec::new()
            },
            ..Sheet::default()
        }
    }

    fn act(&mut self, _: &PageScene<'_>, action: Action, times: usize) -> Answer {
        if let Some(answer) = self.rows.act(action, times) {
            return answer;
        }
        let Some(node) = self.rows.chosen().cloned() else {
            return Answer::Pass;
        };
        let is_folded = self.folded.contains(&node);
        let holds = self.nodes.has_children(&node);
        match action {
            Action::Expand if is_folded && holds => self.fold(&node, false),
            Action::Collapse if holds && !is_folded => self.fold(&node, true),
            Action::Collapse => {
                let above = self
                    .nodes
                    .twig(&node)
                    .and_then(|twig| self.nodes.parent_of(twig));
                let Some(above) = above.map(|twig| twig.node.clone()) else {
                    return Answer::Message("nothing holds this".to_owned());
                };
                self.rows.choose_key(&above);
            }
            Action::ToggleFold | Action::FoldBranch if holds => self.fold(&node, !is_folded),
            Action::ToggleFold | Action::FoldBranch => {
                return Answer::Message("nothing hangs on this".to_owned());
            }
            _ => {
                let depth = match action {
                    Action::OpenAll => usize::MAX,
                    Action::CloseAll => 1,
                    Action::LevelUp => (self.depth() + times).min(self.deepest() + 1),
                    Action::LevelDown => self.depth().saturating_sub(times).max(1),
                    Action::Level(depth) => usize::from(depth).max(1),
                    _ => return Answer::Pass,
                };
                self.show_depth(depth);
                return Answer::Unfolded;
            }
        }
        Answer::Done
    }

    fn choose_focus(&mut self, scene: &PageScene<'_>, focus: Focus) {
        let called = PlacedCall::at(scene.calls, focus).and_then(|placed| {
            let lane = scene.transcript.lane_of_call(&placed.call.key);
            lane.map_or(Some(Node::Call(focus)), |lane| {
                Some(Node::Lane(lane.name.clone()))
            })
        });
        let is_here = |node: &Node| self.nodes.twig(node).is_some();
        let called = called
            .filter(is_here)
            .or_else(|| Some(Node::Work(focus)).filter(is_here));
        let mut node = Some(called.unwrap_or_else(|| parent_node(scene.transcript, focus.entry)));
        while let Some(at) = node {
            if self.rows.choose_key(&at) {
                return;
            }
            let above = self
                .nodes
                .twig(&at)
                .and_then(|twig| self.nodes.parent_of(twig));
            node = above.map(|twig| twig.node.clone());
        }
        // Only turns with nodes below them have rows, so this is the nearest row before the item.
        let transcript = scene.transcript;
        let own = transcript.place_of(focus.entry);
        let before = self.rows.keys().iter().rposition(|node| match node {
            Node::Turn(prompt) => transcript.place_of(*prompt) <= own,
            Node::Active => true,
            Node::Branch(_) | Node::Lane(_) | Node::Call(_) | Node::Work(_) | Node::CallGroup => {
                false
            }
        });
        self.rows.choose(before.unwrap_or(0));
    }

    fn choose(&mut self, number: usize) {
        self.rows.choose(number);
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn ends_with_session(&self) -> bool {
        false
    }

    fn legend(&self, theme: &Theme) -> Vec<(&'static str, &'static str)> {
        let glyphs = theme.glyphs();
        vec![
            (glyphs.outcome.done, "ended well"),
            (glyphs.outcome.failed, "failed, or so many calls in it did"),
            (glyphs.outcome.running, "runs"),
            (glyphs.outcome.left, "left"),
            (glyphs.outcome.lost, "lost"),
            (glyphs.closed, "closed"),
            (glyphs.open, "open"),
        ]
    }

    fn hints(&self) -> &'static [Hint] {
        HINTS
    }

    fn target(&self, scene: &PageScene<'_>) -> Option<Focus> {
        start(scene.transcript, self.rows.chosen()?)
    }
}
