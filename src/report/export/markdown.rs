//! A session as Markdown for code forges: facts, prompts, and the transcript with folded calls.
//!
//! Invariant: no `<` of a transcript is outside of code, and no open fence of a text affects what
//! follows it.

use std::io::{self, Write};
use std::ops::Range;

use itertools::Itertools as _;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::pages::{PageStep, cut, limit, name, part, steps, title};
use super::{Exported, Extent, WriteFile};
use crate::analysis::phrases;
use crate::ingest::Pager;
use crate::model::body::Body;
use crate::model::entry::{BlockKind, Entry, EntryId, Role};
use crate::model::figures::bytes;
use crate::model::text::without_sgr;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::render::tool::change_text;
use crate::report::entry::Content;
use crate::report::reading::{Contents, Reading};
use crate::report::stats;

/// The file of a session.
pub(super) const FILES: [(&str, WriteFile); 1] = [("md", write)];

/// Bytes of one text.
const LONGEST: usize = 1 << 20;

fn write(
    exported: &Exported<'_>,
    pager: Option<&mut Pager>,
    out: &mut dyn Write,
) -> io::Result<()> {
    head(exported, out)?;
    let mut page = MarkdownPage {
        contents: Contents::of(pager),
        reading: exported.reading,
        limit: limit(exported),
        extent: &exported.extent,
        hidden: 0,
        out,
    };
    page.transcript()
}

fn head(exported: &Exported<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# {}\n", inline(title(exported)))?;
    writeln!(out, "| | |\n| --- | --- |")?;
    for (label, value) in stats::table(&exported.figures) {
        writeln!(out, "| {label} | {} |", inline(&value))?;
    }
    if let Some(part) = part(exported) {
        writeln!(out, "| part | {part} |")?;
    }
    let name = code(name(exported));
    writeln!(
        out,
        "\n`tv` opens it as {name}, and an entry by the key behind `#`.\n"
    )
}

/// A page while it is written.
struct MarkdownPage<'p> {
    reading: &'p Reading,
    contents: Contents<'p>,
    limit: usize,
    extent: &'p Extent,
    /// Entries that are bookkeeping.
    hidden: u64,
    out: &'p mut dyn Write,
}

