//! codex: the rollouts of OpenAI Codex in the terminal, the editor and the desktop: all four
//! generations, with the threads of sub-agents.
//!
//! **Response items are the content, events add to it.** Most content is written twice; the item
//! makes the entry and the event is merged into it, or makes its own where there is no item
//! ([`repeated_texts`], [`thread_calls`]).
//!
//! Invariant: a thread reads the same by itself and as a lane of another one.

mod action;
mod agents;
mod call;
mod code_mode;
mod content;
mod event;
mod exits;
mod header;
mod lanes;
mod line;
mod message;
mod notes;
mod output;
mod places;
mod repeated_texts;
mod replay;
mod sniff;
mod spent;
mod thread;
mod thread_calls;
mod usage;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::decoder::{BESIDE, Decoder, Format, Input, RecordPlace};

use super::probe::{Probe, ProbeResult};

use super::definition::head::Head;
use super::definition::heads::head;
use super::json::{self, Json};
use super::roots::{FileRole, ListedSession, Pattern, SessionName, file_name};
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Break, Role};
use crate::model::tally::Fate;
use lanes::SubAgentThreads;
use line::{LineClass, RolloutLine};
use repeated_texts::Side;
use thread::Thread;

pub(crate) struct Codex;

/// Codex finds a thread by its id from any working directory
/// (developers.openai.com/codex/cli/reference).
impl Format for Codex {
    head!("codex");

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(CodexDecoder::default())
    }

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        sniff::sniff(probe)
    }

    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        places::named(path)
    }

    fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        match role {
            FileRole::Companion | FileRole::Index => Pattern::list(places::index(path)),
            FileRole::Archive => Pattern::list(places::archive(path)),
            FileRole::Home => Pattern::list(places::codex_home(path)),
            // A guardian's session only judges an action of another: it is none of its own.
            FileRole::Starter(by) if header::is_review(by) => self.head().files(path, role),
            FileRole::Starter(thread) | FileRole::Requested(thread) => {
                places::of_thread(path, thread)
            }
            FileRole::Original(head) => original(path, head),
            FileRole::Earlier(thread) => places::files_of_thread(path, thread),
            _ => self.head().files(path, role),
        }
    }

    fn listings(&self, index: &Json<'_>) -> Vec<ListedSession> {
        let listing = |line: &Json<'_>| {
            let id = line.get("id").filled()?.to_owned();
            Some(ListedSession {
                id,
                title: line.get("thread_name").text(),
                ..ListedSession::default()
            })
        };
        // The last line of a thread counts.
        index.blocks().iter().rev().filter_map(listing).collect()
    }
}

/// Where the thread may be stored whose records are the beginning of this file, unless the times of
/// its records tell them apart.
fn original(path: &Path, head: &str) -> Vec<Pattern> {
    let records: Vec<_> = head.lines().take(2).filter_map(json::read).collect();
    let thread = header::copied_from(&records).filter(|_| !replay::has_own_times(head, &records));
    thread.map_or_else(Vec::new, |thread| places::of_thread(path, thread))
}

/// Decoder of one session.
#[derive(Default)]
struct CodexDecoder {
    thread: Thread,
    children: HashMap<PathBuf, Option<Thread>>,
    lanes: SubAgentThreads,
}

impl Decoder for CodexDecoder {
    fn head(&self) -> &'static Head {
        Codex.head()
    }

    fn read_original(&mut self, original: &[u8]) {
        self.lanes.turns.add_original(original);
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let RecordPlace::CompanionLine(path) = input.place else {
            return decode(
                RolloutLine::read(input),
                &mut self.thread,
                &mut self.lanes,
                out,
            );
        };
        if file_name(path) == places::INDEX {
            self.rename(input.json, out);
            return BESIDE;
        }
        let is_known = self.children.contains_key(path);
        if !is_known {
            let lane = self.lanes.of_file(path);
            let thread = lane.map(Thread::of_lane);
            self.children.insert(path.to_owned(), thread);
        }
        match self.children.get_mut(path) {
            Some(Some(thread)) => decode(RolloutLine::read(input), thread, &mut self.lanes, out),
            _ => Fate::Merged,
        }
    }
}

