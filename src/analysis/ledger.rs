//! Usage of all sessions, in which every request counts once.
//!
//! A request may be in several files. Within a session its decoder recognizes copies; between
//! sessions a request is identified by [`RequestIdentity`] (`model::request`).
//!
//! Copies may have been made while an answer was written; of two the one with more output counts.
//! What a run counts beyond its requests is compared with all copies of them (`runs`).
//!
//! A request belongs to the session that had it first: the one that began earlier.
//!
//! Queries are answered from sums by session, day, model and attribution, which suffice for every grouping:
//! there are far fewer of them than requests, and they are computed once after each added session.
//!
//! Invariant: a repetition within one session is two requests; only what another session had before
//! is a copy.

pub mod cells;
pub mod counting;
mod runs;

use std::cell::OnceCell;
use std::collections::{self, BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use self::runs::CountingSession;
use crate::analysis::by::By;
use crate::analysis::money::cost::Cost;
use crate::analysis::money::spending::amount::Amount;
use crate::model::body::Key;
use crate::model::entry::attribution::SharedAttribution;
use crate::model::found::FoundSession;
use crate::model::limit::Limit;
use crate::model::request::{CallIdentity, RequestIdentity};
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;

/// A session and its usage.
#[derive(Clone, Debug)]
pub struct Spender {
    pub found: FoundSession,
    /// Its id according to its records.
    pub id: Text,
    /// Whether its records say that it continues another session.
    pub is_fork: bool,
    /// Whether its agent writes a session into several files: those with the same id are one session.
    pub has_files: bool,
    pub spent: Vec<UsageRecord>,
    /// Its failed calls, without an amount; empty if results were not read.
    pub failed: Vec<(CallIdentity, UsageRecord)>,
    /// Rate limits that it recorded.
    pub limits: Vec<Limit>,
    /// Its recorded total usage after some answers, by model.
    pub sums_so_far: Vec<(Key, Vec<(Name, Usage)>)>,
    /// The timestamp of its newest record, if some usage has none of its own.
    pub newest: Option<Timestamp>,
    /// Whether its agent recorded the total cost.
    pub is_covered: bool,
}

#[derive(Clone, Debug)]
pub struct UsageRecord {
    /// The key of its entry.
    pub key: Option<Key>,
    pub at: Option<Timestamp>,
    /// The model; empty if unrecorded.
    pub model: Name,
    /// What it was spent for.
    pub attribution: SharedAttribution,
    pub amount: Amount,
    pub failed: u64,
    /// Whether it is what a run counts beyond its requests.
    pub is_run: bool,
    /// Whether there is further usage of sub-agents whose records are missing.
    pub lacks_agents: bool,
}

/// The usage of all sessions, without copies.
#[derive(Debug, Default)]
pub struct Ledger {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    sessions: Vec<FoundSession>,
    /// Their ids according to their records.
    ids: Vec<Text>,
    /// Sessions that may have several files, by format and id.
    in_files: HashMap<(&'static str, Text), usize>,
    forks: HashSet<usize>,
    /// The timestamps of their newest records.
    newest: Vec<Option<Timestamp>>,
    /// Sessions with a recorded total cost, of which no other session has a part.
    covered: HashSet<usize>,
    runs: Vec<CountingSession>,
    spent: Vec<(usize, UsageRecord)>,
    failed: Vec<(usize, UsageRecord)>,
    /// Both summed by session, day, model and attribution; computed on the first query.
    sums: OnceCell<Vec<(usize, UsageRecord)>>,
    /// Indexes in `spent` by the identity of the request.
    by_request: HashMap<RequestIdentity, usize>,
    /// Indexes in `failed` by the identity of the call.
    by_call: HashMap<CallIdentity, usize>,
    /// Number of requests that were in more than one session.
    pub(crate) copies: u64,
    /// The newest recorded rate limits by agent.
    limits: BTreeMap<&'static str, Vec<Limit>>,
}

/// The group of a row; fields that it is not grouped by are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsageGroup {
    /// A day, a week or a month.
    pub period: Option<Arc<str>>,
    pub agent: Option<&'static str>,
    /// The project or working directory.
    pub project: Option<Text>,
    pub model: Option<Name>,
    /// The id of a session, and its title.
    pub session: Option<(Text, Option<Text>)>,
    /// Its attribution, as far as it is grouped by that; `None` where nothing is recorded.
    pub attributed: Vec<(By, Option<Name>)>,
}

/// A row: the sum of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageSum {
    pub group: UsageGroup,
    /// The sessions, by number.
    sessions: BTreeSet<usize>,
    pub amount: Amount,
    /// Failed calls; 0 if results were not read.
    pub failed: u64,
    unpriced: BTreeSet<Name>,
    lacks_agents: bool,
}

