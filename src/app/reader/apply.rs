//! What changed in the session, brought to all that shows it.

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
use crate::session::Change;

impl Reader {
    /// Takes one message of the feed; goes to where the reader was before, or to the entry that was asked for, as soon
    /// as it has come.
    pub fn take(&mut self, feed: Feed) -> Vec<Effect> {
        let mut effects = Vec::new();
        for change in self.session.take(feed) {
            effects.extend(self.note(change));
        }
        if !self.session.is_read_beside() && std::mem::take(&mut self.text.places.wants_beginning) {
            self.text.view.ask(Motion::Top);
        }
        effects.extend(self.look_out());
        self.with_text(|text, scene| super::go_to_left(text, scene));
        effects.extend(self.with_text(super::go_to_wanted));
        effects
    }

    fn note(&mut self, change: Change) -> Vec<Effect> {
        if let Some(before) = &mut self.before_view {
            before.place = None;
        }
        match change {
            Change::Touched(touched) => return self.note_touched(&touched),
            Change::Replaced { before, touched } => return self.look_up(&before, &touched),
            Change::CaughtUp => {
                self.with_text(news::settle);
                self.text.stale.sequence |= self.text.places.seen.is_some();
                alarms::actions::begin(&mut self.alarms, &mut self.session, &self.screen);
            }
            Change::Bodies(contents) => {
                let entries: Vec<EntryId> = self.in_sight().collect();
                self.fill(&entries, &contents);
            }
            Change::Said(words) => self.screen.say(words),
        }
        Vec::new()
    }

    /// Entries of what is shown came, changed or went.
    fn note_touched(&mut self, touched: &Touched) -> Vec<Effect> {
        let Self {
            session,
            text,
            outline,
            checks,
            alarms,
            ..
        } = self;
        let transcript = &session.transcript;
        alarms.note(touched);
        outline.note(transcript, touched);
        checks.note(transcript, touched);
        text.forget_touched(transcript, touched);
        let mut effects = filter::judge_new(text, session, touched);
        // What is marked or was found may be an entry that comes only now.
        let has_marks = !text.places.marks.is_empty() || !alarms.marks.is_empty();
        text.stale.spine |= text.find.search.is_some() || has_marks;
        text.grow(transcript, touched);
        // What was there when the session was opened is not new, though it is read only now.
        if session.is_at_its_end() {
            text.count_unseen(transcript, touched);
        }
        effects.extend(self.with_text(|text, scene| search::note(text, scene, touched)));
        let shown: Vec<EntryId> = self.in_sight().collect();
        self.session.release(|id| shown.contains(&id));
        effects
    }

    /// Another transcript of the session is shown: what is being read is looked up there and stays in its place. All that
    /// panes know of entries is found out anew.
    fn look_up(&mut self, before: &Transcript, touched: &Touched) -> Vec<Effect> {
        let lookup = Lookup {
            before,
            now: &self.session.transcript,
        };
        let shown: Vec<EntryId> = self.in_sight().filter_map(|id| lookup.entry(id)).collect();
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
        text.look_up(&lookup);
        text.forget_details(&session.transcript, touched);
        inspector.look_up(&lookup);
        alarms.look_up(&lookup);
        alarms.note(touched);
        outline.clear();
        checks.clear();
        views.clear();
        let mut effects = self.with_text(|text, scene| filter::again(text, scene, before));
        if self.session.file.is_caught_up {
            self.text.count_unseen(&self.session.transcript, touched);
        }
        effects.extend(self.with_text(search::again));
        self.session.release(|id| shown.contains(&id));
        effects
    }

    /// Entries of the window and of the inspector.
    fn in_sight(&self) -> impl Iterator<Item = EntryId> {
        let inspected = self.inspector.shown().map(|focus| focus.entry);
        self.text
            .view
            .lines
            .iter()
            .map(|line| line.entry)
            .chain(inspected)
    }

    /// Puts bodies back that were read again.
    pub fn fill(&mut self, entries: &[EntryId], contents: &[(Origin, Vec<Held>)]) {
        for id in self.session.fill(entries, contents) {
            self.text.asked.forget(id);
        }
        // Entries wait for the bodies of others, too.
        for id in entries {
            self.text.cache.forget(*id);
        }
        let shown: Vec<EntryId> = self.in_sight().chain(entries.iter().copied()).collect();
        self.session.release(|id| shown.contains(&id));
    }
}
