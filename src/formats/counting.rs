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

/// Selects the records of a file that counting needs.
pub struct Counting {
    need: NeedOf,
    has_begun: bool,
    closed: &'static [&'static str],
    suffices: fn(&Json<'_>) -> bool,
    lacks_results: bool,
}

/// Judges a record by its bytes.
type NeedOf = Box<dyn FnMut(&[u8]) -> Need + Send>;

/// What counting needs of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Nothing,
    /// All but its texts.
    Account,
    Whole,
}

impl Counting {
    /// `need` is called with all records in order. In those of [`Need::Account`] the values of
    /// `closed` members are not parsed.
    fn new(
        closed: &'static [&'static str],
        need: impl FnMut(&[u8]) -> Need + Send + 'static,
    ) -> Self {
        let suffices = |_: &Json<'_>| true;
        Self {
            need: Box::new(need),
            has_begun: false,
            closed,
            suffices,
            lacks_results: true,
        }
    }

    /// Names of members that are not parsed.
    pub(crate) fn closed(&self) -> &'static [&'static str] {
        self.closed
    }

    /// Whether a record without them suffices for counting.
    pub(crate) fn suffices(&self, record: &Json<'_>) -> bool {
        (self.suffices)(record)
    }

    /// Whether results of calls are skipped, so that a missing result means nothing.
    pub(crate) fn lacks_results(&self) -> bool {
        self.lacks_results
    }

    /// What is needed of a record. All records before the first one with usage are needed: they
    /// have the facts about the file.
    pub(crate) fn need(&mut self, record: &[u8]) -> Need {
        let need = (self.need)(record);
        self.has_begun |= need == Need::Account;
        if self.has_begun { need } else { Need::Whole }
    }
}

/// A word to search for in many records.
type Word = LazyLock<Finder<'static>>;

/// Quotes in a string are escaped, so a word with its quotes is never found in a text.
static ANSWER: Word = LazyLock::new(|| Finder::new("\"type\":\"assistant\""));
static ASSISTANT: Word = LazyLock::new(|| Finder::new("\"assistant\""));
static FORKED: Word = LazyLock::new(|| Finder::new("\"forkedFrom\""));
static AGENT: Word = LazyLock::new(|| Finder::new("\"agentId\""));
static SESSION: Word = LazyLock::new(|| Finder::new("\"sessionId\""));
static OUTCOME: Word = LazyLock::new(|| Finder::new("\"toolUseResult\""));
static RESULT: Word = LazyLock::new(|| Finder::new("\"role\":\"toolResult\""));
static USAGE: Word = LazyLock::new(|| Finder::new("\"usage\""));
static SIDECHAIN: Word = LazyLock::new(|| Finder::new("\"isSidechain\":"));
static AGENT_ID: Word = LazyLock::new(|| Finder::new("agent_id"));
static COST: Word = LazyLock::new(|| Finder::new("\"cost-state\""));
static NAME: Word = LazyLock::new(|| Finder::new("\"name\""));
static CHILD: Word = LazyLock::new(|| Finder::new("\"childSessionKey\""));

/// Size limit of a record with the cost of the session so far, which names a few models, in bytes.
const LONGEST_COST: usize = 64 << 10;

/// Claude Code: answers with their usage; whole records that start a sub-agent or another session,
/// and results that name a sub-agent, which may have a file of its own. Each record of a
/// sub-agent's own file names it once. If sub-agents have no files, all of their records are
/// needed, since each refers to its parent.
pub(crate) fn of_claude(is_of_agent: bool) -> Counting {
    let mut session = Vec::new();
    let mut is_other_session = move |record: &[u8]| {
        let id = SESSION
            .find(record)
            .and_then(|at| value_behind(record.get(at..)?));
        let Some(id) = id.filter(|id| session != *id) else {
            return false;
        };
        session = id.to_vec();
        true
    };
    let names_agent = move |record: &[u8]| {
        let Some(at) = AGENT.find(record) else {
            return false;
        };
        !is_of_agent
            || record
                .get(at + 1..)
                .is_some_and(|rest| AGENT.find(rest).is_some())
    };
    Counting::new(&["content"], move |record| {
        // Most are long results of tools, so each word is searched for at most once.
        if is_other_session(record) || FORKED.find(record).is_some() {
            Need::Whole
        } else if ASSISTANT.find(record).is_none() {
            let is_of_chain = || !is_of_agent && is_sidechain(record);
            let tells_cost =
                || !is_of_agent && record.len() < LONGEST_COST && COST.find(record).is_some();
            if names_agent(record) || is_of_chain() || tells_cost() {
                Need::Whole
            } else {
                Need::Nothing
            }
        } else if ANSWER.find(record).is_some()
            && OUTCOME.find(record).is_none()
            && !starts_agent(record)
        {
            Need::Account
        } else {
            Need::Whole
        }
    })
}

