//! Tests of the view of a comparison: what it says, its two layouts, and where its rows lead.

use tv::app::comparison::{Compared, OtherRun};
use tv::app::effect::Effect;
use tv::app::input::action::View;
use tv::app::update::Event;
use tv::ingest::Target;
use tv::report::diff::compare;

use crate::fixtures;
use crate::stage::Stage;

/// A session with a branch, opened, and its comparison with the branch.
pub fn compared(size: (u16, u16)) -> Stage {
    let path = fixtures::root().join("pi/branches.jsonl");
    let target = Target {
        path: path.clone(),
        session: None,
    };
    let mut stage = Stage::open_target(&target, size, tv::render::theme::Theme::dark());
    stage.app.reader.session.file.address = Some(path.display().to_string());
    stage.press("D").type_in("branch 1").press("enter");
    let Some(Effect::Compare { names, run, other }) = stage.asked.pop() else {
        panic!("nothing is compared: {}", stage.picture());
    };
    assert_eq!(stage.app.reader.views.open(), Some(View::Diff));
    assert!(stage.picture().contains("Both runs are being read."));
    let OtherRun::Here(key) = other else {
        panic!("the branch is in the session");
    };
    let (_, diff) = compare(&[Ok((target.clone(), run)), Ok((target, key))]).unwrap();
    let read = Ok(Compared {
        diff: diff.into(),
        other: None,
    });
    stage.happen(Event::Compared { names, read });
    stage.arrange();
    stage
}

#[test]
fn a_branch_stands_beside_the_session() {
    let stage = compared((120, 40));
    insta::assert_snapshot!("diff", stage.picture());
    let stage = compared((80, 24));
    insta::assert_snapshot!("diff_narrow", stage.picture());
}

#[test]
fn rows_lead_to_their_run() {
    let mut stage = compared((120, 40));
    stage.press("% D");
    let other = stage.focused_key();
    stage.press("enter");
    let own = stage.focused_key();
    assert_ne!(own, other);
    let transcript = &stage.app.reader.session.transcript;
    let is_left = |key: &str| {
        let id = transcript.find(key).unwrap();
        transcript.branches().abandoned.contains(&id)
    };
    assert!(!is_left(&own) && is_left(&other), "{own} {other}");
    assert_eq!(stage.app.reader.views.open(), None);
    // In the text, too, the differences are landmarks.
    stage.press("g ] d");
    assert_eq!(stage.focused_key(), own);
    stage.press("] d ] d");
    assert!(
        stage.status().contains("no difference after"),
        "{}",
        stage.status()
    );
}

#[test]
fn the_command_line_offers_the_branches() {
    let path = fixtures::root().join("pi/branches.jsonl");
    let mut stage = Stage::open(&path, (120, 40), tv::render::theme::Theme::dark());
    stage.app.reader.session.file.address = Some(path.display().to_string());
    stage.press("] d");
    assert!(stage.status().contains(":diff"), "{}", stage.status());
    stage.press(":").type_in("diff").press("enter");
    let picture = stage.picture();
    assert!(picture.contains("diff branch 1"), "{picture}");
    stage.press("enter");
    assert!(
        matches!(stage.asked.as_slice(), [Effect::Compare { .. }]),
        "{:?}",
        stage.asked
    );
}
