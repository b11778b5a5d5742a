//! User lines and queued prompts: prompts, typed commands, results of tools, and texts that the
//! program stores under the role of the user.

use super::command::{self, PendingCommand};
use super::lanes::owners::is_companion_line;
use super::lanes::{Trust, fork};
use super::line::TranscriptLine;
use super::queue::words_of;
use super::session::DecoderState;
use super::system::bookkeeping;
use super::voice::author::{RecordAuthor, author_of};
use super::voice::background;
use super::voice::{ClaudeAuthor, ProgramNote, TASK_TITLE, classify, classify_human};
use super::{outcome, stored};
use crate::formats::anthropic::{self, BlockContent, Site, block_type};
use crate::formats::decoder::show_raw;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::sender::{Sender, SenderKind};
use crate::model::entry::{Block, BlockKind, Break, Piece, Raw, Role, Sent};
use crate::model::tally::Fate;
use crate::model::tally::unknown::Judged;
use crate::model::text::Text;
use crate::model::tool::work::{Carrier, WorkEnd, WorkReference};
use crate::model::tool::{ToolResult, ToolState, Verdict};

/// The decoded blocks of a line.
#[derive(Debug, Default)]
pub(crate) struct DecodedLine {
    /// What the user wrote or typed.
    pub(crate) own: Vec<BlockKind>,
    /// What the program or another sender that is not human wrote.
    pub(crate) program: Vec<BlockKind>,
    pub(crate) from: Option<Sender>,
    /// Advice of the program to the model on a message that it relayed.
    pub(crate) advice: Vec<BlockKind>,
    /// Whether everything by the program matters only to the model.
    pub(crate) is_quiet: bool,
    /// Whether it is a command that the user typed.
    pub(crate) is_command: bool,
    /// Whether the program wrote nothing but the output of a command.
    pub(crate) is_output: bool,
    /// Whether the user interrupted the agent.
    pub(crate) is_interrupted: bool,
    pub(crate) results: Vec<Returned>,
    /// Ends of background work, from notifications.
    pub(crate) updates: Vec<(WorkReference, WorkEnd)>,
    /// The first text of the user.
    pub(crate) words: Option<String>,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Returned {
    call: Key,
    result: ToolResult,
    /// Name of the file with the whole output.
    file: Option<String>,
    /// Whether the call is still running, so that this is partial output.
    is_running: bool,
    /// An update of another call's work, and who is told.
    polled: Option<(WorkReference, Option<WorkEnd>, Carrier)>,
}

/// Reads the blocks of a user message in order.
#[derive(Debug)]
pub(crate) struct MessageReader<'a> {
    author: RecordAuthor<'a>,
    /// The structured copy of the result, if there is exactly one result.
    details: &'a Json<'a>,
    line: DecodedLine,
}

impl<'a> MessageReader<'a> {
    /// Creates the reader for a user line.
    pub(crate) fn of(line: &TranscriptLine<'a>) -> Self {
        let json = line.json;
        let is_main = line.lane.is_none() && !json.get("isSidechain").is_true();
        let author = author_of(json, json.get("origin"), is_meta(json), is_main);
        Self::new(json.at("message.content"), author, details_of(json))
    }

    fn new(content: &Json<'_>, author: RecordAuthor<'a>, details: &'a Json<'a>) -> Self {
        let has_one_result = content
            .blocks()
            .iter()
            .filter(|block| is_result(block))
            .count()
            == 1;
        let details = if has_one_result { details } else { &Json::Null };
        Self {
            author,
            details,
            line: DecodedLine {
                is_quiet: true,
                ..DecodedLine::default()
            },
        }
    }

    fn all(mut self, content: &Json<'_>, site: Site<'_>, out: &mut Batch) -> DecodedLine {
        let blocks = content.blocks();
        for (place, block) in blocks.iter().enumerate() {
            self.read(block, Site { place, ..site }, out);
        }
        // A line with nothing but a result stands for the result in the chain of parents.
        if let ([_], [returned]) = (blocks, self.line.results.as_mut_slice()) {
            returned.result.key = Text::clean(site.record);
        }
        self.line
    }

