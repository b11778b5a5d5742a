//! State of a session across its lines: ids, answers and facts that later lines refer to or repeat.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::bill::RecordedUsage;
use super::calls::LaneCalls;
use super::chains::Chains;
use super::command::PendingCommand;
use super::hooks::Hooks;
use super::lanes::SubAgents;
use super::lanes::fork::Forks;
use super::lanes::owners::{LineStanding, Owners, Stretch, is_companion_line};
use super::line::TranscriptLine;
use super::queue::Queue;
use super::requests::RequestStates;
use super::stored::Stored;
use crate::formats::anthropic::block_type;
use crate::formats::decoder::RecordPlace;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit, Severity};
use crate::model::entry::attribution::{Attribution, SharedAttribution};
use crate::model::entry::{Entry, Piece};
use crate::model::fingerprint::ByKey;
use crate::model::record::FileId;
use crate::model::text::{Name, Text, text};
use crate::model::tool::identifies;

/// Length limit of a title made from a prompt, in characters.
const TITLE_CHARS: usize = 120;

/// Members of the envelope that are facts about the session, in the spelling of disk and stream.
/// The session id is the first.
const FACTS: [RecordedFact; 8] = [
    ("sessionId", MetaEdit::Id),
    ("session_id", MetaEdit::Id),
    ("cwd", MetaEdit::Cwd),
    ("version", MetaEdit::Version),
    ("claude_code_version", MetaEdit::Version),
    ("gitBranch", |value| MetaEdit::Fact {
        name: "git branch",
        value,
    }),
    ("permissionMode", |value| MetaEdit::Fact {
        name: "permission mode",
        value,
    }),
    ("prUrl", |value| MetaEdit::Fact {
        name: "pull request",
        value,
    }),
];

