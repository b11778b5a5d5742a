//! The tree of a session: branches below the turns that they left, sub-agents below the calls that
//! started them.
//!
//! Invariant: each branch and each sub-agent is in the tree once, even if a file says that two of
//! them started each other. Building it costs time proportional to their number.

use std::collections::{HashMap, HashSet};

use crate::analysis::calls::{Calls, Place};
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::meta::LaneFacts;
use crate::model::text::Name;
use crate::model::tool::ToolState;
use crate::model::transcript::Transcript;

/// A node, independent of its parent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Active,
    /// The turn with this prompt. Only turns with nodes below them are in the tree.
    Turn(EntryId),
    /// The branch of this number, from 1.
    Branch(usize),
    /// The sub-agent with this name.
    Lane(Name),
    /// A call that started a sub-agent that is not in the session.
    Call(Place),
    /// A call whose work in the background has no recorded end.
    Work(Place),
    /// All of these calls, if there are many.
    CallGroup,
}

/// A node in the tree.
#[derive(Clone, Debug)]
pub(crate) struct Twig {
    pub(crate) node: Node,
    /// The index of its parent.
    pub(crate) parent: Option<usize>,
    /// Its depth, from 0.
    pub(crate) depth: usize,
    /// Whether it is the last child of its parent.
    pub(crate) is_last: bool,
    /// The index after its last descendant.
    pub(crate) end: usize,
}

/// The tree in depth-first order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    twigs: Vec<Twig>,
    places: HashMap<Node, usize>,
}

/// A node with its parent and its position in the session.
struct Hung {
    node: Node,
    on: Node,
    place: (usize, usize),
}

/// Number of calls without a recorded end above which they are grouped.
pub(crate) const HANDFUL: usize = 5;

/// The children of nodes, with their positions.
type Below = HashMap<Node, Vec<((usize, usize), Node)>>;

impl Nodes {
    /// The tree of a session.
    pub(crate) fn of(transcript: &Transcript, calls: &Calls) -> Self {
        let mut hung = branches(transcript);
        hung.extend(agents(transcript, calls));
        hung.extend(turns(transcript, &hung));
        cut_circles(&mut hung);
        let mut below = Below::new();
        for Hung { node, on, place } in hung {
            below.entry(on).or_default().push((place, node));
        }
        for nodes in below.values_mut() {
            nodes.sort_by_key(|(place, _)| *place);
        }
        Self::build(below)
    }

    fn build(mut below: Below) -> Self {
        let mut nodes = Self::default();
        let mut open = vec![Twig {
            node: Node::Active,
            parent: None,
            depth: 0,
            is_last: true,
            end: 0,
        }];
        while let Some(twig) = open.pop() {
            if nodes.places.contains_key(&twig.node) {
                continue;
            }
            let place = nodes.twigs.len();
            let children = below.remove(&twig.node).unwrap_or_default();
            let (last, depth) = (children.len(), twig.depth + 1);
            for (number, (_, node)) in children.into_iter().enumerate().rev() {
                open.push(Twig {
                    node,
                    parent: Some(place),
                    depth,
                    is_last: number + 1 == last,
                    end: 0,
                });
            }
            nodes.places.insert(twig.node.clone(), place);
            nodes.twigs.push(Twig {
                end: place + 1,
                ..twig
            });
        }
        for place in (1..nodes.twigs.len()).rev() {
            let Some((end, parent)) = nodes.twigs.get(place).map(|twig| (twig.end, twig.parent))
            else {
                continue;
            };
            if let Some(parent) = parent.and_then(|parent| nodes.twigs.get_mut(parent)) {
                parent.end = parent.end.max(end);
            }
        }
        nodes
    }

    pub(crate) fn twig(&self, node: &Node) -> Option<&Twig> {
        self.twigs.get(*self.places.get(node)?)
    }

    pub(crate) fn parent_of(&self, twig: &Twig) -> Option<&Twig> {
        self.twigs.get(twig.parent?)
    }

    pub(crate) fn has_children(&self, node: &Node) -> bool {
        !self.descendants(node).is_empty()
    }

    pub(crate) fn descendants(&self, node: &Node) -> &[Twig] {
        let range = self
            .places
            .get(node)
            .zip(self.twig(node))
            .map(|(place, twig)| place + 1..twig.end);
        range
            .and_then(|range| self.twigs.get(range))
            .unwrap_or_default()
    }

    /// The nodes that are visible while some are folded.
    pub(crate) fn visible(&self, folded: &HashSet<Node>) -> Vec<Node> {
        let mut shown = Vec::new();
        let mut place = 0;
        while let Some(twig) = self.twigs.get(place) {
            shown.push(twig.node.clone());
            place = if folded.contains(&twig.node) {
                twig.end
            } else {
                place + 1
            };
        }
        shown
    }

    pub(crate) fn with_children(&self) -> impl Iterator<Item = &Twig> {
        let twigs = self.twigs.iter().enumerate();
        twigs
            .filter(|(place, twig)| twig.end > place + 1)
            .map(|(_, twig)| twig)
    }
}

