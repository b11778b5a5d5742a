//! What was before the model, with branches, compactions that keep a tail, summaries that are asked for, and
//! sub-agents.

use super::{Cuts, Sight};
use crate::analysis::index::Live;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, Break, EntryId, Marks, Piece, Role};
use crate::model::text::Text;
use crate::model::transcript::Transcript;

#[derive(Default)]
struct Told(Transcript);

impl Told {
    fn tell(&mut self, tell: impl FnOnce(&mut Batch)) -> &mut Self {
        let mut batch = Batch::default();
        tell(&mut batch);
        self.0.apply(batch);
        self.0.settle();
        self
    }

    fn tree(&mut self) -> &mut Self {
        self.tell(|out| out.meta(MetaEdit::LinkedTree))
    }

    fn say(&mut self, key: &str, role: Role, parent: Option<&str>) -> &mut Self {
        self.tell(|out| {
            let mut entry = out.new_entry(Key::from(key), role, None);
            entry.parent = parent.map(Key::from);
            entry.marks = Marks { prompt: role == Role::User, ..Marks::default() };
            let body = out.prose("words");
            entry.blocks.push(Batch::block(Piece(0), BlockKind::Text(body)));
            out.entry(entry);
        })
    }

    /// A compaction, with its summary or with a line that asks for one.
    fn compact(&mut self, key: &str, parent: Option<&str>, kept: Option<&str>, says: bool) -> &mut Self {
        self.tell(|out| {
            let mut entry = out.new_entry(Key::from(key), Role::Harness, None);
            entry.parent = parent.map(Key::from);
            let line =
                Break::Compaction { before: None, after: None, trigger: Text::default(), partial: false };
            entry.blocks.push(Batch::block(Piece(0), BlockKind::Break(line)));
            if says {
                let body = out.prose("a summary");
                entry.blocks.push(Batch::block(Piece(1), BlockKind::Text(body)));
            }
            out.entry(entry);
            if let Some(first) = kept {
                out.meta(MetaEdit::Kept { compaction: Key::from(key), first: Key::from(first) });
            }
        })
    }

    fn sight(&self, key: &str) -> Sight {
        Sight::at(&self.0, &Live::of(&self.0), self.0.find(key).unwrap()).unwrap()
    }

    fn names(&self, ids: impl IntoIterator<Item = EntryId>) -> String {
        let keys = ids.into_iter().map(|id| self.0.get(id).unwrap().key.to_string());
        keys.collect::<Vec<_>>().join(" ")
    }

    fn seen(&self, key: &str) -> String {
        self.names(self.sight(key).entries(&self.0))
    }

    fn lost(&self, key: &str) -> String {
        let sight = self.sight(key);
        self.names(self.0.order().iter().copied().filter(|id| sight.has_lost(&self.0, *id)))
    }
}

fn straight() -> Told {
    let mut told = Told::default();
    told.tree().say("u1", Role::User, None);
    told.say("a1", Role::Assistant, Some("u1")).say("u2", Role::User, Some("a1"));
    told.say("a2", Role::Assistant, Some("u2"));
    told
}

#[test]
fn an_answer_is_not_before_the_model_that_writes_it() {
    let told = straight();
    assert_eq!(told.seen("a2"), "u1 a1 u2");
    assert_eq!(told.seen("u2"), "u1 a1 u2");
    assert_eq!((told.lost("a2").as_str(), told.lost("u1").as_str()), ("", ""));
}

#[test]
fn a_compaction_drops_what_it_does_not_keep() {
    let mut told = straight();
    told.compact("c", Some("a2"), Some("u2"), true).say("u3", Role::User, Some("c"));
    assert_eq!(told.seen("u3"), "c u2 a2 u3", "the summary comes first");
    assert_eq!(told.lost("u3"), "u1 a1");
    assert_eq!(told.seen("a2"), "u1 a1 u2", "before it nothing is lost");
    told.compact("d", Some("u3"), None, true).say("a3", Role::Assistant, Some("d"));
    assert_eq!(told.seen("a3"), "d", "without a word everything goes");
    assert_eq!(told.lost("a3"), "u1 a1 u2 a2 c u3");
}

