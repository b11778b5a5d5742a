//! Each flag with a session that has it and one that must not.

use proptest::prelude::{prop, proptest};

use super::{Files, Flag};
use crate::analysis::calls::Outcome;
use crate::analysis::derived::Memo;
use crate::model::body::Tree;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, EntryId, Role};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use crate::model::transcript::Transcript;

const HULL: &str = "src/hull.rs";

#[derive(Default)]
struct Fixture {
    transcript: Transcript,
    files: Memo<Files>,
    calls: usize,
    /// Whether further calls have no timestamps.
    has_no_times: bool,
}

impl Fixture {
    fn apply(&mut self, fill: impl FnOnce(&mut Batch)) {
        let mut batch = Batch::default();
        fill(&mut batch);
        let touched = self.transcript.apply(batch);
        self.files.invalidate(&self.transcript, &touched);
        while !self.files.follow(&self.transcript, 2) {}
    }

    /// A call of a lane (`main` for none), a second after the one before; with a verdict if it has
    /// a result.
    fn call(
        &mut self,
        lane: &str,
        kind: ToolKind,
        headline: &str,
        input: &[(&str, &str)],
        end: Option<Verdict>,
    ) {
        self.calls += 1;
        let number = self.calls;
        let at = (!self.has_no_times).then(|| Timestamp(i64::try_from(number).unwrap() * 1_000));
        let key = Text::from(format!("c{number}").as_str());
        let tree = Tree::Map(
            input
                .iter()
                .map(|(name, text)| (Text::from(*name), Tree::Text(Text::from(*text))))
                .collect(),
        );
        self.apply(|out| {
            let mut entry = out.new_entry(
                Text::from(format!("e{number}").as_str()),
                Role::Assistant,
                at,
            );
            entry.lane = Some(lane).filter(|lane| *lane != "main").map(Text::from);
            let call = ToolCall {
                key: key.clone(),
                name: Text::from("tool"),
                kind,
                headline: Text::from(headline),
                input: out.tree(&Text::from(headline), 10, || tree),
                state: ToolState::Pending,
                started: at,
                lane: None,
            };
            entry.push(BlockKind::Call(Box::new(call)));
            out.entry(entry);
        });
        if let Some(verdict) = end {
            let second = if self.has_no_times { 0 } else { number };
            self.result(number, second, verdict);
        }
    }

    fn result(&mut self, number: usize, second: usize, verdict: Verdict) {
        self.apply(|out| {
            let result = ToolResult {
                key: Text::from(format!("r{number}").as_str()),
                tool: None,
                verdict,
                body: out.output("ok"),
                patch: None,
                images: Vec::new(),
                facts: Text::default(),
                at: (second > 0).then(|| Timestamp(i64::try_from(second).unwrap() * 1_000)),
                duration_ms: None,
                work: None,
            };
            out.push(Edit::Result {
                call: Text::from(format!("c{number}").as_str()),
                result: Box::new(result),
                lane: None,
            });
        });
    }

    fn read(&mut self, lane: &str) {
        self.call(lane, ToolKind::Read, HULL, &[], Some(Verdict::Done));
    }

    fn edit(&mut self, lane: &str, old: &str, new: &str) {
        self.call(
            lane,
            ToolKind::Edit,
            HULL,
            &[("old_string", old), ("new_string", new)],
            Some(Verdict::Done),
        );
    }

    fn write(&mut self, lane: &str, content: &str) {
        self.call(
            lane,
            ToolKind::Write,
            HULL,
            &[("content", content)],
            Some(Verdict::Done),
        );
    }

    fn run(&mut self, lane: &str, command: &str) {
        self.call(
            lane,
            ToolKind::Run,
            command,
            &[("command", command)],
            Some(Verdict::Done),
        );
    }

