//! Messages: prompts, answers, reasoning, and texts that the program sends to the model in user
//! messages.
//!
//! Invariant: the author of a text is determined by the text and its own record, so that a record
//! that is read alone gives the same result.

use itertools::Itertools as _;

use super::agents::{ENCRYPTED, ReportSource};
use super::content::{
    answer_blocks, block, content, content_holder, is_unknown, of_side, parts, show_unknown,
    text_in, text_of, unknown_of, unknown_parts, without_image_tags, words,
};
use super::line::RolloutLine;
use super::repeated_texts::{self, RepeatedAuthor, RepeatedText, Side};
use super::thread::{Thread, context_block};
use crate::formats::inline;
use crate::formats::json::Json;
use crate::model::body::Image;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::sender::{Sender, SenderKind};
use crate::model::entry::{Block, BlockKind, Entry, Piece, Role, Stop};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::tool::work::Carrier;

/// First words of texts that the program writes in user messages, and their titles.
const INJECTED: [(&str, &str); 26] = [
    ("# AGENTS.md instructions", "AGENTS.md"),
    ("<environment_context>", "environment"),
    ("<recommended_plugins>", "recommended plugins"),
    ("<turn_aborted>", "turn aborted"),
    ("<skill>", "skill"),
    ("<skills_instructions>", "skills"),
    ("<subagent_notification>", NOTICE),
    ("<user_instructions>", "instructions"),
    ("<permissions instructions>", "permissions"),
    ("<codex_internal_context", "context"),
    ("<user_shell_command>", "shell command of the user"),
    ("<INSTRUCTIONS>", "instructions"),
    ("<user_action>", "action of the user"),
    ("<hook_prompt", "hook"),
    ("<realtime_delegation>", "realtime"),
    ("<in-app-browser-context", "browser"),
    ("<goal_context>", "goal"),
    ("<agent_message_board_notification>", "message board"),
    ("<image_resize_notice>", "image resized"),
    ("<external_", "context"),
    ("Warning: apply_patch was requested via ", "warning"),
    (
        "Warning: The maximum number of unified exec processes ",
        "warning",
    ),
    ("Warning: Your account was flagged for ", "warning"),
    // The first request of a reviewer of an action, and later ones of the same session.
    (
        "The following is the Codex agent history whose request action you are assessing",
        REVIEW,
    ),
    (
        "The following is the Codex agent history added since your last approval",
        REVIEW,
    ),
    // The summary of a conversation after a compaction.
    (
        "Another language model started to solve this problem and produced a summary",
        "summary",
    ),
];
/// The state of a sub-agent.
const NOTICE: &str = "sub-agent";
/// The request of a guardian.
const REVIEW: &str = "review of an action";
/// First words of a preface that an editor or the app writes above a prompt, and the headings of
/// prompts below it.
const PREFACES: [&str; 2] = ["# ", "<in-app-browser-context"];
const REQUESTS: [&str; 2] = ["## My request for Codex:", "## My request:"];
/// Headings that a preface may have without a prompt below it.
const ATTACHED: [&str; 2] = [
    "# Context from my IDE setup:",
    "# Files mentioned by the user:",
];
/// Placeholder of an answer that the program delivered to the user.
const DELIVERED: &str = "The content of a confirmed assistant message is unavailable";

// === messages ===

/// Decodes a `message`.
pub(crate) fn message(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    match line.payload.get("role").str_or_empty() {
        "user" => user(line, Side::Item, line.payload.get("content"), thread, out),
        "assistant" => answer(line, Side::Item, thread, out),
        "developer" | "system" | "" => instructions(line, thread, out),
        role => thread.unknown(line, ("role", role), out),
    }
}

/// Decodes a `developer` or `system` message.
fn instructions(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let mut entry = thread.entry(line, out.origin_key(), Role::System, out);
    entry.marks.quiet = true;
    entry.blocks = parts(line.payload.get("content"), out.piece(), out);
    thread.emit(entry, out)
}

