//! When facts are extracted, and when a value is computed.

use super::{Derived, Facts, Generation, Memo, Out};
use crate::model::edit::{Batch, BatchMode, Edit};
use crate::model::entry::{BlockKind, Entry, EntryId, Role};
use crate::model::text::Text;
use crate::model::transcript::Transcript;

/// The texts of a session, in order.
#[derive(Clone, Debug, Default, PartialEq)]
struct Texts(Vec<String>);

/// The text of an entry, and how often it was extracted.
#[derive(Clone, Debug, Default, PartialEq)]
struct Read {
    text: String,
    times: usize,
}

impl Derived for Texts {
    type Row = Read;
    type Reads = ();

    fn rows(
        _transcript: &Transcript,
        (_, entry): (EntryId, &Entry),
        before: &[Read],
        out: &mut Out<'_, Read>,
    ) {
        let before = before.first().cloned().unwrap_or_default();
        let block = entry.blocks.first();
        let text = match block.map(|block| &block.kind) {
            Some(BlockKind::Text(body)) if !body.is_on_disk() => body.stub.to_string(),
            Some(_) => before.text,
            None => String::new(),
        };
        out.push(Read {
            text,
            times: before.times + 1,
        });
    }

    fn of(transcript: &Transcript, facts: &Facts<Read>, _reads: &()) -> Self {
        Self(
            facts
                .in_order(transcript)
                .flat_map(|(.., rows)| rows)
                .map(|read| read.text.clone())
                .collect(),
        )
    }
}

/// The number of texts, and of the entries that it was computed from.
#[derive(Clone, Debug, Default, PartialEq)]
struct Count(usize);

impl Derived for Count {
    type Row = ();
    type Reads = Memo<Texts>;

    fn rows(_: &Transcript, _: (EntryId, &Entry), _: &[()], _: &mut Out<'_, ()>) {}

    fn of(_transcript: &Transcript, _facts: &Facts<()>, texts: &Memo<Texts>) -> Self {
        Self(texts.0.len())
    }
}

#[derive(Default)]
struct Fixture {
    transcript: Transcript,
    texts: Memo<Texts>,
}

impl Fixture {
    fn apply(&mut self, mode: BatchMode, fill: impl FnOnce(&mut Batch)) {
        let mut batch = Batch::default();
        batch.mode = mode;
        fill(&mut batch);
        let touched = self.transcript.apply(batch);
        self.texts.invalidate(&self.transcript, &touched);
    }

    fn say(&mut self, key: &str, text: &str) {
        self.apply(BatchMode::Append, |out| say(out, key, text));
    }

    fn times(&self) -> Vec<usize> {
        let ids = self.transcript.ids_from(0, usize::MAX);
        ids.flat_map(|id| self.texts.facts.get(id))
            .map(|read| read.times)
            .collect()
    }
}

fn say(out: &mut Batch, key: &str, text: &str) {
    let mut entry = out.new_entry(Text::from(key), Role::User, None);
    entry.push(BlockKind::Text(out.prose(text)));
    out.entry(entry);
}

#[test]
fn a_long_session_is_computed_when_twice_as_much_of_it_is_read() {
    let mut fixture = Fixture::default();
    for number in 0..10 {
        fixture.say(&format!("e{number}"), "so");
    }
    let mut lengths = Vec::new();
    while !fixture.texts.follow(&fixture.transcript, 1) {
        lengths.push(fixture.texts.0.len());
    }
    assert_eq!(lengths, [1, 2, 2, 4, 4, 4, 4, 8, 8]);
    assert_eq!((fixture.texts.0.len(), fixture.texts.generation), (10, 5));
    assert_eq!(*fixture.texts, *Memo::of(&fixture.transcript));
    assert_eq!(fixture.times(), [1; 10], "each entry is read once");
}

#[test]
fn what_is_not_looked_at_is_not_computed() {
    let mut fixture = Fixture::default();
    fixture.say("a", "one");
    assert!(fixture.texts.watch(&fixture.transcript, 9));
    assert_eq!((fixture.texts.0.len(), fixture.times()), (0, vec![1]));
    assert!(fixture.texts.follow(&fixture.transcript, 9));
    assert_eq!(fixture.texts.0, ["one"]);
}

#[test]
fn an_entry_that_changes_is_read_again_and_one_that_goes_leaves_no_trace() {
    let mut fixture = Fixture::default();
    for (key, text) in [("a", "one"), ("b", "two"), ("c", "three")] {
        fixture.say(key, text);
    }
    fixture.texts.follow(&fixture.transcript, 9);
    fixture.say("b", "more");
    fixture.apply(BatchMode::Append, |out| {
        out.push(Edit::Retire(Text::from("a")));
    });
    assert_eq!(fixture.times(), [1, 2, 1]);
    assert_eq!(
        fixture.texts.0,
        ["one", "two", "three"],
        "until it is looked at"
    );
    fixture.texts.follow(&fixture.transcript, 9);
    assert_eq!(
        (&*fixture.texts, fixture.texts.generation),
        (&Texts(vec!["more".into(), "three".into()]), 2)
    );
    fixture.texts.change(&fixture.transcript, EntryId(1));
    fixture.texts.follow(&fixture.transcript, 9);
    assert_eq!(
        (fixture.times(), fixture.texts.generation),
        (vec![1, 3, 1], 2),
        "the value is the same"
    );
}

#[test]
fn a_value_follows_the_one_that_it_reads() {
    let (mut fixture, mut count) = (Fixture::default(), Memo::<Count>::default());
    fixture.say("a", "one");
    fixture.texts.follow(&fixture.transcript, 9);
    count.follow_with(&fixture.transcript, &fixture.texts, 9);
    assert_eq!((*count).clone(), Count(1));
    // Without a notification that the session has changed.
    fixture.apply(BatchMode::Append, |out| {
        out.push(Edit::Retire(Text::from("a")));
    });
    fixture.texts.follow(&fixture.transcript, 9);
    count.follow_with(&fixture.transcript, &fixture.texts, 9);
    assert_eq!((*count).clone(), Count(0));
    assert_eq!(Generation::generation(&count), 2);
}