    /// The flags of the file, use by use.
    fn flags(&self) -> Vec<&'static str> {
        let uses = &self.files.file(HULL).unwrap().uses;
        uses.iter()
            .map(|one| one.flag().map_or("", Flag::word))
            .collect()
    }
}

#[test]
fn an_edit_on_a_read_that_another_lane_made_old() {
    let mut fixture = Fixture::default();
    fixture.read("main");
    fixture.edit("mate", "a", "b");
    fixture.edit("main", "c", "d");
    fixture.edit("main", "e", "f");
    assert_eq!(fixture.flags(), ["", "", "stale read", ""], "flagged once");
    let flag = fixture.files.file(HULL).unwrap().uses[2].flag();
    assert!(matches!(flag, Some(Flag::Stale { change, .. }) if change.entry == EntryId(1)));
}

#[test]
fn an_edit_on_a_read_that_a_command_made_old() {
    let mut fixture = Fixture::default();
    fixture.read("main");
    fixture.run("main", "sed -i 's/a/b/' src/hull.rs");
    fixture.edit("main", "c", "d");
    assert_eq!(fixture.flags(), ["", "", "stale read"]);
}

#[test]
fn no_stale_read_where_the_file_was_read_again_or_changed_by_its_own_lane() {
    let mut fixture = Fixture::default();
    fixture.read("main");
    fixture.edit("mate", "a", "b");
    fixture.read("main");
    fixture.edit("main", "c", "d");
    fixture.edit("main", "g", "h");
    fixture.run("main", "sed -i 's/a/b/' src/hull.rs && cat src/hull.rs");
    fixture.edit("main", "k", "l");
    // A lane that never read the file relies on no read.
    fixture.edit("cook", "m", "n");
    assert!(
        fixture.flags().iter().all(|flag| flag.is_empty()),
        "{:?}",
        fixture.flags()
    );
}

#[test]
fn a_failed_change_makes_no_read_old() {
    let mut fixture = Fixture::default();
    fixture.read("main");
    fixture.call(
        "mate",
        ToolKind::Edit,
        HULL,
        &[("old_string", "a"), ("new_string", "b")],
        Some(Verdict::Failed),
    );
    fixture.call(
        "mate",
        ToolKind::Edit,
        HULL,
        &[("old_string", "a"), ("new_string", "b")],
        None,
    );
    fixture.edit("main", "c", "d");
    assert_eq!(fixture.flags(), ["", "not applied", "", ""]);
}

#[test]
fn a_write_over_what_another_lane_changed() {
    let mut fixture = Fixture::default();
    fixture.read("main");
    fixture.edit("mate", "a", "b");
    fixture.write("main", "all new");
    assert_eq!(fixture.flags(), ["", "", "clobber"]);
    let mut blind = Fixture::default();
    blind.write("mate", "one");
    blind.write("main", "two");
    assert_eq!(blind.flags(), ["", "clobber"], "it was never read");
}

#[test]
fn no_clobber_where_it_was_read_or_its_own() {
    let mut fixture = Fixture::default();
    fixture.write("main", "one");
    fixture.edit("main", "a", "b");
    fixture.write("main", "two");
    fixture.edit("mate", "a", "b");
    fixture.read("main");
    fixture.write("main", "three");
    assert!(
        fixture.flags().iter().all(|flag| flag.is_empty()),
        "{:?}",
        fixture.flags()
    );
}

#[test]
fn edits_and_writes_that_are_turned_back() {
    let mut fixture = Fixture::default();
    fixture.edit("main", "sleep(50)", "wait()");
    fixture.edit("main", "x", "y");
    fixture.edit("main", "wait()", "sleep(50)");
    assert_eq!(fixture.flags(), ["", "", "undone"]);
    let mut written = Fixture::default();
    written.write("main", "one");
    written.write("main", "two");
    written.write("main", "one");
    assert_eq!(written.flags(), ["", "", "undone"]);
}

