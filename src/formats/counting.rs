//! Fast reading for commands that only count usage: records without usage are skipped by their
//! bytes, and texts in the others are not parsed.
//!
//! **Usage is counted in one way.** The remaining records go through the same decoder, with the
//! same sums.
//!
//! Invariant: a record is skipped only if all sums are the same without it.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::json::Json;
use super::tools::kind_of;
use crate::model::tool::ToolKind;

/// What counting needs of the records of a format: `[counting]` of its head.
#[derive(Debug)]
pub(crate) struct CountingRules {
    /// Names of members that need not be parsed.
    pub(crate) closed: &'static [&'static str],
    /// The way to a count of tokens. A record in which it is 0 is identified by its texts.
    pub(crate) identified_by: Vec<&'static str>,
    /// Whether results of calls are read.
    pub(crate) has_results: bool,
    /// The first rule whose tests all hold applies.
    pub(crate) rules: Vec<(Vec<ByteTest>, CountingNeed)>,
    pub(crate) otherwise: CountingNeed,
    /// The texts that tests search for.
    pub(crate) words: Vec<Finder<'static>>,
}

/// A test of a record by its bytes. A word is an index of [`CountingRules::words`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteTest {
    /// Whether the record is of a companion file.
    IsCompanion(bool),
    Starts(&'static str),
    /// Whether it has fewer bytes.
    Below(u64),
    /// Whether it contains a word.
    Has(usize, bool),
    HasTwice(usize),
    /// Whether the word, a member with its colon, has the value `true` where it is first.
    IsTrue(usize),
    /// Whether the string value of the member differs from that in the record before.
    Changed(usize),
    /// Whether no call starts a sub-agent, whose records may be in another file.
    StartsNoAgent,
}

/// What counting needs of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CountingNeed {
    Nothing,
    /// All but its texts.
    Account,
    #[default]
    Whole,
}

/// Selects the records of a file that counting needs.
pub struct Counting {
    pub(crate) rules: &'static CountingRules,
    is_companion: bool,
    has_begun: bool,
    /// Where each word of the rules is in the current record.
    found: Vec<Occurrence>,
    /// The last value of a member that may change.
    value: Vec<u8>,
}

/// The first occurrence of a word in the current record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occurrence {
    NotSearched,
    At(usize),
    Missing,
}

impl Counting {
    pub(crate) fn new(rules: &'static CountingRules, is_companion: bool) -> Self {
        Self {
            rules,
            is_companion,
            has_begun: false,
            found: vec![Occurrence::NotSearched; rules.words.len()],
            value: Vec::new(),
        }
    }

    /// Whether a record without them suffices for counting.
    pub(crate) fn suffices(&self, record: &Json<'_>) -> bool {
        let Some((count, usage)) = self.rules.identified_by.split_last() else {
            return true;
        };
        let usage = usage.iter().fold(record, |value, name| value.get(name));
        !usage.is_object() || usage.get(count).count().is_some_and(|tokens| tokens > 0)
    }

    /// Whether results of calls are skipped, so that a missing result means nothing.
    pub(crate) fn skips_results(&self) -> bool {
        !self.rules.has_results
    }

    /// What is needed of a record. All records before the first one with usage are needed: they
    /// have the facts about the file.
    pub(crate) fn need(&mut self, record: &[u8]) -> CountingNeed {
        self.found.fill(Occurrence::NotSearched);
        let CountingRules {
            rules, otherwise, ..
        } = self.rules;
        let rule = rules
            .iter()
            .find(|(tests, _)| tests.iter().all(|test| self.holds(*test, record)));
        let need = rule.map_or(*otherwise, |(_, need)| *need);
        self.has_begun |= need == CountingNeed::Account;
        if self.has_begun {
            need
        } else {
            CountingNeed::Whole
        }
    }

    fn holds(&mut self, test: ByteTest, record: &[u8]) -> bool {
        match test {
            ByteTest::IsCompanion(is_companion) => self.is_companion == is_companion,
            ByteTest::Starts(beginning) => record.starts_with(beginning.as_bytes()),
            ByteTest::Below(bytes) => (record.len() as u64) < bytes,
            ByteTest::Has(word, is_there) => self.find(word, record).is_some() == is_there,
            ByteTest::HasTwice(word) => {
                let rest = self.find(word, record);
                let rest = rest.and_then(|(at, _)| record.get(at + 1..));
                rest.is_some_and(|rest| {
                    let finder = self.rules.words.get(word);
                    finder.is_some_and(|finder| finder.find(rest).is_some())
                })
            }
            ByteTest::IsTrue(member) => {
                let value = self.find(member, record);
                let value = value.and_then(|(_, end)| record.get(end..));
                value.is_some_and(|value| value.starts_with(b"true"))
            }
            ByteTest::Changed(member) => {
                let value = self.find(member, record);
                let value = value.and_then(|(at, _)| member_value(record.get(at..)?));
                let Some(value) = value.filter(|value| self.value != *value) else {
                    return false;
                };
                self.value = value.to_vec();
                true
            }
            ByteTest::StartsNoAgent => !starts_agent(record),
        }
    }

    /// The first range of a word in a record. It is searched for at most once, as most records are
    /// long results of tools.
    fn find(&mut self, word: usize, record: &[u8]) -> Option<(usize, usize)> {
        let finder = self.rules.words.get(word)?;
        let found = self.found.get_mut(word)?;
        if *found == Occurrence::NotSearched {
            *found = finder
                .find(record)
                .map_or(Occurrence::Missing, Occurrence::At);
        }
        match *found {
            Occurrence::At(at) => Some((at, at + finder.needle().len())),
            _ => None,
        }
    }
}

static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"name\""));