impl MarkdownPage<'_> {
    fn transcript(&mut self) -> io::Result<()> {
        let mut passing = self.reading.transcript.cursor();
        for step in steps(self.reading, self.extent) {
            match step {
                PageStep::Entry(id) => {
                    if let Some(entry) = passing.get(id) {
                        self.entry(id, entry)?;
                    }
                }
                PageStep::Begin(lane) => {
                    let facts =
                        phrases::lane(lane, &self.reading.transcript, &self.reading.account, false);
                    let label = html(&lane.label);
                    writeln!(
                        self.out,
                        "<details><summary>▸ {label}, {}</summary>\n",
                        html(&facts)
                    )?;
                }
                PageStep::End => writeln!(self.out, "</details>\n")?,
            }
        }
        if self.hidden > 0 {
            writeln!(
                self.out,
                "---\n\n{} of the entries are bookkeeping; `tv show --level 4` has them.",
                self.hidden
            )?;
        }
        Ok(())
    }

    fn entry(&mut self, id: EntryId, entry: &Entry) -> io::Result<()> {
        if entry.marks.is_hidden() {
            self.hidden += 1;
            return Ok(());
        }
        if entry.has_prose() {
            self.speaker(id, entry)?;
        }
        for block in &entry.blocks {
            let whole = self.contents.with_bodies(block);
            match &whole.kind {
                BlockKind::Text(body) => self.text(entry, body)?,
                BlockKind::Thinking(body) if body.stub.is_blank() => {}
                BlockKind::Thinking(body) => self.folded("thinking", body)?,
                BlockKind::Call(call) => self.call(call)?,
                BlockKind::Result(stray) => {
                    let what = format!("result without its call {}", code(&stray.call));
                    self.folded(&what, &stray.result.body)?;
                }
                BlockKind::Image(image) => {
                    let size = image.bytes.map(bytes).unwrap_or_default();
                    writeln!(self.out, "*image {} {size}*\n", inline(&image.mime))?;
                }
                BlockKind::Break(line) => {
                    writeln!(self.out, "---\n\n*{}*\n", inline(&line.words()))?;
                }
                BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => {
                    self.folded(&html(&raw.title), &raw.body)?;
                }
            }
        }
        Ok(())
    }

    fn speaker(&mut self, id: EntryId, entry: &Entry) -> io::Result<()> {
        let Reading {
            transcript,
            account,
            ..
        } = self.reading;
        let turns = transcript.turns().iter();
        let turn = account
            .turn_of(transcript, id)
            .filter(|_| entry.marks.prompt && turns.clone().any(|turn| turn.prompt == id));
        let time = entry.at.map(Timestamp::date_and_clock).unwrap_or_default();
        let who = inline(entry.speaker());
        let level = if turn.is_some() { "##" } else { "###" };
        write!(self.out, "{level} ")?;
        if let Some(number) = turn {
            let facts = phrases::turn(&account.turn(transcript, number), 0, false);
            write!(self.out, "{}. {who}", number + 1)?;
            let parts = [time, html(&facts), code(&entry.key)];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            return writeln!(self.out, "\n\n<sub>{}</sub>\n", parts.join(" · "));
        }
        writeln!(
            self.out,
            "{who}\n\n<sub>{time} · {}</sub>\n",
            code(&entry.key)
        )
    }

    fn text(&mut self, entry: &Entry, body: &Body) -> io::Result<()> {
        let text = without_sgr(body.text_or_stub());
        if text.trim().is_empty() {
            return Ok(());
        }
        let (part, left) = cut(&text, LONGEST);
        if entry.marks.quiet {
            let first = part.lines().next().unwrap_or_default();
            writeln!(
                self.out,
                "<details><summary>{}</summary>\n",
                html(excerpt(first))
            )?;
            fenced("", part, self.out)?;
            self.truncated(left)?;
            return writeln!(self.out, "</details>\n");
        }
        let prose = closed(&escaped(part));
        if entry.role == Role::Assistant {
            writeln!(self.out, "{prose}\n")?;
        } else {
            // As it was typed, line by line.
            for line in prose.lines() {
                writeln!(self.out, "> {line}  ")?;
            }
            writeln!(self.out)?;
        }
        self.truncated(left)
    }

    fn call(&mut self, call: &ToolCall) -> io::Result<()> {
        let root = self.reading.transcript.meta().root.as_deref();
        let state = match call.state.word() {
            "done" => String::new(),
            word => format!(" <b>{word}</b>"),
        };
        writeln!(
            self.out,
            "<details><summary>{} <code>{}</code>{state}</summary>\n",
            html(&call.shown_name()),
            html(excerpt(&call.about(root)))
        )?;
        let change = change_text(call);
        match (&change, call.command()) {
            (Some(change), _) => {
                let language = if change.contains("\n@@") { "diff" } else { "" };
                self.body(language, change)?;
            }
            (None, Some(command)) => self.body("sh", command)?,
            (None, None) => {
                let written = serde_json::to_string_pretty(&Content(&call.input))?;
                self.body("json", &written)?;
            }
        }
        let result = call.state.result().map(|result| &result.body);
        if let Some(body) = result
            .or(call.state.live_output())
            .filter(|body| !body.stub.is_blank())
        {
            self.contents_of(body)?;
        }
        writeln!(self.out, "</details>\n")
    }

    fn folded(&mut self, summary: &str, body: &Body) -> io::Result<()> {
        writeln!(self.out, "<details><summary>{summary}</summary>\n")?;
        self.contents_of(body)?;
        writeln!(self.out, "</details>\n")
    }

    fn contents_of(&mut self, body: &Body) -> io::Result<()> {
        match body.tree() {
            Some(_) => {
                let json = serde_json::to_string_pretty(&Content(body))?;
                self.body("json", &json)
            }
            None => self.body("", body.text_or_stub()),
        }
    }

    fn body(&mut self, language: &str, text: &str) -> io::Result<()> {
        let text = without_sgr(text);
        let (part, left) = cut(&text, self.limit);
        fenced(language, part, self.out)?;
        self.truncated(left)
    }

    fn truncated(&mut self, left: usize) -> io::Result<()> {
        match left {
            0 => Ok(()),
            left => writeln!(self.out, "*{} more*\n", bytes(left as u64)),
        }
    }
}

fn excerpt(line: &str) -> &str {
    cut(line, 200).0
}

/// A block of code with a fence that is longer than any in it.
fn fenced(language: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    writeln!(
        out,
        "{fence}{language}\n{}\n{fence}\n",
        text.trim_end_matches('\n')
    )
}