#[test]
fn going_on_is_not_turning_back() {
    let mut fixture = Fixture::default();
    fixture.edit("main", "a", "b");
    fixture.edit("main", "b", "c");
    fixture.edit("main", "a", "b");
    fixture.edit("main", "z", "z");
    fixture.write("main", "one");
    fixture.write("main", "one");
    assert!(
        fixture.flags().iter().all(|flag| flag.is_empty()),
        "{:?}",
        fixture.flags()
    );
}

#[test]
fn an_edit_that_never_took_hold() {
    let edit = [("old_string", "a"), ("new_string", "b")];
    let mut fixture = Fixture::default();
    fixture.read("main");
    fixture.call("main", ToolKind::Edit, HULL, &edit, Some(Verdict::Failed));
    assert_eq!(fixture.flags(), ["", "not applied"]);
    fixture.edit("mate", "a", "b");
    assert_eq!(
        fixture.flags()[1],
        "not applied",
        "another lane's does not count"
    );
    fixture.edit("main", "a", "c");
    assert_eq!(fixture.flags()[1], "", "it was tried again");
}

#[test]
fn times_order_the_uses_of_lanes() {
    let mut fixture = Fixture::default();
    fixture.read("main");
    fixture.call(
        "main",
        ToolKind::Edit,
        HULL,
        &[("old_string", "c"), ("new_string", "d")],
        None,
    );
    fixture.edit("mate", "a", "b");
    // Requested before the other lane's change, and done after it.
    fixture.result(2, 9, Verdict::Done);
    assert_eq!(fixture.flags(), ["", "", "stale read"]);
    let outcomes: Vec<Outcome> = fixture
        .files
        .file(HULL)
        .unwrap()
        .uses
        .iter()
        .map(|one| one.outcome)
        .collect();
    assert_eq!(outcomes, [Outcome::Done; 3]);
}

#[test]
fn one_file_has_one_row_however_it_is_named() {
    let mut fixture = Fixture::default();
    fixture.apply(|out| out.meta(MetaEdit::Cwd(Text::from("/home/mira/boats"))));
    for path in [
        "/home/mira/boats/src/hull.rs",
        "./src/hull.rs",
        "src/hull.rs:10-20",
        "src/../src/hull.rs",
    ] {
        fixture.call("main", ToolKind::Read, path, &[], Some(Verdict::Done));
    }
    // A later change of directory does not affect paths.
    fixture.apply(|out| out.meta(MetaEdit::Cwd(Text::from("/home/mira/boats/src"))));
    fixture.call(
        "main",
        ToolKind::Search,
        "keel in src/hull.rs",
        &[("path", HULL)],
        Some(Verdict::Done),
    );
    fixture.call(
        "main",
        ToolKind::Search,
        "keel in src",
        &[("path", "src")],
        Some(Verdict::Done),
    );
    fixture.run("main", "cat Cargo.toml");
    let listed: Vec<(&str, usize)> = fixture
        .files
        .list()
        .map(|(path, file)| (path.as_str(), file.reads))
        .collect();
    assert_eq!(
        listed,
        [(HULL, 5)],
        "folders and files of commands alone are not listed"
    );
}

#[test]
fn a_call_that_names_one_file_in_two_ways_uses_it_once() {
    let mut fixture = Fixture::default();
    fixture.apply(|out| out.meta(MetaEdit::Cwd(Text::from("/home/mira/boats"))));
    let twice = "src/hull.rs ; /home/mira/boats/src/hull.rs";
    fixture.call("main", ToolKind::Read, twice, &[], Some(Verdict::Done));
    fixture.read("main");
    let file = fixture.files.file(HULL).unwrap();
    assert_eq!((file.reads, file.uses.len()), (2, 2));
}

