//! Branches: the entries that the session abandoned when it continued from an earlier one.
//!
//! **File order is the reading order.** Parent links are evidence: a branch exists where all links
//! of a tree resolve, where two prompts share a parent, or where the agent says that something was
//! undone.

use std::cell::LazyCell;
use std::ops::{Deref, Range};

use hashbrown::{HashMap, HashSet};

use super::entry::EntryId;
use super::fingerprint::Print;

mod branch;
pub mod forest;

use branch::Leaving;
pub(crate) use branch::{Branch, Why, seen_at_end};
use forest::{BranchPoint, Forest, IsCircle, RecordLinks, Ways};

/// Branches derived from parent links.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    /// Entries that are not on the active branch.
    pub abandoned: HashSet<EntryId>,
    /// The first abandoned entry of each run, in file order: where a branch leaves the active one.
    pub roots: Vec<EntryId>,
    /// All branches by number. One root may start several of them.
    pub list: Vec<Branch>,
    /// Index of the branch of each abandoned entry.
    numbers: HashMap<EntryId, usize>,
    basis: Basis,
    /// Whether the last branch ends at the end of the session.
    ends_undone: bool,
    /// Parents of all prompts.
    prompted: HashSet<Print>,
    /// Missing parents, if anything was abandoned: where their children belong is unknown.
    missing_parents: HashSet<Print>,
    /// Records visited while deriving; a measure of the work.
    pub(crate) work: u64,
}

/// What the branches were derived from.
#[derive(Clone, Debug, Default)]
enum Basis {
    /// Prompts with the same parent.
    #[default]
    Prompts,
    /// The path from the root to the leaf.
    Path,
    /// Prompts, because these parents are missing.
    Dangling(HashSet<Print>),
    /// Prompts, because the path from the leaf is a cycle.
    Cyclic,
}

/// A new record at the end of the main lane.
pub(crate) struct Growth {
    pub(crate) key: Print,
    pub(crate) parent: Option<Print>,
    /// Whether the parent exists.
    pub(crate) resolves: bool,
    /// The previous leaf, if all records are linked.
    pub(crate) leaf: Option<Print>,
    /// Whether it is now the leaf of a complete tree.
    pub(crate) leads: bool,
    /// Whether it opens a turn.
    pub(crate) is_prompt: bool,
    /// Whether it continues from an abandoned entry.
    pub(crate) resumes_abandoned: bool,
}

impl Branches {
    /// Derives the branches. A complete tree (with `leaf`) is walked from its leaf. Otherwise only
    /// two prompts with the same parent make a branch, and the later one is active: everything
    /// between them in the file belongs to the earlier one, except what a later record continued
    /// from. Broken chains make no branch.
    pub(crate) fn derive(links: &RecordLinks<'_>) -> Self {
        let forest = LazyCell::new(|| Forest::of(links));
        let (mut branches, mut leavings) =
            match links.leaf.map(|leaf| from_leaf(links, &forest, leaf)) {
                Some(Ok(branches)) => {
                    let (leavings, work) = departures(links, &forest, &branches.abandoned);
                    (Self { work, ..branches }, leavings)
                }
                Some(Err(basis)) => {
                    let (branches, leavings) = from_prompts(links, &forest);
                    (Self { basis, ..branches }, leavings)
                }
                None => from_prompts(links, &forest),
            };
        branches.work += links.entries.len() as u64;
        for range in undone(links) {
            if let Some(first) = links.entries.get(range.start)
                && !branches.abandoned.contains(&first.id)
            {
                branches.roots.push(first.id);
            }
            branches.abandoned.extend(
                range
                    .clone()
                    .filter_map(|at| Some(links.entries.get(at)?.id)),
            );
            leavings.push(leaving(range, Why::Undone, links));
        }
        branches.ends_undone = links.entries.last().is_some_and(|one| one.marks.undone);
        if leavings.is_empty() {
            return branches;
        }
        if !matches!(branches.basis, Basis::Path) {
            branches.missing_parents.clone_from(&forest.missing);
        }
        branches.list = branch::number(leavings, links, &forest, |id| {
            branches.abandoned.contains(&id)
        });
        for branch in &branches.list {
            let entries = branch.entries.iter().copied();
            let abandoned = entries.filter(|id| branches.abandoned.contains(id));
            branches
                .numbers
                .extend(abandoned.map(|id| (id, branch.number)));
        }
        branches
    }

