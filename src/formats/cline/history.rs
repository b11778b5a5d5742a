//! The API history of the extension: messages without ids, whose results and often calls are plain
//! text. A call in text is identified by its position; the results follow in the same order, with
//! titles that name the tool.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::call::{self, RecordedCall};
use super::content::{DecodedContent, MessageContext, RESUMPTION, any_block, notice, own_text};
use super::result;
use super::xml::{self, Segment};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::BlockKind;
use crate::model::text::{Text, text};
use crate::model::tool::ToolState;
use crate::model::tool::textual_key;

/// Tags around the user's text.
const SAID: [&str; 4] = ["task", "user_message", "feedback", "answer"];

/// Calls whose results are expected as text, in order.
#[derive(Default)]
pub(super) struct TextResults {
    open: PendingResults,
    /// Whether results in this session name their calls. If not, no more results follow once the
    /// model answers again.
    has_blocks: bool,
}

/// Calls without results in order, indexed by tool and by id, since an answer may have thousands of
/// calls. Any of them is removed at the same cost.
#[derive(Default)]
struct PendingResults {
    calls: BTreeMap<usize, (Text, Key)>,
    /// The positions of the calls of a tool; some may have been removed.
    by_tool: HashMap<Text, VecDeque<usize>>,
    by_id: HashMap<Key, Vec<usize>>,
}

impl PendingResults {
    fn of(calls: impl Iterator<Item = (Text, Key)>) -> Self {
        let mut open = Self::default();
        for (number, (tool, call)) in calls.enumerate() {
            open.by_tool
                .entry(tool.clone())
                .or_default()
                .push_back(number);
            open.by_id.entry(call.clone()).or_default().push(number);
            open.calls.insert(number, (tool, call));
        }
        open
    }

    /// Removes the calls with this id.
    fn answer(&mut self, id: &str) {
        for number in self.by_id.remove(id).unwrap_or_default() {
            self.calls.remove(&number);
        }
    }

    /// Removes and returns the first call of a tool, or of any tool if it has none.
    fn next(&mut self, tool: &str) -> Option<Key> {
        let of_tool = self.by_tool.get_mut(tool);
        let named = of_tool.and_then(|numbers| {
            std::iter::from_fn(|| numbers.pop_front()).find_map(|number| self.calls.remove(&number))
        });
        let any = || self.calls.pop_first().map(|(_, call)| call);
        named.or_else(any).map(|(_, call)| call)
    }
}

/// Whether a message contains tags or result titles of Cline and its forks.
pub(super) fn has_marks(message: &Json<'_>) -> bool {
    message.get("content").blocks().iter().any(|block| {
        let text = block
            .get("text")
            .str()
            .or(block.str())
            .unwrap_or("")
            .trim_start();
        text.starts_with("<environment_details>")
            || text.starts_with("<task>")
            || result_title(text).is_some()
    })
}

/// Splits a result title such as `[read_file for 'a.rs'] Result:` from the following text. The
/// message that a call was not run is itself the text.
pub(super) fn result_title(text: &str) -> Option<(&str, &str)> {
    let (title, rest) = match result::not_run(text) {
        Some(title) => (title, text),
        None => text.strip_prefix('[')?.split_once("] Result:")?,
    };
    let name = tool_of(title);
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((title, rest))
}

fn tool_of(title: &str) -> &str {
    title.split(' ').next().unwrap_or("")
}

impl TextResults {
    /// Decodes an answer of the model and expects results for its calls.
    pub(super) fn answer(
        &mut self,
        json: &Json<'_>,
        frame: &MessageContext<'_>,
        out: &mut Batch,
    ) -> DecodedContent {
        if !self.has_blocks {
            self.mark_lost(out);
        }
        let mut content = DecodedContent::default();
        let mut calls = 0;
        for (index, block) in json.get("content").blocks().iter().enumerate() {
            match block
                .str()
                .or(block.get("text").str().filter(|_| block.kind() == "text"))
            {
                Some(text) => text_with_calls(text, frame, &mut calls, &mut content, out),
                None => any_block(block, index, frame, &mut content, out),
            }
        }
        let calls = content.kinds.iter().filter_map(|kind| match kind {
            BlockKind::Call(call) => Some((call.name.clone(), call.key.clone())),
            _ => None,
        });
        self.open = PendingResults::of(calls);
        content
    }

