//! A session as a page of HTML: one file that loads nothing.
//!
//! **Markup is `&'static str`.** All else goes through [`sheet::HtmlWriter::text`], the only function that
//! escapes, so nothing of a transcript can become markup. The page needs no script; one of its own
//! finds words, and its content security policy allows no other.
//!
//! Tools, diffs, trees and colours are laid out as on the screen (`render::lay_out`) with a theme
//! whose colours stand for roles; the page has a light and a dark palette for them.

mod charts;
mod prose;
mod sheet;

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use self::sheet::{HtmlWriter, theme};
use super::pages::{PageStep, cut, limit, name, part, steps, title};
use super::{Exported, Extent, WriteFile};
use crate::analysis::calls::lifecycle;
use crate::analysis::{phrases, plans};
use crate::ingest::{Pager, image_ending};
use crate::model::body::{Body, Image};
use crate::model::entry::{Block, BlockKind, Entry, EntryId, Role};
use crate::model::figures::bytes;
use crate::model::text::without_sgr;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolState;
use crate::model::tool::work::EndLine;
use crate::render::code::Colours;
use crate::render::lay_out;
use crate::render::row::{Item, Level, Look, Row, RowKind, Times};
use crate::render::theme::Theme;
use crate::report::reading::{Contents, Reading};
use crate::report::stats;

/// The file of a session.
pub(super) const FILES: [(&str, WriteFile); 1] = [("html", write)];

/// Columns of what is laid out, as many as the page is wide: wide diffs would stand side by side,
/// which no phone can show.
const WIDTH: u16 = 116;
/// Bytes of one text.
const LONGEST: usize = 1 << 20;
/// Calls with more bytes are laid out as previews.
const WHOLE: usize = 256 << 10;
/// Bytes of one image, and of all of a page.
const IMAGE: u64 = 2 << 20;
const IMAGES: u64 = 12 << 20;
/// Prompts of a table.
const PROMPT: usize = 160;

fn write(
    exported: &Exported<'_>,
    pager: Option<&mut Pager>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (theme, colours) = (theme(), Colours::immediate());
    let mut page = HtmlPage {
        sheet: HtmlWriter::new(out),
        contents: Contents::of(pager),
        reading: exported.reading,
        is_over: !exported
            .reading
            .activity(exported.now)
            .is_ongoing(exported.now),
        limit: limit(exported),
        extent: &exported.extent,
        hidden: 0,
        room: IMAGES,
        images: 0,
        theme: &theme,
        colours: &colours,
    };
    page.write(exported)
}

/// A page while it is written.
struct HtmlPage<'p> {
    sheet: HtmlWriter<'p>,
    contents: Contents<'p>,
    reading: &'p Reading,
    is_over: bool,
    limit: usize,
    extent: &'p Extent,
    /// Entries that are bookkeeping.
    hidden: usize,
    /// Bytes of images that the page has room for.
    room: u64,
    images: usize,
    theme: &'p Theme,
    colours: &'p Colours,
}

