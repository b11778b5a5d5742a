//! Tests of Markdown: all text of the source is shown, at any width.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::{Strategy, any, prop, prop_assert, proptest};
use ratatui::text::Line;
use tv::model::text::Text;
use tv::render::code::Colours;
use tv::render::markdown::{MarkdownMode, rows};
use tv::render::row::Look;
use tv::render::theme::Theme;

use crate::corpus::say;
use crate::stage::{self, Stage};

/// What a reader sees of a text, without its line breaks and blanks.
fn ink(text: &str, manner: MarkdownMode, width: usize) -> String {
    lines(text, manner, width)
        .iter()
        .map(Line::to_string)
        .collect::<String>()
        .split_whitespace()
        .collect()
}

fn lines(text: &str, manner: MarkdownMode, width: usize) -> Vec<Line<'static>> {
    let (theme, colours) = (Theme::dark(), Colours::never());
    let look = Look::full(80, &theme, &colours);
    let rows = rows(text, manner, width, 100_000, &look);
    rows.into_iter().map(|row| row.line).collect()
}

/// Each construct with what must be seen of it.
const EXAMPLES: &[(&str, &str)] = &[
    ("plain words\nover lines", "plain words over lines"),
    (
        "# one\n## two ##\n### three\n#### four\n##### five\n###### six\n####### seven",
        "one two three four five six ####### seven",
    ),
    ("Title\n=====\n\nSub\n---", "Title Sub"),
    ("*a* _b_ **c** __d__ ***e*** *f **g** h*", "a b c d e f g h"),
    ("snake_case_name and 2*3*4 * 5", "snake_case_name"),
    ("~~gone~~ and ~also~ but ~5 stays", "gone also ~5 stays"),
    ("`code` ``with ` tick`` `` ` ``", "code with tick"),
    (
        "``` rust title=\"x.rs\"\nfn a() {}\n```",
        "rust title=\"x.rs\" fn a() {}",
    ),
    (
        "~~~\nplain\n~~~\n\n    indented\n\n\tby a tab",
        "plain indented by tab",
    ),
    ("```\nnever closed", "never closed"),
    (
        "- a\n- b\n  - c\n    - d\n      1. e\n      2. f\n\n+ g\n* h",
        "a b c d e f g h",
    ),
    (
        "1. one\n1. two\n\n7) seven\n8) eight",
        "1. one 1. two 7) seven 8) eight",
    ),
    (
        "- loose\n\n  second paragraph\n\n- item\n\n      code",
        "loose second paragraph item code",
    ),
    (
        "- [ ] open\n- [x] done\n- [X] too\n- [y] no task",
        "open done too [y] no task",
    ),
    ("-\n- \n- after nothing", "after nothing"),
    (
        "> quoted\nlazily\n> > deeper\n\nout",
        "quoted lazily deeper out",
    ),
    (
        "> [!NOTE]\n> noted\n\n> [!WARNING]\n> warned",
        "Note noted Warning warned",
    ),
    ("> ```\n> fenced\n> ```\n> - item", "fenced item"),
    ("a  \nhard\\\nbreak<br>tag", "a hard break tag"),
    ("***\n---\nafter\n___", "after"),
    (
        "[text](https://x.io/a \"a title\")",
        "text https://x.io/a a title",
    ),
    (
        "[text][ref] [ref] [ref][]\n\n[ref]: https://x.io/ref 'titled'",
        "text ref https://x.io/ref titled",
    ),
    (
        "[unused]: https://x.io/unused \"why\"\n\nafter",
        "[unused]: https://x.io/unused after",
    ),
    (
        "<https://x.io/auto> <me@x.io> https://x.io/bare.",
        "https://x.io/auto me@x.io https://x.io/bare",
    ),
    (
        "[relative](src/lib.rs) [anchor](#there) [](empty)",
        "relative src/lib.rs anchor #there empty",
    ),
    (
        "![alt text](a.png \"hover\") ![][pic]\n\n[pic]: b.png",
        "alt text a.png hover b.png",
    ),
    (
        "[![badge](b.svg)](https://x.io)",
        "badge b.svg https://x.io",
    ),
    (
        "word[^1] and[^name]\n\n[^1]: first note\n[^name]: second\n    goes on",
        "[^1] [^name] first note second goes on",
    ),
    (
        "<div class=\"a\">\n\n*inside*\n\n</div>",
        "<div class=\"a\"> inside </div>",
    ),
    (
        "a <b>bold</b> <!-- hidden --> <x-y z='1'/>",
        "<b> bold </b> <!-- hidden --> <x-y",
    ),
    (
        "<details>\n<summary>More</summary>\nText\n</details>",
        "<summary>More</summary> Text",
    ),
    ("<thinking>\nnot html\n</thinking>", "<thinking> not html"),
    (
        "$a_1 * b_2$ and $$\\sum_{i=0}^n x_i$$",
        "$a_1 * b_2$ $$\\sum_{i=0}^n x_i$$",
    ),
    ("$$\nx = \\frac{1}{2}\n$$", "x \\frac{1}{2}"),
    ("costs $5 or $10, *or* $20", "$5 $10, $20"),
    (
        "&amp; &lt;tag&gt; &copy; &#35; &nosuch;",
        "& <tag> \u{a9} # &nosuch;",
    ),
    (
        "\\*not emphasis\\* \\# \\[x\\] C:\\dir",
        "*not emphasis* # [x] C:\\dir",
    ),
    (
        "| a | b |\n|---|:-:|\n| 1 | 2 |\n| `x|y` | **z** |",
        "a b 1 2 z",
    ),
    ("| a |\n|---|\n| one<br>two |\n\ntext", "a one two text"),
    ("|only|head|\n|-|-|", "only head"),
    ("a | b\n-|-\n1 | 2 | 3", "a b 1 2"),
    ("|no|delimiter|\n|row|here|", "|no|delimiter| |row|here|"),
    ("term\n: definition", "term : definition"),
    ("---\nfront: matter\n---\ntext", "front: matter text"),
    (
        "日本語**強調**テキスト e\u{301} 👨‍👩‍👧‍👦 שלום",
        "日本語強調テキスト e\u{301} 👨‍👩‍👧‍👦 שלום",
    ),
];

