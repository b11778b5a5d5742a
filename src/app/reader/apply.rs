//! Applies messages of the session to the panes that show it.

use super::Reader;
use crate::analysis::calls::lookup::Lookup;
use crate::app::alarms;
use crate::app::effect::Effect;
use crate::app::text::find::{filter, search};
use crate::app::text::places::news;
use crate::app::text::viewport::Motion;
use crate::model::body::Held;
use crate::model::edit::Feed;
use crate::model::entry::EntryId;
use crate::model::record::Origin;
use crate::model::transcript::{Touched, Transcript};
use crate::session::SessionChange;

impl Reader {
    /// Applies one message of the feed. Restores the saved position, or goes to the entry requested
    /// on the command line, as soon as that entry has been read.
    pub fn apply_feed(&mut self, feed: Feed) -> Vec<Effect> {
        let mut effects = Vec::new();
        for change in self.session.apply_feed(feed) {
            effects.extend(self.apply(change));
        }
        if !self.session.is_replacement_pending()
            && std::mem::take(&mut self.text.places.wants_beginning)
        {
            self.text.view.push_motion(Motion::Top);
        }
        effects.extend(self.check_alarms());
        self.with_text(|text, scene| super::restore_position(text, scene));
        effects.extend(self.with_text(super::go_to_requested));
        effects
    }

    fn apply(&mut self, change: SessionChange) -> Vec<Effect> {
        match change {
            SessionChange::Touched(touched) => return self.apply_touched(&touched),
            SessionChange::Replaced { before, touched } => return self.remap(&before, &touched),
            SessionChange::CaughtUp => {
                self.with_text(news::finish);
                self.text.stale.sequence |= self.text.places.last_visit.is_some();
                alarms::actions::begin(&mut self.alarms, &mut self.session, &self.screen);
            }
            SessionChange::Message(words) => self.screen.set_status(words),
        }
        Vec::new()
    }

    /// Updates the panes after entries were added, changed or removed.
    fn apply_touched(&mut self, touched: &Touched) -> Vec<Effect> {
        let Self {
            session,
            text,
            outline,
            checks,
            alarms,
            ..
        } = self;
        let transcript = &session.transcript;
        alarms.update(touched);
        outline.update(transcript, touched);
        checks.update(transcript, touched);
        text.invalidate_touched(transcript, touched);
        let mut effects = filter::judge_new(text, session, touched);
        // A mark or a hit may be on an entry that has only just been added.
        let has_marks = !text.places.marks.is_empty() || !alarms.marks.is_empty();
        text.stale.spine |= text.find.search.is_some() || has_marks;
        text.grow(transcript, touched);
        // Entries that were in the file when it was opened are not new.
        if session.is_at_end() {
            text.count_unseen(transcript, touched);
        }
        effects.extend(self.with_text(|text, scene| search::update(text, scene, touched)));
        let shown: Vec<EntryId> = self.visible_entries().collect();
        self.session.release(|id| shown.contains(&id));
        effects
    }

    /// Replaces the transcript by another one of the same session: maps positions by key, so that
    /// the window does not move, and drops everything derived from entries.
    fn remap(&mut self, before: &Transcript, touched: &Touched) -> Vec<Effect> {
        let lookup = Lookup {
            before,
            now: &self.session.transcript,
        };
        let shown: Vec<EntryId> = self
            .visible_entries()
            .filter_map(|id| lookup.entry(id))
            .collect();
        let Self {
            session,
            text,
            outline,
            checks,
            views,
            inspector,
            alarms,
            ..
        } = self;
        let lookup = Lookup {
            before,
            now: &session.transcript,
        };
        text.remap(&lookup);
        text.invalidate_details(&session.transcript, touched);
        inspector.remap(&lookup);
        alarms.remap(&lookup);
        alarms.update(touched);
        outline.clear();
        checks.clear();
        views.clear();
        let mut effects = self.with_text(|text, scene| filter::restart(text, scene, before));
        if self.session.file.is_caught_up {
            self.text.count_unseen(&self.session.transcript, touched);
        }
        effects.extend(self.with_text(search::restart));
        self.session.release(|id| shown.contains(&id));
        effects
    }

    /// The entries in the window and in the inspector; their bodies stay in memory.
    fn visible_entries(&self) -> impl Iterator<Item = EntryId> {
        let inspected = self.inspector.focus.map(|focus| focus.entry);
        self.text
            .view
            .lines
            .iter()
            .map(|line| line.entry)
            .chain(inspected)
    }

    /// Puts bodies that were read from disk back into their entries.
    pub fn fill(&mut self, entries: &[EntryId], contents: &[(Origin, Vec<Held>)]) {
        for id in self.session.fill(entries, contents) {
            self.text.pending_pages.remove(id);
        }
        // Some of the entries need bodies of other entries.
        for id in entries {
            self.text.cache.remove(*id);
        }
        let shown: Vec<EntryId> = self
            .visible_entries()
            .chain(entries.iter().copied())
            .collect();
        self.session.release(|id| shown.contains(&id));
    }
}
