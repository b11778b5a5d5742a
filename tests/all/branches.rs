//! Tests of branches on the screen: the line above each, folds, jumps, the outline.

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
    assert_eq!(
        stage.focused_key(),
        "c0000009",
        "branch 1 is left first, so it has the first number"
    );
    stage.press("] b");
    assert_eq!(stage.focused_key(), "c000000d");
    stage.press("[ b");
    assert_eq!(stage.focused_key(), "c0000009");
    stage.press(":").type_in("goto branch 3").press("enter");
    assert_eq!(stage.focused_key(), "c000000d");
    stage.press(":").type_in("goto branch 1").press("enter");
    assert_eq!(stage.focused_key(), "c0000009");
    stage.press(":").type_in("goto branch 9").press("enter");
    assert!(stage.picture().contains("no branch 9"));
}

#[test]
fn a_branch_folds_into_one_row_and_opens_again() {
    let mut stage = stage((80, 24));
    stage.press("g ] b j");
    assert_eq!(stage.focused_key(), "c000000a");
    let before = stage.app.reader.text.sequence.len();
    stage.press("z c");
    assert_eq!(stage.app.reader.text.sequence.len(), before - 1);
    assert_eq!(
        stage.focused_key(),
        "c0000009",
        "the row that stands for it"
    );
    assert!(
        stage
            .picture()
            .contains("▸ branch 1: 2 entries, 1 turn, $0.01"),
        "{}",
        stage.picture()
    );
    assert!(
        !stage.picture().contains("I would rather not"),
        "{}",
        stage.picture()
    );
    stage.press("enter");
    assert_eq!(stage.app.reader.text.sequence.len(), before);
    assert!(
        stage.picture().contains("▾ branch 1"),
        "{}",
        stage.picture()
    );
}

#[test]
fn what_leads_into_a_folded_branch_opens_it() {
    let mut stage = stage((80, 24));
    stage.press("g ] b z c / r a t h e r enter");
    assert_eq!(stage.focused_key(), "c000000a");
    assert!(
        stage.picture().contains("I would rather not"),
        "{}",
        stage.picture()
    );
    stage.press("esc z c g z R");
    stage.press("] b j");
    assert_eq!(stage.focused_key(), "c000000a", "all folds are open");
    stage.press("g z c");
    assert!(
        stage.picture().contains("not on a branch"),
        "{}",
        stage.picture()
    );
}

/// A session of a prompt with so many answers of a cent each, which was left for another prompt.
fn long_branch(answers: usize) -> Stage {
    let line = |id: &str, parent: &str, message: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-05-20T14:01:00.000Z","message":{{{message}}}}}"#
        ) + "\n"
    };
    let said = |role: &str, text: &str| {
        format!(r#""role":"{role}","content":[{{"type":"text","text":"{text}"}}]"#)
    };
    let mut text = format!(
        "{}\n{}{}",
        r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-05-20T14:00:00.000Z","cwd":"/home/ann"}"#,
        line("p0", "null", &said("user", "Where do we begin?")),
        line("a0", r#""p0""#, &said("user", "Count the boats.")),
    );
    for n in 1..=answers {
        let spent = r#""usage":{"input":1,"output":1,"totalTokens":2,"cost":{"total":0.01}}"#;
        let message = said("assistant", "One more boat.") + "," + spent;
        text += &line(&format!("a{n}"), &format!(r#""a{}""#, n - 1), &message);
    }
    text += &line("b0", r#""p0""#, &said("user", "Count the piers."));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, text).unwrap();
    Stage::open_from_disk(&path, (200, 40))
}

/// Whether a row of the outline has both of these.
fn outline_shows(stage: &Stage, title: &str, figure: &str) -> bool {
    let picture = stage.picture();
    let mut outline = picture.lines().filter_map(|line| line.split('│').next());
    outline.any(|row| row.contains(title) && row.contains(figure))
}

#[test]
fn what_a_long_branch_cost_is_known_without_a_look_at_each_entry() {
    let stage = long_branch(3_000);
    assert!(
        outline_shows(&stage, "redone", "30.00"),
        "{}",
        stage.picture()
    );
    assert!(
        !stage.app.reader.outline.is_incomplete(),
        "pages of it are summed up already"
    );
}

#[test]
fn what_agents_cost_that_take_turns_is_shown_when_it_is_known() {
    let prompt = |uuid: &str, said: &str| {
        format!(
            r#"{{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","uuid":"{uuid}","timestamp":"2026-05-20T14:00:00.000Z","message":{{"role":"user","content":"{said}"}}}}"#
        ) + "\n"
    };
    let mut text = prompt("p", "Tow the barges.");
    for n in 0..3_000 {
        let agent = ["ferry", "tug"][n % 2];
        text += &(format!(
            r#"{{"parentUuid":null,"isSidechain":true,"agentId":"{agent}","sessionId":"s","type":"assistant","uuid":"u{n}","timestamp":"2026-05-20T14:01:00.000Z","message":{{"id":"m{n}","role":"assistant","model":"claude-opus-4-6","content":[{{"type":"text","text":"Ay."}}],"usage":{{"input_tokens":2000,"output_tokens":0}}}}}}"#
        ) + "\n");
    }
    text += &prompt("q", "Moor them.");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, text).unwrap();
    let mut stage = Stage::open_from_disk(&path, (200, 40));
    let shows_cost = |stage: &Stage| outline_shows(stage, "tug", "15.00");
    let mut frames = 1;
    while stage.app.is_unfinished() {
        assert!(frames < 10, "it comes to an end");
        stage.arrange();
        frames += 1;
    }
    assert!(shows_cost(&stage), "{}", stage.picture());
    // What is not in sight is not waited for.
    let mut stage = Stage::open_from_disk(&path, (60, 24));
    stage.arrange();
    assert!(
        !stage.app.reader.outline.is_incomplete(),
        "{}",
        stage.picture()
    );
}

// === helpers of the session ===

#[test]
fn a_helper_of_the_session_stands_folded_at_what_it_served() {
    let mut stage = Stage::open(&fixture("claude-code/team.jsonl"), (120, 40), Theme::dark());
    let place = |stage: &Stage, what: &str| {
        stage
            .window()
            .iter()
            .position(|(_, _, text)| text.contains(what))
    };
    let head = "▸ compaction  2 entries";
    let folded = place(&stage, head).unwrap_or_else(|| panic!("{}", stage.picture()));
    assert_eq!(
        place(&stage, "compacted from"),
        Some(folded + 1),
        "{}",
        stage.picture()
    );
    assert_eq!(place(&stage, "summarize the conversation"), None);

    // A search looks into it, and what it opened folds again from its head.
    stage
        .press("/")
        .type_in("summarize the")
        .press("enter")
        .rest();
    let opened = place(&stage, "▾ compaction").unwrap_or_else(|| panic!("{}", stage.picture()));
    assert!(place(&stage, "summarize the conversation").is_some_and(|place| place > opened));
    assert!(
        place(&stage, "built.</summary>").is_some(),
        "{}",
        stage.picture()
    );
    stage.press("h");
    assert!(
        place(&stage, head).is_some() && place(&stage, "built.</summary>").is_none(),
        "{}",
        stage.picture()
    );
    stage.press("l");
    assert!(
        place(&stage, "built.</summary>").is_some(),
        "{}",
        stage.picture()
    );
    stage.press("h").press("z a");
    assert!(
        place(&stage, "built.</summary>").is_some(),
        "{}",
        stage.picture()
    );
}