#[test]
fn every_construct_keeps_its_words() {
    for (source, wanted) in EXAMPLES {
        for manner in [MarkdownMode::Prose, MarkdownMode::Typed] {
            let seen = ink(source, manner, 80);
            for word in wanted.split_whitespace() {
                // Typed text keeps its marks, so its words may stand apart.
                let is_seen = seen.contains(word)
                    || (manner == MarkdownMode::Typed && !source.contains(word));
                assert!(
                    is_seen,
                    "{manner:?} {source:?}: {word:?} is missing in {seen:?}"
                );
            }
        }
    }
}

#[test]
fn no_construct_breaks_a_narrow_row() {
    for (source, _) in EXAMPLES {
        for (manner, width) in [MarkdownMode::Prose, MarkdownMode::Typed]
            .into_iter()
            .flat_map(|m| (1..60).map(move |w| (m, w)))
        {
            for line in lines(source, manner, width) {
                assert!(line.width() <= width, "{width} {source:?}: {line:?}");
            }
        }
    }
}

/// The examples of a specification, as the parser's own tests have them: source and HTML.
fn specification(name: &str) -> Vec<(String, String)> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let registry = home.unwrap_or_default().join("registry/src");
    let crates = fs::read_dir(registry).into_iter().flatten().flatten();
    let crates =
        crates.flat_map(|index| fs::read_dir(index.path()).into_iter().flatten().flatten());
    let parser = crates.map(|one| one.path()).find(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("pulldown-cmark-0"))
    });
    let file = parser.map(|path| path.join("tests/suite").join(format!("{name}.rs")));
    let text = file
        .and_then(|path| fs::read_to_string(path).ok())
        .unwrap_or_default();
    let raw = |part: &str| {
        let (_, rest) = part.split_once("= r##\"")?;
        rest.split_once("\"##;").map(|(raw, _)| raw.to_owned())
    };
    let examples = text.split("let original ").skip(1).map(|example| {
        let (source, html) = example.split_once("let expected ")?;
        Some((raw(source)?, raw(&format!("let expected {html}"))?))
    });
    examples
        .map(|example| example.expect("an example is a source and its HTML"))
        .collect()
}

/// The words that a browser shows of HTML without scripts, and where its links lead is left out.
fn words_of(html: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        let (_, after) = after.split_once('>').unwrap_or((after, ""));
        text.push(' ');
        rest = after;
    }
    text.push_str(rest);
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    text.split_whitespace().map(str::to_owned).collect()
}

/// Words in the order in which they must be seen. Raw HTML stands among them, which a browser does not
/// show, so others may come between.
fn assert_seen(seen: &str, words: &[String], place: &str) {
    let mut rest = seen;
    for word in words {
        let Some((_, behind)) = rest.split_once(word.as_str()) else {
            panic!("{place}: {word:?} is missing, or before its time, in {seen:?}");
        };
        rest = behind;
    }
}

/// Cells of a narrow table wrap beside each other, so that only letters can be counted.
fn assert_letters(seen: &str, wanted: &str, place: &str) {
    for letter in wanted.chars() {
        let count = |text: &str| text.chars().filter(|one| *one == letter).count();
        assert!(
            count(seen) >= count(wanted),
            "{place}: {letter:?} is missing in {seen:?}"
        );
    }
}

