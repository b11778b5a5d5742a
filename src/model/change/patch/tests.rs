use super::{is_patch, of_patch};
use crate::model::change::{DiffLine, LineSign};

fn parsed(text: &str) -> Vec<(LineSign, Option<u32>, String)> {
    assert!(is_patch(text), "{text}");
    let line = |line: &DiffLine| {
        (
            line.sign,
            line.new.or(line.old),
            line.parts.iter().map(|(_, text)| text.as_str()).collect(),
        )
    };
    of_patch(text).iter().map(line).collect()
}

fn heads(text: &str) -> Vec<String> {
    parsed(text)
        .into_iter()
        .filter(|line| line.0 == LineSign::File)
        .map(|line| line.2)
        .collect()
}

#[test]
fn unified_diffs_have_numbers() {
    let shown = parsed("--- a/x\n+++ b/x\n@@ -43,2 +43,3 @@ fn f\n a\n-b\n+c\n+d\n");
    assert_eq!(shown[0], (LineSign::File, None, "x".to_owned()));
    assert_eq!(shown[1], (LineSign::Note, None, "fn f".to_owned()));
    assert_eq!(shown[2], (LineSign::Same, Some(43), "a".to_owned()));
    assert_eq!(shown[3], (LineSign::Removed, Some(44), "b".to_owned()));
    assert_eq!(shown[5], (LineSign::Added, Some(45), "d".to_owned()));
}

#[test]
fn numbered_lines_are_a_patch() {
    let shown = parsed("     ...\n  9 a\n-10 b\n+10 c\n 11 \n");
    assert_eq!(shown[2], (LineSign::Removed, Some(10), "b".to_owned()));
    assert_eq!(shown[3], (LineSign::Added, Some(10), "c".to_owned()));
    assert_eq!(shown[0].0, LineSign::Note);
}

#[test]
fn patches_with_heads_and_search_blocks() {
    let text = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** Add File: b.rs\n+z\n*** End Patch\n";
    let flags: Vec<LineSign> = parsed(text).iter().map(|line| line.0).collect();
    assert_eq!(
        flags,
        [
            LineSign::File,
            LineSign::Removed,
            LineSign::Added,
            LineSign::File,
            LineSign::Added
        ]
    );
    assert_eq!(heads(text), ["a.rs", "b.rs (new)"]);
    let loose =
        parsed("*** Begin Patch\n*** Update File: a\n@@\nid,setup\n+1,Why\n*** End Patch\n");
    assert_eq!(loose[1], (LineSign::Same, None, "id,setup".to_owned()));
    let shown = parsed("------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n");
    assert_eq!(
        shown.iter().map(|line| line.0).collect::<Vec<_>>(),
        [LineSign::Removed, LineSign::Added]
    );
}

/// Roo Code records where a block begins.
#[test]
fn the_head_of_a_block_is_no_line_of_the_file() {
    let head = ":start_line:12\n:end_line:13\n-------\n";
    let block =
        |head: &str| format!("<<<<<<< SEARCH\n{head}old\n-------\n=======\nnew\n>>>>>>> REPLACE\n");
    let lines = |text: &str| {
        parsed(text)
            .into_iter()
            .map(|line| (line.0, line.2))
            .collect::<Vec<_>>()
    };
    let shown = lines(&format!(
        "{}{}",
        block(head),
        block(":start_line:20\n-------\n")
    ));
    let one = [
        (LineSign::Removed, "old".to_owned()),
        (LineSign::Removed, "-------".to_owned()),
        (LineSign::Added, "new".to_owned()),
    ];
    assert_eq!(shown, [one.clone(), one].concat());
    assert_eq!(lines(&block("")).len(), 3);
}

#[test]
fn heads_say_what_became_of_a_file() {
    let git = "diff --git a/old.rs b/new.rs\nsimilarity index 100%\nrename from old.rs\nrename to new.rs\n\
               diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\
               diff --git a/y b/y\ndeleted file mode 100644\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n";
    assert_eq!(
        heads(git),
        ["old.rs \u{2192} new.rs", "x (new)", "y (deleted)"]
    );
    assert_eq!(
        heads("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ fn f\n-x\n"),
        ["a \u{2192} b"]
    );
    assert_eq!(
        heads("@@ -1 +1 @@\n-- not a head\n+x\n"),
        Vec::<String>::new()
    );
}

/// Amp writes patches as Markdown.
#[test]
fn a_fence_is_no_part_of_a_patch() {
    let patch = "Index: x\n====\n--- x\n+++ x\n@@ -1 +1,2 @@\n a\n+b\n";
    assert_eq!(parsed(&format!("```diff\n{patch}```")), parsed(patch));
}