fn longest_run(text: &str, of: char) -> usize {
    let runs = text.split(|c| c != of).map(str::len);
    runs.max().unwrap_or(0)
}

/// A name as code within a line.
fn code(text: &str) -> String {
    let text: String = text.split_whitespace().join(" ");
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let room = if text.contains('`') { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}

/// A text within HTML.
fn html(text: &str) -> String {
    let text: Vec<&str> = text.split_whitespace().collect();
    let text = text.join(" ").replace('&', "&amp;");
    let text = text.replace('<', "&lt;").replace('>', "&gt;");
    // Markdown goes on within HTML.
    marks_escaped(&text)
}

/// A text on a line that means nothing but itself.
fn inline(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    marks_escaped(&words.join(" ").replace('&', "&amp;").replace('<', "&lt;"))
}

fn marks_escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!'
        ) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Markdown without HTML: of what is no code each `<` is a character.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut at = 0;
    let mut code: Vec<Range<usize>> = Vec::new();
    for (event, range) in Parser::new(text).into_offset_iter() {
        if matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))) {
            code.push(range);
        }
    }
    let plain = |part: &str, escaped: &mut String| {
        escaped.push_str(&part.replace('<', "&lt;"));
    };
    for range in code {
        if range.start < at {
            continue;
        }
        plain(text.get(at..range.start).unwrap_or_default(), &mut escaped);
        escaped.push_str(text.get(range.clone()).unwrap_or_default());
        at = range.end;
    }
    plain(text.get(at..).unwrap_or_default(), &mut escaped);
    // What was code beside a tag may be none without it.
    let is_html = |event| matches!(event, Event::Html(_) | Event::InlineHtml(_));
    if Parser::new(&escaped).any(is_html) {
        return text.replace('<', "&lt;");
    }
    escaped
}

/// Markdown whose last block of code is closed.
fn closed(text: &str) -> String {
    let last = Parser::new(text).into_offset_iter();
    let last = last.filter(|(event, _)| {
        matches!(
            event,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))
        )
    });
    let open = last.last().and_then(|(_, range)| {
        let code = text
            .get(range.clone())
            .filter(|_| range.end >= text.trim_end().len())?;
        let fence: String = code
            .chars()
            .take_while(|c| matches!(c, '`' | '~'))
            .collect();
        let end = code
            .trim_end()
            .rsplit('\n')
            .next()?
            .trim_matches([' ', '>']);
        let is_closed = code.trim_end().contains('\n')
            && end.starts_with(&fence)
            && end.chars().all(|c| fence.starts_with(c));
        (!is_closed).then_some(fence)
    });
    match open {
        Some(fence) => format!("{}\n{fence}", text.trim_end()),
        None => text.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{closed, code, escaped, fenced, html, inline};

    #[test]
    fn no_html_passes_and_code_stays() {
        for (text, shown) in [
            ("a <b>x</b>", "a &lt;b>x&lt;/b>"),
            ("`<b>`", "`<b>`"),
            ("<div>\n\n`<i>`\n</div>", "&lt;div>\n\n`<i>`\n&lt;/div>"),
            ("```html\n<p>\n```\n<p>", "```html\n<p>\n```\n&lt;p>"),
            ("<!-- `x` -->", "&lt;!-- `x` -->"),
            ("<a href=\"`\">`<script>`", "&lt;a href=\"`\">`&lt;script>`"),
        ] {
            assert_eq!(escaped(text), shown);
        }
        assert_eq!(
            html("<img src=x> `a` *b*"),
            r"&lt;img src=x&gt; \`a\` \*b\*"
        );
        assert_eq!(inline("a\n| b <c"), r"a \| b &lt;c");
        assert_eq!(code("a``b"), "``` a``b ```");
    }

    #[test]
    fn fences_are_longer_than_those_within_and_open_ones_are_closed() {
        let mut out = Vec::new();
        fenced("", "````\nx", &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "`````\n````\nx\n`````\n\n");
        for (text, shown) in [
            ("```\nx", "```\nx\n```"),
            ("~~~~sh\nx\n```", "~~~~sh\nx\n```\n~~~~"),
            ("```\nx\n```", "```\nx\n```"),
            ("```", "```\n```"),
            ("plain", "plain"),
        ] {
            assert_eq!(closed(text), shown);
        }
    }
}
