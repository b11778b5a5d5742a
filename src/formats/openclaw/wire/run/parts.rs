//! The texts and calls of a run in order. Text after a tool is a part of its own.
//!
//! The gateway repeats all text so far in each frame, either of the whole run or since the last
//! tool; some recorders have bare deltas instead. The second frame shows which applies.

use crate::model::body::{Body, Key};
use crate::model::entry::{Block, BlockKind, Break, Piece};
use crate::model::record::Origin;
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;
use crate::model::tool::{ToolCall, ToolState};

/// Whether a text is an answer or a thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartVoice {
    Answer,
    Thought,
}

/// The parts of a run.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    emitted: Vec<RunPart>,
    ending: Vec<Block>,
    is_concluded: bool,
}

#[derive(Debug)]
enum RunPart {
    Text {
        voice: PartVoice,
        text: String,
        blocks: Vec<Block>,
        /// Whether a tool came after it.
        is_sealed: bool,
    },
    Call(Box<ToolCall>),
}

impl Parts {
    /// All blocks in order.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for part in &self.emitted {
            match part {
                RunPart::Text { blocks: said, .. } => blocks.extend(said.iter().cloned()),
                RunPart::Call(call) => {
                    blocks.push(Block::new(Piece(0), BlockKind::Call(call.clone())));
                }
            }
        }
        blocks.extend(self.ending.iter().cloned());
        blocks
    }

    /// Adds text, which is cumulative or a delta. `blocks` are those of `said` as its frame has it.
    pub(crate) fn add_text(
        &mut self,
        voice: PartVoice,
        said: &str,
        blocks: Vec<Block>,
        is_all: bool,
        from: Origin,
    ) {
        let (said, blocks) = self.after_sealed(voice, said, blocks, from);
        let is_over = self.is_concluded;
        match self.open(voice) {
            Some((text, _)) if said.is_empty() || (is_over && text.starts_with(&said)) => {}
            Some((text, shown)) if is_all || said.starts_with(text.as_str()) => {
                text.clone_from(&said);
                *shown = blocks;
            }
            Some(_) => self.add(voice, &said, from),
            None => self.emitted.push(RunPart::Text {
                voice,
                text: said,
                blocks,
                is_sealed: false,
            }),
        }
    }

    pub(crate) fn add(&mut self, voice: PartVoice, delta: &str, from: Origin) {
        if let Some((text, blocks)) = self.open(voice) {
            text.push_str(delta);
            *blocks = stub_blocks(voice, text, from);
            return;
        }
        let (text, blocks) = (delta.to_owned(), stub_blocks(voice, delta, from));
        self.emitted.push(RunPart::Text {
            voice,
            text,
            blocks,
            is_sealed: false,
        });
    }

    /// Sets the complete answer, which replaces the text since the last tool.
    pub(crate) fn conclude(&mut self, said: &str, blocks: Vec<Block>, from: Origin) {
        self.is_concluded = true;
        if blocks.is_empty() {
            return;
        }
        let (said, mut blocks) = self.after_sealed(PartVoice::Answer, said, blocks, from);
        let has_thoughts = blocks
            .iter()
            .any(|block| matches!(block.kind, BlockKind::Thinking(_)));
        for block in &mut blocks {
            let BlockKind::Call(call) = &mut block.kind else {
                continue;
            };
            if let Some(known) = self.known_call(&call.key) {
                call.state = known.state.clone();
                call.started = known.started;
            }
        }
        let again: Vec<Key> = blocks
            .iter()
            .filter_map(Block::call)
            .map(|call| call.key.clone())
            .collect();
        self.emitted.retain(|part| match part {
            RunPart::Text {
                voice: PartVoice::Thought,
                ..
            } => !has_thoughts,
            RunPart::Text { is_sealed, .. } => *is_sealed,
            RunPart::Call(call) => !again.contains(&call.key),
        });
        if !blocks.is_empty() {
            self.emitted.push(RunPart::Text {
                voice: PartVoice::Answer,
                text: said,
                blocks,
                is_sealed: false,
            });
        }
    }

    /// Sets the end of the run, with a block of the frame that has it.
    pub(crate) fn end(&mut self, ending: Break, words: Block) {
        self.ending = vec![Block::new(Piece(0), ending), words];
    }

    /// Adds a call, or updates its state.
    pub(crate) fn call(&mut self, made: ToolCall, state: ToolState, at: Option<Timestamp>) {
        let known = self.emitted.iter_mut().find_map(|part| match part {
            RunPart::Call(call) if identifies(&made.key) && call.key == made.key => Some(call),
            RunPart::Call(_) | RunPart::Text { .. } => None,
        });
        if let Some(known) = known {
            known.state = state;
            return;
        }
        for part in &mut self.emitted {
            if let RunPart::Text { is_sealed, .. } = part {
                *is_sealed = true;
            }
        }
        self.emitted.push(RunPart::Call(Box::new(ToolCall {
            state,
            started: at,
            ..made
        })));
    }

    /// The duration of a call in ms, from its start until `at`.
    pub(crate) fn since_start(&self, call: &Key, at: Option<Timestamp>) -> Option<u64> {
        Some(at?.since(self.known_call(call)?.started?))
    }

    fn known_call(&self, key: &Key) -> Option<&ToolCall> {
        self.emitted.iter().find_map(|part| match part {
            RunPart::Call(call) if identifies(key) && call.key == *key => Some(&**call),
            RunPart::Call(_) | RunPart::Text { .. } => None,
        })
    }

    /// The text that is still being written.
    fn open(&mut self, in_voice: PartVoice) -> Option<(&mut String, &mut Vec<Block>)> {
        self.emitted.iter_mut().rev().find_map(|part| match part {
            RunPart::Text {
                voice,
                text,
                blocks,
                is_sealed: false,
            } if *voice == in_voice => Some((text, blocks)),
            RunPart::Text { .. } | RunPart::Call(_) => None,
        })
    }

    /// The part of a text after the last tool, if the text is that of the whole run.
    fn after_sealed(
        &self,
        in_voice: PartVoice,
        said: &str,
        blocks: Vec<Block>,
        from: Origin,
    ) -> (String, Vec<Block>) {
        let mut rest = said;
        let mut is_cut = false;
        for part in &self.emitted {
            let RunPart::Text {
                voice,
                text,
                is_sealed: true,
                ..
            } = part
            else {
                continue;
            };
            if *voice != in_voice || text.trim().is_empty() {
                continue;
            }
            let Some(after) = rest.strip_prefix(text.trim()) else {
                break;
            };
            (rest, is_cut) = (after.trim_start(), true);
        }
        if is_cut {
            (rest.to_owned(), stub_blocks(in_voice, rest, from))
        } else {
            (said.to_owned(), blocks)
        }
    }
}

/// Keeps a whole text in its stub, since no record has it as a whole.
fn stub_blocks(voice: PartVoice, text: &str, from: Origin) -> Vec<Block> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let body = Body::in_memory(text, from);
    let kind = match voice {
        PartVoice::Answer => BlockKind::Text(body),
        PartVoice::Thought => BlockKind::Thinking(body),
    };
    vec![Block::new(Piece(0), kind)]
}
