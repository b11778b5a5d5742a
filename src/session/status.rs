//! Activity of the agent, size of its context, and cost of the session.

use crate::analysis::account::Account;
use crate::analysis::activity::{self, Activity, LastWrite};
use crate::analysis::background;
use crate::analysis::calls::Place;
use crate::analysis::context::{self, ContextUse};
use crate::analysis::phrases;
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::transcript::Transcript;

/// Status of a session as of the last [`SessionStatus::refresh`].
#[derive(Debug)]
pub struct SessionStatus {
    /// What the agent is doing.
    pub activity: Activity,
    /// Calls whose background work continues.
    pub(crate) running: Vec<Place>,
    /// Number of these and of the running sub-agents beside them; 0 if there is no such call.
    pub(crate) in_background: usize,
    /// How full the context is.
    pub(crate) context: Option<ContextUse>,
    /// Cost of the session, formatted.
    pub(crate) cost: String,
    /// What the activity was derived from: state of the session, last write, second, and state of
    /// the account.
    judged: Option<(u64, Option<LastWrite>, i64, u64)>,
    /// Whether the session has changed since.
    pub(super) is_stale: bool,
}

impl Default for SessionStatus {
    fn default() -> Self {
        let activity = Activity::Unknown;
        let cost = String::new();
        Self {
            activity,
            running: Vec::new(),
            in_background: 0,
            context: None,
            cost,
            judged: None,
            is_stale: true,
        }
    }
}

impl SessionStatus {
    pub(super) fn refresh(
        &mut self,
        transcript: &Transcript,
        account: &Account,
        last_write: Option<LastWrite>,
        now: Timestamp,
    ) {
        // It depends on the session and on the passed seconds; the last answer may be very long.
        let counted = account.generation;
        let seen = (
            transcript.changes(),
            last_write,
            now.0.div_euclid(1_000),
            counted,
        );
        let is_counted_anew = self.judged.is_none_or(|(.., before)| before != counted);
        if self.is_stale || self.judged != Some(seen) {
            self.judged = Some(seen);
            self.activity = activity::judge(transcript, last_write, now);
            let is_at_work = self.activity.is_ongoing(now);
            let calls = if is_at_work {
                background::calls(transcript, &self.activity)
            } else {
                Vec::new()
            };
            self.running = calls
                .into_iter()
                .filter_map(|(id, call)| place_of(transcript, id, call))
                .collect();
            self.in_background = if self.running.is_empty() {
                0
            } else {
                background::count_running(transcript, &self.activity)
            };
        }
        let is_stale = std::mem::take(&mut self.is_stale);
        if is_stale {
            self.context = context::of(transcript);
        }
        if is_stale || is_counted_anew {
            self.cost = phrases::cost(&account.cost(transcript))
                .unwrap_or_else(|| unknown_price(transcript));
        }
    }
}

/// Text for the cost of tokens without a known price.
fn unknown_price(transcript: &Transcript) -> String {
    let is_spent = transcript.totals().sum().output.total > 0;
    if is_spent {
        "$?".to_owned()
    } else {
        String::new()
    }
}

fn place_of(transcript: &Transcript, entry: EntryId, call: &ToolCall) -> Option<Place> {
    let mut blocks = transcript.get(entry)?.blocks.iter();
    let block = blocks.position(|block| block.call().is_some_and(|own| own.key == call.key))?;
    Some(Place { entry, block })
}
