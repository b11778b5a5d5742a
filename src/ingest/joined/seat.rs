//! Maps the keys, lanes and files of one joined session to unique ones.
//!
//! Invariant: equal names of two sessions stay distinct; equal names of one session stay equal.

use crate::model::body::{Body, Image, Key};
use crate::model::edit::{Edit, MetaEdit};
use crate::model::entry::{BlockKind, Entry};
use crate::model::record::{FileId, Origin};
use crate::model::text::{Name, Text};
use crate::model::tool::{ToolResult, ToolState};
use crate::model::transcript::key_of_session;

/// A session among the joined ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionSeat {
    pub(crate) number: u32,
    /// Number of joined sessions.
    pub(crate) of: u32,
    /// Name of the lane that replaces its main lane.
    pub(crate) lane: Name,
}

/// The unique key for a key of the session with a number.
pub(crate) fn key_at(number: u32, key: &Key) -> Key {
    if key.trim().is_empty() {
        key.clone()
    } else {
        key_of_session(key, number)
    }
}

impl SessionSeat {
    /// The unique number for a file of the session.
    pub(crate) fn file(&self, id: FileId) -> FileId {
        FileId(id.0.saturating_mul(self.of).saturating_add(self.number))
    }

    /// The unique key of an entry or call. Empty keys stay empty, and prefixes stay, because they
    /// tell the kind of a key.
    pub(crate) fn key(&self, key: &Key) -> Key {
        key_at(self.number, key)
    }

    /// The unique lane for a lane of the session.
    pub(crate) fn lane(&self, lane: Option<&Name>) -> Name {
        lane.map_or_else(
            || self.lane.clone(),
            |lane| Text::clean(&format!("{}/{lane}", self.lane)),
        )
    }

    /// Makes an edit unique; `None` for metadata of the session as a whole.
    pub(crate) fn qualify(&self, mut edit: Edit) -> Option<Edit> {
        match &mut edit {
            Edit::Entry(entry) => self.entry(entry),
            Edit::Result { call, result, lane } => {
                *call = self.key(call);
                self.result(result);
                *lane = Some(self.lane(lane.as_ref()));
            }
            Edit::State { call, state } => {
                *call = self.key(call);
                self.state(state);
            }
            Edit::Update {
                about,
                update,
                lane,
            } => {
                for id in [&mut about.call, &mut about.handle].into_iter().flatten() {
                    *id = self.key(id);
                }
                update.by = self.key(&update.by);
                *lane = Some(self.lane(lane.as_ref()));
            }
            Edit::Usage { of, .. }
            | Edit::Retire(of)
            | Edit::RetirePiece { of, .. }
            | Edit::CopiedWith(of)
            | Edit::Complete { of, .. } => *of = self.key(of),
            Edit::Copied { lane, before } => {
                *lane = Some(self.lane(lane.as_ref()));
                self.origin(before);
            }
            Edit::Link { key, parent } => {
                *key = self.key(key);
                *parent = parent.as_ref().map(|parent| self.key(parent));
            }
            Edit::Meta(fact) => return self.fact(fact).map(Edit::Meta),
        }
        Some(edit)
    }

    fn fact(&self, fact: &MetaEdit) -> Option<MetaEdit> {
        match fact {
            MetaEdit::Lane { name, label, call } => Some(MetaEdit::Lane {
                name: self.lane(Some(name)),
                label: label.clone(),
                call: call.as_ref().map(|call| self.key(call)),
            }),
            MetaEdit::Helper(name) => Some(MetaEdit::Helper(self.lane(Some(name)))),
            MetaEdit::FirstKept { compaction, first } => Some(MetaEdit::FirstKept {
                compaction: self.key(compaction),
                first: self.key(first),
            }),
            MetaEdit::Id(_)
            | MetaEdit::Cwd(_)
            | MetaEdit::Moved { .. }
            | MetaEdit::Title { .. }
            | MetaEdit::Agent(_)
            | MetaEdit::Version(_)
            | MetaEdit::Model(_)
            | MetaEdit::Window(_)
            | MetaEdit::Session { .. }
            | MetaEdit::LinkedTree
            | MetaEdit::Limit(_)
            | MetaEdit::Live(_)
            | MetaEdit::Running(_)
            | MetaEdit::SumSoFar { .. }
            | MetaEdit::Fact { .. } => None,
        }
    }

    fn entry(&self, entry: &mut Entry) {
        entry.key = self.key(&entry.key);
        entry.parent = entry.parent.as_ref().map(|parent| self.key(parent));
        entry.lane = Some(self.lane(entry.lane.as_ref()));
        self.origin(&mut entry.origin);
        for block in &mut entry.blocks {
            match &mut block.kind {
                BlockKind::Text(body) | BlockKind::Thinking(body) => self.body(body),
                BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => self.body(&mut raw.body),
                BlockKind::Image(image) => self.image(image),
                BlockKind::Result(stray) => {
                    stray.call = self.key(&stray.call);
                    self.result(&mut stray.result);
                }
                BlockKind::Call(call) => {
                    call.key = self.key(&call.key);
                    call.lane = call.lane.as_ref().map(|lane| self.lane(Some(lane)));
                    self.body(&mut call.input);
                    self.state(&mut call.state);
                }
                BlockKind::Break(_) => {}
            }
        }
    }

    fn state(&self, state: &mut ToolState) {
        if let ToolState::Streaming(body) = state {
            self.body(body);
        }
        state
            .result_mut()
            .into_iter()
            .for_each(|result| self.result(result));
    }

    fn result(&self, result: &mut ToolResult) {
        self.body(&mut result.body);
        result.patch.iter_mut().for_each(|patch| self.body(patch));
        result.images.iter_mut().for_each(|image| self.image(image));
        result
            .work
            .iter_mut()
            .for_each(|work| work.handle = self.key(&work.handle));
    }

    fn body(&self, body: &mut Body) {
        self.origin(&mut body.from);
    }

    fn image(&self, image: &mut Image) {
        self.origin(&mut image.origin);
    }

    /// Makes an origin unique.
    pub(crate) fn origin(&self, origin: &mut Origin) {
        origin.file = self.file(origin.file);
    }
}

/// The session that a file belongs to, and the number of the file there.
pub(crate) fn of_file(file: FileId, sessions: usize) -> Option<(usize, FileId)> {
    let sessions = u32::try_from(sessions)
        .ok()
        .filter(|sessions| *sessions > 0)?;
    let (number, session) = (file.0 / sessions, file.0 % sessions);
    Some((usize::try_from(session).ok()?, FileId(number)))
}