/// Decodes a message from one agent to another.
pub(crate) fn between_agents(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let payload = line.payload;
    let name = |field: &str| payload.get(field).str_or_empty().to_owned();
    let title = format!("message {} → {}", name("author"), name("recipient"));
    let content = payload.get("content");
    let text = text_of(content);
    let text = if text.trim().is_empty() {
        ENCRYPTED
    } else {
        &*text
    };
    let mut entry = thread.titled_entry(line, (&title, text), out);
    entry.blocks.extend(unknown_parts(content, Piece(0), out));
    // A message after the end of a turn that does not begin another one gets no answer.
    let is_answered = !thread.is_over || payload.get("trigger_turn").is_true();
    let from = Sender {
        kind: SenderKind::Peer,
        name: payload.get("author").text(),
    };
    entry.from = is_answered.then(|| Box::new(from));
    let author = payload.get("author").text();
    let lane = thread.lane.clone();
    let source = as_notice(&entry, lane.as_ref());
    thread.agents.message(author, text, &source, out);
    thread.emit(entry, out)
}

/// The source for reports of sub-agents in an entry of the conversation.
fn as_notice<'l>(entry: &Entry, lane: Option<&'l Name>) -> ReportSource<'l> {
    ReportSource {
        by: entry.key.clone(),
        at: entry.at,
        carrier: Carrier::Notice,
        lane,
    }
}

/// Decodes the confirmation of an answer that the program delivered, mostly without its text: it
/// repeats what was shown.
fn confirm_delivery(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let content = line.payload.get("content");
    let is_unavailable = |part: &Json<'_>| {
        text_in(part).is_some_and(|text| text.starts_with(DELIVERED) || text.trim().is_empty())
    };
    if without_image_tags(content)
        .filter(|part| !is_unknown(part))
        .all(is_unavailable)
    {
        let unknown = unknown_parts(content, out.piece(), out);
        show_unknown(line, unknown, Fate::Merged, thread, out);
        return thread.aside(
            line,
            ("a delivered message is written again", &text_of(content)),
            out,
        );
    }
    let mut entry = thread.entry(line, out.origin_key(), Role::Assistant, out);
    (entry.marks.copy, entry.marks.quiet) = (true, true);
    entry.blocks = parts(content, out.piece(), out);
    thread.emit(entry, out)
}

/// Decodes an answer of the model, from a response item or its event, and shows the parts of
/// unknown kinds.
pub(crate) fn answer(
    line: &RolloutLine<'_>,
    side: Side,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    let unknown = unknown_of(side, content(line, side), out);
    let fate = spoke(line, side, thread, out);
    show_unknown(line, unknown, fate, thread, out)
}

fn spoke(line: &RolloutLine<'_>, side: Side, thread: &mut Thread, out: &mut Batch) -> Fate {
    if side == Side::Item
        && line
            .input
            .json
            .at("metadata.delivered_assistant_message")
            .filled()
            .is_some()
    {
        return confirm_delivery(line, thread, out);
    }
    let content = content(line, side);
    let text = text_of(content);
    let print = repeated_texts::print(RepeatedAuthor::Answer, &text);
    let twin = thread
        .repeated_texts
        .take(RepeatedAuthor::Answer, side, print);
    if side == Side::Event && (twin.is_some() || text.trim().is_empty()) {
        return Fate::Merged;
    }
    let mut entry = begun(line, twin.as_ref(), thread, out);
    let piece = twin.as_ref().map_or_else(|| out.piece(), |twin| twin.piece);
    thread.last_message_hash = Some(print);
    entry.blocks = of_side(content, side)
        .flat_map(|part| answer_blocks(part, piece, out))
        .collect();
    entry
        .blocks
        .extend(questions(content_holder(line, side), piece, out));
    entry.stop = match content_holder(line, side).get("phase").str_or_empty() {
        "final_answer" => Stop::Done,
        "commentary" => Stop::Calls,
        _ => Stop::Unrecorded,
    };
    if twin.is_none() {
        thread.repeated_texts.wait(
            RepeatedAuthor::Answer,
            side,
            print,
            (entry.key.clone(), piece),
        );
    }
    if let Some(plan) = repeated_texts::plan(&text) {
        let print = repeated_texts::print(RepeatedAuthor::Plan, plan);
        match thread
            .repeated_texts
            .take(RepeatedAuthor::Plan, Side::Item, print)
        {
            Some(twin) => out.retire_piece(twin.key, twin.piece),
            None => thread.repeated_texts.wait(
                RepeatedAuthor::Plan,
                Side::Item,
                print,
                (entry.key.clone(), piece),
            ),
        }
    }
    thread.emit(entry, out)
}