#[test]
fn the_specifications_keep_their_words() {
    // CommonMark, then what GitHub adds to it.
    for (name, count) in [
        ("spec", 650),
        ("gfm_table", 8),
        ("gfm_strikethrough", 3),
        ("gfm_tasklist", 2),
        ("table", 20),
        ("strikethrough", 10),
    ] {
        let examples = specification(name);
        if examples.is_empty() {
            return say(
                "skipped: the sources of pulldown-cmark are not in the registry of this machine",
            );
        }
        assert!(examples.len() >= count, "{name}: {}", examples.len());
        for (number, (source, html)) in examples.iter().enumerate() {
            for width in [1, 20, 80] {
                for manner in [MarkdownMode::Prose, MarkdownMode::Typed] {
                    let rows = lines(source, manner, width);
                    assert!(
                        rows.iter().all(|line| line.width() <= width),
                        "{name} {number}: {source:?}"
                    );
                }
            }
            for width in [20, 80, 200] {
                let seen = ink(source, MarkdownMode::Prose, width).replace('│', "");
                let words = words_of(html);
                let place = format!("{name} {} at {width}: {source:?} {html:?}", number + 1);
                if html.contains("<table") && width < 200 {
                    assert_letters(&seen, &words.concat(), &place);
                } else {
                    assert_seen(&seen, &words, &place);
                }
            }
        }
    }
}

/// Marks, and characters that are hard to measure.
fn hostile() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "a",
        "word ",
        " ",
        "\n",
        "\n\n",
        "\t",
        "*",
        "**",
        "_",
        "`",
        "```\n",
        "~~",
        "# ",
        "> ",
        "- ",
        "1. ",
        "- [ ] ",
        "|",
        "|-|-|\n",
        "[",
        "](",
        ")",
        "![",
        "<",
        ">",
        "<br>",
        "&amp;",
        "&#27;",
        "\\",
        "$",
        "[^1]",
        "[^1]: ",
        "[a]: b\n",
        "https://x.io/a",
        "日本",
        "한국어",
        "e\u{301}",
        "\u{301}",
        "👨‍👩‍👧‍👦",
        "❤️",
        "🇩🇪",
        "👍🏽",
        "שלום",
        "مرحبا",
        "\u{200d}",
        "\u{200b}",
        "\u{fe0f}",
        "\u{ff9e}",
        "ｶﾞ",
        "\u{1f3fb}",
        "\u{1b}[31m",
        "\r",
        "\u{0}",
        "\u{202e}",
        "नमस्ते",
        "ไทย",
        "﷽",
        "\u{115f}",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(crate::fixtures::cases(600))]

    #[test]
    fn nothing_is_too_wide_or_steers_the_terminal(text in hostile(), width in 1_usize..=400, typed in any::<bool>()) {
        let manner = if typed { MarkdownMode::Typed } else { MarkdownMode::Prose };
        for line in lines(&text, manner, width) {
            prop_assert!(line.width() <= width, "{line:?}");
            prop_assert!(cells(&line) <= width, "{line:?}");
            prop_assert!(!line.to_string().chars().any(char::is_control), "{line:?}");
        }
    }

    #[test]
    fn letters_are_never_lost(text in hostile(), width in 8_usize..=400) {
        // As texts of a file come: no carriage return does, which ends a line for the parser.
        let text = Text::clean(&text).to_string();
        let letters = |text: &str| text.chars().filter(|c| "日本한국어שלוםمرحبाไทย".contains(*c)).count();
        let most = text.lines().filter(|line| line.contains('|')).count();
        // A row of a table may have more cells than its head, and those the parser drops.
        if most == 0 && !text.contains("[a]:") && !text.contains("[^1]:") {
            let seen: String = lines(&text, MarkdownMode::Prose, width).iter().map(Line::to_string).collect();
            prop_assert!(letters(&seen) >= letters(&text), "{text:?} {seen:?}");
        }
    }
}

#[test]
fn links_open_and_close_in_each_cell() {
    let theme = Theme::dark();
    let symbols_of = |theme: Theme| {
        let buffer = Stage::open(&stage::demo(), (100, 40), theme).buffer();
        buffer
            .content
            .iter()
            .map(|cell| cell.symbol().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(
        symbols_of(theme.clone())
            .iter()
            .all(|symbol| !symbol.contains('\u{1b}'))
    );
    let link = "^\u{1b}\\]8;id=[0-9a-f]+;https://[!-~]+\u{1b}\\\\[^\u{1b}]+\u{1b}\\]8;;\u{1b}\\\\$";
    let link = regex::Regex::new(link).expect("a pattern");
    let symbols = symbols_of(theme.with_links(true));
    let linked: Vec<&String> = symbols
        .iter()
        .filter(|symbol| symbol.contains('\u{1b}'))
        .collect();
    assert!(linked.len() > 5, "{linked:?}");
    assert!(
        linked.iter().all(|symbol| link.is_match(symbol)),
        "{linked:?}"
    );
}

/// Columns as the painter counts them, grapheme by grapheme.
fn cells(line: &Line<'_>) -> usize {
    use ratatui::buffer::CellWidth as _;
    line.styled_graphemes(ratatui::style::Style::new())
        .map(|one| usize::from(one.symbol.cell_width()))
        .sum()
}
