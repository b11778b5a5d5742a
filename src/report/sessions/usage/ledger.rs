//! The sums of all sessions, in which every request counts once.
//!
//! **A request may stand in several files.** Forks and sessions that were gone on with begin with a copy of what was
//! before, a session lies in an archive and in its place, one run was recorded by its agent and by who started it.
//! Within a session its decoder sees to that; between sessions what names a request must be the same:
//!
//! * the id that the provider gave it, or another one that is unique in the world;
//! * or the agent's own id with the time and the tokens of the prompt, for short ids come twice by chance;
//! * or, where requests have no ids, the session's id with the place, the time and the tokens: so only copies of the
//!   same session are known.
//!
//! Copies may have been made while an answer was written; of two the one with more output counts.
//!
//! Invariant: what a session says twice by itself is two requests; only what others said before is a copy.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::options::By;
use super::read::{Spender, Spent};
use crate::analysis::money::cost::Cost;
use crate::analysis::money::spending::amount::Amount;
use crate::model::found::Found;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;

/// The sums.
pub(super) struct Ledger {
    by: Vec<By>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    sessions: Vec<Found>,
    spent: Vec<(usize, Spent)>,
    /// Where requests stand, by what names them.
    known: HashMap<Identity, usize>,
    /// How many were copies.
    copies: u64,
}

/// What names a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Identity {
    key: Text,
    within: Option<(Option<Timestamp>, [i64; 3])>,
    session: Option<Text>,
}

/// What a row holds the sum of; what it is not summed by is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Group {
    /// A day, a week or a month.
    pub(super) period: Option<String>,
    /// The format.
    pub(super) agent: Option<String>,
    /// A folder.
    pub(super) project: Option<String>,
    /// A model.
    pub(super) model: Option<String>,
    /// The id of a session, and its title.
    pub(super) session: Option<(String, Option<String>)>,
}

/// A sum.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// Of what.
    pub(super) group: Group,
    /// Of how many sessions.
    pub(super) sessions: usize,
    /// How much.
    pub(super) amount: Amount,
    unpriced: BTreeSet<Name>,
}

impl Row {
    /// What it cost.
    pub(super) fn cost(&self) -> Cost {
        Cost { unpriced_models: self.unpriced.iter().cloned().collect(), ..self.amount.money.cost() }
    }

    fn add(&mut self, spent: &Spent) {
        self.amount.plus(&spent.amount);
        if spent.amount.money.unpriced > 0 {
            self.unpriced.insert(spent.model.clone());
        }
    }
}

impl Ledger {
    /// Nothing was spent so far.
    pub(super) fn new(by: &[By], time: Range<Option<Timestamp>>) -> Self {
        Self {
            by: by.to_vec(),
            since: time.start,
            until: time.end,
            sessions: Vec::new(),
            spent: Vec::new(),
            known: HashMap::new(),
            copies: 0,
        }
    }

    /// How many requests stood in more than one session.
    pub(super) fn copies(&self) -> u64 {
        self.copies
    }

    /// Adds what a session spent and no session before it.
    pub(super) fn add(&mut self, spender: Spender) {
        let session = self.sessions.len();
        let modified = spender.found.modified;
        self.sessions.push(spender.found);
        let mut new = Vec::new();
        for mut spent in spender.spent {
            let identity = identity(&spent, &spender.id);
            if let Some(place) = self.known.get(&identity) {
                self.copies += spent.amount.requests;
                if let Some((_, known)) = self.spent.get_mut(*place)
                    && known.amount.output.total < spent.amount.output.total
                {
                    known.amount = spent.amount;
                }
                continue;
            }
            new.push((identity, self.spent.len()));
            spent.at = spent.at.or(modified);
            self.spent.push((session, spent));
        }
        self.known.extend(new);
    }

    /// The sums: spans of time as they come, all else by what it cost; and the sum of all.
    pub(super) fn rows(&self) -> (Vec<Row>, Row) {
        let mut rows: BTreeMap<Group, (Row, HashSet<usize>)> = BTreeMap::new();
        let mut total = Row::default();
        let mut sessions = HashSet::new();
        let is_within = |spent: &Spent| {
            let (since, until) = (self.since, self.until);
            since.is_none_or(|since| spent.at >= Some(since))
                && until.is_none_or(|until| spent.at < Some(until))
        };
        for (session, spent) in self.spent.iter().filter(|(_, spent)| is_within(spent)) {
            let Some(found) = self.sessions.get(*session) else { continue };
            let (row, own) = rows.entry(self.group(found, spent)).or_default();
            row.add(spent);
            own.insert(*session);
            total.add(spent);
            sessions.insert(*session);
        }
        total.sessions = sessions.len();
        let row = |(group, (row, sessions)): (Group, (Row, HashSet<usize>))| Row {
            group,
            sessions: sessions.len(),
            ..row
        };
        let mut rows: Vec<Row> = rows.into_iter().map(row).collect();
        rows.sort_by(|one, other| {
            let picos = |row: &Row| std::cmp::Reverse(row.amount.money.picos());
            one.group.period.cmp(&other.group.period).then_with(|| picos(one).cmp(&picos(other)))
        });
        (rows, total)
    }

