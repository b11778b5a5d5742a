//! Branches on the screen: the line above each, folds, jumps, the outline.

use tv::render::theme::Theme;

use crate::stage::{Stage, fixture};

fn stage(size: (u16, u16)) -> Stage {
    Stage::open(&fixture("pi/branches.jsonl"), size, Theme::dark())
}

#[test]
fn each_branch_has_a_line_and_the_outline_lists_them() {
    insta::assert_snapshot!("branches-120x40", stage((120, 40)).picture());
    let mut narrow = stage((80, 24));
    narrow.press("g ] b");
    insta::assert_snapshot!("branches-80x24", narrow.picture());
    narrow.press("I z 2");
    insta::assert_snapshot!("branches-outline-80x24", narrow.picture());
}

#[test]
fn jumps_go_from_branch_to_branch() {
    let mut stage = stage((80, 24));
    stage.press("g ] b");
    assert_eq!(stage.focused_key(), "c0000009", "branch 1 is left first, so it has the first number");
    stage.press("] b");
    assert_eq!(stage.focused_key(), "c000000d");
    stage.press("[ b");
    assert_eq!(stage.focused_key(), "c0000009");
    stage.press("3 ] B");
    assert_eq!(stage.focused_key(), "c000000d");
    stage.press("] B");
    assert_eq!(stage.focused_key(), "c0000009");
    stage.press("9 ] B");
    assert!(stage.picture().contains("no branch 9"));
}

#[test]
fn a_branch_folds_into_one_row_and_opens_again() {
    let mut stage = stage((80, 24));
    stage.press("g ] B j");
    assert_eq!(stage.focused_key(), "c000000a");
    let before = stage.state.sequence.len();
    stage.press("z c");
    assert_eq!(stage.state.sequence.len(), before - 1);
    assert_eq!(stage.focused_key(), "c0000009", "the row that stands for it");
    assert!(stage.picture().contains("▸ branch 1: 2 entries, 1 turn, $0.01"), "{}", stage.picture());
    assert!(!stage.picture().contains("I would rather not"), "{}", stage.picture());
    stage.press("enter");
    assert_eq!(stage.state.sequence.len(), before);
    assert!(stage.picture().contains("▾ branch 1"), "{}", stage.picture());
}

#[test]
fn what_leads_into_a_folded_branch_opens_it() {
    let mut stage = stage((80, 24));
    stage.press("g ] B z c / r a t h e r enter");
    assert_eq!(stage.focused_key(), "c000000a");
    assert!(stage.picture().contains("I would rather not"), "{}", stage.picture());
    stage.press("esc z c g z R");
    stage.press("] B j");
    assert_eq!(stage.focused_key(), "c000000a", "all folds are open");
    stage.press("g z c");
    assert!(stage.picture().contains("not on a branch"), "{}", stage.picture());
}
