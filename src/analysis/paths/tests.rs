//! Sums of paths against sums of all entries, while a session grows and changes.

use proptest::prelude::{Strategy, prop, proptest};

use super::{PathFacts, Paths};
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::Role;
use crate::model::moment::Moment;
use crate::model::text::Text;
use crate::model::transcript::Transcript;
use crate::model::usage::Usage;

#[derive(Clone, Debug)]
struct Step {
    /// Another entry, or an earlier one again.
    again: Option<usize>,
    back: usize,
    lane: Option<u8>,
    prompt: bool,
    tokens: u64,
}

fn step() -> impl Strategy<Value = Step> {
    let again = prop::option::weighted(0.2, 0usize..40);
    let back = prop::sample::select(vec![0, 0, 0, 0, 1, 4]);
    let lane = prop::option::weighted(0.3, 0u8..3);
    (again, back, lane, prop::bool::weighted(0.3), 0u64..900)
        .prop_map(|(again, back, lane, prompt, tokens)| Step { again, back, lane, prompt, tokens })
}

fn batch(steps: &[Step], place: usize) -> Batch {
    let step = &steps[place];
    let mut batch = Batch::default();
    if place == 0 {
        batch.meta(MetaEdit::LinkedTree);
    }
    let key = |place: usize| Text::clean(&format!("k{place}"));
    let told = step.again.map_or(place, |again| again % (place + 1));
    let usage = Usage { input: Some(step.tokens), ..Usage::default() };
    if told != place {
        batch.push(Edit::Usage { of: key(told), usage: Box::new(usage), model: None });
        return batch;
    }
    let mut entry = batch.new_entry(key(place), Role::User, Some(Moment(i64::try_from(place).unwrap())));
    let links = (0..place).filter(|at| steps[*at].again.is_none() && steps[*at].lane.is_none());
    let above: Vec<usize> = links.collect();
    entry.parent = above.len().checked_sub(1 + step.back).map(|at| key(above[at]));
    entry.lane = step.lane.map(|lane| Text::clean(&format!("lane{lane}")));
    entry.marks.prompt = step.prompt;
    entry.usage = Some(Box::new(usage));
    batch.entry(entry);
    batch
}

fn same(one: &PathFacts, other: &PathFacts) {
    assert_eq!((one.entries, one.turns), (other.entries, other.turns));
    assert_eq!(one.work.totals.sum(), other.work.totals.sum());
    assert_eq!((one.work.started, one.work.ended), (other.work.started, other.work.ended));
}

proptest! {
    #[test]
    fn sums_are_those_of_the_entries(steps in prop::collection::vec(step(), 1..40), most in 1usize..5) {
        let mut transcript = Transcript::new();
        let mut paths = Paths::default();
        for place in 0..steps.len() {
            let touched = transcript.apply(batch(&steps, place));
            transcript.settle();
            touched.changed.iter().for_each(|id| paths.change(*id));
            while !paths.follow(&transcript, most) {}
            let left = &transcript.branches().abandoned;
            let main = transcript.order().iter().filter(|id| !left.contains(id));
            let main = main.filter_map(|id| transcript.get(*id)).filter(|entry| entry.lane.is_none());
            same(&paths.active(), &PathFacts::of(main));
            for lane in transcript.lanes() {
                let entries = lane.entries.iter().filter_map(|id| transcript.get(*id));
                same(&paths.lane(&lane.name), &PathFacts::of(entries));
            }
        }
    }
}

/// Branches that are drawn anew concern all pages, of which each look takes in one.
#[test]
fn a_look_sums_up_no_more_than_it_may() {
    let told = |key: usize, parent: Option<usize>| {
        let mut batch = Batch::default();
        batch.push(Edit::Meta(MetaEdit::LinkedTree));
        let name = |number: usize| Text::clean(&format!("key{number}"));
        let mut entry = batch.new_entry(name(key), Role::Assistant, None);
        entry.parent = parent.map(name);
        batch.entry(entry);
        batch
    };
    let mut transcript = Transcript::new();
    (0..super::PAGE * 4).for_each(|key| drop(transcript.apply(told(key, key.checked_sub(1)))));
    transcript.settle();
    let mut paths = Paths::default();
    while !paths.follow(&transcript, usize::MAX) {}
    transcript.apply(told(super::PAGE * 4, Some(super::PAGE)));
    transcript.settle();
    let looks = (1..20).find(|_| paths.follow(&transcript, 1));
    assert_eq!((looks, paths.active().entries), (Some(5), super::PAGE + 2));
}