impl UsageSum {
    /// The number of sessions.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// The number of the session that was added last.
    pub fn newest(&self) -> Option<usize> {
        self.sessions.last().copied()
    }

    /// The cost of the row.
    pub fn cost(&self) -> Cost {
        let unpriced_models = self.unpriced.iter().cloned().collect();
        Cost {
            unpriced_models,
            ..self.amount.money.cost()
        }
        .partial_if(self.lacks_agents)
    }

    fn add(&mut self, session: usize, spent: &UsageRecord) {
        self.sessions.insert(session);
        self.amount.plus(&spent.amount);
        self.failed += spent.failed;
        self.lacks_agents |= spent.lacks_agents;
        if spent.amount.money.unpriced > 0 {
            self.unpriced.insert(spent.model.clone());
        }
    }
}

impl Ledger {
    /// An empty ledger that counts only usage in a range of time.
    pub fn new(time: Range<Option<Timestamp>>) -> Self {
        Self {
            since: time.start,
            until: time.end,
            ..Self::default()
        }
    }

    /// Counts only usage since a timestamp from now on.
    pub(crate) fn count_from(&mut self, since: Option<Timestamp>) {
        if self.since != since {
            self.since = since;
            self.sums.take();
        }
    }

    pub fn session(&self, number: usize) -> Option<&FoundSession> {
        self.sessions.get(number)
    }

    /// The recorded rate limits by agent.
    pub fn limits(&self) -> impl Iterator<Item = (&'static str, Limit)> {
        self.limits
            .iter()
            .flat_map(|(agent, limits)| limits.iter().map(|limit| (*agent, *limit)))
    }

    /// Adds the usage of a session, without copies from earlier sessions.
    pub fn add(&mut self, spender: Spender) {
        self.sums.take();
        for limit in spender.limits {
            limit.merge_into(self.limits.entry(spender.found.format).or_default());
        }
        let session = self.place_of(spender.found, &spender.id, spender.has_files);
        self.forks.extend(spender.is_fork.then_some(session));
        self.covered.extend(spender.is_covered.then_some(session));
        if let Some(newest) = self.newest.get_mut(session) {
            *newest = spender.newest.max(*newest);
        }
        // Avoids moving the usage of a long session again and again: it is large.
        self.spent.reserve(spender.spent.len());
        let counts_runs = spender.spent.iter().any(|spent| spent.is_run);
        let mut new = Vec::with_capacity(spender.spent.len());
        let (mut beyond, mut own) = (Vec::new(), Vec::new());
        let mut sums_after: HashMap<Key, Vec<(Name, Usage)>> =
            spender.sums_so_far.into_iter().collect();
        let mut sums = Vec::new();
        for spent in spender.spent {
            let identity = identity(&spent, &spender.id);
            let known = self.by_request.get(&identity).copied();
            let place = known.unwrap_or(self.spent.len());
            if spent.is_run {
                beyond.extend(known.is_none().then_some(place));
            } else if counts_runs {
                own.push((place, spent.amount));
                let recorded = spent.key.as_ref().and_then(|key| sums_after.remove(key));
                sums.extend(recorded.map(|recorded| (own.len(), recorded)));
            }
            if known.is_some() {
                let is_own = self
                    .spent
                    .get(place)
                    .is_some_and(|(of, _)| spender.has_files && *of == session);
                self.copies += if is_own { 0 } else { spent.amount.requests };
                let known = self.spent.get(place).map_or(session, |(known, _)| *known);
                let owner = self.first_of(known, session);
                self.covered.remove(&session);
                if let Some((of, known)) = self.spent.get_mut(place) {
                    self.covered.remove(of);
                    *of = owner;
                    complete(known, spent);
                }
                continue;
            }
            new.push((identity, place));
            self.spent.push((session, spent));
        }
        self.by_request.extend(new);
        let mut new = Vec::new();
        for (identity, failed) in spender.failed {
            if let Some(place) = self.by_call.get(&identity).copied() {
                let known = self.failed.get(place).map_or(session, |(known, _)| *known);
                let owner = self.first_of(known, session);
                if let Some((of, _)) = self.failed.get_mut(place) {
                    *of = owner;
                }
                continue;
            }
            // A repetition within one session is another call.
            new.push((identity, self.failed.len()));
            self.failed.push((session, failed));
        }
        self.by_call.extend(new);
        if !beyond.is_empty() {
            self.runs.push(CountingSession {
                number: session,
                session: spender.id,
                extra_charges: beyond,
                requests: own,
                sums,
            });
        }
    }

