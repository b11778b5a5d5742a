//! Parents of nodes, and that nothing is lost or listed twice.

use std::collections::HashSet;

use proptest::prelude::{prop, proptest};

use super::{Node, Nodes};
use crate::analysis::derived::Memo;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Piece, Role};
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::Transcript;

fn name(number: usize) -> Text {
    Text::clean(&format!("lane{number}"))
}

fn key(number: usize) -> Text {
    Text::clean(&format!("call{number}"))
}

/// Sub-agents by number, each started by a call of the main agent or of another sub-agent.
fn transcript_of(callers: &[Option<usize>]) -> Transcript {
    let mut started = vec![Vec::new(); callers.len() + 1];
    for (number, caller) in callers.iter().enumerate() {
        started[caller.map_or(0, |caller| caller + 1)].push(number);
    }
    let mut batch = Batch::default();
    let mut entry = batch.new_entry(Text::from("p"), Role::User, None);
    entry.marks.prompt = true;
    batch.entry(entry);
    for (place, numbers) in started.into_iter().enumerate() {
        let mut entry = batch.new_entry(Text::clean(&format!("e{place}")), Role::Assistant, None);
        entry.lane = place.checked_sub(1).map(name);
        for (piece, number) in numbers.into_iter().enumerate() {
            let tool = ToolCall {
                key: key(number),
                name: Text::from("task"),
                kind: ToolKind::Delegate,
                headline: Text::from("look"),
                input: batch.prose("look"),
                state: ToolState::Pending,
                started: None,
                lane: None,
            };
            let piece = Piece(u64::try_from(piece).unwrap());
            entry.push_piece(piece, BlockKind::Call(Box::new(tool)));
        }
        batch.entry(entry);
    }
    for number in 0..callers.len() {
        batch.meta(MetaEdit::Lane {
            name: name(number),
            label: None,
            call: Some(key(number)),
        });
    }
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    transcript
}

fn nodes(transcript: &Transcript) -> Nodes {
    Nodes::of(transcript, &Memo::of(transcript))
}

fn words(nodes: &Nodes) -> Vec<String> {
    let word = |node: &Node| match node {
        Node::Active => "active".to_owned(),
        Node::Turn(_) => "turn".to_owned(),
        Node::Branch(number) => format!("branch {number}"),
        Node::Lane(name) => name.to_string(),
        Node::Call(_) => "call".to_owned(),
        Node::Work(_) => "work".to_owned(),
        Node::CallGroup => "works".to_owned(),
    };
    nodes
        .twigs
        .iter()
        .map(|twig| format!("{}{}", "  ".repeat(twig.depth), word(&twig.node)))
        .collect()
}

#[test]
fn sub_agents_hang_on_those_that_started_them() {
    let transcript = transcript_of(&[None, Some(0), Some(0), None]);
    let nodes = nodes(&transcript);
    let shown = [
        "active",
        "  turn",
        "    lane0",
        "      lane1",
        "      lane2",
        "    lane3",
    ];
    assert_eq!(words(&nodes), shown);
    let lane = Node::Lane(name(0));
    assert_eq!(
        (nodes.descendants(&lane).len(), nodes.has_children(&lane)),
        (2, true)
    );
    assert_eq!(nodes.visible(&HashSet::from([lane])).len(), 4);
}

#[test]
fn sub_agents_that_started_each_other_are_there() {
    let transcript = transcript_of(&[Some(1), Some(0), Some(2)]);
    assert_eq!(
        words(&nodes(&transcript)),
        ["active", "  lane0", "    lane1", "  lane2"]
    );
}

proptest! {
    #[test]
    fn each_sub_agent_stands_there_once(
        callers in prop::collection::vec(prop::option::of(0usize..12), 0..12),
    ) {
        let callers: Vec<Option<usize>> = callers.iter().map(|n| n.filter(|n| *n < callers.len())).collect();
        let nodes = nodes(&transcript_of(&callers));
        let lanes = nodes.twigs.iter().filter(|twig| matches!(twig.node, Node::Lane(_)));
        assert_eq!(lanes.count(), callers.len());
        for (place, twig) in nodes.twigs.iter().enumerate() {
            assert!(twig.end > place && twig.end <= nodes.twigs.len());
            assert!(nodes.twigs[place + 1..twig.end].iter().all(|one| one.depth > twig.depth));
            assert!(nodes.twigs.get(twig.end).is_none_or(|next| next.depth <= twig.depth));
        }
    }
}