    /// Reads the next block.
    pub(crate) fn read(&mut self, block: &Json<'_>, site: Site<'_>, out: &mut Batch) {
        let Self {
            author,
            details,
            line: heard,
        } = self;
        let text = block.part_text();
        if let Some(text) = text.filter(|_| block_type(block) == "text") {
            if *author != RecordAuthor::Human {
                heard.updates.extend(background::notices(text));
            }
            return add_text(text, author, heard, out);
        }
        match anthropic::content(block, site, out) {
            // A block of unknown kind is not a prompt.
            BlockContent::Part(kind @ BlockKind::Aside(..)) => heard.program.push(kind),
            BlockContent::Part(kind)
                if matches!(author, RecordAuthor::Program | RecordAuthor::Other(..)) =>
            {
                heard.program.push(kind);
            }
            BlockContent::Part(kind) => heard.own.push(kind),
            BlockContent::Result(call, mut result) => {
                let text = anthropic::output_text(block.get("content"));
                outcome::enrich(&mut result, &text, details, out);
                let file = stored::named_in(&text, details);
                let goes_on = details.get("detachedToolCall").is_true();
                let polled = background::polled_work(&text, details);
                heard.results.push(Returned {
                    call,
                    result: *result,
                    file,
                    is_running: goes_on,
                    polled,
                });
            }
            BlockContent::Blank => {}
        }
    }
}

fn is_meta(json: &Json<'_>) -> bool {
    ["isMeta", "isSynthetic", "isVisibleInTranscriptOnly"]
        .iter()
        .any(|mark| json.get(mark).is_true())
}

/// The structured copy of a result, in the spelling of disk or stream.
fn details_of<'a>(json: &'a Json<'a>) -> &'a Json<'a> {
    json.either("toolUseResult", "tool_use_result")
}

fn is_result(block: &Json<'_>) -> bool {
    block_type(block).ends_with("tool_result")
}

fn add_text(text: &str, author: &RecordAuthor<'_>, heard: &mut DecodedLine, out: &mut Batch) {
    let voice = match author {
        RecordAuthor::Other(sender, body) => {
            return add_other_text(sender, *body, text, heard, out);
        }
        RecordAuthor::Human => classify_human(text),
        RecordAuthor::InTurnOf(_) | RecordAuthor::Program | RecordAuthor::Unknown => classify(text),
    };
    match voice {
        ClaudeAuthor::Own { words, asides } => {
            if let RecordAuthor::InTurnOf(sender) = author {
                add_message(sender.clone(), words, heard, out);
            } else if *author == RecordAuthor::Program {
                let note = ProgramNote {
                    title: "note to the model",
                    text: words.into(),
                    facts: String::new(),
                    quiet: true,
                };
                add_note(&note, heard, out);
            } else if !words.trim().is_empty() {
                heard.words.get_or_insert_with(|| words.to_owned());
                heard.own.push(BlockKind::Text(out.prose(words)));
            }
            for aside in asides {
                add_note(&aside, heard, out);
            }
        }
        ClaudeAuthor::Relayed {
            from,
            words,
            advice,
        } => {
            if let Some(from) = from {
                add_message(from, &words, heard, out);
            } else {
                heard
                    .words
                    .get_or_insert_with(|| words.clone().into_owned());
                heard.own.push(BlockKind::Text(out.prose(&words)));
            }
            add_advice(advice, heard, out);
        }
        ClaudeAuthor::Typed(command) if *author == RecordAuthor::Program => {
            let note = ProgramNote {
                title: "command",
                text: command.into(),
                facts: String::new(),
                quiet: true,
            };
            add_note(&note, heard, out);
        }
        ClaudeAuthor::Typed(command) => {
            heard.own.push(BlockKind::Text(out.prose(&command)));
            heard.is_command = true;
            // A command serves as title of the session only if it has arguments.
            if command.starts_with('/') && command.contains(' ') {
                heard.words.get_or_insert(command);
            }
        }
        ClaudeAuthor::Interrupted(how) => {
            heard.is_quiet = false;
            heard.is_interrupted = true;
            heard
                .program
                .push(BlockKind::Break(Break::Interrupted(Text::clean(how))));
        }
        ClaudeAuthor::Program(note) => add_note(&note, heard, out),
    }
}

/// Adds a text by a sender that is not human: `body` is the exact message, `text` what the model
/// received.
fn add_other_text(
    sender: &Sender,
    body: Option<&str>,
    text: &str,
    heard: &mut DecodedLine,
    out: &mut Batch,
) {
    let (words, advice) = match classify(text) {
        ClaudeAuthor::Program(note) => {
            add_note(&note, heard, out);
            heard.from = Some(sender.clone());
            return;
        }
        ClaudeAuthor::Relayed { words, advice, .. } => (words, advice),
        ClaudeAuthor::Own { .. } | ClaudeAuthor::Typed(_) | ClaudeAuthor::Interrupted(_) => {
            (text.into(), None)
        }
    };
    let body = body.filter(|_| heard.from.is_none());
    add_message(sender.clone(), body.unwrap_or(&words), heard, out);
    add_advice(advice, heard, out);
}