    /// The number of a session, which several files may share. The most recently modified file has
    /// the title and other facts, the earliest one the start.
    fn place_of(&mut self, found: FoundSession, id: &Text, has_files: bool) -> usize {
        let next = self.sessions.len();
        let place = if has_files {
            *self
                .in_files
                .entry((found.format, id.clone()))
                .or_insert(next)
        } else {
            next
        };
        let Some(known) = self.sessions.get_mut(place) else {
            self.sessions.push(found);
            self.newest.push(None);
            self.ids.push(id.clone());
            return next;
        };
        let started = [known.started, found.started].into_iter().flatten().min();
        if known.modified <= found.modified {
            *known = found;
        }
        known.started = started;
        place
    }

    /// Of two sessions with the same request, the one that had it first.
    fn first_of(&self, known: usize, other: usize) -> usize {
        if self.precedence(other) < self.precedence(known) {
            other
        } else {
            known
        }
    }

    /// A sort key: of two sessions with the same request, the smaller one had it first. A fork may
    /// have the timestamps of its origin; without evidence the one that was added first is taken.
    fn precedence(&self, session: usize) -> (bool, Option<Timestamp>, bool) {
        let started = self.sessions.get(session).and_then(|found| found.started);
        (started.is_none(), started, self.forks.contains(&session))
    }

    /// Rows by `by`, restricted to usage in all groups of `within`, and their total. Periods are
    /// sorted from the last one, other rows by cost.
    pub fn rows(&self, by: &[By], within: &[Within]) -> (Vec<UsageSum>, UsageSum) {
        let mut rows: BTreeMap<UsageGroup, UsageSum> = BTreeMap::new();
        let mut total = UsageSum::default();
        let mut calendar = Calendar::default();
        for (session, spent) in self.sums.get_or_init(|| self.sums()) {
            let Some(found) = self.sessions.get(*session) else {
                continue;
            };
            if within
                .iter()
                .any(|(by, group)| calendar.group(&[*by], found, spent) != *group)
            {
                continue;
            }
            // The remainder of an estimate that was also recorded has marks but no amount, and gets
            // no row.
            let is_mark = spent.is_run && spent.amount.is_nothing();
            let group = calendar.group(by, found, spent);
            let row = if is_mark {
                rows.get_mut(&group)
            } else {
                Some(rows.entry(group).or_default())
            };
            if let Some(row) = row {
                row.add(*session, spent);
            }
            total.add(*session, spent);
        }
        let mut rows: Vec<UsageSum> = rows
            .into_iter()
            .map(|(group, row)| UsageSum { group, ..row })
            .collect();
        rows.sort_by(|one, other| {
            let picos = |row: &UsageSum| std::cmp::Reverse(row.amount.money.picos());
            other
                .group
                .period
                .cmp(&one.group.period)
                .then_with(|| picos(one).cmp(&picos(other)))
        });
        (rows, total)
    }

    /// Sums by session, day, model and attribution, of the selected time.
    fn sums(&self) -> Vec<(usize, UsageRecord)> {
        let mut sums: Vec<(usize, UsageRecord)> = Vec::new();
        let mut places: HashMap<_, usize> = HashMap::new();
        let mut calendar = Calendar::default();
        let beyond = self.run_remainders();
        let covered = self.covered_of_time(&beyond);
        // The indexes of failures follow those of `spent`, so no remainder is theirs.
        for (place, (session, spent)) in self.spent.iter().chain(&self.failed).enumerate() {
            let mut amount = *beyond.get(&place).unwrap_or(&spent.amount);
            let is_over = spent.is_run && amount.is_nothing() && amount.money.has_no_records();
            let at = self.time_of(*session, spent);
            if is_over || !self.is_of_time(at) {
                continue;
            }
            if covered.contains(session) {
                amount.money = amount.money.covered();
            }
            let day = at.map(|at| calendar.period(By::Day, at));
            let place = *places
                .entry((
                    *session,
                    day,
                    spent.model.clone(),
                    spent.attribution.clone(),
                ))
                .or_insert(sums.len());
            if let Some((_, sum)) = sums.get_mut(place) {
                sum.amount.plus(&amount);
                sum.failed += spent.failed;
                sum.lacks_agents |= spent.lacks_agents;
                sum.is_run &= spent.is_run;
            } else {
                sums.push((
                    *session,
                    UsageRecord {
                        key: None,
                        at,
                        amount,
                        ..spent.clone()
                    },
                ));
            }
        }
        sums
    }

