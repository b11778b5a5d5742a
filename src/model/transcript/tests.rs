//! What a new telling of a session keeps and what it drops.

use super::Transcript;
use crate::model::edit::{Batch, Edit, Mode};
use crate::model::entry::{BlockKind, Entry, Piece, Role};
use crate::model::text::Text;

fn entry(out: &mut Batch, key: &str, pieces: &[(&str, &str)]) -> Entry {
    let mut entry = out.new_entry(Text::from(key), Role::Assistant, None);
    for (piece, words) in pieces {
        let body = out.prose(words);
        entry.blocks.push(Batch::block(Piece::of(piece), BlockKind::Text(body)));
    }
    entry
}

fn telling(mode: Mode, entries: &[(&str, &[(&str, &str)])]) -> Batch {
    let mut batch = Batch::default();
    batch.mode = mode;
    for (key, pieces) in entries {
        let entry = entry(&mut batch, key, pieces);
        batch.push(Edit::Entry(Box::new(entry)));
    }
    batch
}

fn words(transcript: &Transcript) -> Vec<String> {
    let texts = |entry: &Entry| {
        entry
            .blocks
            .iter()
            .flat_map(|b| b.kind.bodies().into_iter().map(|body| body.stub.to_string()).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    transcript.entries().map(|entry| format!("{}: {}", entry.key, texts(entry).join(", "))).collect()
}

#[test]
fn what_is_not_told_again_goes() {
    let mut transcript = Transcript::new();
    transcript
        .apply(telling(Mode::Append, &[("a", &[("1", "one"), ("2", "two")]), ("b", &[("3", "three")])]));
    let a = transcript.find("a").unwrap();
    let touched =
        transcript.apply(telling(Mode::Replace, &[("c", &[("4", "four")]), ("a", &[("1", "one")])]));
    assert_eq!(words(&transcript), ["c: four", "a: one"]);
    assert_eq!(transcript.find("a"), Some(a), "what is told again keeps its identity");
    assert_eq!(transcript.find("b"), None);
    assert!(touched.reordered && touched.changed.contains(&a));
}

#[test]
fn telling_the_same_again_changes_nothing() {
    let whole: &[(&str, &[(&str, &str)])] = &[("a", &[("1", "one"), ("2", "two")]), ("b", &[("3", "three")])];
    let mut transcript = Transcript::new();
    transcript.apply(telling(Mode::Append, whole));
    let touched = transcript.apply(telling(Mode::Replace, whole));
    assert!(touched.is_empty(), "{touched:?}");
    assert!(transcript.entries().all(|entry| entry.revision == 1));
}

#[test]
fn a_message_spread_over_records_is_one_entry() {
    let mut transcript = Transcript::new();
    for piece in [("1", "one"), ("2", "two"), ("1", "one, corrected")] {
        transcript.apply(telling(Mode::Append, &[("a", &[piece])]));
    }
    assert_eq!(words(&transcript), ["a: one, corrected, two"]);
}
