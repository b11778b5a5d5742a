//! Decodes pi's messages: user, assistant, typed commands, and those of extensions. Results are
//! decoded by `decode`.
//!
//! Invariant: content depends on the message alone. Who wrote a user message is determined by a
//! [`ReadPrompt`], because only OpenClaw wraps prompts.

use itertools::Itertools as _;

use super::block::{self, AnswerEnding};
use super::usage;
use crate::formats::json::Json;
use crate::formats::openclaw::wakes;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::sender::Sender;
use crate::model::entry::{Block, BlockKind, Break, Entry, Piece, Role, Sent, Stop};
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::usage::Scope;

/// The maximum length of a title made from a prompt, in characters.
const TITLE_CHARS: usize = 80;

/// The fields of a line apart from its content.
#[derive(Clone, Debug)]
pub struct MessageLine {
    /// The id of the line, or else a key from its position.
    pub(crate) key: Key,
    /// The id of the preceding line on its branch.
    pub(crate) parent: Option<Key>,
    pub(crate) at: Option<Timestamp>,
    /// The lane, in version 4.
    pub(crate) lane: Option<Name>,
}

impl MessageLine {
    pub(crate) fn entry(&self, role: Role, out: &Batch) -> Entry {
        let mut entry = out.new_entry(self.key.clone(), role, self.at);
        entry.parent.clone_from(&self.parent);
        entry.lane.clone_from(&self.lane);
        entry
    }
}

/// A parsed user message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt<'a> {
    /// Sender, channel and time on one row.
    pub(crate) facts: String,
    /// The text that the program wrote around it.
    pub(crate) envelope: String,
    /// The text of the message itself.
    pub(crate) text: &'a str,
    pub(crate) voice: PromptAuthor,
}

/// Who wrote a user message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PromptAuthor {
    /// A human or a calling agent.
    Person,
    /// A sender other than a human, to make the model act.
    Sender(Sender),
    /// The program, to inform the model.
    Background,
}

/// Parses the text of a user message.
pub(crate) type ReadPrompt = for<'a> fn(&'a str) -> Prompt<'a>;

/// Returns a text unchanged, for formats that do not wrap prompts.
pub(crate) fn plain_prompt(text: &str) -> Prompt<'_> {
    Prompt {
        facts: String::new(),
        envelope: String::new(),
        text,
        voice: PromptAuthor::Person,
    }
}

impl Prompt<'_> {
    /// The envelope as a block; `None` if there is none.
    pub(crate) fn envelope(&self, out: &mut Batch) -> Option<Block> {
        let title = if self.facts.is_empty() {
            "envelope"
        } else {
            &self.facts
        };
        let is_bare = self.facts.is_empty() && self.envelope.is_empty();
        (!is_bare).then(|| Block {
            sent: Sent::Whole,
            ..block::raw_text(title, &self.envelope, out)
        })
    }
}

/// The entry of a message that is not a result.
pub(crate) fn entry(
    line: &MessageLine,
    message: &Json<'_>,
    read: ReadPrompt,
    out: &mut Batch,
) -> Entry {
    match message.get("role").str_or_empty() {
        "user" => user(line, message, read, out),
        "assistant" => assistant(line, message, out),
        "bashExecution" => execution(line, message, ("!", "command"), out),
        "pythonExecution" => execution(line, message, ("$ ", "code"), out),
        "fileMention" => file_mention(line, message, out),
        "custom" | "hookMessage" => custom(line, message, out),
        "branchSummary" => branch_summary(line, message, out),
        "compactionSummary" => compaction(line, message, out),
        "system" | "developer" => text_entry(line, Role::System, message, out),
        other => {
            let mut entry = line.entry(Role::Harness, out);
            entry.push(unknown::block(NamedKind("role", other), message, out));
            entry.mark_by_asides();
            entry
        }
    }
}

/// Offers the first line of a prompt as title. The first prompt's counts.
pub(crate) fn title(entry: &Entry, out: &mut Batch) {
    let text = entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Text(body) => Some(body.text_or_stub()),
        _ => None,
    });
    if let (true, Some(text)) = (entry.marks.prompt, text) {
        out.title(0, Text::stub(text, TITLE_CHARS));
    }
}

/// A hash of an answer's texts; `None` if it has only calls.
pub(crate) fn words(message: &Json<'_>) -> Option<Piece> {
    let mut texts = message
        .get("content")
        .blocks()
        .iter()
        .filter_map(block::text_of);
    let text = texts.join("\n");
    (!text.trim().is_empty()).then(|| Piece::of(text.trim()))
}

