use proptest::prelude::{any, prop_assert, proptest};
use ratatui::text::Span;

use super::{LineFrame, Piece, continuation, dedent, fit, fit_path, width as width_of, wrap};
use ratatui::text::Line;

fn rows(text: &str, width: usize) -> Vec<String> {
    wrap(&[Span::raw(text.to_owned())], &LineFrame::of(width))
        .iter()
        .map(Line::to_string)
        .collect()
}

#[test]
fn breaks_at_blanks() {
    assert_eq!(rows("the quick brown fox", 10), ["the quick", "brown fox"]);
    assert_eq!(rows("the quick  brown", 9), ["the quick", "brown"]);
    assert_eq!(rows("", 5), [""]);
}

#[test]
fn breaks_words_that_are_too_long() {
    assert_eq!(rows("a abcdefghij b", 4), ["a", "abcd", "efgh", "ij b"]);
    assert_eq!(rows("abc", 0), ["a", "b", "c"]);
}

#[test]
fn keeps_indentation() {
    assert_eq!(rows("    let x = 1;", 20), ["    let x = 1;"]);
    assert_eq!(rows("    let x = 1;", 10), ["    let x", "= 1;"]);
    assert_eq!(
        rows("\t\tx\ty", 20),
        ["        x       y"],
        "tabs indent by four columns"
    );
}

#[test]
fn long_words_break_behind_their_joints() {
    assert_eq!(
        rows("see /home/mira/lighthouse/src/lib.rs", 24),
        ["see /home/mira/", "lighthouse/src/lib.rs"]
    );
    assert_eq!(
        rows("a word and /home/mira", 14),
        ["a word and", "/home/mira"],
        "words first"
    );
}

#[test]
fn what_a_line_of_code_goes_on_with_is_indented_as_it_is() {
    let line = [Span::raw("\tlet"), Span::raw(" x")];
    let front: String = continuation(3, &line, 40, Span::raw(">"))
        .iter()
        .map(|span| span.content.as_ref())
        .collect();
    assert_eq!(front, format!("{}> ", " ".repeat(7)));
}

#[test]
fn the_indentation_of_all_lines_is_taken_away() {
    let line = |parts: &[&str]| -> Vec<Piece> {
        parts
            .iter()
            .map(|part| Span::raw((*part).to_owned()))
            .collect()
    };
    let mut lines = [
        line(&["  ", "  if x {"]),
        line(&[""]),
        line(&["      y"]),
        line(&["    }"]),
    ];
    dedent(lines.iter_mut());
    let text = |line: &Vec<Piece>| {
        line.iter()
            .map(|span| span.content.as_ref())
            .collect::<String>()
    };
    assert_eq!(
        lines.iter().map(text).collect::<Vec<_>>(),
        ["if x {", "", "  y", "}"]
    );
    let mut mixed = [line(&["\ta"]), line(&["    b"])];
    dedent(mixed.iter_mut());
    assert_eq!(
        mixed.iter().map(text).collect::<Vec<_>>(),
        ["\ta", "    b"],
        "they have none in common"
    );
}

#[test]
fn never_splits_wide_characters() {
    assert_eq!(rows("日本語テキスト", 5), ["日本", "語テ", "キス", "ト"]);
    assert_eq!(rows("日本", 1), ["\u{fffd}", "\u{fffd}"]);
    assert_eq!(rows("ab 👨‍👩‍👧‍👦 cd", 4), ["ab", "👨‍👩‍👧‍👦", "cd"]);
}

#[test]
fn what_joins_to_something_wide_fits_all_the_same() {
    // A spacing mark joins to the sign that represents a control character, or to the span before
    // it.
    assert_eq!(rows("\u{1}\u{200d}\u{119df}", 1), ["\u{fffd}"]);
    let spans = ["a", "\u{119df}", "b"].map(|text| Span::raw(text.to_owned()));
    let lines: Vec<String> = wrap(&spans, &LineFrame::of(1))
        .iter()
        .map(Line::to_string)
        .collect();
    assert_eq!(lines, ["\u{fffd}", "b"]);
}