/// Formats the questions of a message to the user, with their options.
fn questions(holder: &Json<'_>, piece: Piece, out: &mut Batch) -> Option<Block> {
    let question = |question: &Json<'_>| {
        let words = |option: &Json<'_>| {
            option
                .filled()
                .or_else(|| option.get("label").filled())
                .map(|words| format!("- {words}\n"))
        };
        let options: String = question
            .get("options")
            .items()
            .iter()
            .filter_map(words)
            .collect();
        question
            .get("title")
            .filled()
            .map(|title| format!("{title}\n{options}"))
    };
    let asked: Vec<String> = holder
        .get("questions")
        .items()
        .iter()
        .filter_map(question)
        .collect();
    (!asked.is_empty()).then(|| {
        Block::new(
            piece,
            BlockKind::Text(out.prose(asked.join("\n").trim_end())),
        )
    })
}

/// Decodes the user's answers to the questions of a tool, as the program records them.
pub(crate) fn verified_answer(
    line: &RolloutLine<'_>,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    let mut entry = thread.entry(line, out.origin_key(), Role::User, out);
    for answered in line.payload.get("questions").items() {
        let piece = out.piece();
        let title = format!("answer to: {}", answered.get("question").str_or_empty());
        entry.blocks.push(context_block(piece, &title, "", out));
        let answer = answered.get("answer");
        let words = answer
            .filled()
            .map_or_else(|| answer.to_source(), str::to_owned);
        let body = out.prose(&words);
        entry.push_piece(piece, BlockKind::Text(body));
    }
    thread.emit(entry, out)
}

/// Decodes the text of a hook for the model.
pub(crate) fn hook(
    line: &RolloutLine<'_>,
    item: &Json<'_>,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    let mut fragments = item
        .get("fragments")
        .items()
        .iter()
        .filter_map(|fragment| fragment.get("text").filled());
    let text = fragments.join("\n");
    thread.text(line, ("hook", &text), true, out)
}

/// Decodes reasoning from a response item: its summary, its text, or only the encrypted form.
pub(crate) fn reasoning(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let payload = line.payload;
    let parts = ["summary", "content"].map(|name| payload.get(name));
    let parts_of = || parts.iter().flat_map(|content| content.items());
    let thoughts: Vec<&str> = parts_of()
        .filter_map(text_in)
        .filter(|text| !text.trim().is_empty())
        .collect();
    let mut twins = Vec::new();
    let mut alone = Vec::new();
    for thought in &thoughts {
        let print = repeated_texts::print(RepeatedAuthor::Thought, thought);
        match thread
            .repeated_texts
            .take(RepeatedAuthor::Thought, Side::Item, print)
        {
            Some(twin) => twins.push(twin),
            None => alone.push(print),
        }
    }
    let mut twins = twins.into_iter();
    let first = twins.next();
    let mut entry = begun(line, first.as_ref(), thread, out);
    let piece = first
        .as_ref()
        .map_or_else(|| out.piece(), |twin| twin.piece);
    for twin in twins {
        out.retire_piece(twin.key, twin.piece);
    }
    let body = out.prose(&thoughts.join("\n\n"));
    entry.push_piece(piece, BlockKind::Thinking(body));
    for content in parts {
        entry.blocks.extend(unknown_parts(content, piece, out));
    }
    for print in alone {
        thread.repeated_texts.wait(
            RepeatedAuthor::Thought,
            Side::Item,
            print,
            (entry.key.clone(), piece),
        );
    }
    thread.emit(entry, out)
}