/// Adds the program's advice on a message that it relayed.
fn add_advice(advice: Option<ProgramNote<'_>>, heard: &mut DecodedLine, out: &mut Batch) {
    if let Some(ProgramNote { title, text, .. }) = advice {
        let body = out.output(&text);
        heard.advice.push(BlockKind::raw(title, body));
    }
}

/// Adds a message by a sender that is not human.
fn add_message(from: Sender, words: &str, heard: &mut DecodedLine, out: &mut Batch) {
    if !words.trim().is_empty() {
        heard.is_quiet = false;
        heard.program.push(BlockKind::Text(out.prose(words.trim())));
    }
    heard.from = Some(from);
}

fn add_note(note: &ProgramNote<'_>, heard: &mut DecodedLine, out: &mut Batch) {
    heard.is_output = note.is_output() && (heard.is_output || heard.program.is_empty());
    if note.text.trim().is_empty() {
        return;
    }
    heard.is_quiet &= note.quiet;
    if note.title == TASK_TITLE {
        heard.from.get_or_insert(Sender::of(SenderKind::Task));
    }
    let body = out.output(&note.text);
    heard.program.push(BlockKind::raw(note.title, body));
    if !note.facts.is_empty() {
        let raw = Raw {
            title: Text::from("for the program"),
            body: out.output(&note.facts),
        };
        heard.program.push(BlockKind::Aside(Judged::Trace, raw));
    }
}

/// Decodes a user line.
pub(crate) fn decode(
    line: &TranscriptLine<'_>,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let json = line.json;
    let content = json.at("message.content");
    if json.get("isCompactSummary").is_true() {
        return summary(line, content, session, out);
    }
    if content.is_null() {
        return show_raw(line.input, "user", out);
    }
    let details = details_of(json);
    let site = Site {
        record: &line.id,
        place: 0,
        at: line.at,
    };
    let mut heard = MessageReader::of(line).all(content, site, out);
    let is_fork = fork::has_fork_instructions(line);
    // Results of another lane's calls that this file repeats are attached in that lane.
    heard.results.retain(|returned| {
        let is_copy = is_companion_line(line)
            && session
                .calls
                .is_of_others(line.lane.as_ref(), &returned.call);
        !is_fork && !is_copy
    });
    let is_nothing_else =
        heard.own.is_empty() && heard.program.is_empty() && heard.results.is_empty();
    if is_nothing_else && has_result(content) {
        return Fate::Merged;
    }
    deny(&mut heard.results, json.get("toolDenialKind"));
    if let [returned] = heard.results.as_slice() {
        session.lanes.link(
            details.get("agentId").str_or_empty(),
            &returned.call,
            Trust::Result,
            out,
        );
        session
            .lanes
            .run_began(details.get("runId").str_or_empty(), &returned.call, out);
        let is_agent = details.get("agentId").filled().is_some();
        if let Some(work) = returned.result.work.as_ref().filter(|_| is_agent) {
            session
                .lanes
                .begin_agent(work.handle.clone(), line.lane.clone());
        }
        if details.get("status").is("teammate_spawned") {
            session
                .lanes
                .spawn(details.get("name").str_or_empty(), &returned.call, out);
        }
    }
    if !heard.own.is_empty() {
        // A message delivered within a turn is recorded here as well as by the queue.
        if let Some(words) = heard
            .words
            .as_deref()
            .filter(|_| is_meta(json) && line.lane.is_none())
        {
            session.queue.attach(line, Piece::of(words.trim()), out);
        } else {
            session.queue.begin_turn();
            session.requests.begin_turn();
        }
    }
    show(line, heard, session, out)
}

/// Applies the recorded reason why calls did not complete.
fn deny(results: &mut [Returned], kind: &Json<'_>) {
    let is_one = results.len() == 1;
    let denied = results
        .iter_mut()
        .filter(|one| is_one || one.result.verdict != Verdict::Done);
    for returned in denied {
        outcome::deny(&mut returned.result, kind.str_or_empty());
    }
}

fn has_result(content: &Json<'_>) -> bool {
    content.blocks().iter().any(is_result)
}

/// Decodes a prompt that was typed while the agent was busy, or a queued notification.
pub(crate) fn queued(
    line: &TranscriptLine<'_>,
    attachment: &Json<'_>,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let is_notice = attachment.get("commandMode").is("task-notification");
    let is_meta = is_notice
        || [line.json, attachment]
            .iter()
            .any(|json| json.get("isMeta").is_true());
    let author = author_of(&Json::Null, attachment.get("origin"), is_meta, true);
    let site = Site {
        record: &line.id,
        place: 0,
        at: line.at,
    };
    let prompt = attachment.get("prompt");
    let heard = MessageReader::new(prompt, author, &Json::Null).all(prompt, site, out);
    session.queue.attach(line, words_of(prompt), out);
    show(line, heard, session, out)
}