    /// The sessions whose recorded total cost covers all of their charges, all in the selected time.
    fn covered_of_time(&self, beyond: &collections::HashMap<usize, Amount>) -> HashSet<usize> {
        let mut covered = self.covered.clone();
        if covered.is_empty() {
            return covered;
        }
        let figures = |amount: &Amount| {
            (
                amount.tokens().map(|tokens| tokens.total),
                amount.money.picos(),
            )
        };
        for (place, (session, spent)) in self.spent.iter().enumerate() {
            let is_less = |left: &Amount| figures(left) != figures(&spent.amount);
            let has_part_elsewhere = beyond.get(&place).is_some_and(is_less);
            if has_part_elsewhere || !self.is_of_time(self.time_of(*session, spent)) {
                covered.remove(session);
            }
        }
        covered
    }

    /// The timestamp of usage. If no copy has one, that of the session's newest record; without
    /// that, the modification time of the file.
    fn time_of(&self, session: usize, spent: &UsageRecord) -> Option<Timestamp> {
        let newest = || self.newest.get(session).copied().flatten();
        spent
            .at
            .or_else(newest)
            .or_else(|| self.sessions.get(session)?.modified)
    }

    fn is_of_time(&self, at: Option<Timestamp>) -> bool {
        self.since.is_none_or(|since| at >= Some(since))
            && self.until.is_none_or(|until| at < Some(until))
    }
}

/// Completes a request from another copy: its timestamp, and the rest of its answer.
fn complete(known: &mut UsageRecord, copy: UsageRecord) {
    known.at = known.at.or(copy.at);
    known.attribution = known.attribution.take().or(copy.attribution);
    // One of the two has the sub-agents' records.
    known.lacks_agents &= copy.lacks_agents;
    if known.amount.output.total < copy.amount.output.total {
        known.amount = copy.amount;
    }
}

/// A group that rows are restricted to.
pub type Within = (By, UsageGroup);

/// Cache of days, weeks and months, which are slow to compute; most requests are in the same hour
/// as the one before.
#[derive(Default)]
struct Calendar(HashMap<(By, i64), Arc<str>>);

impl Calendar {
    /// No time zone has a finer offset.
    const STEP: i64 = 15 * 60 * 1_000;

    fn period(&mut self, by: By, at: Timestamp) -> Arc<str> {
        let known = self.0.entry((by, at.0.div_euclid(Self::STEP)));
        let made = known.or_insert_with(|| Arc::from(by.period(at)));
        Arc::clone(made)
    }

    fn group(&mut self, by: &[By], found: &FoundSession, spent: &UsageRecord) -> UsageGroup {
        let mut group = UsageGroup::default();
        for by in by {
            match by {
                By::Day | By::Week | By::Month => {
                    group.period = spent.at.map(|at| self.period(*by, at));
                }
                By::Project => {
                    group.project = found
                        .project
                        .clone()
                        .or_else(|| found.cwd.clone())
                        .or_else(|| Some(Text::default()));
                }
                By::Agent => group.agent = Some(found.format),
                By::Model => group.model = Some(spent.model.clone()),
                By::Session => group.session = Some((found.id.clone(), found.title.clone())),
                By::SubAgent | By::Skill | By::Branch | By::Mcp | By::Tool => {
                    let of = spent.attribution.as_deref();
                    let name = of.and_then(|of| by.of(of)).cloned();
                    group.attributed.push((*by, name));
                }
            }
        }
        group
    }
}

fn identity(spent: &UsageRecord, session: &Text) -> RequestIdentity {
    let Amount {
        input,
        output,
        cache_read,
        cache_write,
        money,
        ..
    } = spent.amount;
    let prompt = [input.total, cache_read.total, cache_write.total];
    if spent.is_run {
        // It does not grow, and no other one has the same counts.
        let key = Text::clean(&format!(
            "run:{}:{}:{}",
            spent.model,
            output.total,
            money.picos()
        ));
        return RequestIdentity::within(session, key, spent.at, prompt);
    }
    RequestIdentity::new(spent.key.as_ref(), spent.at, prompt, session)
}