/// Shows reasoning or a plan from its event, unless an item had it before.
pub(crate) fn event(
    voice: RepeatedAuthor,
    text: &str,
    line: &RolloutLine<'_>,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    let print = repeated_texts::print(voice, text);
    if text.trim().is_empty()
        || thread
            .repeated_texts
            .take(voice, Side::Event, print)
            .is_some()
    {
        return Fate::Merged;
    }
    let mut entry = thread.answer(line, out);
    let (piece, body) = (out.piece(), out.prose(text));
    entry.push_piece(
        piece,
        match voice {
            RepeatedAuthor::Thought => BlockKind::Thinking(body),
            _ => BlockKind::Text(body),
        },
    );
    thread
        .repeated_texts
        .wait(voice, Side::Event, print, (entry.key.clone(), piece));
    thread.emit(entry, out)
}

/// The answer that a text belongs to: that of its twin, else the current request's.
fn begun(
    line: &RolloutLine<'_>,
    twin: Option<&RepeatedText>,
    thread: &mut Thread,
    out: &Batch,
) -> Entry {
    match twin {
        Some(twin) => thread.part(line, &twin.key, out),
        None => thread.answer(line, out),
    }
}

/// Decodes the last message of a turn, which the end of the turn repeats.
pub(crate) fn last_words(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let text = line.payload.get("last_agent_message").str_or_empty();
    if text.trim().is_empty()
        || thread.last_message_hash == Some(repeated_texts::print(RepeatedAuthor::Answer, text))
    {
        return Fate::Merged;
    }
    let mut entry = thread.answer(line, out);
    entry.blocks = words(text, out.piece(), out);
    thread.emit(entry, out)
}

// === the user ===

/// The author of a text in a user message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextAuthor {
    User,
    /// The user, by a command that the program ran.
    Shell,
    /// The program, with a title for the text.
    Program(&'static str),
}

/// Decodes a user message, by the user or by the program, and shows the parts of unknown kinds.
pub(crate) fn user(
    line: &RolloutLine<'_>,
    side: Side,
    content: &Json<'_>,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    let unknown = unknown_of(side, content, out);
    let fate = spoken_message(line, side, content, thread, out);
    show_unknown(line, unknown, fate, thread, out)
}

fn spoken_message(
    line: &RolloutLine<'_>,
    side: Side,
    content: &Json<'_>,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    let kinds = line
        .payload
        .at("internal_chat_message_metadata_passthrough.content_item_kinds")
        .items();
    let speaker = speaker(content, kinds);
    if speaker == TextAuthor::User {
        return prompt(line, side, content, thread, out);
    }
    let text = text_of(content);
    let print = repeated_texts::print(RepeatedAuthor::User, &text);
    if thread
        .repeated_texts
        .take(RepeatedAuthor::User, side, print)
        .is_some()
    {
        return Fate::Merged;
    }
    let piece = out.piece();
    let mut entry = thread.entry(line, out.origin_key(), Role::Harness, out);
    thread.repeated_texts.wait(
        RepeatedAuthor::User,
        side,
        print,
        (entry.key.clone(), piece),
    );
    let title = if let TextAuthor::Program(title) = speaker {
        // A review has no other prompt.
        entry.marks.quiet = title != REVIEW;
        entry.from = (title == REVIEW).then(|| {
            Box::new(Sender {
                kind: SenderKind::Runtime,
                name: Some("review".into()),
            })
        });
        // In the first generation no other record has the working directory.
        if title == "environment"
            && !line.input.json.has("payload")
            && let Some(folder) = folder(&text)
        {
            thread.meta(MetaEdit::Cwd(Text::clean(folder)), out);
        }
        title
    } else {
        entry.role = Role::User;
        "shell command"
    };
    if title == NOTICE {
        entry.from = Some(Box::new(Sender {
            kind: SenderKind::Task,
            name: None,
        }));
        let lane = thread.lane.clone();
        let source = as_notice(&entry, lane.as_ref());
        thread.agents.notice(&text, &source, out);
    }
    entry.blocks.push(context_block(piece, title, &text, out));
    let others = of_side(content, side).filter(|part| text_in(part).is_none());
    entry
        .blocks
        .extend(others.filter_map(|part| block(part, piece, out)));
    thread.emit(entry, out)
}