    /// Decodes a message to the model: results, the user's text, and text that Cline added.
    pub(super) fn prompt(
        &mut self,
        json: &Json<'_>,
        frame: &MessageContext<'_>,
        out: &mut Batch,
    ) -> DecodedContent {
        let mut content = DecodedContent::default();
        let mut open: Option<(&str, String)> = None;
        let mut is_resumed = false;
        for (index, block) in json.get("content").blocks().iter().enumerate() {
            let text = match block.get("type").str() {
                Some("text") | None => block.part_text(),
                Some(_) => None,
            };
            let Some(text) = text else {
                let mut added = DecodedContent::default();
                any_block(block, index, frame, &mut added, out);
                // A result may continue after an unknown block.
                if !matches!(added.kinds.as_slice(), [BlockKind::Aside(..)]) {
                    self.result(open.take(), frame, &mut content, out);
                }
                content.add(added);
                if block.kind() == "tool_result" {
                    self.has_blocks = true;
                    self.open.answer(block.get("tool_use_id").str_or_empty());
                }
                continue;
            };
            is_resumed |= notice(text) == Some(RESUMPTION);
            let said = user_text(text);
            if let Some((title, rest)) = result_title(text) {
                self.result(open.take(), frame, &mut content, out);
                open = Some((title, rest.to_owned()));
            } else if let (Some((_, result)), None) = (&mut open, notice(text)) {
                result.push('\n');
                result.push_str(text);
            } else {
                self.result(open.take(), frame, &mut content, out);
                if said.is_none() {
                    any_block(
                        block,
                        index,
                        &MessageContext {
                            is_injected: true,
                            ..*frame
                        },
                        &mut content,
                        out,
                    );
                }
            }
            if let Some(said) = said {
                own_text(said, &mut content, out);
            }
        }
        self.result(open.take(), frame, &mut content, out);
        if is_resumed {
            self.mark_lost(out);
        }
        content
    }

    /// Marks the calls without results as lost.
    fn mark_lost(&mut self, out: &mut Batch) {
        let calls = std::mem::take(&mut self.open).calls.into_values();
        calls.for_each(|(_, call)| {
            out.state(call, ToolState::Lost);
        });
    }

    fn result(
        &mut self,
        titled: Option<(&str, String)>,
        frame: &MessageContext<'_>,
        content: &mut DecodedContent,
        out: &mut Batch,
    ) {
        let Some((title, text)) = titled else { return };
        let body = out.output(text.trim_start_matches('\n'));
        let Some(call) = self.open.next(tool_of(title)) else {
            content
                .kinds
                .push(BlockKind::raw(&format!("result of {title}"), body));
            return;
        };
        let key = text!("{}:{}", frame.key, content.results.len());
        let result = result::plain(key, result::verdict(&text), body, frame.at);
        content.results.push((call, result));
    }
}

fn text_with_calls(
    text: &str,
    frame: &MessageContext<'_>,
    calls: &mut usize,
    content: &mut DecodedContent,
    out: &mut Batch,
) {
    for part in xml::parts(text) {
        match part {
            Segment::Prose(text) => own_text(text, content, out),
            Segment::Call(name, input) => {
                let key = textual_key(frame.key, *calls);
                *calls += 1;
                let asked = RecordedCall {
                    key,
                    name,
                    input: &input,
                    state: ToolState::Pending,
                    at: frame.at,
                };
                content.kinds.extend(call::blocks(asked, out));
            }
        }
    }
}

/// The user's text within its tags.
fn user_text(text: &str) -> Option<&str> {
    SAID.iter().find_map(|tag| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(
            rest.split_once(&format!("</{tag}>"))
                .map_or(rest, |(inner, _)| inner)
                .trim(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::PendingResults;

    #[test]
    fn calls_are_taken_by_id_by_tool_and_in_order() {
        let calls = [
            ("read", "a"),
            ("run", "b"),
            ("read", "c"),
            ("run", "d"),
            ("run", "b"),
            ("ask", "e"),
        ];
        let mut open = PendingResults::of(
            calls
                .into_iter()
                .map(|(tool, call)| (tool.into(), call.into())),
        );
        open.answer("b");
        open.answer("x");
        let mut next = |tool| open.next(tool).map(|call| call.to_string());
        let taken = [
            next("run"),
            next("read"),
            next("run"),
            next("read"),
            next("read"),
        ];
        let expected = [Some("d"), Some("a"), Some("c"), Some("e"), None];
        assert_eq!(taken, expected.map(|call| call.map(str::to_owned)));
    }
}