/// Emits the entries of a line.
fn show(
    line: &TranscriptLine<'_>,
    mut heard: DecodedLine,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    // Sub-agents sign with their ids.
    if let Some(from) = &mut heard.from
        && let Some(label) = from
            .name
            .as_ref()
            .and_then(|name| session.lanes.label(name))
    {
        from.name = Some(label.clone());
    }
    let is_said = !heard.own.is_empty();
    if heard.is_output && !is_said && heard.program.is_empty() {
        // Even empty output shows that the program ran the command and that the model was not
        // called.
        let empty = BlockKind::raw(Raw::COMMAND_OUTPUT, out.output(""));
        heard.program.push(empty);
    }
    for (about, end) in std::mem::take(&mut heard.updates) {
        let end = (about, Some(end));
        session.lanes.report(line, end, Carrier::Notice, out);
    }
    let has_notes = !heard.program.is_empty();
    let has_results = !heard.results.is_empty();
    for returned in heard.results {
        end_call(line, returned, session, out);
    }
    if heard.is_interrupted {
        session.calls.mark_lost(line.lane.as_ref(), out);
    }
    if is_said {
        if let Some(words) = heard.words.as_deref().filter(|_| line.lane.is_none()) {
            session.emit_prompt(words, out);
        }
        let mut entry = line.own_entry(Role::User, out);
        entry.marks.prompt = true;
        entry.blocks = blocks(line, heard.own);
        session.requests.end(line.lane.as_ref());
        if heard.is_command {
            session.command = Some(PendingCommand::of(&entry));
        }
        out.entry(entry);
    }
    let mut program = blocks(line, heard.program);
    if heard.is_output && !is_said {
        match command::add_output(line, program, session.command.take(), out) {
            Ok(fate) => return fate,
            Err(blocks) => program = blocks,
        }
    }
    if has_notes {
        let key = if is_said {
            line.sub_key("notes")
        } else {
            line.id.clone()
        };
        let mut entry = line.entry(key, Role::Harness, out);
        entry.marks.quiet = heard.is_quiet;
        entry.from = heard.from.filter(|_| !is_said).map(Box::new);
        entry.blocks = program;
        out.entry(entry);
    }
    if !heard.advice.is_empty() {
        let mut entry = line.entry(line.sub_key("advice"), Role::Harness, out);
        (entry.marks.quiet, entry.marks.trace) = (true, true);
        entry.blocks = blocks(line, heard.advice);
        entry
            .blocks
            .iter_mut()
            .for_each(|block| block.sent = Sent::Whole);
        out.entry(entry);
    }
    match (is_said || has_notes, has_results) {
        (true, _) => Fate::Shown,
        (false, true) => Fate::Merged,
        (false, false) => bookkeeping(line, "a message without text", out),
    }
}

/// Attaches a result to its call, or the output so far.
fn end_call(
    line: &TranscriptLine<'_>,
    returned: Returned,
    session: &mut DecoderState,
    out: &mut Batch,
) {
    let Returned {
        call,
        mut result,
        file,
        is_running: goes_on,
        polled,
    } = returned;
    if let Some((about, end, carrier)) = polled {
        session.lanes.report(line, (about, end), carrier, out);
    }
    if goes_on {
        out.state(call, ToolState::Streaming(Box::new(result.body)));
        return;
    }
    if let Some(file) = file {
        session
            .stored
            .name(&call, &mut result, line.lane.as_ref(), &file, out);
    }
    session.calls.end(line.lane.as_ref(), &call);
    out.result(call, result, line.lane.clone());
}

fn blocks(line: &TranscriptLine<'_>, kinds: Vec<BlockKind>) -> Vec<Block> {
    kinds
        .into_iter()
        .map(|kind| Block::new(line.piece(), kind))
        .collect()
}

/// Adds the summary of a compaction to the entry of its boundary. Old versions write no boundary,
/// so that the summary becomes the compaction's entry.
fn summary(
    line: &TranscriptLine<'_>,
    content: &Json<'_>,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let boundary = session.take_boundary(line);
    let fate = if boundary.is_some() {
        Fate::Merged
    } else {
        Fate::Shown
    };
    let is_alone = boundary.is_none();
    let mut entry = line.entry(
        boundary.unwrap_or_else(|| line.id.clone()),
        Role::Harness,
        out,
    );
    if is_alone {
        let compaction = Break::compaction("");
        entry.push_piece(line.piece(), compaction);
    }
    let body = out.prose(&anthropic::output_text(content));
    entry.push_piece(line.piece(), BlockKind::Text(body));
    out.entry(entry);
    fate
}