    fn group(&self, found: &Found, spent: &Spent) -> Group {
        let mut group = Group::default();
        for by in &self.by {
            match by {
                By::Day => group.period = spent.at.map(Timestamp::calendar_day),
                By::Week => group.period = spent.at.map(Timestamp::calendar_week),
                By::Month => group.period = spent.at.map(Timestamp::calendar_month),
                By::Project => {
                    group.project = Some(found.cwd.as_ref().map(Text::to_string).unwrap_or_default());
                }
                By::Agent => group.agent = Some(found.format.to_owned()),
                By::Model => group.model = Some(spent.model.to_string()),
                By::Session => {
                    group.session = Some((found.id.to_string(), found.title.as_ref().map(Text::to_string)));
                }
            }
        }
        group
    }
}

fn identity(spent: &Spent, session: &Text) -> Identity {
    let Amount { input, cache_read, cache_write, .. } = spent.amount;
    let within = Some((spent.at, [input.total, cache_read.total, cache_write.total]));
    match &spent.key {
        Some(key) if is_unique(key) => Identity { key: key.clone(), within: None, session: None },
        Some(key) if !is_of_place(key) && spent.at.is_some() => {
            Identity { key: key.clone(), within, session: None }
        }
        key => {
            let key = key.clone().unwrap_or_default();
            Identity { key, within, session: Some(session.clone()) }
        }
    }
}

/// Whether a key was made from where a record stands.
fn is_of_place(key: &str) -> bool {
    key.starts_with('@')
}

/// Whether nobody else has this id: one that a provider gave to a request, or a UUID.
fn is_unique(key: &str) -> bool {
    const GIVEN: [&str; 6] = ["msg_", "resp_", "req_", "chatcmpl-", "chatcmpl_", "gen-"];
    /// Shorter ones may be somebody's own numbers.
    const LONG: usize = 20;
    let is_given = GIVEN.iter().any(|front| key.starts_with(front)) && key.len() >= LONG;
    let is_uuid = key.len() == 36
        && key.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    identifies(key) && (is_given || is_uuid)
}

#[cfg(test)]
mod tests {
    use super::{By, Ledger, Spender, Spent, is_unique};
    use crate::analysis::money::spending::amount::Amount;
    use crate::model::found::Found;
    use crate::model::text::Text;
    use crate::model::timestamp::Timestamp;
    use crate::model::usage::Usage;

    fn spent(key: &str, at: Option<i64>, input: u64, output: u64) -> Spent {
        let usage = Usage { input: Some(input), output: Some(output), ..Usage::default() };
        let key = (!key.is_empty()).then(|| Text::clean(key));
        Spent { key, at: at.map(Timestamp), model: Text::default(), amount: Amount::of(&usage, None) }
    }

    fn spender(id: &str, spent: Vec<Spent>) -> Spender {
        let found = Found {
            path: format!("/{id}").into(),
            session: None,
            format: "made",
            id: Text::clean(id),
            key: None,
            agent: None,
            title: None,
            cwd: None,
            model: None,
            started: None,
            modified: None,
            size: None,
            live: None,
        };
        Spender { found, id: Text::clean(id), files: Vec::new(), spent }
    }

    /// Requests, input and output of sessions in their order, and how many were copies.
    fn sums(sessions: Vec<(&str, Vec<Spent>)>) -> (u64, i64, i64, u64) {
        let mut ledger = Ledger::new(&[By::Session], None..None);
        for (id, spent) in sessions {
            ledger.add(spender(id, spent));
        }
        let (rows, total) = ledger.rows();
        let all: i64 = rows.iter().map(|row| row.amount.input.total).sum();
        assert_eq!(all, total.amount.input.total);
        (total.amount.requests, total.amount.input.total, total.amount.output.total, ledger.copies())
    }

    #[test]
    fn ids_of_providers_are_unique_and_short_ones_are_not() {
        assert!(is_unique("msg_01AbCdEfGhIjKlMnOpQr"));
        assert!(is_unique("0c2a8f3e-1d2b-4c3d-8e9f-0a1b2c3d4e5f"));
        for key in ["msg_1", "a1b2c3d4", "@0:12345678901234567890", "27/PLANNER_RESPONSE_LONG", ""] {
            assert!(!is_unique(key), "{key}");
        }
    }

    #[test]
    fn what_another_session_said_before_is_a_copy() {
        let given = "msg_01AbCdEfGhIjKlMnOpQr";
        // A copy without times, and one with less of the answer.
        let stream = || vec![spent(given, None, 10, 5)];
        let live = || vec![spent(given, Some(7), 10, 9)];
        assert_eq!(sums(vec![("a", stream()), ("b", live())]), (1, 10, 9, 1));
        assert_eq!(sums(vec![("b", live()), ("a", stream())]), (1, 10, 9, 1));
        // Short ids: a fork has the same time and prompt, another session has not.
        let short = |at| vec![spent("a1b2", Some(at), 10, 5)];
        assert_eq!(sums(vec![("a", short(1)), ("fork", short(1))]), (1, 10, 5, 1));
        assert_eq!(sums(vec![("a", short(1)), ("other", short(2))]), (2, 20, 10, 0));
        // Without ids only the same session is known again.
        let placed = || vec![spent("@0:100", Some(1), 10, 5), spent("", Some(1), 1, 1)];
        assert_eq!(sums(vec![("a", placed()), ("a", placed())]), (2, 11, 6, 2));
        assert_eq!(sums(vec![("a", placed()), ("b", placed())]), (4, 22, 12, 0));
        // What a session says twice itself are two requests.
        let twice = || vec![spent("", None, 10, 5), spent("", None, 10, 5)];
        assert_eq!(sums(vec![("a", twice())]), (2, 20, 10, 0));
        assert_eq!(sums(vec![("a", twice()), ("a", twice())]), (2, 20, 10, 2));
    }
}