    /// The branch of an abandoned entry; `None` if the entry is active.
    pub(crate) fn of(&self, id: EntryId) -> Option<&Branch> {
        self.list.get(self.numbers.get(&id)?.checked_sub(1)?)
    }

    /// The first abandoned entry of a branch, which represents the branch while it is folded.
    pub(crate) fn head(&self, branch: &Branch) -> Option<EntryId> {
        branch
            .entries
            .iter()
            .copied()
            .find(|id| self.abandoned.contains(id))
    }

    pub(crate) fn beginning_at(&self, id: EntryId) -> Option<&Branch> {
        self.of(id).filter(|branch| self.head(branch) == Some(id))
    }

    /// Whether a new record may continue from an abandoned entry, and so change the branches.
    pub(crate) fn may_resume_abandoned(&self) -> bool {
        !self.list.is_empty() && !matches!(self.basis, Basis::Path)
    }

    /// Adds a record incrementally. Returns `false` if the branches must be derived again. Mostly a
    /// record continues from the last one, which costs constant time in a session of any length.
    pub(crate) fn grow(&mut self, new: &Growth) -> bool {
        if new.is_prompt
            && let Some(parent) = new.parent
            && !self.prompted.insert(parent)
        {
            return false;
        }
        if self.ends_undone || new.resumes_abandoned {
            return false;
        }
        if self.may_resume_abandoned() {
            if self.missing_parents.contains(&new.key) {
                return false;
            }
            self.missing_parents
                .extend(new.parent.filter(|_| !new.resolves));
        }
        match &self.basis {
            Basis::Prompts => !new.leads,
            Basis::Path if new.leads => new.parent.is_some() && new.parent == new.leaf,
            Basis::Path => new.parent.is_none(),
            Basis::Dangling(missing) => {
                !missing.contains(&new.key) && (new.parent.is_none() || new.resolves)
            }
            Basis::Cyclic => false,
        }
    }
}

/// Derives branches from the path to the leaf. The error is the basis to use instead if there is no
/// such path.
fn from_leaf(links: &RecordLinks<'_>, forest: &Forest, leaf: Print) -> Result<Branches, Basis> {
    if !forest.missing.is_empty() {
        return Err(Basis::Dangling(forest.missing.clone()));
    }
    let (path, IsCircle(is_circle)) = forest.path(leaf);
    if is_circle {
        return Err(Basis::Cyclic);
    }
    let is_on_path = |at: usize| path.get(at) == Some(&true);
    let mut branches = Branches {
        basis: Basis::Path,
        ..Branches::default()
    };
    for (at, one) in links.entries.iter().enumerate() {
        if is_on_path(at) || forest.is_off_path(one) {
            continue;
        }
        if forest.nearest_ancestor(one.key).is_none_or(is_on_path) {
            branches.roots.push(one.id);
        }
        branches.abandoned.insert(one.id);
    }
    Ok(branches)
}