fn text_entry(line: &MessageLine, role: Role, message: &Json<'_>, out: &mut Batch) -> Entry {
    let mut entry = line.entry(role, out);
    entry.blocks = block::all(message.get("content"), AnswerEnding::Whole, out);
    entry
}

// === user ===

fn user(line: &MessageLine, message: &Json<'_>, read: ReadPrompt, out: &mut Batch) -> Entry {
    let mut entry = line.entry(Role::User, out);
    let mut voice = PromptAuthor::Person;
    let provenance = message.get("provenance");
    if provenance.is_object() && !provenance.get("kind").is("external_user") {
        let of = |name: &str| provenance.get(name).str_or_empty();
        voice = PromptAuthor::Sender(wakes::of_provenance(
            of("kind"),
            of("sourceTool"),
            of("sourceSessionKey"),
        ));
    }
    let mut is_first_text = true;
    for part in message.get("content").blocks() {
        let Some(text) = block::text_of(part) else {
            entry
                .blocks
                .extend(block::one(part, AnswerEnding::Whole, out));
            continue;
        };
        let prompt = if is_first_text {
            read(text)
        } else {
            plain_prompt(text)
        };
        if is_first_text && voice == PromptAuthor::Person {
            voice = prompt.voice.clone();
        }
        is_first_text = false;
        entry.blocks.extend(prompt.envelope(out));
        entry.blocks.extend(block::text(prompt.text, out));
    }
    match voice {
        PromptAuthor::Person => entry.marks.prompt = true,
        PromptAuthor::Sender(sender) => {
            (entry.role, entry.from) = (Role::Harness, Some(Box::new(sender)));
        }
        PromptAuthor::Background => (entry.role, entry.marks.quiet) = (Role::Harness, true),
    }
    entry
}

/// The files that a prompt mentions with an `@`.
fn file_mention(line: &MessageLine, message: &Json<'_>, out: &mut Batch) -> Entry {
    let mut entry = line.entry(Role::Harness, out);
    entry.marks.quiet = true;
    for file in message.get("files").items() {
        let why = file
            .get("skippedReason")
            .filled()
            .map(|why| format!(" · {why}"))
            .unwrap_or_default();
        let title = format!("file {}{why}", file.get("path").str_or_empty());
        entry.blocks.push(block::raw_text(
            &title,
            file.get("content").str_or_empty(),
            out,
        ));
        if file.get("image").is_object() {
            entry
                .blocks
                .extend(block::one(file.get("image"), AnswerEnding::Whole, out));
        }
    }
    entry
}

/// A command that the user ran, with its prompt sign and the member that has it.
fn execution(
    line: &MessageLine,
    message: &Json<'_>,
    (sign, member): (&str, &str),
    out: &mut Batch,
) -> Entry {
    let mut entry = line.entry(Role::User, out);
    let command = format!("{sign}{}", message.get(member).str_or_empty());
    entry.blocks.extend(block::text(&command, out));
    let mut title = vec!["output".to_owned()];
    title.extend(
        message
            .get("exitCode")
            .int()
            .filter(|code| *code != 0)
            .map(|code| format!("exit {code}")),
    );
    let marks = [
        ("cancelled", "cancelled"),
        ("truncated", "truncated"),
        ("excludeFromContext", "kept from the model"),
    ];
    title.extend(
        marks
            .iter()
            .filter(|(field, _)| message.get(field).is_true())
            .map(|(_, mark)| (*mark).to_owned()),
    );
    title.extend(
        message
            .get("fullOutputPath")
            .filled()
            .map(|path| format!("whole in {path}")),
    );
    let output = message.get("output").str_or_empty();
    let output = block::raw_text(&title.join(" · "), output, out);
    entry.blocks.push(Block {
        sent: Sent::Whole,
        ..output
    });
    entry.marks.unsent = message.get("excludeFromContext").is_true();
    entry
}

// === assistant ===