/// pi and OpenClaw: all records but plain results of tools. In an event stream each record
/// continues the others. `suffices` tells whether a record without its texts is enough.
pub(crate) fn of_pi(suffices: fn(&Json<'_>) -> bool) -> Counting {
    let need = |record: &[u8]| {
        if !record.starts_with(b"{\"type\":\"message\",") {
            Need::Whole
        } else if RESULT.find(record).is_none() {
            if starts_agent(record) {
                Need::Whole
            } else {
                Need::Account
            }
        } else if USAGE.find(record).is_some() || CHILD.find(record).is_some() {
            Need::Whole
        } else {
            Need::Nothing
        }
    };
    Counting {
        suffices,
        ..Counting::new(&["content"], need)
    }
}

/// Codex: all records, since those around a token count determine its request; but without the
/// input and output of tools, unless these may name a sub-agent.
pub(crate) fn of_codex() -> Counting {
    const CLOSED: &[&str] = &[
        "output",
        "aggregated_output",
        "formatted_output",
        "stdout",
        "stderr",
        "changes",
        "arguments",
        "input",
        "encrypted_content",
        "replacement_history",
        "base_instructions",
        "user_instructions",
        "developer_instructions",
        "command",
        "parsed_cmd",
        "statuses",
        "agent_statuses",
        "collaboration_mode",
        "dynamic_tools",
        "permission_profile",
        "file_system_sandbox_policy",
    ];
    let need = |record: &[u8]| {
        if AGENT_ID.find(record).is_some() {
            Need::Whole
        } else {
            Need::Account
        }
    };
    Counting {
        lacks_results: false,
        ..Counting::new(CLOSED, need)
    }
}

/// Whether a record of Claude Code is a sub-agent's. The flag is near its beginning.
fn is_sidechain(record: &[u8]) -> bool {
    let mark = "\"isSidechain\":true".as_bytes();
    SIDECHAIN
        .find(record)
        .and_then(|at| record.get(at..))
        .is_some_and(|rest| rest.starts_with(mark))
}

/// Whether a record may have a call that starts a sub-agent, whose records may be in another file.
fn starts_agent(record: &[u8]) -> bool {
    let names = NAME
        .find_iter(record)
        .filter_map(|at| value_behind(record.get(at..)?));
    let names = names.filter_map(|name| str::from_utf8(name).ok()?.rsplit('"').next());
    names
        .into_iter()
        .any(|name| kind_of(name) == ToolKind::Delegate)
}

/// The string value of the member at the beginning of a text.
fn value_behind(member: &[u8]) -> Option<&[u8]> {
    let mut quotes = memchr::memchr_iter(b'"', member);
    let (from, end) = (quotes.nth(1)?, quotes.nth(1)?);
    member.get(from..end)
}

#[cfg(test)]
mod tests {
    use super::{Counting, Need, of_claude, of_pi};

    fn need(counting: &mut Counting, record: &str) -> Need {
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
        let counting = &mut of_claude(false);
        assert_eq!(need(counting, &user("a", "")), Need::Whole, "the first one");
        assert_eq!(
            need(counting, &user("a", "")),
            Need::Whole,
            "nothing counted yet"
        );
        assert_eq!(need(counting, answer), Need::Account);
        assert_eq!(need(counting, &user("a", "")), Need::Nothing);
        assert_eq!(need(counting, r#"{"type":"summary"}"#), Need::Nothing);
        assert_eq!(
            need(counting, r#"{"type":"cost-state","sessionId":"a"}"#),
            Need::Whole
        );
        assert_eq!(
            need(counting, &user("b", "")),
            Need::Whole,
            "another session"
        );
        assert_eq!(need(counting, &user("b", "")), Need::Nothing);
        assert_eq!(
            need(counting, &user("b", r#","toolUseResult":{"agentId":"1"}"#)),
            Need::Whole
        );
        assert_eq!(
            need(counting, &user("b", r#","forkedFrom":{}"#)),
            Need::Whole
        );
        assert_eq!(
            need(counting, &user("b", r#","data":{"role":"assistant"}"#)),
            Need::Whole
        );
        assert_eq!(
            need(counting, &user("b", r#","isSidechain":true"#)),
            Need::Whole,
            "its lane hangs on it"
        );
        assert_eq!(
            need(counting, &user("b", r#","isSidechain":true,"agentId":"1""#)),
            Need::Whole
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
            ("Task", Need::Whole),
            ("subagent", Need::Whole),
            ("Bash", Need::Account),
        ] {
            let (counting, of_pi) = (&mut of_claude(false), &mut of_pi(|_| true));
            let answer = r#"{"sessionId":"a","type":"assistant"}"#;
            assert_eq!(need(counting, answer), Need::Whole, "the first one");
            assert_eq!(need(counting, answer), Need::Account);
            assert_eq!(need(counting, &claude(name)), expected, "{name}");
            assert_eq!(
                need(
                    of_pi,
                    r#"{"type":"message","message":{"role":"assistant"}}"#
                ),
                Need::Account
            );
            assert_eq!(need(of_pi, &pi(name)), expected, "{name}");
        }
    }

    #[test]
    fn a_sub_agents_own_records_name_it_once() {
        let counting = &mut of_claude(true);
        assert_eq!(
            need(counting, r#"{"type":"assistant","agentId":"1"}"#),
            Need::Account
        );
        assert_eq!(
            need(counting, r#"{"type":"user","agentId":"1"}"#),
            Need::Nothing
        );
        let outcome = r#"{"type":"user","agentId":"1","toolUseResult":{"agentId":"2"}}"#;
        assert_eq!(need(counting, outcome), Need::Whole);
    }

    #[test]
    fn plain_results_of_tools_are_not_needed() {
        let counting = &mut of_pi(|_| true);
        let result =
            |more: &str| format!(r#"{{"type":"message","message":{{"role":"toolResult"{more}}}}}"#);
        assert_eq!(
            need(
                counting,
                r#"{"type":"message","message":{"role":"assistant"}}"#
            ),
            Need::Account
        );
        assert_eq!(need(counting, &result("")), Need::Nothing);
        assert_eq!(need(counting, &result(r#","usage":{}"#)), Need::Whole);
        assert_eq!(
            need(counting, &result(r#","details":{"childSessionKey":"k"}"#)),
            Need::Whole
        );
        assert_eq!(
            need(
                counting,
                r#"{"type":"turn_end","message":{"role":"toolResult"}}"#
            ),
            Need::Whole
        );
    }
}
