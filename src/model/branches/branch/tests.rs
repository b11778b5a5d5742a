//! Branches compared with a reference model: the session as it was before it continued elsewhere.

use proptest::prelude::{Strategy, prop, proptest};

use crate::model::body::Key;
use crate::model::branches::Why;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{EntryId, Role};
use crate::model::transcript::Transcript;

/// A record: an entry or only a link, its parent (counted back from the last record), prompt flag,
/// copy flag, lane.
#[derive(Clone, Debug)]
struct Step {
    is_link: bool,
    back: usize,
    prompt: bool,
    copy: bool,
    in_lane: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let back = prop::sample::select(vec![0, 0, 0, 0, 0, 0, 1, 2, 3, 5, 8]);
    let rarely = prop::bool::weighted(0.1);
    (
        rarely,
        back,
        prop::bool::weighted(0.4),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(is_link, back, prompt, copy, in_lane)| Step {
            is_link,
            back,
            prompt,
            copy,
            in_lane,
        })
}

fn key(place: usize) -> Key {
    Key::from(format!("k{place}").as_str())
}

/// Only records of the main lane that are no copies can be parents.
fn parent(steps: &[Step], place: usize, back: usize) -> Option<Key> {
    let before = steps[..place]
        .iter()
        .enumerate()
        .filter(|(_, step)| !step.in_lane && !step.copy);
    let candidates: Vec<usize> = before.map(|(place, _)| place).collect();
    let last = candidates.len().checked_sub(1)?;
    Some(key(candidates[last.saturating_sub(back)]))
}

fn transcript_of(steps: &[Step], is_tree: bool) -> Transcript {
    let mut batch = Batch::default();
    if is_tree {
        batch.meta(MetaEdit::LinkedTree);
    }
    for (place, step) in steps.iter().enumerate() {
        let parent = parent(steps, place, step.back);
        if step.is_link && !step.in_lane && !step.copy {
            batch.push(Edit::Link {
                key: key(place),
                parent,
            });
            continue;
        }
        let mut entry = batch.new_entry(key(place), Role::User, None);
        entry.parent = parent;
        entry.marks.prompt = step.prompt;
        entry.marks.copy = step.copy;
        entry.lane = step.in_lane.then(|| Key::from("lane"));
        batch.entry(entry);
    }
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    transcript
}

fn keys(transcript: &Transcript, ids: &[EntryId]) -> Vec<Key> {
    ids.iter()
        .map(|id| transcript.get(*id).unwrap().key.clone())
        .collect()
}

fn active(transcript: &Transcript) -> Vec<EntryId> {
    let is_active = |id: &EntryId| {
        transcript.get(*id).unwrap().lane.is_none() && !transcript.branches().abandoned.contains(id)
    };
    transcript
        .order()
        .iter()
        .copied()
        .filter(is_active)
        .collect()
}

fn branches(transcript: &Transcript) -> Vec<(Vec<Key>, Why)> {
    let list = &transcript.branches().list;
    list.iter()
        .map(|branch| (keys(transcript, &branch.entries), branch.why))
        .collect()
}

proptest! {
    #[test]
    fn appends_change_no_number_and_no_member(steps in prop::collection::vec(step(), 1..40), is_tree: bool) {
        let whole = branches(&transcript_of(&steps, is_tree));
        for end in 1..steps.len() {
            let before = branches(&transcript_of(&steps[..end], is_tree));
            assert!(whole.starts_with(&before), "{before:?} became {whole:?}");
        }
    }

    #[test]
    fn branches_lanes_and_the_active_path_are_all_entries(
        steps in prop::collection::vec(step(), 0..40),
        is_tree: bool,
    ) {
        let transcript = transcript_of(&steps, is_tree);
        let mut ids = active(&transcript);
        for branch in &transcript.branches().list {
            let left = branch.entries.iter().filter(|id| transcript.branches().abandoned.contains(*id));
            let left: Vec<EntryId> = left.copied().collect();
            assert!(left.iter().all(|id| transcript.branches().of(*id) == Some(branch)));
            assert_eq!(branch.is_active, left.is_empty());
            ids.extend(left);
        }
        ids.extend(transcript.lanes().iter().flat_map(|lane| lane.entries.iter().copied()));
        ids.sort_unstable();
        let mut all = transcript.order().to_vec();
        all.sort_unstable();
        assert_eq!(ids, all);
    }

    #[test]
    fn a_branch_is_the_session_as_it_stood_when_it_was_left(
        steps in prop::collection::vec(step(), 0..40),
        is_tree: bool,
    ) {
        let transcript = transcript_of(&steps, is_tree);
        for branch in &transcript.branches().list {
            let Some(next) = branch.next else { continue };
            let next: usize = transcript.get(next).unwrap().key.trim_start_matches('k').parse().unwrap();
            let before = transcript_of(&steps[..next], is_tree);
            let seen = keys(&transcript, &transcript.visible_on_branch(branch.number).unwrap());
            assert_eq!(seen, keys(&before, &active(&before)), "branch {}", branch.number);
        }
    }
}

#[test]
fn a_branch_within_a_branch_knows_it() {
    let step = |back, prompt| Step {
        is_link: false,
        back,
        prompt,
        copy: false,
        in_lane: false,
    };
    // k0 ─ k1 ─ k2 ─ k3        1: k3
    //       │    └─ k4         2: k1 k2 k4
    //       └ k5 ─ k6
    let steps = [
        step(0, true),
        step(0, false),
        step(0, false),
        step(0, true),
        step(1, true),
        step(4, false),
    ];
    let transcript = transcript_of(&steps, true);
    let list = &transcript.branches().list;
    let seen: Vec<_> = branches(&transcript);
    let k = |places: &[usize]| places.iter().map(|place| key(*place)).collect::<Vec<_>>();
    assert_eq!(
        seen,
        [
            (k(&[3]), Why::Prompt),
            (k(&[1, 2, 4]), Why::ContinuedElsewhere)
        ]
    );
    assert_eq!((list[0].parent, list[1].parent), (Some(2), None));
    assert_eq!(
        keys(
            &transcript,
            &[list[0].point.unwrap(), list[1].point.unwrap()]
        ),
        k(&[2, 0])
    );
    assert_eq!(
        keys(&transcript, &transcript.visible_on_branch(1).unwrap()),
        k(&[0, 1, 2, 3])
    );
    assert_eq!(
        keys(&transcript, &transcript.visible_on_branch(2).unwrap()),
        k(&[0, 1, 2, 4])
    );
    assert_eq!(transcript.visible_on_branch(3), None);
}
