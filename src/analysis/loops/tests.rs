//! Loops and undone edits, with similar cases that are neither.

use super::{Loops, Results, loop_words};
use crate::analysis::derived::Memo;
use crate::model::body::Tree;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, EntryId, Marks, Role};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use crate::model::transcript::Transcript;

#[derive(Default)]
struct Session {
    transcript: Transcript,
    loops: Memo<Loops>,
    number: usize,
    lane: Option<Text>,
}

impl Session {
    fn feed(&mut self, fill: impl FnOnce(&mut Batch)) {
        let mut batch = Batch::default();
        fill(&mut batch);
        let touched = self.transcript.apply(batch);
        self.transcript.update_derived();
        self.loops.invalidate(&self.transcript, &touched);
        self.loops.follow(&self.transcript, usize::MAX);
        // Incremental updates equal one pass.
        assert_eq!(all(&self.loops), all(&Memo::of(&self.transcript)));
    }

    fn prompt(&mut self) {
        self.number += 1;
        let key = Text::clean(&format!("p{}", self.number));
        self.feed(|out| {
            let body = out.prose("go on");
            let mut entry = out.new_entry(key, Role::User, Some(Timestamp(0)));
            entry.marks = Marks {
                prompt: true,
                ..Marks::default()
            };
            entry.push(BlockKind::Text(body));
            out.entry(entry);
        });
    }

    fn ask(&mut self, key: &str, name: &str, fields: &[(&str, &str)]) {
        let kind = match name {
            "read" => ToolKind::Read,
            "edit" => ToolKind::Edit,
            _ => ToolKind::Run,
        };
        let lane = self.lane.clone();
        self.feed(|out| {
            let members = fields
                .iter()
                .map(|(name, value)| ((*name).into(), Tree::Text((*value).into())));
            let tree = Tree::Map(members.collect());
            let headline = fields.first().map_or("", |(_, value)| value);
            let bytes = fields.iter().map(|(_, value)| value.len()).sum();
            let call = ToolCall {
                key: key.into(),
                name: name.into(),
                kind,
                headline: headline.into(),
                input: out.tree(&Text::from(headline), bytes, || tree),
                state: ToolState::Pending,
                started: None,
                lane: None,
            };
            let mut entry = out.new_entry(key.into(), Role::Assistant, Some(Timestamp(0)));
            entry.lane = lane;
            entry.push(BlockKind::Call(Box::new(call)));
            out.entry(entry);
        });
    }

    fn call(&mut self, name: &str, argument: &str) -> String {
        self.number += 1;
        let key = format!("c{}", self.number);
        self.ask(&key, name, &[("command", argument)]);
        key
    }

    fn answer(&mut self, key: &str, verdict: Verdict, output: &str) {
        self.feed(|out| {
            let result = ToolResult {
                key: Text::clean(&format!("{key}/result")),
                tool: None,
                verdict,
                body: out.output(output),
                patch: None,
                images: Vec::new(),
                facts: Text::default(),
                at: None,
                duration_ms: None,
                work: None,
            };
            out.push(Edit::Result {
                call: key.into(),
                result: Box::new(result),
                lane: None,
            });
        });
    }

    fn edit(&mut self, path: &str, old: &str, new: &str) -> String {
        self.number += 1;
        let key = format!("e{}", self.number);
        self.ask(
            &key,
            "edit",
            &[
                ("file_path", path),
                ("old_string", old),
                ("new_string", new),
            ],
        );
        key
    }

    fn loops(&self) -> Vec<String> {
        self.loops
            .runs
            .iter()
            .map(|run| loop_words(run, "x"))
            .collect()
    }
}

type All = (Vec<(usize, Text, Results)>, Vec<(EntryId, EntryId)>);

fn all(loops: &Loops) -> All {
    let runs = &loops.runs;
    let runs = runs
        .iter()
        .map(|run| (run.count(), run.tool.clone(), run.results()))
        .collect();
    (
        runs,
        loops
            .undone
            .iter()
            .map(|undone| (undone.edit.entry, undone.by.entry))
            .collect(),
    )
}

#[test]
fn three_equal_calls_are_a_loop() {
    let mut session = Session::default();
    session.prompt();
    for number in 1..=4 {
        let key = session.call("bash", "cargo test");
        session.answer(&key, Verdict::Failed, "boom");
        let expected: &[&str] = match number {
            1 | 2 => &[],
            3 => &["loop x3 bash, same result"],
            _ => &["loop x4 bash, same result"],
        };
        assert_eq!(session.loops(), expected);
    }
    assert_eq!(
        session.loops.current(&session.transcript).unwrap().count(),
        4
    );
    assert_eq!(session.loops.entries().len(), 2, "the third and the fourth");
    session.call("bash", "cargo test --lib");
    assert_eq!(
        session.loops.current(&session.transcript).unwrap().count(),
        1,
        "it is over"
    );
    (0..3).for_each(|_| drop(session.call("make", "all")));
    session.call("read", "a.rs");
    assert_eq!(
        session.loops.current(&session.transcript).unwrap().count(),
        3,
        "looking around ends no loop"
    );
    (0..9).for_each(|number| drop(session.call("read", &format!("{number}.rs"))));
    assert_eq!(
        session.loops.current(&session.transcript).unwrap().count(),
        1,
        "but time does"
    );
    assert_eq!(session.loops().len(), 2, "but was one");
}

