//! Results that are easier to read than as a tree: lists of messages, tables of records, pages
//! found on the web.
//!
//! Invariant: everything is shown or counted as hidden; other results stay trees.

use std::borrow::Cow;

use itertools::Itertools as _;
use pulldown_cmark::Alignment;
use ratatui::style::Modifier;
use ratatui::text::Span;

use super::json;
use super::link::LinkTargets;
use super::markdown::table::MarkdownTable;
use super::row::{Look, Row};
use super::sheet::hidden_row;
use super::source::Source;
use super::wrap::{self, LineFrame, Piece};
use crate::model::body::Tree;
use crate::model::figures;
use crate::model::text::{Text, without_sgr};

/// Lists with more columns or longer cells are not tables.
const COLUMNS: usize = 8;
const LONGEST_CELL: usize = 120;
/// Rows of a snippet.
const SNIPPET: usize = 2;
/// Members with the title of a page.
const TITLE: [&str; 2] = ["title", "name"];
/// The prefix of a list of pages within a text.
const LINKS: &str = "Links: ";

/// The texts of a list of contents, as MCP servers return it; `None` if the list has anything else.
pub fn contents(tree: &Tree) -> Option<String> {
    let items = tree.get("content").unwrap_or(tree).items();
    let texts: Option<Vec<Cow<'_, str>>> = items.iter().map(content).collect();
    let text = texts.filter(|texts| !texts.is_empty())?.join("\n");
    let is_said = |(name, value): &(Text, Tree)| match (name.as_str(), value) {
        ("content", _) | ("isError", Tree::Bool(false)) => true,
        ("structuredContent" | "structured_content", value) => {
            json::parse(&text).as_ref() == Some(value)
        }
        _ => false,
    };
    let is_all = match tree {
        Tree::List(_) => true,
        Tree::Map(members) => members.iter().all(is_said),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => false,
    };
    is_all.then_some(text)
}

/// The text of a content: plain text, a link to a resource, a resource or a sound; kind and size
/// for binary data.
fn content(item: &Tree) -> Option<Cow<'_, str>> {
    let Tree::Map(members) = item else {
        return None;
    };
    match item.text_in(&["type"])?.as_str() {
        "text" => item
            .text_in(&["text"])
            .filter(|_| members.len() == 2)
            .map(|text| text.as_str().into()),
        "resource_link" => {
            let mut texts = members.iter().filter(|(name, _)| name.as_str() != "type");
            let texts: Option<Vec<&str>> = texts
                .by_ref()
                .map(|(_, value)| value.as_text().map(Text::as_str))
                .collect();
            texts.map(|texts| texts.join("  ").into())
        }
        "resource" => {
            let resource = item.get("resource")?;
            let [uri, text, data] =
                ["uri", "text", "blob"].map(|name| resource.get(name)?.as_text());
            match (text, data) {
                (Some(text), _) => Some(text.as_str().into()),
                (None, Some(data)) => {
                    Some(sized(uri.map_or("resource", Text::as_str), resource, data).into())
                }
                (None, None) => None,
            }
        }
        kind @ ("audio" | "video" | "document") => {
            Some(sized(kind, item, item.get("data")?.as_text()?).into())
        }
        _ => None,
    }
}

/// `audio  audio/wav  12 KB` for data that is not shown.
fn sized(what: &str, item: &Tree, data: &Text) -> String {
    let mime = item.text_in(&["mimeType"]).map(|mime| format!("  {mime}"));
    format!(
        "{what}{}  {}",
        mime.unwrap_or_default(),
        figures::bytes(data.len() as u64 * 3 / 4)
    )
}

/// A table of a list of records with short values, cut at a number of rows.
pub(crate) fn table(tree: &Tree, width: usize, limit: usize, look: &Look<'_>) -> Option<Vec<Row>> {
    let items = tree.items();
    let Some(Tree::Map(first)) = items.first().filter(|_| items.len() > 1) else {
        return None;
    };
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    let is_record = |item: &Tree| match item {
        Tree::Map(members) => {
            members.len() == names.len()
                && members
                    .iter()
                    .zip(&names)
                    .all(|((name, value), known)| name.as_str() == *known && is_short(value))
        }
        _ => false,
    };
    if names.is_empty() || names.len() > COLUMNS || !items.iter().all(is_record) {
        return None;
    }
    let is_number = |column: usize| {
        items.iter().all(|item| matches!(item, Tree::Map(members) if matches!(members.get(column), Some((_, Tree::Number(_))))))
    };
    let align = |(column, _): (usize, _)| {
        if is_number(column) {
            Alignment::Right
        } else {
            Alignment::Left
        }
    };
    let mut table = MarkdownTable::new(&names.iter().enumerate().map(align).collect::<Vec<_>>());
    table.begin_row();
    for name in &names {
        table.cell(vec![vec![Span::styled(
            without_sgr(name).into_owned(),
            look.theme.text,
        )]]);
    }
    let shown = items.len().min(limit);
    for item in items.iter().take(shown) {
        table.begin_row();
        for name in &names {
            table.cell(vec![
                item.get(name)
                    .map(|value| cell(value, look))
                    .into_iter()
                    .collect(),
            ]);
        }
    }
    let mut rows: Vec<Row> = table
        .lines(width, look)
        .into_iter()
        .map(|(_, line)| Row {
            line: line.into(),
            source: Source::all(),
            ..Row::default()
        })
        .collect();
    hide(&mut rows, items.len() - shown, "record", look);
    Some(rows)
}