#[test]
fn what_joins_over_two_spans_is_of_the_first() {
    let spans = [Span::raw("a👨\u{200d}"), Span::raw("👩b"), Span::raw("c")];
    for line in [
        wrap(&spans, &LineFrame::of(5)).swap_remove(0),
        Line::from(fit(&spans, 5, "…")),
    ] {
        let parts: Vec<&str> = line.iter().map(|span| span.content.as_ref()).collect();
        assert_eq!(parts, ["a👨\u{200d}👩", "b", "c"]);
        assert_eq!(
            line.iter()
                .map(|span| width_of(&span.content))
                .sum::<usize>(),
            5
        );
    }
}

#[test]
fn a_word_that_moves_to_a_narrower_row_is_broken_there() {
    let lines: Vec<String> = wrap(&[Span::raw("a bcdefghij k")], &LineFrame::hanging(11, 4))
        .iter()
        .map(Line::to_string)
        .collect();
    assert_eq!(lines, ["a bcdefghij", "    k"]);
    let lines: Vec<String> = wrap(&[Span::raw("a bcdefghijk")], &LineFrame::hanging(11, 4))
        .iter()
        .map(Line::to_string)
        .collect();
    assert_eq!(lines, ["a", "    bcdefgh", "    ijk"]);
}

#[test]
fn hangs_and_limits() {
    let frame = LineFrame {
        limit: 2,
        cut: "…",
        ..LineFrame::hanging(8, 2)
    };
    let lines: Vec<String> = wrap(&[Span::raw("one two three four")], &frame)
        .iter()
        .map(Line::to_string)
        .collect();
    assert_eq!(lines, ["one two", "  three…"]);
}

#[test]
fn caps_combining_marks() {
    let zalgo = format!("a{}", "\u{301}".repeat(3000));
    assert_eq!(rows(&zalgo, 5).concat().chars().count(), 9);
}

#[test]
fn cuts_with_an_ellipsis() {
    let cut = |text: &str, width| {
        fit(&[Span::raw(text.to_owned())], width, "…")
            .iter()
            .map(|s| s.content.to_string())
            .collect::<String>()
    };
    assert_eq!(cut("abcdef", 6), "abcdef");
    assert_eq!(cut("abcdef", 5), "abcd…");
    assert_eq!(cut("日本語", 5), "日本…");
    assert_eq!(cut("日本語", 4), "日…");
    assert_eq!(cut("abc", 1), "…");
    assert_eq!(cut("abc", 0), "");
}

#[test]
fn an_endless_line_is_cut_cheaply() {
    let endless = "x".repeat(50_000_000);
    let span: Piece = Span::raw(endless);
    assert_eq!(fit(&[span], 80, "…").len(), 2);
}

#[test]
fn of_a_path_the_name_of_the_file_stays() {
    let at = |width| fit_path("src/app/views/timeline/window.rs", width, "…");
    assert_eq!(at(32), "src/app/views/timeline/window.rs");
    assert_eq!(at(31), "src/…/views/timeline/window.rs");
    assert_eq!(at(25), "src/…/timeline/window.rs");
    assert_eq!(at(15), "src/…/window.rs");
    assert_eq!(at(14), "…/window.rs");
    assert_eq!(at(8), "…ndow.rs");
    assert_eq!(
        fit_path("/home/mira/lighthouse/docs/a.md", 20, "…"),
        "/home/…/docs/a.md"
    );
    assert_eq!(
        fit_path("a long name without folders", 10, "…"),
        "…t folders"
    );
}

proptest! {
    #[test]
    fn a_path_fits(path in "[a-zé日/. ]{0,60}", width in 1_usize..40) {
        let fitted = fit_path(&path, width, "…");
        prop_assert!(width_of(&fitted) <= width, "{}", fitted);
    }

    #[test]
    fn no_row_is_too_wide(text in any::<String>(), width in 1_usize..40, indent in 0_usize..50) {
        let spans: Vec<Piece> = text.split('\n').map(|part| Span::raw(part.to_owned())).collect();
        for line in wrap(&spans, &LineFrame::hanging(width, indent)) {
            prop_assert!(line.width() <= width, "{:?}", line);
            prop_assert!(!line.to_string().chars().any(char::is_control));
        }
        let cut: Vec<Piece> = fit(&spans, width, "…");
        prop_assert!(Line::from(cut).width() <= width);
    }

    #[test]
    fn only_blanks_are_lost(text in "[a-zé日 ]{0,80}", width in 2_usize..40) {
        let joined: String = rows(&text, width).concat();
        let solid = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
        prop_assert!(solid(&joined) == solid(&text), "{:?}", joined);
    }
}