fn assistant(line: &MessageLine, message: &Json<'_>, out: &mut Batch) -> Entry {
    let ending = match message.get("stopReason").str() {
        Some("error" | "aborted") => AnswerEnding::Broken,
        _ => AnswerEnding::Whole,
    };
    let mut entry = line.entry(Role::Assistant, out);
    entry.blocks = block::all(message.get("content"), ending, out);
    for call in entry.calls_mut() {
        call.started = line.at;
    }
    entry
        .blocks
        .extend(outcome(message).map(|at_end| Block::new(Piece(0), at_end)));
    if let Some(body) = message.get("errorBody").filled() {
        entry.blocks.push(block::raw_text("error body", body, out));
    }
    if message.get("provider").is("openclaw") {
        // OpenClaw writes these itself: a copy of an answer that it delivered to a chat, or its own
        // notices.
        match message.get("model").str() {
            Some("delivery-mirror") => entry.marks.copy = true,
            _ => entry.role = Role::Harness,
        }
        return entry;
    }
    // An answer that broke off is not sent to the model again.
    entry.marks.unsent = ending == AnswerEnding::Broken;
    entry.model = message.get("model").text();
    entry.stop = Stop::of(message.get("stopReason").str_or_empty());
    entry.usage = usage::read(message.get("usage"), Scope::Request, out).map(Box::new);
    entry
}

/// The separator for how the answer ended; `None` if it ended normally.
fn outcome(message: &Json<'_>) -> Option<Break> {
    let error = message.get("errorMessage").filled().map(Text::clean);
    match message.get("stopReason").str() {
        Some("aborted") => Some(Break::Interrupted(
            error.unwrap_or_else(|| "aborted".into()),
        )),
        Some("error") => Some(Break::Error(
            error.unwrap_or_else(|| "the request failed".into()),
        )),
        Some("length") => {
            Some(Break::Error(error.unwrap_or_else(|| {
                "cut off: the answer reached its length limit".into()
            })))
        }
        _ => error.map(Break::Error),
    }
}

// === messages of the program and of extensions ===

/// A message of an extension: an entry of type `custom_message`, or a message of role `custom`.
pub(crate) fn custom(line: &MessageLine, message: &Json<'_>, out: &mut Batch) -> Entry {
    let mut entry = line.entry(Role::Harness, out);
    entry.marks.quiet = message.get("display") == &Json::Bool(false);
    entry.blocks = block::all(message.get("content"), AnswerEnding::Whole, out);
    let details = message.get("details");
    if !details.is_null() || entry.blocks.is_empty() {
        let title = message.get("customType").filled().unwrap_or("custom");
        entry.blocks.push(Block {
            sent: Sent::Never,
            ..block::tree(title, details, out)
        });
    }
    entry
}

/// The summary of an abandoned branch.
pub(crate) fn branch_summary(line: &MessageLine, record: &Json<'_>, out: &mut Batch) -> Entry {
    let mut entry = line.entry(Role::Harness, out);
    let from = record
        .get("fromId")
        .filled()
        .map_or_else(String::new, |id| format!("at {id}"));
    entry.push(Break::Branch(Text::clean(&from)));
    summary(&mut entry, record, out);
    entry
}

/// A compaction: the separator, and the summary that replaces the history for the model.
pub(crate) fn compaction(line: &MessageLine, record: &Json<'_>, out: &mut Batch) -> Entry {
    let mut entry = line.entry(Role::Harness, out);
    let trigger = if record.get("fromHook").is_true() {
        "hook"
    } else {
        ""
    };
    let compaction = Break::Compaction {
        before: record.get("tokensBefore").count(),
        after: record.get("tokensAfter").count(),
        trigger: trigger.into(),
        partial: false,
        took: None,
    };
    entry.push(compaction);
    if let Some(first) = record.get("firstKeptEntryId").filled().map(Text::clean) {
        out.meta(MetaEdit::FirstKept {
            compaction: line.key.clone(),
            first,
        });
    }
    summary(&mut entry, record, out);
    // A copy of messages that remain in the context. Their usage counts only in the originals.
    let tail = record.get("retainedTail");
    if !tail.items().is_empty() {
        entry.blocks.push(block::tree("retained tail", tail, out));
    }
    entry
}

fn summary(entry: &mut Entry, record: &Json<'_>, out: &mut Batch) {
    entry
        .blocks
        .extend(block::text(record.get("summary").str_or_empty(), out));
    let details = record.get("details");
    let says_something = |(_, value): &(_, Json<'_>)| {
        !matches!(value, Json::Null) && value != &Json::Array(Vec::new())
    };
    if details.members().iter().any(says_something) {
        entry.blocks.push(block::tree("details", details, out));
    }
    entry.usage = usage::read(record.get("usage"), Scope::Request, out).map(Box::new);
}