fn is_short(value: &Tree) -> bool {
    match value {
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => true,
        Tree::Text(text) => text.len() <= LONGEST_CELL && !text.contains('\n'),
        Tree::List(_) | Tree::Map(_) => false,
    }
}

fn cell(value: &Tree, look: &Look<'_>) -> Piece {
    match value {
        Tree::Null => Span::styled("null", look.theme.dim),
        Tree::Bool(value) => Span::styled(value.to_string(), look.theme.syntax.constant),
        Tree::Number(number) => Span::styled(number.to_string(), look.theme.syntax.constant),
        Tree::Text(text) => Span::styled(without_sgr(text).into_owned(), look.theme.text),
        Tree::List(_) | Tree::Map(_) => Span::raw(""),
    }
}

/// The pages that a web search found, and the text around them.
pub(crate) struct WebPages<'a> {
    pub(crate) before: &'a str,
    found: Tree,
    pub(crate) after: &'a str,
}

/// Finds the pages in a text: it is a list of them, or contains one after `LinkTargets:`.
pub(crate) fn pages(text: &str) -> Option<WebPages<'_>> {
    if let Some(found) = json::parse(text) {
        let lists = ["results", "links", "items", "organic", "web"];
        let inner = lists.iter().find_map(|name| found.get(name)).cloned();
        let found = inner.unwrap_or(found);
        return is_pages(&found).then_some(WebPages {
            before: "",
            found,
            after: "",
        });
    }
    let start = text
        .find(LINKS)
        .filter(|at| *at == 0 || text.get(..*at).is_some_and(|before| before.ends_with('\n')))?;
    let (before, rest) = text.split_at_checked(start)?;
    let rest = rest.strip_prefix(LINKS)?;
    let (list, after) = rest.split_once('\n').unwrap_or((rest, ""));
    let found = json::parse(list)?;
    is_pages(&found).then_some(WebPages {
        before: before.trim(),
        found,
        after: after.trim(),
    })
}

fn is_pages(tree: &Tree) -> bool {
    let is_page = |item: &Tree| address(item).is_some() && item.text_in(&TITLE).is_some();
    !tree.items().is_empty() && tree.items().iter().all(is_page)
}

fn address(item: &Tree) -> Option<&str> {
    item.text_in(&["url", "link", "href", "uri"])
        .map(Text::as_str)
}

impl WebPages<'_> {
    /// Title, address and snippet of each page, up to a number of pages.
    pub(crate) fn rows(&self, width: usize, limit: usize, look: &Look<'_>) -> Vec<Row> {
        let theme = look.theme;
        let mut rows = Vec::new();
        let items = self.found.items();
        for item in items.iter().take(limit) {
            let address = address(item).unwrap_or_default();
            let title = item.text_in(&TITLE).map_or("", Text::as_str);
            let mut links = LinkTargets::default();
            let plain = |text: &str| without_sgr(text).split_whitespace().join(" ");
            let front = vec![Span::styled(
                format!("{} ", theme.glyphs().list.bullet),
                theme.dim,
            )];
            let spans = [
                Span::styled(
                    plain(title),
                    links.mark(theme.text.add_modifier(Modifier::BOLD), address),
                ),
                Span::raw("  "),
                Span::styled(plain(address), links.mark(theme.accent, address)),
            ];
            let rest = vec![Span::raw("  ")];
            let frame = LineFrame {
                first: front,
                rest: rest.clone(),
                ..LineFrame::of(width)
            };
            let mut lines = wrap::wrap(&spans, &frame);
            if let Some(snippet) =
                item.text_in(&["snippet", "description", "content", "text", "summary"])
            {
                let frame = LineFrame {
                    first: rest.clone(),
                    rest,
                    limit: SNIPPET,
                    cut: theme.glyphs().cut,
                    ..LineFrame::of(width)
                };
                lines.extend(wrap::wrap(
                    &[Span::styled(plain(wrap::head(snippet, 2_000)), theme.dim)],
                    &frame,
                ));
            }
            let links = Some(std::sync::Arc::new(links));
            let source = Source::own(Text::clean(&format!(
                "{}\n{}",
                plain(title),
                plain(address)
            )));
            let row = |line| Row {
                line,
                links: links.clone(),
                source: source.clone(),
                ..Row::default()
            };
            rows.extend(lines.into_iter().map(row));
        }
        hide(&mut rows, items.len().saturating_sub(limit), "page", look);
        rows
    }
}