#[test]
fn results_are_compared() {
    let mut session = Session::default();
    for output in ["1 of 9", "2 of 9", "3 of 9"] {
        let key = session.call("bash", "cat progress");
        session.answer(&key, Verdict::Done, output);
    }
    assert_eq!(session.loops(), ["loop x3 bash, results differ"]);
    let mut session = Session::default();
    (0..3).for_each(|_| drop(session.call("bash", "sleep 1")));
    assert_eq!(session.loops(), ["loop x3 bash"]);
}

#[test]
fn looking_around_in_between_is_no_change_but_an_edit_is_one() {
    let mut session = Session::default();
    for _ in 0..3 {
        session.call("bash", "cargo test");
        session.call("read", "src/a.rs");
    }
    assert_eq!(
        session.loops(),
        ["loop x3 bash", "loop x3 read"].map(str::to_owned)[..1],
        "bash may change a.rs"
    );
    let mut session = Session::default();
    for number in 0..4 {
        session.call("bash", "cargo test");
        session.edit("src/a.rs", &format!("{number}"), &format!("{}", number + 1));
    }
    assert_eq!(session.loops(), [] as [&str; 0]);
}

#[test]
fn an_edit_that_failed_changes_nothing() {
    let mut session = Session::default();
    let mut edits = Vec::new();
    for number in 0..3 {
        session.call("bash", "cargo test");
        edits.push(session.edit("src/a.rs", &format!("x{number}"), &format!("y{number}")));
    }
    assert_eq!(session.loops(), [] as [&str; 0]);
    for key in &edits {
        session.answer(key, Verdict::Failed, "not found");
    }
    assert_eq!(session.loops(), ["loop x3 bash"], "late results count");
}

#[test]
fn a_prompt_and_another_lane_are_another_matter() {
    let mut session = Session::default();
    for _ in 0..4 {
        session.call("bash", "make");
        session.prompt();
    }
    assert_eq!(session.loops(), [] as [&str; 0]);
    for lane in ["a", "b", "c"] {
        session.lane = Some(lane.into());
        session.call("bash", "make");
    }
    assert_eq!(session.loops(), [] as [&str; 0]);
    session.call("bash", "make");
    session.call("bash", "make");
    assert_eq!(session.loops(), ["loop x3 bash"]);
}

#[test]
fn a_sub_agent_whose_call_has_a_result_repeats_itself_no_more() {
    let mut session = Session::default();
    let task = session.call("task", "look");
    let call = Some(Text::from(task.as_str()));
    session.feed(|out| {
        out.meta(MetaEdit::Lane {
            name: "mate".into(),
            label: None,
            call,
        });
    });
    session.lane = Some("mate".into());
    (0..3).for_each(|_| drop(session.call("bash", "make")));
    let current = |session: &Session| {
        session
            .loops
            .current(&session.transcript)
            .map(|run| (run.tool.to_string(), run.count()))
    };
    assert_eq!(current(&session), Some(("bash".to_owned(), 3)));
    session.answer(&task, Verdict::Done, "nothing there");
    assert_eq!(current(&session), Some(("task".to_owned(), 1)));
    assert_eq!(session.loops(), ["loop x3 bash"], "it was one");
}

#[test]
fn arguments_that_grow_are_judged_as_they_stand() {
    let mut session = Session::default();
    for key in ["a", "b", "c"] {
        session.ask(key, "bash", &[("command", "ma")]);
        session.ask(key, "bash", &[("command", &format!("make {key}"))]);
    }
    assert_eq!(session.loops(), [] as [&str; 0]);
    session.ask("c", "bash", &[("command", "make b")]);
    session.ask("a", "bash", &[("command", "make b")]);
    assert_eq!(session.loops(), ["loop x3 bash"]);
    session.ask("b", "bash", &[("command", "make x")]);
    assert_eq!(session.loops(), [] as [&str; 0]);
}

#[test]
fn calls_that_only_begin_alike_are_not_equal() {
    let mut session = Session::default();
    for (number, end) in ["a", "b", "c"].iter().enumerate() {
        session.ask(
            &format!("k{number}"),
            "bash",
            &[("command", "cat <<EOF"), ("rest", end)],
        );
    }
    assert_eq!(session.loops(), [] as [&str; 0]);
}

#[test]
fn an_edit_that_takes_another_one_back_is_found() {
    let mut session = Session::default();
    session.edit("a.rs", "sleep(50)", "recv(1)");
    session.edit("b.rs", "recv(1)", "sleep(50)");
    assert_eq!(session.loops.undone.len(), 0, "another file");
    let back = session.edit("a.rs", "recv(1)", "sleep(50)");
    let undone: Vec<_> = session.loops.undone.clone();
    assert_eq!(undone.len(), 1);
    assert_eq!(undone[0].path.as_str(), "a.rs");
    assert_eq!(Some(undone[0].by.entry), session.transcript.find(&back));
    session.answer(&back, Verdict::Failed, "not found");
    assert_eq!(session.loops.undone.len(), 0, "it changed nothing");
    session.edit("a.rs", "recv(1)", "sleep(50)");
    assert_eq!(session.loops.undone.len(), 1);
    session.edit("a.rs", "sleep(50)", "recv(1)");
    assert_eq!(session.loops.undone.len(), 2, "and back again");
}

#[test]
fn going_on_with_an_edit_is_no_turning_back() {
    let mut session = Session::default();
    session.edit("a.rs", "one", "two");
    session.edit("a.rs", "two", "three");
    session.edit("a.rs", "three", "four");
    session.edit("a.rs", "", "four");
    session.edit("a.rs", "four", "");
    assert_eq!(session.loops.undone.len(), 0);
}