#[cfg(test)]
mod tests {
    use super::{By, Ledger, Spender, UsageRecord};
    use crate::analysis::money::cost::{CostSource, Money};
    use crate::analysis::money::spending::amount::Amount;
    use crate::model::found::{FoundSession, Target};
    use crate::model::text::Text;
    use crate::model::timestamp::Timestamp;
    use crate::model::usage::Usage;

    fn spent(key: &str, at: Option<i64>, input: u64, output: u64) -> UsageRecord {
        let usage = Usage {
            input: Some(input),
            output: Some(output),
            ..Usage::default()
        };
        let key = (!key.is_empty()).then(|| Text::clean(key));
        UsageRecord {
            key,
            at: at.map(Timestamp),
            model: Text::default(),
            attribution: None,
            amount: Amount::of(&usage, None),
            failed: 0,
            is_run: false,
            lacks_agents: false,
        }
    }

    fn spender(id: &str, spent: Vec<UsageRecord>) -> Spender {
        let place = Target::at(format!("/{id}"));
        let found = FoundSession::new(place, "made", Text::clean(id));
        Spender {
            found,
            id: Text::clean(id),
            is_fork: false,
            has_files: false,
            spent,
            failed: Vec::new(),
            limits: Vec::new(),
            sums_so_far: Vec::new(),
            newest: None,
            is_covered: false,
        }
    }

    /// Requests, input and output of sessions in their order, and the number of copies.
    fn sums(sessions: Vec<(&str, Vec<UsageRecord>)>) -> (u64, i64, i64, u64) {
        let mut ledger = Ledger::new(None..None);
        for (id, spent) in sessions {
            ledger.add(spender(id, spent));
        }
        let (rows, total) = ledger.rows(&[By::Session], &[]);
        let all: i64 = rows.iter().map(|row| row.amount.input.total).sum();
        assert_eq!(all, total.amount.input.total);
        (
            total.amount.requests,
            total.amount.input.total,
            total.amount.output.total,
            ledger.copies,
        )
    }

    #[test]
    fn what_has_no_time_was_spent_by_the_newest_record_of_its_session() {
        for (newest, expected) in [(Some(Timestamp(70)), 0), (None, 1)] {
            let mut ledger = Ledger::new(Some(Timestamp(90))..None);
            let mut spender = Spender {
                newest,
                ..spender("a", vec![spent("", None, 10, 5)])
            };
            spender.found.modified = Some(Timestamp(100));
            ledger.add(spender);
            assert_eq!(ledger.rows(&[By::Day], &[]).1.amount.requests, expected);
        }
    }

    #[test]
    fn a_cost_that_is_recorded_as_a_whole_has_no_marks_of_estimates() {
        let charges = || {
            let mut one = spent("a1", Some(1), 10, 5);
            one.amount.money = Money {
                estimated: 7,
                estimates: 1,
                partial: 1,
                ..Money::default()
            };
            let money = Money {
                recorded: 7,
                estimated: -7,
                recordings: 1,
                ..Money::default()
            };
            let amount = Amount {
                money,
                ..Amount::default()
            };
            vec![
                one,
                UsageRecord {
                    key: None,
                    at: Some(Timestamp(9)),
                    is_run: true,
                    amount,
                    ..spent("", None, 0, 0)
                },
            ]
        };
        let total = |since: Option<i64>, sessions: &[&str], is_covered| {
            let mut ledger = Ledger::new(since.map(Timestamp)..None);
            for id in sessions {
                ledger.add(Spender {
                    is_covered,
                    ..spender(id, charges())
                });
            }
            let cost = ledger.rows(&[By::Session], &[]).1.cost();
            (cost.source, cost.is_partial)
        };
        assert_eq!(total(None, &["a"], true), (CostSource::Recorded, false));
        // The recorded cost does not cover a part of the time, nor an unfinished run.
        assert_eq!(total(Some(5), &["a"], true).0, CostSource::Mixed);
        assert_eq!(total(None, &["a"], false), (CostSource::Mixed, true));
        // Another session has a part of it.
        assert_eq!(total(None, &["a", "b"], true), (CostSource::Mixed, true));
    }