impl HtmlPage<'_> {
    fn write(&mut self, exported: &Exported<'_>) -> io::Result<()> {
        self.head(exported)?;
        self.prompts()?;
        // The charts are of the session, and lead to all its prompts.
        if matches!(self.extent, Extent::Session) {
            charts::write(exported, &mut self.sheet)?;
        }
        self.sheet.raw(FILTER)?;
        self.sheet.raw("<main>\n")?;
        let mut passing = self.reading.transcript.cursor();
        for step in steps(self.reading, self.extent) {
            match step {
                PageStep::Entry(id) => {
                    if let Some(entry) = passing.get(id) {
                        self.entry(id, entry)?;
                    }
                }
                PageStep::Begin(lane) => {
                    let Reading {
                        transcript,
                        account,
                        ..
                    } = self.reading;
                    self.sheet
                        .raw("<details class=\"lane\"><summary><span class=\"t\">")?;
                    self.sheet.text(&lane.label)?;
                    self.sheet.raw("</span><span class=\"right\">")?;
                    self.sheet
                        .text(&phrases::lane(lane, transcript, account, false))?;
                    self.sheet.raw("</span></summary>\n")?;
                }
                PageStep::End => self.sheet.raw("</details>\n")?,
            }
        }
        self.sheet.raw("</main>\n")?;
        self.foot(exported)
    }

    fn head(&mut self, exported: &Exported<'_>) -> io::Result<()> {
        let sheet = &mut self.sheet;
        sheet.raw(HEAD)?;
        sheet.raw("<title>")?;
        sheet.text(title(exported))?;
        sheet.raw("</title>\n<style>\n")?;
        sheet.raw(include_str!("../../../assets/export/page.css"))?;
        sheet.palettes()?;
        sheet.raw("</style>\n</head>\n<body>\n<header>\n<h1>")?;
        sheet.text(title(exported))?;
        sheet.raw("</h1>\n<dl>\n")?;
        let part = part(exported).map(|part| ("part", part));
        for (label, value) in stats::table(&exported.figures).into_iter().chain(part) {
            sheet.raw("<dt>")?;
            sheet.text(label)?;
            sheet.raw("</dt><dd>")?;
            sheet.text(&value)?;
            sheet.raw("</dd>\n")?;
        }
        sheet.raw("</dl>\n</header>\n")
    }

    fn prompts(&mut self) -> io::Result<()> {
        let Reading {
            transcript,
            account,
            ..
        } = self.reading;
        if transcript.turns().is_empty() {
            return Ok(());
        }
        let sheet = &mut self.sheet;
        let is_long = transcript.turns().len() > 30;
        sheet.raw(if is_long {
            "<details>"
        } else {
            "<details open>"
        })?;
        sheet.raw("<summary>Prompts</summary>\n<table class=\"prompts\">\n")?;
        for (number, turn) in transcript.turns().iter().enumerate() {
            let Some(entry) = transcript.get(turn.prompt) else {
                continue;
            };
            if !self.extent.holds(self.reading, turn.prompt) {
                continue;
            }
            let figures = account.turn(transcript, number);
            let started = figures.facts.started;
            sheet.raw("<tr><td class=\"n\">")?;
            sheet.text(&(number + 1).to_string())?;
            sheet.raw("</td><td><a href=\"#")?;
            sheet.fragment(&entry.key)?;
            sheet.raw("\">")?;
            let words = phrases::title_of(entry);
            let (words, left) = cut(words.lines().next().unwrap_or_default(), PROMPT);
            sheet.text(words)?;
            sheet.raw(if left > 0 { "…" } else { "" })?;
            sheet.raw("</a></td><td class=\"n wide\">")?;
            sheet.text(&phrases::turn(&account.turn(transcript, number), 0, false))?;
            sheet.raw("</td><td class=\"n wide\">")?;
            sheet.text(&started.map(Timestamp::clock).unwrap_or_default())?;
            sheet.raw("</td></tr>\n")?;
        }
        sheet.raw("</table>\n</details>\n")
    }

    fn entry(&mut self, id: EntryId, entry: &Entry) -> io::Result<()> {
        let reading = self.reading;
        if entry.marks.is_hidden() {
            self.hidden += 1;
            return Ok(());
        }
        let is_left = reading.transcript.branches().abandoned.contains(&id) || entry.marks.copy;
        self.sheet.raw("<article id=\"")?;
        self.sheet.text(&entry.key)?;
        self.sheet.raw("\" class=\"")?;
        self.sheet.text(if entry.marks.quiet {
            "note"
        } else {
            entry.role.word()
        })?;
        self.sheet
            .raw(if is_left { " left\">\n" } else { "\">\n" })?;
        if entry.has_prose() {
            self.speaker(id, entry)?;
        }
        for (at, block) in entry.blocks.iter().enumerate() {
            match &block.kind {
                BlockKind::Text(_) => self.text(entry, block)?,
                BlockKind::Thinking(body) if body.stub.is_blank() => {}
                BlockKind::Thinking(_) => {
                    self.sheet.raw(
                        "<details class=\"thought\"><summary class=\"dim\">thinking</summary>\n",
                    )?;
                    self.text(entry, block)?;
                    self.sheet.raw("</details>\n")?;
                }
                BlockKind::Image(image) => {
                    self.laid_out((id, entry), at)?;
                    self.image(image)?;
                }
                _ => {
                    self.laid_out((id, entry), at)?;
                    let result = block.call().and_then(|call| call.state.result());
                    for image in result.into_iter().flat_map(|result| &result.images) {
                        self.image(image)?;
                    }
                }
            }
        }
        self.sheet.raw("</article>\n")
    }

    fn speaker(&mut self, id: EntryId, entry: &Entry) -> io::Result<()> {
        let Reading {
            transcript,
            account,
            ..
        } = self.reading;
        let turn = account.turn_of(transcript, id);
        let turn = turn.filter(|number| {
            let turn = transcript.turns().get(*number);
            turn.is_some_and(|turn| turn.prompt == id)
        });
        let sheet = &mut self.sheet;
        sheet.raw(if turn.is_some() { "<h2>" } else { "<h3>" })?;
        sheet.raw("<a href=\"#")?;
        sheet.fragment(&entry.key)?;
        sheet.raw("\">")?;
        if let Some(number) = turn {
            sheet.text(&(number + 1).to_string())?;
            sheet.raw(". ")?;
        }
        sheet.text(entry.speaker())?;
        sheet.raw("</a> <time>")?;
        sheet.text(&entry.at.map(Timestamp::date_and_clock).unwrap_or_default())?;
        sheet.raw("</time> <small>")?;
        if let Some(number) = turn {
            sheet.text(&phrases::turn(&account.turn(transcript, number), 0, false))?;
        }
        if let Some(model) = &entry.model {
            sheet.text(model)?;
            sheet.raw(" ")?;
        }
        if let Some(usage) = entry
            .usage
            .as_deref()
            .filter(|_| entry.role == Role::Assistant)
        {
            sheet.text(&phrases::tokens_and_cost(
                usage,
                entry.model.as_ref(),
                false,
            ))?;
        }
        sheet.raw(if turn.is_some() {
            "</small></h2>\n"
        } else {
            "</small></h3>\n"
        })
    }

    fn text(&mut self, entry: &Entry, block: &Block) -> io::Result<()> {
        let whole = self.contents.with_bodies(block);
        let (BlockKind::Text(body) | BlockKind::Thinking(body)) = &whole.kind else {
            return Ok(());
        };
        let text = without_sgr(body.text_or_stub());
        if text.trim().is_empty() {
            return Ok(());
        }
        let (part, left) = cut(&text, LONGEST);
        let is_folded = entry.marks.quiet && matches!(whole.kind, BlockKind::Text(_));
        if is_folded {
            self.sheet
                .raw("<details class=\"note\"><summary class=\"dim\">")?;
            self.sheet
                .text(cut(part.trim().lines().next().unwrap_or_default(), PROMPT).0)?;
            self.sheet.raw("</summary>\n")?;
        }
        if entry.role == Role::Assistant {
            self.sheet.raw("<div class=\"md\">\n")?;
            prose::write(part, self.theme, self.colours, &mut self.sheet)?;
        } else {
            self.sheet.raw("<div class=\"typed\">")?;
            self.sheet.text(part.trim_matches('\n'))?;
        }
        self.sheet.raw("</div>\n")?;
        self.truncated(left)?;
        self.sheet.raw(if is_folded { "</details>\n" } else { "" })
    }

    /// A block as the screen shows it: its head is a summary, what is below can be opened.
    fn laid_out(&mut self, (id, entry): (EntryId, &Entry), at: usize) -> io::Result<()> {
        let (rows, is_call) = self.rows((id, entry), at);
        let mut rows = rows
            .iter()
            .filter(|row| row.kind != RowKind::Gap)
            .peekable();
        let Some(head) = rows.next() else {
            return Ok(());
        };
        if head.kind == RowKind::Rule {
            self.sheet.raw("<div class=\"rule\">")?;
            // The page draws the line itself.
            let words = head.line.to_string();
            self.sheet.text(words.trim_matches(['\u{2500}', ' ']))?;
            return self.sheet.raw("</div>\n");
        }
        let call = entry.blocks.get(at).and_then(Block::call);
        let failed = call.is_some_and(|call| matches!(call.state, ToolState::Failed(_)));
        let has_body = rows.peek().is_some();
        self.sheet.raw(match (has_body, is_call, failed) {
            (true, true, true) => "<details class=\"call failed\"><summary>",
            (true, true, false) => "<details class=\"call\"><summary>",
            (true, false, _) => "<details class=\"note\"><summary>",
            (false, true, true) => "<div class=\"call failed\">",
            (false, true, false) => "<div class=\"call\">",
            (false, false, _) => "<div class=\"note\">",
        })?;
        self.sheet.raw("<span class=\"t\">")?;
        self.sheet.spans(head, &head.line.spans)?;
        self.sheet.raw("</span>")?;
        if !head.right.is_empty() {
            self.sheet.raw("<span class=\"right\">")?;
            self.sheet.spans(head, &head.right)?;
            self.sheet.raw("</span>")?;
        }
        if !has_body {
            return self.sheet.raw("</div>\n");
        }
        self.sheet.raw("</summary>\n<pre>")?;
        let (mut written, mut left) = (0, 0);
        for row in rows {
            let length: usize = row
                .line
                .spans
                .iter()
                .map(|span| span.content.len() + 1)
                .sum();
            written += length;
            if written > self.limit {
                left += length;
                continue;
            }
            self.row(row)?;
        }
        self.sheet.raw("</pre>\n")?;
        self.truncated(left)?;
        self.sheet.raw("</details>\n")
    }

    fn row(&mut self, row: &Row) -> io::Result<()> {
        self.sheet.spans(row, &row.line.spans)?;
        if !row.right.is_empty() {
            self.sheet.raw("  ")?;
            self.sheet.spans(row, &row.right)?;
        }
        self.sheet.raw("\n")
    }

    fn rows(&mut self, (id, entry): (EntryId, &Entry), at: usize) -> (Vec<Row>, bool) {
        let transcript = &self.reading.transcript;
        let Some(block) = entry.blocks.get(at) else {
            return (Vec::new(), false);
        };
        let whole = self.contents.with_bodies(block).into_owned();
        let bodies: usize = (whole.kind.bodies()).map(|body| body.bytes as usize).sum();
        let is_call = matches!(whole.kind, BlockKind::Call(_));
        let earlier = plans::earlier(transcript, id, at..at + 1).into_iter();
        let earlier: Vec<Body> = earlier
            .map(|(_, _, input)| self.contents.with_content(input))
            .collect();
        let earlier: Vec<(usize, &Body)> = earlier.iter().map(|input| (0, input)).collect();
        let root = transcript.meta().root.as_deref();
        let ends = lifecycle::reports(transcript, entry, self.is_over);
        let ends: Vec<EndLine> = (ends.iter())
            .map(|end| phrases::end(end, root, true))
            .collect();
        let ends = entry.work_ends_at(&ends, at);
        // The block stands alone: the others have been written, or will be.
        let alone = Entry {
            blocks: vec![whole],
            records: Vec::new(),
            usage: None,
            ..without_blocks(entry)
        };
        let item = Item {
            plans: &earlier,
            ends,
            is_awaited: !self.is_over,
            is_at_work: !self.is_over,
            is_running: !self.is_over,
            ..Item::of(&alone)
        };
        let look = Look {
            level: if bodies > WHOLE {
                Level::Preview
            } else {
                Level::Full
            },
            times: Times::None,
            root,
            ..Look::full(WIDTH, self.theme, self.colours)
        };
        (lay_out(&item, &look), is_call)
    }

    /// An image that its record holds, unless it is too large; what it is stands above it.
    fn image(&mut self, image: &Image) -> io::Result<()> {
        let size = image.bytes.unwrap_or(IMAGE);
        if image.source.is_some() || size > IMAGE.min(self.room) {
            return Ok(());
        }
        let Some(data) = self.contents.image(image) else {
            return Ok(());
        };
        let kind = match image_ending(&data) {
            Some("png") => "<img loading=\"lazy\" alt=\"\" src=\"data:image/png;base64,",
            Some("jpg") => "<img loading=\"lazy\" alt=\"\" src=\"data:image/jpeg;base64,",
            Some("gif") => "<img loading=\"lazy\" alt=\"\" src=\"data:image/gif;base64,",
            Some("webp") => "<img loading=\"lazy\" alt=\"\" src=\"data:image/webp;base64,",
            _ => return Ok(()),
        };
        if data.len() as u64 > size {
            return Ok(());
        }
        self.room = self.room.saturating_sub(data.len() as u64);
        self.images += 1;
        self.sheet.raw(kind)?;
        self.sheet.text(&STANDARD.encode(&data))?;
        self.sheet.raw("\">\n")
    }

    fn truncated(&mut self, left: usize) -> io::Result<()> {
        if left == 0 {
            return Ok(());
        }
        self.sheet.raw("<p class=\"more\">")?;
        self.sheet.text(&format!("{} more", bytes(left as u64)))?;
        self.sheet.raw("</p>\n")
    }

    fn foot(&mut self, exported: &Exported<'_>) -> io::Result<()> {
        let masked = self.sheet.masked;
        let sheet = &mut self.sheet;
        sheet.raw("<footer>\n")?;
        if self.hidden > 0 {
            sheet.raw("<p>")?;
            sheet.text(&self.hidden.to_string())?;
            sheet.raw(" of the entries are bookkeeping and not shown.</p>\n")?;
        }
        if exported.options.is_redacted {
            sheet.raw("<p>Keys and tokens of known shapes are masked: in ")?;
            sheet.text(&masked.to_string())?;
            sheet.raw(" places of this page.")?;
            if self.images > 0 {
                sheet.raw(" Images are as they were.")?;
            }
            sheet.raw("</p>\n")?;
        } else {
            sheet.raw("<p>Keys and tokens are not masked.</p>\n")?;
        }
        sheet.raw("<p>An entry is opened by the key in its address: <code>tv ")?;
        sheet.text(&format!("{}#KEY", name(exported)))?;
        sheet.raw("</code>. Written by tv ")?;
        sheet.text(env!("CARGO_PKG_VERSION"))?;
        sheet.raw(".</p>\n</footer>\n<script>")?;
        // Its hash is in the head: a test with a browser finds out if it is another.
        sheet.raw(include_str!("../../../assets/export/page.js"))?;
        sheet.raw("</script>\n</body>\n</html>\n")
    }
}

fn without_blocks(entry: &Entry) -> Entry {
    Entry {
        key: entry.key.clone(),
        parent: None,
        lane: None,
        at: entry.at,
        ended: entry.ended,
        role: entry.role,
        from: entry.from.clone(),
        model: entry.model.clone(),
        attribution: None,
        blocks: Vec::new(),
        usage: None,
        stop: entry.stop,
        origin: entry.origin,
        records: Vec::new(),
        marks: entry.marks,
        revision: entry.revision,
    }
}

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
    img-src data:; script-src 'sha256-FueLuXErMsEFAtQzXaqVgq/QN2uKMTPG4pDtayS8KyE='; base-uri 'none'; form-action 'none'\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <meta name=\"referrer\" content=\"no-referrer\">\n";

const FILTER: &str = "<div class=\"filter\">\
    <label><input type=\"checkbox\" id=\"calls\" checked> calls</label>\
    <label><input type=\"checkbox\" id=\"good\" checked> calls that went well</label>\
    <label><input type=\"checkbox\" id=\"thinking\" checked> thinking</label>\
    <label><input type=\"checkbox\" id=\"notes\" checked> notes</label></div>\n";
