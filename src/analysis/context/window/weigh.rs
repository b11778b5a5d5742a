//! How much of an entry the model saw, by class, in bytes: files record the tokens of whole prompts
//! only.

use crate::model::body::Image;
use crate::model::entry::{BlockKind, Break, Entry, Role, Sent};
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolResult;

/// The classes of what fills a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContextClass {
    /// System prompts, as far as the file records them.
    System,
    /// Descriptions of tools, as far as the file records them.
    Tools,
    /// Summaries of what was dropped or left.
    Summary,
    /// What the user said.
    Prompt,
    /// What the harness added: files, reminders, the state of the editor.
    Added,
    Thinking,
    /// What the model said.
    Answer,
    /// The calls of the model.
    Call,
    /// The results of tools.
    Result,
}

impl ContextClass {
    /// All classes in the order in which they are shown.
    pub(crate) const ALL: [Self; 9] = [
        Self::System,
        Self::Tools,
        Self::Summary,
        Self::Prompt,
        Self::Added,
        Self::Thinking,
        Self::Answer,
        Self::Call,
        Self::Result,
    ];

    /// The name on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Tools => "tools",
            Self::Summary => "summaries",
            Self::Prompt => "prompts",
            Self::Added => "added",
            Self::Thinking => "thinking",
            Self::Answer => "answers",
            Self::Call => "calls",
            Self::Result => "results",
        }
    }
}

/// Sizes by class, in bytes, in the order of the classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes([u64; 9]);

impl Sizes {
    pub(crate) fn of(&self, class: ContextClass) -> u64 {
        self.0.get(class as usize).copied().unwrap_or(0)
    }

    pub(crate) fn total(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    pub(crate) fn add(&mut self, class: ContextClass, bytes: u64) {
        if let Some(sum) = self.0.get_mut(class as usize) {
            *sum = sum.saturating_add(bytes);
        }
    }

    pub(crate) fn remove(&mut self, others: &Self) {
        for (sum, bytes) in self.0.iter_mut().zip(others.0) {
            *sum = sum.saturating_sub(bytes);
        }
    }
}

/// The size of an image, in bytes of text with as many tokens: providers scale images down to at
/// most some 1,500 tokens.
const IMAGE: u64 = 6_000;

/// What the model saw of an entry at a time: each block with its class and size.
pub(crate) fn parts(
    entry: &Entry,
    now: Option<Timestamp>,
) -> impl Iterator<Item = (usize, ContextClass, u64)> + use<> {
    // Without a time every part that is ever dropped counts as dropped.
    let is_there = move |until: Option<Timestamp>| {
        until.is_none_or(|until| now.is_some_and(|now| until > now))
    };
    let parts = all_parts(entry)
        .into_iter()
        .filter(move |(.., until)| is_there(*until));
    parts.map(|(block, class, bytes, _)| (block, class, bytes))
}

/// What the model saw of an entry: each block with its class, its size in bytes, and until when it
/// was sent. Breaks were never sent, and bookkeeping of the harness only if the agent says so.
pub(super) fn all_parts(entry: &Entry) -> Vec<(usize, ContextClass, u64, Option<Timestamp>)> {
    if entry.marks.copy || entry.marks.unsent {
        return Vec::new();
    }
    let is_summary = entry.is_compaction()
        || entry.has(|kind| matches!(kind, BlockKind::Break(Break::Branch(_))));
    let said = match entry.role {
        _ if is_summary => ContextClass::Summary,
        Role::User => ContextClass::Prompt,
        Role::Assistant => ContextClass::Answer,
        Role::System => ContextClass::System,
        Role::Harness => ContextClass::Added,
    };
    let mut parts = Vec::new();
    for (number, block) in entry.blocks.iter().enumerate() {
        let until = match &block.sent {
            Sent::Until(until) => Some(*until),
            _ => None,
        };
        let mut push = |class, bytes: u64| {
            if bytes > 0 {
                parts.push((
                    number,
                    class,
                    bytes,
                    until.filter(|_| class != ContextClass::Call),
                ));
            }
        };
        let instead = match &block.sent {
            Sent::Never => continue,
            Sent::Usual | Sent::Until(_) if entry.marks.trace => continue,
            Sent::As(words) => Some(bytes(words.len())),
            Sent::Usual | Sent::Whole | Sent::Until(_) => None,
        };
        match &block.kind {
            BlockKind::Call(call) => {
                push(
                    ContextClass::Call,
                    u64::from(call.input.bytes) + bytes(call.name.len()),
                );
                let given = call.state.result().map(result_size);
                let never_came = if call.state.is_open() { None } else { instead };
                push(ContextClass::Result, given.or(never_came).unwrap_or(0));
            }
            _ if instead.is_some() => push(said, instead.unwrap_or(0)),
            BlockKind::Text(body) => push(said, body.bytes.into()),
            BlockKind::Thinking(body) => push(ContextClass::Thinking, body.bytes.into()),
            BlockKind::Image(image) => push(said, image_size(image)),
            BlockKind::Result(stray) if !stray.duplicate => {
                push(ContextClass::Result, result_size(&stray.result));
            }
            // Many files record what the harness adds to the context in no better form.
            BlockKind::Raw(raw)
                if block.sent != Sent::Usual
                    || (entry.role == Role::Harness && entry.marks.quiet) =>
            {
                push(
                    if raw.is_tools() {
                        ContextClass::Tools
                    } else {
                        said
                    },
                    raw.body.bytes.into(),
                );
            }
            BlockKind::Aside(_, raw) if block.sent == Sent::Whole => {
                push(said, raw.body.bytes.into());
            }
            BlockKind::Result(_)
            | BlockKind::Raw(_)
            | BlockKind::Aside(..)
            | BlockKind::Break(_) => {}
        }
    }
    parts
}

/// The size of a result as the model saw it; its patch is only for readers.
fn result_size(result: &ToolResult) -> u64 {
    let images = result
        .images
        .iter()
        .map(image_size)
        .fold(0, u64::saturating_add);
    u64::from(result.body.bytes).saturating_add(images)
}

fn image_size(image: &Image) -> u64 {
    image.bytes.unwrap_or(IMAGE).min(IMAGE)
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