fn hide(rows: &mut Vec<Row>, count: usize, what: &str, look: &Look<'_>) {
    if count > 0 {
        let what = format!("+{}", figures::count(count as u64, what));
        rows.push(hidden_row(&what, count, look));
    }
}

#[cfg(test)]
mod tests {
    use super::{contents, pages, table};
    use crate::render::code::Colours;
    use crate::render::json::parse;
    use crate::render::row::{Look, Row};
    use crate::render::theme::Theme;

    fn shown(rows: &[Row]) -> Vec<String> {
        rows.iter()
            .map(|row| row.line.to_string().trim_end().to_owned())
            .collect()
    }

    fn with_look<T>(work: impl FnOnce(&Look<'_>) -> T) -> T {
        let (theme, colours) = (Theme::dark(), Colours::never());
        let look = Look::full(80, &theme, &colours);
        work(&look)
    }

    #[test]
    fn records_of_one_shape_are_a_table() {
        let tree = parse(
            r#"[{"id": 7, "title": "late"}, {"id": 12, "title": "lost"}, {"id": 3, "title": null}]"#,
        );
        let tree = tree.unwrap();
        let rows = with_look(|look| table(&tree, 40, 2, look)).unwrap();
        assert_eq!(
            shown(&rows),
            [
                "id │ title",
                "───┼──────",
                " 7 │ late",
                "12 │ lost",
                "… +1 record"
            ]
        );
        for text in [
            r#"[{"a": 1}]"#,
            r#"[{"a": 1}, {"b": 1}]"#,
            r#"[{"a": {}}, {"a": {}}]"#,
            "[1, 2]",
        ] {
            assert!(
                with_look(|look| table(&parse(text).unwrap(), 40, 9, look)).is_none(),
                "{text}"
            );
        }
    }

    #[test]
    fn contents_of_text_are_that_text() {
        let list = parse(
            r#"{"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}"#,
        );
        assert_eq!(contents(&list.unwrap()).as_deref(), Some("one\ntwo"));
        assert_eq!(
            contents(&parse(r#"[{"type": "image", "data": "x"}]"#).unwrap()),
            None
        );
        let annotated = r#"[{"type": "text", "text": "x", "annotations": {"audience": ["user"]}}]"#;
        assert_eq!(
            contents(&parse(annotated).unwrap()),
            None,
            "what stands beside the text is no less"
        );
        assert_eq!(
            contents(
                &parse(r#"{"content": [{"type": "text", "text": "x"}], "isError": true}"#).unwrap()
            ),
            None
        );
    }

    #[test]
    fn what_is_said_twice_is_shown_once() {
        let twice = r#"{"content": [{"type": "text", "text": "{\"a\": 1}"}], "structuredContent": {"a": 1}, "isError": false}"#;
        assert_eq!(
            contents(&parse(twice).unwrap()).as_deref(),
            Some("{\"a\": 1}")
        );
        let other = twice.replace(
            "\"structuredContent\": {\"a\": 1}",
            "\"structuredContent\": {\"a\": 2}",
        );
        assert_eq!(contents(&parse(&other).unwrap()), None);
        let link = r#"[{"type": "resource_link", "uri": "file:///x.md", "name": "x"}, {"type": "text", "text": "y"}]"#;
        assert_eq!(
            contents(&parse(link).unwrap()).as_deref(),
            Some("file:///x.md  x\ny")
        );
        let others = r#"[{"type": "resource", "resource": {"uri": "mem://1", "text": "in it"}}, {"type": "resource", "resource": {"uri": "mem://2", "blob": "QUJD"}}, {"type": "audio", "data": "QUJDQUJD", "mimeType": "audio/wav"}]"#;
        let expected = "in it\nmem://2  3 B\naudio  audio/wav  6 B";
        assert_eq!(contents(&parse(others).unwrap()).as_deref(), Some(expected));
    }

    #[test]
    fn pages_have_title_address_and_snippet() {
        let text = "Found for x\n\nLinks: [{\"title\":\"A\",\"url\":\"https://a.io\",\"snippet\":\"about a\"},{\"title\":\"B\",\"url\":\"https://b.io\"}]\n\nrest";
        let found = pages(text).unwrap();
        assert_eq!((found.before, found.after), ("Found for x", "rest"));
        let rows = with_look(|look| found.rows(40, 1, look));
        assert_eq!(
            shown(&rows),
            ["• A  https://a.io", "  about a", "… +1 page"]
        );
        assert!(pages(r#"[{"title": "no address"}]"#).is_none());
        assert!(pages("see Links: [1]").is_none());
    }
}
