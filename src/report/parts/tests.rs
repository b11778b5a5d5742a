//! Branches and lanes add up to the session.

use proptest::prelude::{prop, proptest};

use super::{branches, lanes};
use crate::ingest::Target;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, Raw, Role};
use crate::model::samples;
use crate::model::tally::unknown::Judged;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind};
use crate::model::transcript::Transcript;
use crate::model::usage::Usage;
use crate::report::figures;
use crate::report::reading::Reading;

/// An entry: its lane (0 is the main one), how far back its parent is, tokens and cost in 1/8 USD,
/// and the lane that it starts.
type Step = (u8, usize, u64, Option<u32>, Option<u8>);

fn reading(steps: &[Step]) -> Reading {
    let mut out = Batch::default();
    out.meta(MetaEdit::LinkedTree);
    let mut main: Vec<Text> = Vec::new();
    for (place, (lane, back, tokens, cost, starts)) in steps.iter().enumerate() {
        let key = Text::clean(&format!("k{place}"));
        let mut entry = out.new_entry(key.clone(), Role::Assistant, Some(Timestamp(1000)));
        if *lane == 0 {
            entry.parent = main
                .len()
                .checked_sub(1)
                .map(|last| main[last.saturating_sub(*back)].clone());
            main.push(key);
        } else {
            entry.lane = Some(Text::clean(&format!("lane {lane}")));
        }
        let cost = cost.map(|eighths| f64::from(eighths) / 8.0);
        entry.usage = Some(Box::new(Usage {
            input: Some(*tokens),
            cost,
            ..Usage::default()
        }));
        if let Some(started) = starts {
            let id = Text::clean(&format!("call {place}"));
            let input = out.prose("{}");
            let call = ToolCall {
                name: Text::clean("task"),
                kind: ToolKind::Delegate,
                input,
                ..samples::call(&mut out, &id)
            };
            entry.push(BlockKind::Call(Box::new(call)));
            let name = Text::clean(&format!("lane {started}"));
            out.meta(MetaEdit::Lane {
                name,
                label: None,
                call: Some(id),
            });
        }
        out.entry(entry);
    }
    Reading::from_batch(Target::at("made"), out)
}

fn transcript(steps: &[Step]) -> Transcript {
    reading(steps).transcript
}

proptest! {
    #[test]
    fn the_active_path_branches_and_lanes_are_the_session(
        steps in prop::collection::vec(
            (0u8..4, prop::sample::select(vec![0usize, 0, 0, 1, 3]), 0u64..1000, prop::option::of(0u32..50), prop::option::weighted(0.2, 1u8..4)),
            0..40,
        ),
    ) {
        let reading = reading(&steps);
        let whole = figures::of(&reading, Timestamp(0));
        let own = |own: fn(&super::PartFigures) -> u64| -> u64 {
            let branches = whole.branch_list.iter().map(|branch| own(&branch.own));
            branches.chain(whole.lane_list.iter().map(|lane| own(&lane.own))).sum()
        };
        let entries = own(|part| part.entries);
        assert_eq!(whole.active.entries + entries, steps.len() as u64);
        assert_eq!(whole.active.calls + own(|part| part.calls), whole.pairing.calls);
        let input = own(|part| part.usage.input.unwrap_or(0));
        assert_eq!(whole.active.usage.input.unwrap_or(0) + input, whole.usage.input.unwrap_or(0));
        let parts = whole.branch_list.iter().map(|branch| &branch.own);
        let parts = parts.chain(whole.lane_list.iter().map(|lane| &lane.own));
        let usd: f64 = parts.filter_map(|part| part.cost.usd).sum();
        let rest = whole.cost.usd.unwrap_or(0.0) - whole.active.cost.usd.unwrap_or(0.0) - usd;
        assert!(rest.abs() < 1e-6, "{rest} USD belong to nobody");
    }
}

#[test]
fn a_lane_holds_what_it_started_and_its_branch_too() {
    // k0 starts lane 1 on the future branch 1; lane 1 starts lane 2; k3 continues from the
    // beginning.
    let steps = [
        (0, 0, 10, Some(8), None),
        (0, 0, 10, Some(8), Some(1)),
        (1, 0, 5, Some(4), Some(2)),
        (2, 0, 3, Some(2), None),
        (0, 1, 10, Some(8), None),
    ];
    let transcript = transcript(&steps);
    let lanes = lanes(&transcript);
    let facts = |lane: usize| {
        let lane = &lanes[lane];
        (
            lane.parent.as_deref(),
            lane.branch,
            lane.own.cost.usd,
            lane.total.cost.usd,
            lane.total.entries,
        )
    };
    assert_eq!(facts(0), (None, Some(1), Some(0.5), Some(0.75), 2));
    assert_eq!(
        facts(1),
        (Some("lane 1"), Some(1), Some(0.25), Some(0.25), 1)
    );
    let branch = &branches(&transcript)[0];
    assert_eq!(
        (
            branch.own.cost.usd,
            branch.total.cost.usd,
            branch.total.entries
        ),
        (Some(1.0), Some(1.75), 3)
    );
    assert_eq!(
        (branch.why, branch.root.as_deref(), branch.point.as_deref()),
        ("left", Some("k1"), Some("k0"))
    );
}

#[test]
fn requests_that_were_made_for_an_answer_are_of_its_lane() {
    let mut out = Batch::default();
    for (key, lane) in [("k0", None), ("k1", Some("lane 1")), ("k2", None)] {
        let mut entry = out.new_entry(Text::from(key), Role::Assistant, Some(Timestamp(1000)));
        entry.lane = lane.map(Text::from);
        let spent = |input| {
            Box::new(Usage {
                input: Some(input),
                output: Some(1),
                ..Usage::default()
            })
        };
        entry.usage = Some(spent(10));
        entry.push(BlockKind::Text(out.prose("said")));
        out.entry(entry);
        // Unknown records do not change which entry a request belongs to.
        let mut unknown =
            out.new_entry(Text::clean(&format!("{key}:unknown")), Role::Harness, None);
        let raw = Raw {
            title: Text::from("odd"),
            body: out.output("odd"),
        };
        unknown.push(BlockKind::Aside(Judged::Loud, raw));
        out.entry(unknown);
        out.push(Edit::Usage {
            of: Text::clean(&format!("{key}:advice")),
            usage: spent(500),
            model: None,
        });
    }
    let target = Target::at("made");
    let reading = Reading::from_batch(target, out);
    let whole = figures::of(&reading, Timestamp(0));
    let of = |usage: &crate::report::spent::UsageFigures| (usage.requests, usage.input);
    assert_eq!(of(&whole.usage), (6, Some(1530)));
    assert_eq!(of(&whole.active.usage), (4, Some(1020)));
    assert_eq!(of(&whole.lane_list[0].own.usage), (2, Some(510)));
    assert_eq!(of(&whole.lane_list[0].total.usage), (2, Some(510)));
}

#[test]
fn lanes_that_start_each_other_in_a_circle_are_counted_once() {
    let transcript = transcript(&[(1, 0, 1, None, Some(2)), (2, 0, 1, None, Some(1))]);
    assert_eq!(
        lanes(&transcript)
            .iter()
            .map(|lane| lane.total.entries)
            .collect::<Vec<_>>(),
        [2, 2]
    );
}
