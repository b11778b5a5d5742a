//! What was before the model, with branches, compactions that keep a tail, summaries that are asked for, and
//! sub-agents.

use super::Sight;
use crate::analysis::context::window::Windows;
use crate::analysis::derived::Memo;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, Break, EntryId, Marks, Piece, Role};
use crate::model::text::Text;
use crate::model::transcript::Transcript;

#[derive(Default)]
struct Fixture(Transcript);

impl Fixture {
    fn feed(&mut self, fill: impl FnOnce(&mut Batch)) -> &mut Self {
        let mut batch = Batch::default();
        fill(&mut batch);
        self.0.apply(batch);
        self.0.update_derived();
        self
    }

    fn tree(&mut self) -> &mut Self {
        self.feed(|out| out.meta(MetaEdit::LinkedTree))
    }

    fn say(&mut self, key: &str, role: Role, parent: Option<&str>) -> &mut Self {
        self.feed(|out| {
            let mut entry = out.new_entry(Key::from(key), role, None);
            entry.parent = parent.map(Key::from);
            entry.marks = Marks {
                prompt: role == Role::User,
                ..Marks::default()
            };
            let body = out.prose("words");
            entry.push(BlockKind::Text(body));
            out.entry(entry);
        })
    }

    /// A compaction, with its summary or with a line that asks for one.
    fn compact(
        &mut self,
        key: &str,
        parent: Option<&str>,
        kept: Option<&str>,
        says: bool,
    ) -> &mut Self {
        self.feed(|out| {
            let mut entry = out.new_entry(Key::from(key), Role::Harness, None);
            entry.parent = parent.map(Key::from);
            let line = Break::compaction("");
            entry.push(line);
            if says {
                let body = out.prose("a summary");
                entry.push_piece(Piece(1), BlockKind::Text(body));
            }
            out.entry(entry);
            if let Some(first) = kept {
                out.meta(MetaEdit::FirstKept {
                    compaction: Key::from(key),
                    first: Key::from(first),
                });
            }
        })
    }

    fn sight(&self, key: &str) -> Sight {
        Sight::at(
            &self.0,
            &Memo::<Windows>::of(&self.0).cuts,
            self.0.find(key).unwrap(),
        )
        .unwrap()
    }

    fn names(&self, ids: impl IntoIterator<Item = EntryId>) -> String {
        let keys = ids
            .into_iter()
            .map(|id| self.0.get(id).unwrap().key.to_string());
        keys.collect::<Vec<_>>().join(" ")
    }

    fn seen(&self, key: &str) -> String {
        self.names(self.sight(key).entries(&self.0))
    }

    fn lost(&self, key: &str) -> String {
        let sight = self.sight(key);
        self.names(
            self.0
                .order()
                .iter()
                .copied()
                .filter(|id| sight.has_lost(&self.0, *id)),
        )
    }
}

fn straight() -> Fixture {
    let mut fixture = Fixture::default();
    fixture.tree().say("u1", Role::User, None);
    fixture
        .say("a1", Role::Assistant, Some("u1"))
        .say("u2", Role::User, Some("a1"));
    fixture.say("a2", Role::Assistant, Some("u2"));
    fixture
}

#[test]
fn an_answer_is_not_before_the_model_that_writes_it() {
    let fixture = straight();
    assert_eq!(fixture.seen("a2"), "u1 a1 u2");
    assert_eq!(fixture.seen("u2"), "u1 a1 u2");
    assert_eq!(
        (fixture.lost("a2").as_str(), fixture.lost("u1").as_str()),
        ("", "")
    );
}

#[test]
fn a_compaction_drops_what_it_does_not_keep() {
    let mut fixture = straight();
    fixture
        .compact("c", Some("a2"), Some("u2"), true)
        .say("u3", Role::User, Some("c"));
    assert_eq!(fixture.seen("u3"), "c u2 a2 u3", "the summary comes first");
    assert_eq!(fixture.lost("u3"), "u1 a1");
    assert_eq!(fixture.seen("a2"), "u1 a1 u2", "before it nothing is lost");
    fixture
        .compact("d", Some("u3"), None, true)
        .say("a3", Role::Assistant, Some("d"));
    assert_eq!(fixture.seen("a3"), "d", "without a word everything goes");
    assert_eq!(fixture.lost("a3"), "u1 a1 u2 a2 c u3");
}