/// Breaks cycles: a node that is its own ancestor becomes a child of the active path.
fn cut_circles(hung: &mut [Hung]) {
    let index: HashMap<Node, usize> = hung
        .iter()
        .enumerate()
        .map(|(place, one)| (one.node.clone(), place))
        .collect();
    let mut is_rooted = vec![false; hung.len()];
    for start in 0..hung.len() {
        let mut way = Vec::new();
        let mut on_way = HashSet::new();
        let mut at = Some(start);
        while let Some(place) = at.filter(|place| is_rooted.get(*place) == Some(&false)) {
            let Some(one) = hung.get_mut(place) else {
                break;
            };
            if !on_way.insert(place) {
                one.on = Node::Active;
                break;
            }
            way.push(place);
            at = index.get(&one.on).copied();
            // The parent is not in the tree.
            if at.is_none() {
                one.on = Node::Active;
            }
        }
        for place in way {
            if let Some(known) = is_rooted.get_mut(place) {
                *known = true;
            }
        }
    }
}

/// The parent of a node that begins at an entry.
pub(crate) fn parent_node(transcript: &Transcript, id: EntryId) -> Node {
    let lane = transcript.lane_at(id);
    let of_lane = || lane.map_or(Node::Active, |lane| Node::Lane(lane.clone()));
    if !transcript.is_main_lane(lane) {
        return of_lane();
    }
    if let Some(branch) = transcript.branches().of(id) {
        return Node::Branch(branch.number);
    }
    let turn = transcript.turn_of(id);
    let turn = turn.and_then(|turn| transcript.turns().get(turn));
    turn.map_or_else(of_lane, |turn| Node::Turn(turn.prompt))
}

fn branches(transcript: &Transcript) -> Vec<Hung> {
    let hung = transcript.branches().list.iter().map(|branch| {
        let on = match (branch.parent, branch.point) {
            (Some(parent), _) => Node::Branch(parent),
            (None, Some(point)) => parent_node(transcript, point),
            (None, None) => Node::Active,
        };
        let first = branch
            .entries
            .first()
            .and_then(|id| transcript.place_of(*id));
        Hung {
            node: Node::Branch(branch.number),
            on,
            place: (first.unwrap_or(usize::MAX), 0),
        }
    });
    hung.collect()
}

fn agents(transcript: &Transcript, calls: &Calls) -> Vec<Hung> {
    let order = |id: EntryId| transcript.place_of(id).unwrap_or(usize::MAX);
    let known: HashSet<&Key> = transcript
        .lanes()
        .iter()
        .filter_map(|lane| lane.call.as_ref())
        .collect();
    let session = |lane: &LaneFacts| match transcript.session_of_lane(&lane.name) {
        Some((_, session)) if session.name != lane.name => Node::Lane(session.name.clone()),
        _ => Node::Active,
    };
    let lanes = transcript.lanes().iter().map(|lane| {
        let (on, place) = match caller(transcript, lane) {
            Some(call) => (
                parent_node(transcript, call.entry),
                (order(call.entry), call.block),
            ),
            None => (
                session(lane),
                (lane.entries.first().map_or(usize::MAX, |id| order(*id)), 0),
            ),
        };
        Hung {
            node: Node::Lane(lane.name.clone()),
            on,
            place,
        }
    });
    let mut hung: Vec<Hung> = lanes.collect();
    for place in calls.delegates() {
        let call = place.call(transcript);
        if call.is_some_and(|call| call.key.is_empty() || !known.contains(&call.key)) {
            let on = parent_node(transcript, place.entry);
            hung.push(Hung {
                node: Node::Call(place),
                on,
                place: (order(place.entry), place.block),
            });
        }
    }
    let delegates: HashSet<Place> = calls.delegates().collect();
    let mut works = Vec::new();
    for place in calls
        .detached
        .iter()
        .copied()
        .filter(|place| !delegates.contains(place))
    {
        let call = place.call(transcript);
        if call.is_some_and(|call| matches!(call.state, ToolState::Acknowledged(_))) {
            let on = parent_node(transcript, place.entry);
            works.push(Hung {
                node: Node::Work(place),
                on,
                place: (order(place.entry), place.block),
            });
        }
    }
    if let Some(first) = works.first().filter(|_| works.len() > HANDFUL) {
        hung.push(Hung {
            node: Node::CallGroup,
            on: Node::Active,
            place: first.place,
        });
        for work in &mut works {
            work.on = Node::CallGroup;
        }
    }
    hung.extend(works);
    hung
}

/// The turns that have children.
fn turns(transcript: &Transcript, hung: &[Hung]) -> Vec<Hung> {
    let prompts: HashSet<EntryId> = hung
        .iter()
        .filter_map(|one| match one.on {
            Node::Turn(prompt) => Some(prompt),
            _ => None,
        })
        .collect();
    let hung = prompts.into_iter().map(|prompt| {
        // A turn whose prompt is on an abandoned branch belongs to that branch: it continues past the
        // end of the branch only in file order.
        let on = match (
            transcript.branches().of(prompt),
            transcript.main_lane_of(prompt),
        ) {
            (Some(branch), _) => Node::Branch(branch.number),
            (None, Some(session)) => Node::Lane(session.clone()),
            (None, None) => Node::Active,
        };
        let place = (transcript.place_of(prompt).unwrap_or(usize::MAX), 0);
        Hung {
            node: Node::Turn(prompt),
            on,
            place,
        }
    });
    hung.collect()
}

/// The call that started a sub-agent.
pub(crate) fn caller(transcript: &Transcript, lane: &LaneFacts) -> Option<Place> {
    let id = transcript.caller(lane)?;
    let (entry, key) = (transcript.get(id)?, lane.call.as_ref()?);
    let is_it = |block: &usize| entry.call(*block).is_some_and(|call| call.key == *key);
    Some(Place {
        entry: id,
        block: (0..entry.blocks.len()).find(is_it)?,
    })
}

#[cfg(test)]
mod tests;
