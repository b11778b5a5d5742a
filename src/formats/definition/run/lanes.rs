//! The lanes of records.

use std::path::Path as FilePath;

use super::counting::UsageOwner;
use super::{DefinitionDecoder, EntryHead, RecordSite};
use crate::formats::decoder::RecordPlace;
use crate::formats::definition::path::{PathScope, word_of};
use crate::formats::definition::rule::{LaneRule, RecordKind, RecordRule};
use crate::formats::roots::SessionName;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::{Name, Text};

impl DefinitionDecoder {
    /// Whether a lane name means the main lane.
    pub(super) fn is_main(&self, lane: &Name) -> bool {
        self.definition
            .main
            .iter()
            .any(|main| lane.as_str() == *main)
    }

    pub(super) fn lane_at(&self, named: Option<Name>, site: RecordSite<'_>) -> Option<Name> {
        match (named, site.place) {
            (Some(lane), _) => Some(lane).filter(|lane| !self.is_main(lane)),
            (None, RecordPlace::CompanionLine(path)) if site.lane.is_none() => lane_of(path),
            (None, _) => site.lane.cloned(),
        }
    }

    pub(super) fn usage_owner(&self, site: RecordSite<'_>, head: &EntryHead) -> UsageOwner {
        match (self.kind_of(site), &head.lane) {
            (RecordKind::Companion, _) => UsageOwner::Companion,
            (RecordKind::Beside, _) => UsageOwner::Beside,
            (_, Some(_)) => UsageOwner::Lane,
            (_, None) => UsageOwner::Session,
        }
    }

    /// Emits the sub-agents that a record names. Returns the first, which is the lane of the
    /// record.
    pub(super) fn lane_of(
        &mut self,
        rule: &RecordRule,
        site: RecordSite<'_>,
        out: &mut Batch,
    ) -> Option<Name> {
        let lane = rule.lane.as_ref()?;
        let begins_lane = rule.records.is_some();
        // A requested file belongs to the sub-agent it was requested for, even if it names another
        // one.
        let of_file = site.lane.filter(|_| begins_lane && site.depth == 0);
        let mut first = None;
        let mut emit_lanes = |scope: PathScope<'_>| {
            let named = self.runs.id(&lane.call, scope);
            let call = named.or_else(|| self.starting_call(lane, scope));
            let mut one = |scope: PathScope<'_>| {
                for name in self.lanes(lane, (scope, of_file), call.as_ref(), out) {
                    first.get_or_insert(name);
                }
            };
            lane.of.elements(scope, &mut one);
        };
        lane.each.elements(site.scope, &mut emit_lanes);
        if let Some(lane) = first
            .as_ref()
            .filter(|_| begins_lane && site.place == RecordPlace::Header)
        {
            self.files.mark_inline(lane);
        }
        first
    }

    /// The call that started a sub-agent whose records do not name it.
    fn starting_call(&mut self, lane: &LaneRule, scope: PathScope<'_>) -> Option<Key> {
        let by = lane.by.as_ref()?;
        let name = lane.name.word(scope)?;
        let of = by.of.word(scope);
        self.files
            .starting_call(name, by.before.moment(scope)?, of.as_ref())
    }

    /// The sub-agents named at the current value. Emits those whose records are in the session's
    /// own file.
    fn lanes(
        &mut self,
        lane: &LaneRule,
        (scope, of_file): (PathScope<'_>, Option<&Name>),
        call: Option<&Key>,
        out: &mut Batch,
    ) -> Vec<Name> {
        let mut names = Vec::new();
        lane.name.each(scope, &mut |found| {
            let name = word_of(found.here).map(|name| Text::clean(&name));
            names.extend(of_file.cloned().or(name).filter(|name| !self.is_main(name)));
        });
        for name in &names {
            if !self.files.request(lane.file.word(scope), name, call, out) {
                out.lane(name.clone(), lane.label.word(scope), call.cloned());
            }
        }
        names
    }
}

/// The lane of a companion file, which is named after it.
fn lane_of(path: &FilePath) -> Option<Name> {
    SessionName::stem(path).map(|named| Text::clean(named.id))
}
