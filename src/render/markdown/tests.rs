use ratatui::style::Modifier;

use super::{MarkdownMode, rows};
use crate::render::code::Colours;
use crate::render::row::{Level, Look, Row};
use crate::render::theme::Theme;

fn laid_out(text: &str, manner: MarkdownMode, width: usize, theme: &Theme) -> Vec<Row> {
    let colours = Colours::immediate();
    let look = Look {
        level: Level::Preview,
        ..Look::full(80, theme, &colours)
    };
    rows(text, manner, width, 1000, &look)
}

fn shown(text: &str, manner: MarkdownMode, width: usize) -> Vec<String> {
    laid_out(text, manner, width, &Theme::dark())
        .iter()
        .map(|row| row.line.to_string())
        .collect()
}

#[test]
fn wrapped_lines_are_joined_and_lines_that_were_meant_stay() {
    let wrapped = "Each of these lines is as long as an author lets them get who wraps the text,\nwhich nobody has done here: it \
                   goes on in the line below, as a sentence does that\nis longer than its page.";
    assert_eq!(
        shown(wrapped, MarkdownMode::Prose, 300),
        [wrapped.replace('\n', " ")]
    );
    assert_eq!(
        shown("61\n62\n\nc", MarkdownMode::Prose, 20),
        ["61", "62", "", "c"]
    );
    assert_eq!(
        shown("> roses\n> red", MarkdownMode::Prose, 20),
        ["│ roses", "│ red"]
    );
    let unbroken = format!("see\nhttps://a.b/{}", "c".repeat(60));
    assert_eq!(
        shown(&unbroken, MarkdownMode::Prose, 300),
        [unbroken.replace('\n', " ")]
    );
    assert_eq!(
        shown("a\n  b\n\nc", MarkdownMode::Typed, 20),
        ["a", "  b", "", "c"]
    );
}

#[test]
fn typed_text_keeps_its_markers() {
    assert_eq!(
        shown("ls *.rs and *.md", MarkdownMode::Typed, 40),
        ["ls *.rs and *.md"]
    );
    assert_eq!(
        shown("**do** it `now`", MarkdownMode::Typed, 40),
        ["**do** it `now`"]
    );
    assert_eq!(
        shown("# install\nx", MarkdownMode::Typed, 40),
        ["# install", "x"]
    );
}

#[test]
fn a_tag_with_a_namespace_is_no_link() {
    assert_eq!(
        shown("a <qwen:context> b", MarkdownMode::Prose, 40),
        ["a <qwen:context> b"]
    );
    assert_eq!(
        shown("a <qwen:context> b", MarkdownMode::Typed, 40),
        ["a <qwen:context> b"]
    );
    assert_eq!(
        shown("a <https://a.b> c", MarkdownMode::Prose, 40),
        ["a https://a.b c"]
    );
}

#[test]
fn typed_lists_stay_as_they_were_typed() {
    assert_eq!(
        shown("a:\n- b\n* c\n\nd", MarkdownMode::Typed, 40),
        ["a:", "- b", "* c", "", "d"]
    );
}

#[test]
fn lists_hang() {
    let text = "- one two three\n  - inner\n- [x] done\n- [ ] open\n\n3. third\n4. fourth";
    assert_eq!(
        shown(text, MarkdownMode::Prose, 12),
        [
            "• one two",
            "  three",
            "  ◦ inner",
            "☑ done",
            "☐ open",
            "",
            "3. third",
            "4. fourth"
        ]
    );
}

#[test]
fn numbers_are_those_that_were_written() {
    assert_eq!(
        shown("1. a\n3. b\n7. c", MarkdownMode::Prose, 20),
        ["1. a", "3. b", "7. c"]
    );
    assert_eq!(
        shown("3. a\n2. b\n1) c", MarkdownMode::Prose, 20)[..2],
        ["3. a", "2. b"]
    );
    assert_eq!(
        shown("1. a\n1. b\n1. c", MarkdownMode::Prose, 20),
        ["1. a", "1. b", "1. c"]
    );
    assert_eq!(
        shown("1) a\n1) b\n2) c", MarkdownMode::Prose, 20),
        ["1) a", "1) b", "2) c"]
    );
}