/// What was abandoned at each departure of the last record, and the number of records visited.
fn departures(
    links: &RecordLinks<'_>,
    forest: &Forest,
    abandoned: &HashSet<EntryId>,
) -> (Vec<Leaving>, u64) {
    let entry = |at: usize| links.entries.get(at);
    let mut ways = Ways::of(forest);
    let mut leaving = |departure: &BranchPoint| {
        let (tip, next) = (
            (links.print)(&departure.tip),
            (links.print)(&departure.next),
        );
        let mut left = ways.abandon(forest, tip, next);
        left.entries
            .retain(|at| entry(*at).is_some_and(|entry| !entry.marks.copy));
        left.entries.sort_unstable();
        let first = left.first.and_then(entry);
        let followed_by = forest.entry(next).and_then(entry);
        let is_prompted = first.zip(followed_by).is_some_and(|(first, next)| {
            let are_prompts = [first, next]
                .iter()
                .all(|one| one.marks.prompt && !one.marks.copy);
            are_prompts && first.parent == next.parent
        });
        Leaving {
            entries: left.entries.into_iter().map(|at| at..at + 1).collect(),
            tip: Some(departure.tip.clone()),
            next: Some(next),
            place: departure.place,
            why: if is_prompted {
                Why::Prompt
            } else {
                Why::ContinuedElsewhere
            },
        }
    };
    let mut departures: Vec<&BranchPoint> = links.departures.iter().collect();
    departures.sort_by_key(|departure| departure.place);
    let mut leavings: Vec<Leaving> = departures.into_iter().map(&mut leaving).collect();
    let work = ways.work;
    // An entry that has only copies as children was never the last record.
    let all = links
        .entries
        .iter()
        .enumerate()
        .filter(|(_, one)| abandoned.contains(&one.id));
    let entries = all.map(|(at, _)| at..at + 1).collect();
    leavings.push(Leaving {
        entries,
        tip: None,
        next: None,
        place: usize::MAX,
        why: Why::ContinuedElsewhere,
    });
    (leavings, work)
}

fn from_prompts(
    links: &RecordLinks<'_>,
    forest: &impl Deref<Target = Forest>,
) -> (Branches, Vec<Leaving>) {
    let (ranges, prompted) = forest::abandoned_by_prompts(&links.entries);
    let mut branches = Branches {
        prompted,
        ..Branches::default()
    };
    if ranges.is_empty() {
        return (branches, Vec::new());
    }
    let kept = forest.resumed_entries(&links.entries, &ranges);
    let until = forest::abandoned_until(&ranges, links.entries.len());
    // By position: the first abandoned entry from there on.
    let mut next_left = vec![usize::MAX; links.entries.len() + 1];
    let mut next = usize::MAX;
    for (at, one) in links.entries.iter().enumerate().rev() {
        if until.get(at).is_some_and(|end| *end > 0) && kept.get(at) != Some(&true) {
            next = at;
            branches.abandoned.insert(one.id);
        }
        next_left
            .get_mut(at)
            .into_iter()
            .for_each(|place| *place = next);
    }
    for range in &ranges {
        let first = next_left
            .get(range.start)
            .copied()
            .filter(|first| *first < range.end);
        branches
            .roots
            .extend(first.and_then(|at| Some(links.entries.get(at)?.id)));
    }
    branches.roots.sort_unstable();
    branches.roots.dedup();
    (
        branches,
        ranges
            .into_iter()
            .map(|range| leaving(range, Why::Prompt, links))
            .collect(),
    )
}

/// Ranges of consecutive entries that the agent marked as undone.
fn undone(links: &RecordLinks<'_>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, _) in links
        .entries
        .iter()
        .enumerate()
        .filter(|(_, one)| one.marks.undone)
    {
        match ranges.last_mut() {
            Some(range) if range.end == at => range.end = at + 1,
            _ => ranges.push(at..at + 1),
        }
    }
    ranges
}