type RecordedFact = (&'static str, fn(Text) -> MetaEdit);

/// What was recorded of a line with a `uuid`, to compare later lines with the same one.
#[derive(Clone, Copy, Debug, Default)]
struct LineFingerprint {
    content: u32,
    stretch: Stretch,
}

/// Truncates a hash to 32 bits, which suffice to distinguish the few contents of one id.
fn half(hash: u64) -> u32 {
    let [a, b, c, d, ..] = hash.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Whose file was opened.
#[derive(Debug, Default, PartialEq)]
enum Home {
    /// Not decided: the first line of the chain was not read yet.
    #[default]
    Unknown,
    /// The transcript of a session.
    Session,
    /// The transcript of a sub-agent.
    SubAgent(Name),
}

#[derive(Debug, Default)]
pub struct DecoderState {
    pub(crate) lanes: SubAgents,
    /// Sub-agents without ids.
    pub(crate) chains: Chains,
    /// Sub-agents that inherit the history of their parent.
    pub(crate) forks: Forks,
    pub(crate) calls: LaneCalls,
    pub(crate) hooks: Hooks,
    pub(crate) queue: Queue,
    /// Large outputs stored in files of their own.
    pub(crate) stored: Stored,
    /// The cost that the agent recorded.
    pub(crate) bill: RecordedUsage,
    /// Prompts and tools of requests, and requests that are retried.
    pub(crate) requests: RequestStates,
    /// The entry saying that the session continues in another one, if that is the last record.
    pub(crate) continued: Option<Box<Entry>>,
    /// A command whose output may follow.
    pub(crate) command: Option<PendingCommand>,
    opened_agent: Home,
    boundary: Option<(Option<Name>, Key)>,
    /// The `uuid`s so far, and the hashes of blocks of rarer kinds.
    seen: ByKey<LineFingerprint>,
    /// The hasher for contents: a fast one, as all content is hashed.
    contents: DefaultHashBuilder,
    settings: HashSet<Key>,
    owners: Owners,
    facts: [String; FACTS.len()],
    summaries: HashMap<Piece, Text>,
    attribution: SharedAttribution,
    has_prompt: bool,
}

impl DecoderState {
    /// The sub-agent whose own file was opened.
    pub(crate) fn opened_agent(&self) -> Option<&Name> {
        match &self.opened_agent {
            Home::SubAgent(name) => Some(name),
            Home::Unknown | Home::Session => None,
        }
    }

    /// Whether the first line of the chain is yet to be read.
    pub(crate) fn needs_opened_agent(&self) -> bool {
        self.opened_agent == Home::Unknown
    }

    /// Determines from the first line of the chain whose file it is: the file of a sub-agent is
    /// read as a session.
    pub(crate) fn set_opened_agent(&mut self, line: &TranscriptLine<'_>) {
        let agent = line
            .json
            .get("agentId")
            .text()
            .filter(|_| line.json.get("isSidechain").is_true());
        self.lanes.set_opened_agent(agent.as_ref());
        self.opened_agent = agent.map_or(Home::Session, Home::SubAgent);
    }

    /// Records a line. Resumed sessions and compactions write lines again, other lanes copy them. A
    /// line that repeats an id with other content replaces the first.
    pub(crate) fn record_line(
        &mut self,
        line: &TranscriptLine<'_>,
        out: &mut Batch,
    ) -> LineStanding {
        let stretch = self.owners.stretch(
            line.lane.as_ref(),
            out.origin().file,
            is_companion_line(line),
        );
        let lanes = &self.lanes;
        let rank = |lane: &Name| lanes.rank(lane);
        if line.has_uuid {
            if let Some(title) = self.summaries.remove(&line.piece()) {
                out.title(1, title);
            }
            let mut content = self.contents.build_hasher();
            for name in ["message", "attachment"] {
                line.json.get(name).print(&mut content);
            }
            let mark = LineFingerprint {
                content: half(content.finish()),
                stretch,
            };
            let known = self.seen.insert(&line.id, mark);
            match known.map(|known| (known, self.owners.compare(line, known.stretch, rank))) {
                None => {}
                Some((known, LineStanding::Known)) if known.content == mark.content => {
                    return LineStanding::Known;
                }
                Some((_, LineStanding::Known)) => {
                    out.notice(
                        Severity::Note,
                        "uuid of an earlier line with another content",
                    );
                }
                Some((known, LineStanding::Copy)) => {
                    self.seen.insert(&line.id, known);
                    return LineStanding::Copy;
                }
                Some((known, LineStanding::New)) => {
                    self.owners.retract(&line.id, known.stretch, out);
                }
            }
        }
        if line.kind() == "assistant" {
            let key = line.answer();
            if let Some(known) = self.owners.of_answer(&key) {
                match self.owners.compare(line, known, rank) {
                    LineStanding::Copy => return LineStanding::Copy,
                    LineStanding::New => {
                        self.owners.retract(&key, known, out);
                        self.calls.mark_copied(self.owners.lane(known), &key);
                    }
                    LineStanding::Known => {}
                }
            }
        }
        self.owners.mark_used(stretch);
        self.new_blocks(line);
        LineStanding::New
    }

    /// Positions of the blocks of a message that have a rarer kind and were not in an earlier line
    /// of the message.
    pub(crate) fn new_blocks(&mut self, line: &TranscriptLine<'_>) -> Vec<usize> {
        let blocks = line.json.at("message.content").blocks().iter().enumerate();
        let rare = blocks.filter(|(_, block)| {
            let kind = block_type(block);
            !matches!(kind, "text" | "thinking" | "image")
                && !kind.ends_with("tool_use")
                && !kind.ends_with("tool_result")
        });
        let mut rare = rare.peekable();
        if rare.peek().is_none() {
            return Vec::new();
        }
        let (contents, seen, answer) = (&self.contents, &mut self.seen, line.answer());
        let is_new = |(_, block): &(usize, &Json<'_>)| {
            let mut print = contents.build_hasher();
            block.print(&mut print);
            seen.insert(
                &format!("{answer} {}", print.finish()),
                LineFingerprint::default(),
            )
            .is_none()
        };
        rare.filter(is_new).map(|(place, _)| place).collect()
    }

    /// Marks all that the file of this line had before it as a copy.
    pub(crate) fn end_copy(&mut self, line: &TranscriptLine<'_>, out: &mut Batch) {
        if line.lane.is_none() && self.opened_agent().is_some() {
            out.push(Edit::Copied {
                lane: None,
                before: out.origin(),
            });
            self.forks.mark_history_passed(out);
        }
        self.owners.end_copy(line, out);
    }

    /// Records a setting. Returns `false` if it was recorded before.
    pub(crate) fn is_new_setting(&mut self, key: &Key) -> bool {
        self.settings.insert(key.clone())
    }

    /// Records a compaction whose summary is to follow.
    pub(crate) fn set_boundary(&mut self, line: &TranscriptLine<'_>) {
        self.boundary = Some((line.lane.clone(), line.id.clone()));
    }

    /// Takes the entry of the compaction that a summary belongs to.
    pub(crate) fn take_boundary(&mut self, line: &TranscriptLine<'_>) -> Option<Key> {
        self.boundary
            .take_if(|(lane, _)| *lane == line.lane)
            .map(|(_, key)| key)
    }

    /// Records an answer of the model. Returns `false` if an earlier line of its lane began it.
    pub(crate) fn begin_answer(&mut self, key: &Key, lane: Option<&Name>, file: FileId) -> bool {
        let stretch = self.owners.stretch(lane, file, false);
        self.owners.begin_answer(key, stretch)
    }

    /// Whether a line with this id was read.
    pub(crate) fn has_seen(&self, id: &str) -> bool {
        self.seen.contains(id)
    }

    /// Whether this line begins another session, as the text of the break. A session that was
    /// resumed or forked contains the lines of its predecessor, either with their old session id or
    /// as copies that name their source.
    pub(crate) fn session_break(&mut self, line: &TranscriptLine<'_>) -> Option<Text> {
        let json = line.json;
        if !line.has_uuid || line.lane.is_some() || line.input.place != RecordPlace::Line {
            return None;
        }
        if let Some(origin) = json.at("forkedFrom.sessionId").filled() {
            let words = text!("forked from session {origin}");
            return self.is_new_setting(&words).then_some(words);
        }
        let [before, ..] = &self.facts;
        let id = json
            .get("sessionId")
            .filled()
            .filter(|id| identifies(id) && id != before)?;
        if before.is_empty() {
            return None;
        }
        let words = text!("session {before} goes on as {id}");
        self.is_new_setting(&words).then_some(words)
    }

    /// Emits the facts of an envelope that changed.
    pub(crate) fn emit_facts(&mut self, json: &Json<'_>, out: &mut Batch) {
        for ((name, edit), known) in FACTS.iter().zip(&mut self.facts) {
            if let Some(value) = json.get(name).str().filter(|value| value != known)
                && identifies(value)
            {
                value.clone_into(known);
                out.meta(edit(Text::clean(value)));
            }
        }
    }

    /// What an answer is attributed to. Answers in a row share it.
    pub(crate) fn attribution(&mut self, line: &Json<'_>) -> SharedAttribution {
        let name = |field: &str| line.get(field).str().filter(|name| identifies(name));
        let names = [
            name("attributionSkill"),
            name("attributionAgent"),
            name("gitBranch"),
            name("attributionMcpServer"),
        ];
        let is_same = self.attribution.as_deref().is_some_and(|known| {
            let known = [&known.skill, &known.sub_agent, &known.branch, &known.mcp];
            names == known.map(|known| known.as_deref())
        });
        if !is_same {
            let [skill, sub_agent, branch, mcp] = names.map(|name| name.map(Text::clean));
            let attribution = Attribution {
                skill,
                sub_agent,
                branch,
                mcp,
                tool: None,
            };
            self.attribution =
                (attribution != Attribution::default()).then(|| Arc::new(attribution));
        }
        self.attribution.clone()
    }

    /// Makes the first prompt the title of the session, with the lowest rank.
    pub(crate) fn emit_prompt(&mut self, words: &str, out: &mut Batch) {
        if !self.has_prompt {
            self.has_prompt = true;
            out.title(0, Text::stub(words, TITLE_CHARS));
        }
    }

    /// Makes a summary the title if its last line is in this session: files begin with summaries of
    /// other sessions.
    pub(crate) fn emit_summary(&mut self, leaf: &str, title: Text, out: &mut Batch) {
        if self.has_seen(leaf) {
            out.title(1, title);
        } else if identifies(leaf) {
            self.summaries.insert(Piece::of(leaf), title);
        }
    }
}