impl CodexDecoder {
    /// Decodes a line of the index of titles.
    fn rename(&self, json: &Json<'_>, out: &mut Batch) {
        if let (Some(id), Some(title)) = (json.get("id").text(), json.get("thread_name").text())
            && self.thread.id == Some(id)
        {
            out.title(3, title);
        }
    }
}

fn decode(
    line: RolloutLine<'_>,
    thread: &mut Thread,
    lanes: &mut SubAgentThreads,
    out: &mut Batch,
) -> Fate {
    let is_session = thread.lane.is_none();
    lanes.turns.record(thread.id.as_ref(), &line);
    if let Some(words) = thread.replay.check(&line, &lanes.turns, is_session) {
        thread.end_inherited();
        let key = out.key("inherited");
        let mut entry = thread.entry(&line, key, Role::Harness, out);
        let what = BlockKind::Break(Break::Setting(words));
        entry.push(what);
        thread.emit(entry, out);
    }
    // Inherited records of a sub-agent are in its parent's lane.
    if thread.replay.is_active() && thread.lane.is_some() {
        thread.counter.count(line.payload.get("info"), true);
        if line.class == LineClass::Spent {
            spent::record(line.payload, thread, out);
        }
        return Fate::Merged;
    }
    let from = out.edits.len();
    let fate = dispatch(&line, thread, lanes, out);
    let has_entry = || {
        out.edits
            .iter()
            .skip(from)
            .any(|edit| matches!(edit, Edit::Entry(_)))
    };
    if let Some(lane) = thread.lane.clone().filter(|_| has_entry()) {
        lanes.enter(&lane, out);
    }
    fate
}

fn dispatch(
    line: &RolloutLine<'_>,
    thread: &mut Thread,
    lanes: &mut SubAgentThreads,
    out: &mut Batch,
) -> Fate {
    match line.class {
        LineClass::Meta => {
            let is_first = thread.id.is_none();
            let fate = header::session(line, thread, out);
            if is_first {
                event::name_lane(line, thread, lanes, out);
            }
            fate
        }
        LineClass::Item => item(line, thread, lanes, out),
        LineClass::Event => event::event(line, thread, lanes, out),
        LineClass::Turn => header::turn(line, thread, out),
        LineClass::Compacted => {
            let fate = event::compacted(line, thread, out);
            spent::compaction(line, thread, out);
            fate
        }
        LineClass::Spent => spent::record(line.payload, thread, out),
        LineClass::State => Fate::Passed("a mark between lines"),
        LineClass::Note => notes::note(line, thread, out),
        LineClass::Unknown => {
            let kind = line.input.json.kind();
            thread.unknown(line, ("type", kind), out)
        }
    }
}

/// Decodes a response item.
fn item(
    line: &RolloutLine<'_>,
    thread: &mut Thread,
    lanes: &mut SubAgentThreads,
    out: &mut Batch,
) -> Fate {
    match line.kind() {
        "message" => message::message(line, thread, out),
        "reasoning" => message::reasoning(line, thread, out),
        "agent_message" => message::between_agents(line, thread, out),
        "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => {
            call::call(line, thread, out)
        }
        "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
            if let Some((child, label)) =
                call::spawned(line.payload).filter(|_| !thread.replay.is_active())
            {
                let call = line.payload.get("call_id").text();
                lanes.link(&child, (call, thread.lane.as_ref()), label, out);
            }
            call::output(line, thread, out)
        }
        "web_search_call" => action::search(line, Side::Item, line.payload, thread, out),
        "image_generation_call" => {
            action::other(line, line.payload, thread, out).unwrap_or(Fate::Merged)
        }
        "configuration_update" => notes::configuration(line, thread, out),
        kind => thread.unknown(line, ("response_item.type", kind), out),
    }
}
