//! Tests of the prefilter of searches: if the bytes of a record exclude a hit, its bodies have
//! none. A search finds the same with and without the prefilter.

use std::cell::RefCell;
use std::collections::HashSet;

use tv::analysis::search::texts::prefilter;
use tv::ingest::{self, Target};
use tv::model::body::{Held, Tree};
use tv::model::edit::Feed;
use tv::model::record::Origin;
use tv::model::text::without_sgr;
use tv::model::transcript::Transcript;

use crate::{corpus, fixtures};

/// Words of a record that are asked for.
const MOST: usize = 400;

#[test]
fn what_bodies_say_stands_in_their_records() {
    let targets = fixtures::all()
        .into_iter()
        .flat_map(|path| fixtures::targets(&path));
    let (mut asked, mut missed) = (0, Vec::new());
    targets.for_each(|target| check(&target, &mut asked, &mut missed));
    assert!(
        missed.is_empty(),
        "{} of {asked}:\n{}",
        missed.len(),
        missed.join("\n")
    );
    assert!(asked > 1_500, "{asked}");
}

#[test]
#[ignore = "takes minutes: to be run by hand"]
fn what_real_bodies_say_stands_in_their_records() {
    let Some(corpus) = corpus::real() else { return };
    let (mut asked, mut missed) = (0, Vec::new());
    for path in corpus.files() {
        if path.metadata().is_ok_and(|facts| facts.len() < 1 << 17) {
            check(
                &Target {
                    path,
                    session: None,
                },
                &mut asked,
                &mut missed,
            );
        }
    }
    corpus::say(&format!("{asked} words"));
    assert!(
        missed.is_empty(),
        "{} of {asked}:\n{}",
        missed.len(),
        missed.join("\n")
    );
}

fn check(target: &Target, asked: &mut usize, missed: &mut Vec<String>) {
    let Ok(session) = ingest::open(target) else {
        return;
    };
    let mut pager = session.pager();
    let mut transcript = Transcript::new();
    session.read_whole(true, &mut |feed| {
        if let Feed::Batch { batch, .. } = feed {
            transcript.apply(*batch);
        }
    });
    let bodies = transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .flat_map(|block| block.kind.bodies());
    let away = bodies
        .filter(|body| body.is_on_disk())
        .map(|body| body.from);
    for origin in away.collect::<HashSet<Origin>>() {
        let mut words = HashSet::new();
        pager
            .read(origin)
            .iter()
            .for_each(|held| words_of(held, &mut words));
        let record = RefCell::new(Vec::new());
        pager.read_next(origin, &|bytes| {
            record.borrow_mut().extend_from_slice(bytes);
            false
        });
        let record = record.into_inner();
        assert_eq!(
            record,
            pager.bytes(origin).unwrap_or_default(),
            "read ahead or alone"
        );
        if record.contains(&b'\n') {
            // A body that came piece by piece is decoded whatever its lines say: a word may be torn apart between them.
            continue;
        }
        *asked += words.len();
        let lost = words
            .iter()
            .take(MOST)
            .filter(|word| !prefilter(word, true).may_be_in(&record));
        missed.extend(lost.map(|word| format!("{}: {word} at {origin:?}", target.path.display())));
    }
}

fn words_of(held: &Held, words: &mut HashSet<String>) {
    match held {
        Held::Text(text) => add(text, words),
        Held::Tree(tree) => words_of_tree(tree, words),
        Held::Stub | Held::OnDisk => {}
    }
}

fn words_of_tree(tree: &Tree, words: &mut HashSet<String>) {
    match tree {
        // Numbers are shown with as many digits as they have, whatever the file has.
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        Tree::Text(text) => add(text, words),
        Tree::List(items) => items.iter().for_each(|item| words_of_tree(item, words)),
        Tree::Map(members) => members.iter().for_each(|(key, value)| {
            add(key, words);
            words_of_tree(value, words);
        }),
    }
}

fn add(text: &str, words: &mut HashSet<String>) {
    let plain = without_sgr(text);
    let runs = plain.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let shown = runs.filter(|run| run.len() > 1 && !OWN.contains(run) && !is_mark(run));
    words.extend(shown.map(str::to_owned));
}

/// Words that decoders write themselves: into plans that were written as text, for stored outputs, and for changes of
/// files that have no call of their own (`/dev/null`).
const OWN: [&str; 11] = [
    "todos",
    "content",
    "status",
    "completed",
    "in_progress",
    "pending",
    "lines",
    "bytes",
    "inline",
    "paths",
    "dev",
];

/// The number in the mark of a character that is not seen.
fn is_mark(word: &str) -> bool {
    (2..=6).contains(&word.len()) && word.chars().all(|c| matches!(c, '0'..='9' | 'A'..='F'))
}