    #[test]
    fn what_another_session_said_before_is_a_copy() {
        let given = "msg_01AbCdEfGhIjKlMnOpQr";
        // A copy without timestamps, and one with less of the answer.
        let stream = || vec![spent(given, None, 10, 5)];
        let live = || vec![spent(given, Some(7), 10, 9)];
        assert_eq!(sums(vec![("a", stream()), ("b", live())]), (1, 10, 9, 1));
        assert_eq!(sums(vec![("b", live()), ("a", stream())]), (1, 10, 9, 1));
        // The timestamp is that of the copy that has one, whichever was read first.
        for sessions in [[stream(), live()], [live(), stream()]] {
            let mut ledger = Ledger::new(Some(Timestamp(50))..None);
            for (id, spent) in ["a", "b"].into_iter().zip(sessions) {
                let mut spender = spender(id, spent);
                spender.found.modified = Some(Timestamp(100));
                ledger.add(spender);
            }
            assert_eq!(ledger.rows(&[By::Day], &[]).1.amount.requests, 0);
        }
        // Short ids: a fork has the same timestamp and prompt, another session does not.
        let short = |at| vec![spent("a1b2", Some(at), 10, 5)];
        assert_eq!(
            sums(vec![("a", short(1)), ("fork", short(1))]),
            (1, 10, 5, 1)
        );
        assert_eq!(
            sums(vec![("a", short(1)), ("other", short(2))]),
            (2, 20, 10, 0)
        );
        // Without ids only the same session is recognized.
        let placed = || vec![spent("@0:100", Some(1), 10, 5), spent("", Some(1), 1, 1)];
        assert_eq!(sums(vec![("a", placed()), ("a", placed())]), (2, 11, 6, 2));
        assert_eq!(sums(vec![("a", placed()), ("b", placed())]), (4, 22, 12, 0));
        // Adding a session changes the results of earlier queries.
        let mut ledger = Ledger::new(None..None);
        for (sessions, requests) in [(1, 1), (2, 3)] {
            let key = |n: usize| format!("{given}{sessions}{n}");
            let spent = (0..sessions)
                .map(|n| spent(&key(n), Some(7), 10, 5))
                .collect();
            ledger.add(spender(&format!("s{sessions}"), spent));
            for by in By::ALL.map(|(by, _)| by) {
                let (rows, total) = ledger.rows(&[by], &[]);
                let of_rows: u64 = rows.iter().map(|row| row.amount.requests).sum();
                let counted = rows.iter().map(super::UsageSum::sessions).max();
                assert_eq!(
                    (of_rows, total.amount.requests, total.sessions()),
                    (requests, requests, sessions)
                );
                assert_eq!(
                    counted,
                    Some(if by == By::Session { 1 } else { sessions }),
                    "{by:?}"
                );
            }
        }
        // A repetition within one session is two requests.
        let twice = || vec![spent("", None, 10, 5), spent("", None, 10, 5)];
        assert_eq!(sums(vec![("a", twice())]), (2, 20, 10, 0));
        assert_eq!(sums(vec![("a", twice()), ("a", twice())]), (2, 20, 10, 2));
    }

    #[test]
    fn files_of_one_session_are_one() {
        let given = |n: usize| format!("0123456789abcdef-{n}");
        let first = vec![spent(&given(0), Some(7), 10, 5)];
        let second = vec![
            spent(&given(0), Some(7), 10, 5),
            spent(&given(1), Some(9), 20, 6),
        ];
        let is_one = |has_files: bool| {
            let mut ledger = Ledger::new(None..None);
            for (title, modified, spent) in [("new", 9, second.clone()), ("old", 8, first.clone())]
            {
                let mut spender = Spender {
                    has_files,
                    ..spender("a", spent)
                };
                spender.found.title = Some(title.into());
                spender.found.modified = Some(Timestamp(modified));
                spender.found.started = Some(Timestamp(modified - 8));
                ledger.add(spender);
            }
            let (rows, total) = ledger.rows(&[By::Session], &[]);
            let titles: Vec<_> = rows
                .iter()
                .filter_map(|row| row.group.session.clone()?.1)
                .collect();
            let title = titles.first().map(ToString::to_string);
            (
                total.sessions(),
                total.amount.requests,
                ledger.copies,
                title,
            )
        };
        assert_eq!(is_one(true), (1, 2, 0, Some("new".to_owned())));
        assert_eq!(is_one(false).2, 1, "a copy in another session");
    }

    #[test]
    fn questions_are_answered_from_days_and_not_from_requests() {
        let mut ledger = Ledger::new(None..None);
        let hours = (0..1_000)
            .map(|n| spent(&format!("@{n}"), Some(n * 60_000), 10, 5))
            .collect();
        ledger.add(spender("a", hours));
        let days = ledger.rows(&[By::Day], &[]).0.len();
        assert_eq!(ledger.rows(&[By::Session], &[]).1.amount.requests, 1_000);
        assert_eq!(ledger.sums.get().map(Vec::len), Some(days));
        assert!(days < 3, "{days}");
    }
}