/// The leaving that makes a branch of a range of entries: they were abandoned when the entry at its
/// end came.
fn leaving(range: Range<usize>, why: Why, links: &RecordLinks<'_>) -> Leaving {
    let next = links.entries.get(range.end);
    let last = range
        .end
        .checked_sub(1)
        .and_then(|at| links.entries.get(at));
    let place = next
        .or(last)
        .map_or(0, |one| one.place + usize::from(next.is_none()));
    Leaving {
        entries: vec![range],
        tip: None,
        next: next.map(|one| one.key),
        place,
        why,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use crate::model::body::Key;
    use crate::model::edit::{Batch, Edit, MetaEdit};
    use crate::model::entry::Role;
    use crate::model::transcript::Transcript;

    fn tree(links: &[(&str, Option<&str>)]) -> Transcript {
        let mut batch = Batch::default();
        batch.meta(MetaEdit::LinkedTree);
        for (key, parent) in links {
            let mut entry = batch.new_entry(Key::from(*key), Role::User, None);
            entry.parent = parent.map(Key::from);
            batch.entry(entry);
        }
        let mut transcript = Transcript::new();
        transcript.apply(batch);
        transcript.update_derived();
        transcript
    }

    fn abandoned(transcript: &Transcript) -> Vec<&str> {
        let is_abandoned = |key: &&str| {
            transcript
                .find(key)
                .is_some_and(|id| transcript.branches().abandoned.contains(&id))
        };
        transcript
            .entries()
            .map(|entry| entry.key.as_str())
            .filter(is_abandoned)
            .collect()
    }

    #[test]
    fn what_is_off_the_path_of_the_last_record_is_abandoned() {
        let links = [
            ("a", None),
            ("b", Some("a")),
            ("c", Some("b")),
            ("d", Some("a")),
        ];
        assert_eq!(abandoned(&tree(&links)), ["b", "c"]);
    }

    #[test]
    fn what_somebody_went_on_from_was_not_left() {
        let mut transcript = Transcript::new();
        let mut add = |key: &str, parent: &str, role: Role| {
            let mut batch = Batch::default();
            let mut entry = batch.new_entry(Key::from(key), role, None);
            entry.parent = Some(Key::from(parent));
            entry.marks.prompt = role == Role::User;
            batch.entry(entry);
            transcript.apply(batch);
            transcript.update_derived();
            abandoned(&transcript)
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        add("a", "root", Role::Assistant);
        add("p1", "a", Role::User);
        add("a1", "p1", Role::Assistant);
        assert_eq!(add("p2", "a", Role::User), ["p1", "a1"]);
        assert_eq!(add("a2", "p2", Role::Assistant), ["p1", "a1"]);
        assert!(
            add("p3", "a1", Role::User).is_empty(),
            "the other program goes on"
        );
        assert_eq!(
            add("p4", "a", Role::User),
            ["p1", "a1", "p2", "a2", "p3"],
            "so does this one"
        );
        assert_eq!(add("a3", "p3", Role::Assistant), ["p2", "a2"]);
        assert_eq!(add("a4", "p4", Role::Assistant), ["p2", "a2"]);
    }

    #[test]
    fn an_unlinked_record_is_no_branch_and_ends_none() {
        let links = [("a", None), ("x", None), ("b", Some("a")), ("@0:9", None)];
        assert!(abandoned(&tree(&links)).is_empty());
    }

    type Step = (bool, u8, Option<u8>, bool, bool, bool);

    /// A batch with one link or entry, by the flags of a step.
    fn batch((is_link, key, parent, prompt, copy, undone): Step) -> Batch {
        let key = Key::from(format!("k{key}").as_str());
        let parent = parent.map(|parent| Key::from(format!("k{parent}").as_str()));
        let mut batch = Batch::default();
        if is_link {
            batch.push(Edit::Link { key, parent });
            return batch;
        }
        let mut entry = batch.new_entry(key, Role::User, None);
        entry.parent = parent;
        entry.marks.prompt = prompt;
        entry.marks.copy = copy;
        entry.marks.undone = undone;
        batch.entry(entry);
        batch
    }

    #[test]
    fn a_link_with_the_key_of_an_entry_does_not_move_what_is_known() {
        let mut growing = tree(&[("a", None), ("b", Some("a")), ("x", None)]);
        let mut link = Batch::default();
        link.push(Edit::Link {
            key: Key::from("x"),
            parent: Some(Key::from("b")),
        });
        growing.apply(link.clone());
        growing.update_derived();
        let mut whole = Transcript::new();
        let mut batch = Batch::default();
        batch.meta(MetaEdit::LinkedTree);
        whole.apply(batch);
        for (key, parent) in [("a", None), ("b", Some("a")), ("x", None)] {
            let mut batch = Batch::default();
            let mut entry = batch.new_entry(Key::from(key), Role::User, None);
            entry.parent = parent.map(Key::from);
            batch.entry(entry);
            whole.apply(batch);
        }
        whole.apply(link);
        whole.update_derived();
        assert_eq!(growing.branches().abandoned, whole.branches().abandoned);
    }

    /// The work, in records visited, of a session in which each prompt continues from `parent` and
    /// has one answer.
    fn work(is_tree: bool, prompts: usize, parent: impl Fn(usize) -> String) -> u64 {
        let mut batch = Batch::default();
        if is_tree {
            batch.meta(MetaEdit::LinkedTree);
        }
        let mut add = |key: &str, parent: Option<&str>, role: Role| {
            let mut entry = batch.new_entry(Key::from(key), role, None);
            entry.parent = parent.map(Key::from);
            entry.marks.prompt = role == Role::User;
            batch.entry(entry);
        };
        add("root", None, Role::System);
        for number in 0..prompts {
            let (prompt, answer) = (format!("p{number}"), format!("a{number}"));
            add(&prompt, Some(&parent(number)), Role::User);
            add(&answer, Some(&prompt), Role::Assistant);
        }
        let mut transcript = Transcript::new();
        transcript.apply(batch);
        transcript.update_derived();
        assert!(
            transcript.branches().list.len() >= prompts / 2 - 1,
            "{}",
            transcript.branches().list.len()
        );
        transcript.work()
    }

    #[test]
    fn what_is_left_costs_no_more_where_more_was_left_before() {
        const PROMPTS: usize = 2_000;
        let answer =
            |number: Option<usize>| number.map_or("root".to_owned(), |number| format!("a{number}"));
        let shapes: [(&str, &dyn Fn(usize) -> String); 4] = [
            ("all at one point", &|_| answer(None)),
            ("two programs in turn", &|number| {
                answer(number.checked_sub(2))
            }),
            ("three programs in turn", &|number| {
                answer(number.checked_sub(3))
            }),
            ("further and further back", &|number| {
                let from = if number <= PROMPTS / 2 {
                    number
                } else {
                    PROMPTS - number
                };
                answer(from.checked_sub(1))
            }),
        ];
        for (shape, parent) in shapes {
            for is_tree in [true, false] {
                // Where only prompts make branches, prompts that each continue from their own
                // program's last record abandon nothing.
                if !is_tree && shape.contains("programs") {
                    continue;
                }
                let work = work(is_tree, PROMPTS, parent);
                let bound = 2 * PROMPTS as u64 * 40;
                assert!(
                    (1..bound).contains(&work),
                    "{shape}, as a tree {is_tree}: {work} of {bound}"
                );
            }
        }
    }

    proptest! {
        /// Incremental derivation gives the same branches as derivation of the whole session.
        #[test]
        fn growing_branches_are_those_of_the_whole(
            is_tree: bool,
            steps in prop::collection::vec(
                (
                    prop::bool::weighted(0.2),
                    0u8..14,
                    prop::option::weighted(0.9, 0u8..14),
                    prop::bool::weighted(0.3),
                    prop::bool::weighted(0.1),
                    prop::bool::weighted(0.05),
                ),
                0..24,
            ),
            chained in prop::bool::weighted(0.7),
        ) {
            let mut growing = Transcript::new();
            let mut newer = Vec::new();
            let mut tree = Batch::default();
            if is_tree {
                tree.meta(MetaEdit::LinkedTree);
            }
            growing.apply(tree.clone());
            for (place, mut step) in steps.into_iter().enumerate() {
                if chained && place % 5 != 4 {
                    // Mostly a record continues from the previous one, as in real sessions.
                    let place = u8::try_from(place).unwrap();
                    step = (step.0, 20 + place, (place > 0).then(|| 19 + place), step.3, false, false);
                }
                newer.push(step);
                growing.apply(batch(step));
                growing.update_derived();
                let mut whole = Transcript::new();
                whole.apply(tree.clone());
                for step in &newer {
                    whole.apply(batch(*step));
                }
                whole.update_derived();
                assert_eq!(growing.branches().abandoned, whole.branches().abandoned);
                assert_eq!(growing.branches().roots, whole.branches().roots);
                assert_eq!(growing.branches().list, whole.branches().list);
                assert_eq!(growing.turns(), whole.turns());
            }
        }
    }
}