/// Whether a record may have a call that starts a sub-agent, whose records may be in another file.
fn starts_agent(record: &[u8]) -> bool {
    let names = NAME
        .find_iter(record)
        .filter_map(|at| member_value(record.get(at..)?));
    let names = names.filter_map(|name| str::from_utf8(name).ok()?.rsplit('"').next());
    names
        .into_iter()
        .any(|name| kind_of(name) == ToolKind::Delegate)
}

/// The string value of the member at the beginning of a text.
fn member_value(member: &[u8]) -> Option<&[u8]> {
    let mut quotes = memchr::memchr_iter(b'"', member);
    let (from, end) = (quotes.nth(1)?, quotes.nth(1)?);
    member.get(from..end)
}

#[cfg(test)]
mod tests {
    use super::{Counting, CountingNeed};
    use crate::formats::definition::heads;

    fn counting(format: &str, is_companion: bool) -> Counting {
        let rules = heads::of(format).unwrap().counting;
        Counting::new(rules.unwrap(), is_companion)
    }

    fn need(counting: &mut Counting, record: &str) -> CountingNeed {
        counting.need(record.as_bytes())
    }

    #[test]
    fn what_may_count_is_needed() {
        let user = |session: &str, more: &str| {
            format!(
                r#"{{"type":"user","sessionId":"{session}","content":"Say \"assistant\""{more}}}"#
            )
        };
        let answer = r#"{"sessionId":"a","type":"assistant"}"#;
        let counting = &mut counting("claude-code", false);
        assert_eq!(
            need(counting, &user("a", "")),
            CountingNeed::Whole,
            "the first one"
        );
        assert_eq!(
            need(counting, &user("a", "")),
            CountingNeed::Whole,
            "nothing counted yet"
        );
        assert_eq!(need(counting, answer), CountingNeed::Account);
        assert_eq!(need(counting, &user("a", "")), CountingNeed::Nothing);
        assert_eq!(
            need(counting, r#"{"type":"summary"}"#),
            CountingNeed::Nothing
        );
        assert_eq!(
            need(counting, r#"{"type":"cost-state","sessionId":"a"}"#),
            CountingNeed::Whole
        );
        assert_eq!(
            need(counting, &user("b", "")),
            CountingNeed::Whole,
            "another session"
        );
        assert_eq!(need(counting, &user("b", "")), CountingNeed::Nothing);
        assert_eq!(
            need(counting, &user("b", r#","toolUseResult":{"agentId":"1"}"#)),
            CountingNeed::Whole
        );
        assert_eq!(
            need(counting, &user("b", r#","forkedFrom":{}"#)),
            CountingNeed::Whole
        );
        assert_eq!(
            need(counting, &user("b", r#","data":{"role":"assistant"}"#)),
            CountingNeed::Whole
        );
        assert_eq!(
            need(counting, &user("b", r#","isSidechain":true"#)),
            CountingNeed::Whole,
            "its lane hangs on it"
        );
        assert_eq!(
            need(counting, &user("b", r#","isSidechain":true,"agentId":"1""#)),
            CountingNeed::Whole
        );
    }

    #[test]
    fn calls_that_start_sub_agents_are_needed() {
        let claude = |name: &str| {
            format!(r#"{{"type":"assistant","content":[{{"type":"tool_use","name":"{name}"}}]}}"#)
        };
        let pi = |name: &str| {
            format!(
                r#"{{"type":"message","message":{{"role":"assistant","content":[{{"type":"toolCall","name": "{name}"}}]}}}}"#
            )
        };
        for (name, expected) in [
            ("Task", CountingNeed::Whole),
            ("subagent", CountingNeed::Whole),
            ("Bash", CountingNeed::Account),
        ] {
            let (counting, of_pi) = (
                &mut counting("claude-code", false),
                &mut counting("pi", false),
            );
            let answer = r#"{"sessionId":"a","type":"assistant"}"#;
            assert_eq!(need(counting, answer), CountingNeed::Whole, "the first one");
            assert_eq!(need(counting, answer), CountingNeed::Account);
            assert_eq!(need(counting, &claude(name)), expected, "{name}");
            assert_eq!(
                need(
                    of_pi,
                    r#"{"type":"message","message":{"role":"assistant"}}"#
                ),
                CountingNeed::Account
            );
            assert_eq!(need(of_pi, &pi(name)), expected, "{name}");
        }
    }

    #[test]
    fn a_sub_agents_own_records_name_it_once() {
        let counting = &mut counting("claude-code", true);
        assert_eq!(
            need(counting, r#"{"type":"assistant","agentId":"1"}"#),
            CountingNeed::Account
        );
        assert_eq!(
            need(counting, r#"{"type":"user","agentId":"1"}"#),
            CountingNeed::Nothing
        );
        let outcome = r#"{"type":"user","agentId":"1","toolUseResult":{"agentId":"2"}}"#;
        assert_eq!(need(counting, outcome), CountingNeed::Whole);
    }

    #[test]
    fn plain_results_of_tools_are_not_needed() {
        let counting = &mut counting("pi", false);
        let result =
            |more: &str| format!(r#"{{"type":"message","message":{{"role":"toolResult"{more}}}}}"#);
        assert_eq!(
            need(
                counting,
                r#"{"type":"message","message":{"role":"assistant"}}"#
            ),
            CountingNeed::Account
        );
        assert_eq!(need(counting, &result("")), CountingNeed::Nothing);
        assert_eq!(
            need(counting, &result(r#","usage":{}"#)),
            CountingNeed::Whole
        );
        assert_eq!(
            need(counting, &result(r#","details":{"childSessionKey":"k"}"#)),
            CountingNeed::Whole
        );
        assert_eq!(
            need(
                counting,
                r#"{"type":"turn_end","message":{"role":"toolResult"}}"#
            ),
            CountingNeed::Whole
        );
    }
}