#[test]
fn a_list_that_goes_on_after_a_paragraph_keeps_its_lines() {
    assert_eq!(
        shown("Then:\n4. d\n5. e", MarkdownMode::Prose, 40),
        ["Then:", "4. d", "5. e"]
    );
    let year =
        "It is a while ago now that all of this was written, and it was\n2024 or so when it was.";
    assert_eq!(
        shown(year, MarkdownMode::Prose, 90),
        [year.replace('\n', " ")]
    );
}

#[test]
fn quotes_have_a_bar() {
    assert_eq!(
        shown("> a\n>\n> b\n\nc", MarkdownMode::Prose, 20),
        ["│ a", "│ ", "│ b", "", "c"]
    );
}

#[test]
fn fences_show_their_language() {
    assert_eq!(
        shown("x\n```rust\nfn a() {}\n```\ny", MarkdownMode::Prose, 40),
        ["x", "", "  rust", "  fn a() {}", "", "y"]
    );
}

#[test]
fn tables_fit() {
    let table = "| name | what it does |\n|---|--:|\n| a | one |\n| b | something quite long |";
    assert_eq!(
        shown(table, MarkdownMode::Prose, 40),
        [
            "name │         what it does",
            "─────┼─────────────────────",
            "a    │                  one",
            "b    │ something quite long"
        ]
    );
    assert_eq!(
        shown(table, MarkdownMode::Prose, 18),
        [
            "name │     what it",
            "     │        does",
            "─────┼────────────",
            "a    │         one",
            "b    │   something",
            "     │  quite long"
        ]
    );
    assert_eq!(
        shown(table, MarkdownMode::Prose, 9),
        [
            "name: a",
            "what it",
            "  does:",
            "  one",
            "",
            "name: b",
            "what it",
            "  does:",
            "  somethi",
            "  ng",
            "  quite",
            "  long"
        ]
    );
}

#[test]
fn links_show_their_address() {
    assert_eq!(
        shown("[a](https://x.io) <https://y.io>", MarkdownMode::Prose, 60),
        ["a (https://x.io) https://y.io"]
    );
    let rows = laid_out(
        "[a](javascript:alert)",
        MarkdownMode::Prose,
        60,
        &Theme::dark(),
    );
    assert!(
        !rows[0].line.spans[0]
            .style
            .add_modifier
            .contains(Modifier::UNDERLINED)
    );
}

#[test]
fn html_stays_readable() {
    assert_eq!(
        shown("<note>\nx\n</note>\n\na <b>c</b>", MarkdownMode::Prose, 40),
        ["<note>", "x", "</note>", "", "a <b>c</b>"]
    );
}

#[test]
fn entities_cannot_smuggle_control_characters() {
    let text = shown(
        "a&#27;[2J &#x202e; `x`\n\n```\n&#27;\n```",
        MarkdownMode::Prose,
        60,
    )
    .concat();
    assert!(!text.chars().any(char::is_control), "{text:?}");
    assert!(!text.contains('\u{202e}'));
}

#[test]
fn headings_show_their_level() {
    let rows = laid_out("# a\n\n## b", MarkdownMode::Prose, 60, &Theme::dark());
    assert_eq!(rows[0].line.to_string(), "a");
    assert!(
        rows[0].line.spans[0]
            .style
            .add_modifier
            .contains(Modifier::BOLD | Modifier::UNDERLINED)
    );
    assert_eq!(rows[2].line.spans[0].style.add_modifier, Modifier::BOLD);
}

#[test]
fn words_that_look_like_definitions_stay_in_their_place() {
    let text = "first\n\n[Status]: done\n[Owner]: me\n\n- one\n- [Label]: here\n- three\n\n> [Said]: so\n\nlast";
    let expected = [
        "first",
        "",
        "[Status]: done",
        "[Owner]: me",
        "",
        "• one",
        "• [Label]: here",
        "• three",
        "",
        "│ [Said]: so",
        "",
        "last",
    ];
    assert_eq!(shown(text, MarkdownMode::Prose, 40), expected);
    let rows = laid_out(
        "[Status]: done\n\n[ref]: https://x.io/y",
        MarkdownMode::Prose,
        40,
        &Theme::dark(),
    );
    assert_ne!(rows[0].line.spans[0].style, rows[1].line.spans[0].style);
}