#[test]
fn a_result_is_kept_with_the_answer_that_called() {
    let mut told = straight();
    told.tell(|out| out.push(Edit::Link { key: Key::from("r2"), parent: Some(Key::from("a2")) }));
    told.compact("c", Some("r2"), Some("r2"), true).say("u3", Role::User, Some("c"));
    assert_eq!(told.seen("u3"), "c a2 u3");
    // What is not in the file cannot be kept.
    told.compact("d", Some("u3"), Some("nowhere"), true).say("u4", Role::User, Some("d"));
    assert_eq!(told.seen("u4"), "d u4");
}

#[test]
fn an_older_compaction_is_not_kept() {
    let mut told = straight();
    told.compact("c", Some("a2"), Some("u2"), true).say("u3", Role::User, Some("c"));
    told.compact("d", Some("u3"), Some("a2"), true).say("u4", Role::User, Some("d"));
    assert_eq!(told.seen("u4"), "d a2 u3 u4");
}

#[test]
fn the_summary_that_is_asked_for_sees_everything() {
    let mut told = Told::default();
    told.say("u1", Role::User, None).say("a1", Role::Assistant, Some("u1"));
    told.compact("c", None, None, false).say("s", Role::Assistant, Some("c"));
    told.say("u2", Role::User, None).say("a2", Role::Assistant, Some("u2"));
    assert_eq!(told.seen("s"), "u1 a1 c");
    assert_eq!(told.seen("a2"), "c s u2");
    assert_eq!(told.lost("a2"), "u1 a1");
}

#[test]
fn branches_are_seen_from_where_they_were() {
    let mut told = straight();
    // Back to the first answer, and on from there.
    told.say("v2", Role::User, Some("a1")).say("b2", Role::Assistant, Some("v2"));
    assert_eq!(told.seen("b2"), "u1 a1 v2");
    assert_eq!(told.lost("b2"), "u2 a2");
    assert_eq!(told.seen("a2"), "u1 a1 u2", "on the branch that was left");
    assert_eq!(told.lost("a2"), "");
}

#[test]
fn a_compaction_on_a_branch_is_none_elsewhere() {
    let mut told = straight();
    told.compact("c", Some("a2"), None, true).say("u3", Role::User, Some("c"));
    told.say("v3", Role::User, Some("a2"));
    assert_eq!(told.seen("u3"), "c u3");
    assert_eq!(told.seen("v3"), "u1 a1 u2 a2 v3");
    assert_eq!(told.lost("v3"), "c u3");
}

#[test]
fn lanes_see_only_themselves() {
    let mut told = straight();
    told.tell(|out| {
        for (key, role) in [("x1", Role::User), ("x2", Role::Assistant)] {
            let mut entry = out.new_entry(Key::from(key), role, None);
            entry.lane = Some(Text::from("scout"));
            out.entry(entry);
        }
    });
    told.say("u3", Role::User, Some("a2"));
    assert_eq!(told.seen("x2"), "x1");
    assert_eq!(told.seen("u3"), "u1 a1 u2 a2 u3");
    assert_eq!((told.lost("x2").as_str(), told.lost("u3").as_str()), ("", ""), "others are not concerned");
}

#[test]
fn compactions_are_found_as_the_session_grows() {
    let mut told = straight();
    told.compact("c", Some("a2"), None, true).say("u3", Role::User, Some("c"));
    let mut cuts = Live::<Cuts>::default();
    while !cuts.follow(&told.0, 1) {}
    let sight = Sight::at(&told.0, &cuts, told.0.find("u3").unwrap()).unwrap();
    assert_eq!(told.names(sight.entries(&told.0)), "c u3");
}

#[test]
fn what_the_agent_leaves_out_is_not_seen() {
    let mut told = straight();
    told.tell(|out| {
        let mut entry = out.new_entry(Key::from("failed"), Role::Assistant, None);
        entry.parent = Some(Key::from("a2"));
        entry.marks.unsent = true;
        out.entry(entry);
    });
    told.say("a3", Role::Assistant, Some("failed"));
    assert_eq!((told.seen("a3").as_str(), told.lost("a3").as_str()), ("u1 a1 u2 a2", "failed"));
}