/// The working directory in the environment that the program sends to the model.
fn folder(environment: &str) -> Option<&str> {
    let tagged = || {
        environment
            .split_once("<cwd>")?
            .1
            .split_once("</cwd>")
            .map(|(folder, _)| folder)
    };
    let written = || {
        environment
            .split_once("Current working directory:")?
            .1
            .lines()
            .next()
    };
    tagged()
        .or_else(written)
        .map(str::trim)
        .filter(|folder| !folder.is_empty())
}

/// Decodes a prompt, from a response item or its event.
fn prompt(
    line: &RolloutLine<'_>,
    side: Side,
    content: &Json<'_>,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    let text = text_of(content);
    let print = repeated_texts::print(RepeatedAuthor::User, &text);
    let twin = thread
        .repeated_texts
        .take(RepeatedAuthor::User, side, print);
    if twin.is_some() && side == Side::Event {
        return Fate::Merged;
    }
    let asked = split_prompt(&text).1;
    if twin.is_none() {
        thread.begin_turn(asked, out);
    }
    let key = twin
        .as_ref()
        .map_or_else(|| out.key("prompt"), |twin| twin.key.clone());
    let piece = twin.as_ref().map_or_else(|| out.piece(), |twin| twin.piece);
    let mut entry = thread.entry(line, key, Role::User, out);
    entry.marks.prompt = !entry.marks.copy;
    entry.blocks = prompt_blocks(of_side(content, side), piece, out);
    if side == Side::Event {
        let images = ["images", "local_images"]
            .iter()
            .flat_map(|name| line.payload.get(name).items());
        let images: Vec<Image> = images
            .filter_map(Json::filled)
            .map(|at| inline::image(at, Text::default(), false, out))
            .collect();
        entry
            .blocks
            .extend(images.into_iter().map(|image| Block::new(piece, image)));
    }
    if twin.is_none() {
        thread.repeated_texts.wait(
            RepeatedAuthor::User,
            side,
            print,
            (entry.key.clone(), piece),
        );
    }
    thread.emit(entry, out)
}

/// The blocks of a prompt, with the preface of an editor in a block of its own.
fn prompt_blocks<'j>(
    parts: impl Iterator<Item = &'j Json<'j>>,
    piece: Piece,
    out: &mut Batch,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    for part in parts {
        match text_in(part) {
            Some(text) if has_preface(text) => {
                let (context, asked) = split_prompt(text);
                blocks.push(context_block(piece, "from the editor", context.trim(), out));
                if !asked.is_empty() {
                    let body = out.prose(asked);
                    blocks.push(Block::new(piece, BlockKind::Text(body)));
                }
            }
            _ => blocks.extend(block(part, piece, out)),
        }
    }
    blocks
}

/// Splits a prompt into the preface of an editor and the user's text, which may be empty.
fn split_prompt(text: &str) -> (&str, &str) {
    if !has_preface(text) {
        return ("", text);
    }
    request(text).map_or((text, ""), |(context, asked)| (context, asked.trim()))
}

/// Splits a text at the first heading of a request.
fn request(text: &str) -> Option<(&str, &str)> {
    let is_heading = |(context, _): &(&str, &str)| context.ends_with('\n');
    let splits = REQUESTS
        .iter()
        .filter_map(|heading| text.split_once(heading))
        .filter(is_heading);
    splits.min_by_key(|(context, _)| context.len())
}

/// Whether an editor or the app wrote a preface above a prompt: headings of its own, followed by
/// that of the request.
fn has_preface(text: &str) -> bool {
    let begin = text.trim_start();
    PREFACES.iter().any(|preface| begin.starts_with(preface))
        && (request(text).is_some() || ATTACHED.iter().any(|heading| begin.starts_with(heading)))
}