#[test]
fn a_result_is_kept_with_the_answer_that_called() {
    let mut fixture = straight();
    fixture.feed(|out| {
        out.push(Edit::Link {
            key: Key::from("r2"),
            parent: Some(Key::from("a2")),
        });
    });
    fixture
        .compact("c", Some("r2"), Some("r2"), true)
        .say("u3", Role::User, Some("c"));
    assert_eq!(fixture.seen("u3"), "c a2 u3");
    // What is not in the file cannot be kept.
    fixture
        .compact("d", Some("u3"), Some("nowhere"), true)
        .say("u4", Role::User, Some("d"));
    assert_eq!(fixture.seen("u4"), "d u4");
}

#[test]
fn an_older_compaction_is_not_kept() {
    let mut fixture = straight();
    fixture
        .compact("c", Some("a2"), Some("u2"), true)
        .say("u3", Role::User, Some("c"));
    fixture
        .compact("d", Some("u3"), Some("a2"), true)
        .say("u4", Role::User, Some("d"));
    assert_eq!(fixture.seen("u4"), "d a2 u3 u4");
}

#[test]
fn the_summary_that_is_asked_for_sees_everything() {
    let mut fixture = Fixture::default();
    fixture
        .say("u1", Role::User, None)
        .say("a1", Role::Assistant, Some("u1"));
    fixture
        .compact("c", None, None, false)
        .say("s", Role::Assistant, Some("c"));
    fixture
        .say("u2", Role::User, None)
        .say("a2", Role::Assistant, Some("u2"));
    assert_eq!(fixture.seen("s"), "u1 a1 c");
    assert_eq!(fixture.seen("a2"), "c s u2");
    assert_eq!(fixture.lost("a2"), "u1 a1");
}

#[test]
fn branches_are_seen_from_where_they_were() {
    let mut fixture = straight();
    // Back to the first answer, and on from there.
    fixture
        .say("v2", Role::User, Some("a1"))
        .say("b2", Role::Assistant, Some("v2"));
    assert_eq!(fixture.seen("b2"), "u1 a1 v2");
    assert_eq!(fixture.lost("b2"), "u2 a2");
    assert_eq!(
        fixture.seen("a2"),
        "u1 a1 u2",
        "on the branch that was left"
    );
    assert_eq!(fixture.lost("a2"), "");
}

#[test]
fn a_compaction_on_a_branch_is_none_elsewhere() {
    let mut fixture = straight();
    fixture
        .compact("c", Some("a2"), None, true)
        .say("u3", Role::User, Some("c"));
    fixture.say("v3", Role::User, Some("a2"));
    assert_eq!(fixture.seen("u3"), "c u3");
    assert_eq!(fixture.seen("v3"), "u1 a1 u2 a2 v3");
    assert_eq!(fixture.lost("v3"), "c u3");
}

#[test]
fn lanes_see_only_themselves() {
    let mut fixture = straight();
    fixture.feed(|out| {
        for (key, role) in [("x1", Role::User), ("x2", Role::Assistant)] {
            let mut entry = out.new_entry(Key::from(key), role, None);
            entry.lane = Some(Text::from("scout"));
            out.entry(entry);
        }
    });
    fixture.say("u3", Role::User, Some("a2"));
    assert_eq!(fixture.seen("x2"), "x1");
    assert_eq!(fixture.seen("u3"), "u1 a1 u2 a2 u3");
    assert_eq!(
        (fixture.lost("x2").as_str(), fixture.lost("u3").as_str()),
        ("", ""),
        "others are not concerned"
    );
}

#[test]
fn what_the_agent_leaves_out_is_not_seen() {
    let mut fixture = straight();
    fixture.feed(|out| {
        let mut entry = out.new_entry(Key::from("failed"), Role::Assistant, None);
        entry.parent = Some(Key::from("a2"));
        entry.marks.unsent = true;
        out.entry(entry);
    });
    fixture.say("a3", Role::Assistant, Some("failed"));
    assert_eq!(
        (fixture.seen("a3").as_str(), fixture.lost("a3").as_str()),
        ("u1 a1 u2 a2", "failed")
    );
}