#[test]
fn following_in_steps_knows_the_same_as_following_at_once() {
    let mut fixture = Fixture::default();
    fixture.read("main");
    fixture.edit("mate", "a", "b");
    fixture.call(
        "main",
        ToolKind::Edit,
        HULL,
        &[("old_string", "b"), ("new_string", "a")],
        None,
    );
    fixture.write("cook", "all");
    fixture.result(3, 3, Verdict::Done);
    let mut fresh = Memo::<Files>::default();
    assert!(fresh.follow(&fixture.transcript, usize::MAX));
    assert_eq!(
        fixture.files.file(HULL).unwrap().uses,
        fresh.file(HULL).unwrap().uses
    );
    assert_eq!(fixture.flags(), ["", "", "stale read", "clobber"]);
}

proptest! {
    /// Incremental updates equal one pass, in whatever order calls get results and are sent again.
    #[test]
    fn following_in_any_steps_knows_the_same_as_following_at_once(
        steps in prop::collection::vec((0u8..8, 0usize..12, 0usize..30, 0u8..3), 1..30),
    ) {
        let lanes = ["main", "mate"];
        let mut fixture = Fixture::default();
        for (kind, which, second, word) in steps {
            fixture.has_no_times ^= second == 13;
            let (lane, word) = (lanes[which % 2], ["a", "b", "c"][usize::from(word)]);
            let verdict = if which % 3 == 0 { Verdict::Failed } else { Verdict::Done };
            match kind {
                0 => fixture.read(lane),
                1 => fixture.edit(lane, word, "b"),
                2 => fixture.write(lane, word),
                3 => fixture.run(lane, &format!("sed -i s/a/{word}/ {HULL} && cat {HULL}")),
                4 => fixture.call(lane, ToolKind::Edit, HULL, &[("old_string", "b"), ("new_string", word)], None),
                _ if fixture.calls > 0 => fixture.result(which % fixture.calls + 1, second, verdict),
                _ => {}
            }
            if fixture.calls > 0 {
                let learned = fixture.transcript.order()[which % fixture.transcript.order().len()];
                fixture.files.change(&fixture.transcript, learned);
            }
        }
        let mut fresh = Memo::<Files>::default();
        while !fixture.files.follow(&fixture.transcript, 2) {}
        while !fresh.follow(&fixture.transcript, usize::MAX) {}
        let of = |files: &Files| files.by_path.get(HULL).map(|file| file.uses.clone());
        assert_eq!(of(&fixture.files), of(&fresh));
    }
}

#[test]
fn each_file_of_a_patch_is_one_and_commands_count_where_they_name_it() {
    let mut fixture = Fixture::default();
    let patch = "*** Begin Patch\n*** Add File: Dockerfile\n+a\n*** Update File: src/hull.rs\n@@\n-c\n+d\n*** End Patch";
    let files = "Dockerfile ; src/hull.rs";
    fixture.call(
        "main",
        ToolKind::Edit,
        files,
        &[("input", patch)],
        Some(Verdict::Done),
    );
    fixture.run("main", "cat src/hull.rs");
    fixture.run("main", "sed -i s/d/c/ src/hull.rs");
    fixture.edit("main", "d", "c");
    let mut listed: Vec<&str> = fixture
        .files
        .list()
        .map(|(path, _)| path.as_str())
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, ["Dockerfile", HULL]);
    let hull = fixture.files.file(HULL).unwrap();
    assert_eq!(
        (hull.reads, hull.edits, hull.writes, hull.uses.len()),
        (1, 2, 1, 4)
    );
    let mut fixture = Fixture::default();
    fixture.call(
        "main",
        ToolKind::Edit,
        files,
        &[("input", patch)],
        Some(Verdict::Done),
    );
    let back = "*** Begin Patch\n*** Update File: src/hull.rs\n@@\n-d\n+c\n*** End Patch";
    fixture.call(
        "main",
        ToolKind::Edit,
        HULL,
        &[("input", back)],
        Some(Verdict::Done),
    );
    assert_eq!(
        fixture.flags(),
        ["", "undone"],
        "what is undone is its own part of the patch"
    );
}