/// Determines the author of a message: by the labels of its parts in late versions, else by its
/// first words.
fn speaker(content: &Json<'_>, kinds: &[Json<'_>]) -> TextAuthor {
    let text = content
        .blocks()
        .iter()
        .find_map(text_in)
        .unwrap_or_default();
    let begin = text.trim_start();
    // The app writes its context above the user's request.
    let has_request = || request(text).is_some_and(|(_, asked)| !asked.trim().is_empty());
    if begin.starts_with(PREFACES[1]) && has_request() {
        return TextAuthor::User;
    }
    let injected = INJECTED
        .iter()
        .find(|(mark, _)| begin.starts_with(mark))
        .map(|(_, title)| *title);
    if begin.starts_with("<user_shell_command>") {
        return TextAuthor::Shell;
    }
    if kinds.is_empty() {
        return injected.map_or(TextAuthor::User, TextAuthor::Program);
    }
    let is_typed = kinds
        .iter()
        .any(|kind| kind.str().is_some_and(|kind| kind.starts_with("user.")));
    if is_typed {
        TextAuthor::User
    } else {
        TextAuthor::Program(injected.unwrap_or("context"))
    }
}

#[cfg(test)]
mod tests {
    use super::{TextAuthor, speaker, split_prompt};
    use crate::formats::json::parse;

    #[test]
    fn the_program_speaks_under_the_users_name() {
        let who = |text: &str, kinds: &str| {
            let content = format!(
                r#"[{{"type":"input_text","text":{}}}]"#,
                serde_json::json!(text)
            );
            speaker(&parse(&content).unwrap(), parse(kinds).unwrap().items())
        };
        assert_eq!(who("fix it", "[]"), TextAuthor::User);
        assert_eq!(
            who("<environment_context>\n  <cwd>/x</cwd>", "[]"),
            TextAuthor::Program("environment")
        );
        assert_eq!(
            who("<hook_prompt hook_run_id=\"a\">test</hook_prompt>", "[]"),
            TextAuthor::Program("hook")
        );
        assert_eq!(who("<div> is broken", "[]"), TextAuthor::User);
        assert_eq!(
            who("<user_shell_command>\n<command>ls</command>", "[]"),
            TextAuthor::Shell
        );
        assert_eq!(
            who("be brief", r#"["agents.instructions"]"#),
            TextAuthor::Program("context")
        );
        assert_eq!(
            who("<skill> is what I typed", r#"["user.text"]"#),
            TextAuthor::User
        );
        assert_eq!(
            who(
                "Warning: apply_patch was requested via shell. Use it.",
                "[]"
            ),
            TextAuthor::Program("warning")
        );
        assert_eq!(
            who("Warning: the tests are slow, mend them", "[]"),
            TextAuthor::User
        );
        let review =
            "The following is the Codex agent history added since your last approval assessment.";
        assert_eq!(
            who(review, "[]"),
            TextAuthor::Program("review of an action")
        );
        let browser = "<in-app-browser-context source=\"ambient-ui-state\">\none tab\n</in-app-browser-context>\n";
        assert_eq!(who(browser, "[]"), TextAuthor::Program("browser"));
        assert_eq!(
            who(&format!("{browser}\n## My request:\nfix it"), "[]"),
            TextAuthor::User
        );
    }

    #[test]
    fn a_prompt_from_an_editor_stands_behind_its_second_heading() {
        let text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n";
        assert_eq!(split_prompt(text).1, "fix it");
        assert!(split_prompt(text).0.contains("a.rs"));
        assert_eq!(
            split_prompt("what does ## My request for Codex: mean?").0,
            ""
        );
        let files =
            "\n# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n\n## My request:\nfix it\n";
        assert_eq!(split_prompt(files).1, "fix it");
        assert_eq!(
            split_prompt("# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n").1,
            ""
        );
        for preface in [
            "# Response annotations:\nEach item",
            "# Selected text:\n\n## Selection 1\nx",
            "<in-app-browser-context>\nx",
        ] {
            assert_eq!(
                split_prompt(&format!("{preface}\n\n## My request for Codex:\nfix it\n")).1,
                "fix it"
            );
        }
        let own = "# Plan\n1. do it\n";
        assert_eq!(split_prompt(own), ("", own), "a heading of the user's own");
    }
}
