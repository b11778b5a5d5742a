//! Evaluates expressions on blocks. Facts are available at once; texts may be on disk, so a verdict
//! may have to wait for them.

use regex::Regex;

use super::{Expr, Speaker, State, Term, When};
use crate::analysis::money::cost;
use crate::analysis::search::texts::{self, BlockText, Read};
use crate::model::entry::{Block, BlockKind, Entry, Role};
use crate::model::path;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind};
use crate::model::transcript::Transcript;

#[derive(Clone, Debug)]
pub struct Judge {
    expr: Expr,
    /// Tests of its terms, in order.
    tests: Vec<Test>,
}

#[derive(Clone, Debug)]
enum Test {
    Fact(Term),
    Since(Option<Timestamp>),
    Before(Option<Timestamp>),
    Text(Option<Regex>),
}

/// A block whose text must be read.
#[derive(Clone, Debug)]
pub struct Unsure {
    truths: Vec<Option<bool>>,
    text: BlockText,
}

/// A verdict, or what must be read for it.
#[derive(Clone, Debug)]
pub enum Judgement {
    /// Whether the block is shown.
    Known(bool),
    /// The verdict depends on its text.
    Unsure(Box<Unsure>),
}

impl Judge {
    /// Compiles an expression. Relative times count from that of the last entry.
    pub fn new(expr: &Expr, last: Option<Timestamp>) -> Self {
        let tests = expr.terms().into_iter().map(|term| test(term, last));
        Self {
            tests: tests.collect(),
            expr: expr.clone(),
        }
    }

    /// Evaluates a block by its facts, and, if `reads_memory`, by its text as far as that is in
    /// memory.
    pub fn judge(
        &self,
        transcript: &Transcript,
        entry: &Entry,
        (place, block): (usize, &Block),
        reads_memory: bool,
    ) -> Judgement {
        let mut truths: Vec<Option<bool>> = self
            .tests
            .iter()
            .map(|test| fact(test, transcript, entry, block))
            .collect();
        if let Some(known) = self.truth(&truths) {
            return Judgement::Known(known);
        }
        let text = texts::of_block(entry, block, place);
        if reads_memory {
            for (truth, pattern) in self.open_texts(&mut truths) {
                *truth = texts::has_match(pattern, &text, None);
            }
            if let Some(known) = self.truth(&truths) {
                return Judgement::Known(known);
            }
        }
        Judgement::Unsure(Box::new(Unsure { truths, text }))
    }

    /// Whether an alarm holds now. `states` evaluates facts of the session; without a block, facts
    /// of entries do not hold. Text on disk does not match.
    pub(crate) fn holds(
        &self,
        transcript: &Transcript,
        place: Option<(&Entry, usize)>,
        states: &dyn Fn(State) -> bool,
    ) -> bool {
        let block = place.and_then(|(entry, at)| Some((entry, at, entry.blocks.get(at)?)));
        let truth = |test: &Test| match (test, block) {
            (Test::Fact(Term::State(state)), _) => states(*state),
            (_, None) => false,
            (Test::Text(Some(pattern)), Some((entry, at, block))) => {
                texts::has_match(pattern, &texts::of_block(entry, block, at), None) == Some(true)
            }
            (test, Some((entry, _, block))) => fact(test, transcript, entry, block) == Some(true),
        };
        let truths: Vec<Option<bool>> = self.tests.iter().map(|test| Some(truth(test))).collect();
        self.truth(&truths) == Some(true)
    }

    /// Evaluates a block by its whole text.
    pub fn read(&self, unsure: &Unsure, read: &mut Read<'_>) -> bool {
        let mut truths = unsure.truths.clone();
        for (truth, pattern) in self.open_texts(&mut truths) {
            *truth = texts::has_match(pattern, &unsure.text, Some(&mut *read));
        }
        self.truth(&truths) == Some(true)
    }

    /// The value of the expression, if it follows from the known tests.
    fn truth(&self, truths: &[Option<bool>]) -> Option<bool> {
        let mut truths = truths.iter();
        self.expr.truth(&mut |_| *truths.next()?)
    }

    /// Tests of texts without a result so far.
    fn open_texts<'a>(
        &'a self,
        truths: &'a mut [Option<bool>],
    ) -> impl Iterator<Item = (&'a mut Option<bool>, &'a Regex)> {
        let tests = truths
            .iter_mut()
            .zip(&self.tests)
            .filter(|(truth, _)| truth.is_none());
        tests.filter_map(|(truth, test)| match test {
            Test::Text(pattern) => Some((truth, pattern.as_ref()?)),
            Test::Fact(_) | Test::Since(_) | Test::Before(_) => None,
        })
    }
}

fn test(term: &Term, last: Option<Timestamp>) -> Test {
    match term {
        Term::Text(text) => Test::Text(texts::pattern(text, true)),
        Term::Pattern(pattern) => Test::Text(texts::pattern(pattern, false)),
        Term::Since(when) => Test::Since(when.resolve(last)),
        Term::Before(when) => Test::Before(when.resolve(last)),
        other => Test::Fact(other.clone()),
    }
}

impl When {
    /// The timestamp of an option, relative to now.
    pub(crate) fn option(when: Option<Self>, now: Timestamp) -> Option<Timestamp> {
        when?.resolve(Some(now))
    }

    /// The timestamp, relative to that of the last entry; `None` if that has none.
    pub(crate) fn resolve(self, last: Option<Timestamp>) -> Option<Timestamp> {
        match self {
            Self::Ago(ms) => last.map(|last| Timestamp(last.0.saturating_sub_unsigned(ms))),
            Self::Clock(clock) => last?.at(clock),
            Self::Day(day) => last?.start_of(day),
            Self::Timestamp(timestamp) => Some(timestamp),
        }
    }
}

// === facts ===

fn fact(test: &Test, transcript: &Transcript, entry: &Entry, block: &Block) -> Option<bool> {
    let at = || block.call().and_then(|call| call.started).or(entry.at);
    match test {
        Test::Since(bound) => Some(bound.is_some_and(|bound| at() >= Some(bound))),
        Test::Before(bound) => Some(bound.is_some_and(|bound| at().is_some_and(|at| at < bound))),
        Test::Fact(term) => Some(holds(term, transcript, entry, block)),
        Test::Text(Some(_)) => None,
        Test::Text(None) => Some(false),
    }
}

fn holds(term: &Term, transcript: &Transcript, entry: &Entry, block: &Block) -> bool {
    let usage = entry.usage.as_deref();
    match term {
        Term::Error => entry.has_failed(&block.kind),
        Term::Tool(name) => block.call().is_some_and(|call| is_tool(call, name)),
        Term::Done(what) => block.call().is_some_and(|call| {
            call.state.has_ended() && (is_tool(call, what) || call_has_id(call, what))
        }),
        Term::Cost(compare, bound) => {
            let usd = usage.and_then(|usage| cost::of_request(usage, entry.model.as_ref()).usd);
            usd.is_some_and(|usd| compare.holds(usd, *bound))
        }
        Term::Tokens(compare, bound) => {
            usage.is_some_and(|usage| compare.holds(usage.total(), *bound))
        }
        Term::Took(compare, bound) => {
            let took = block
                .call()
                .and_then(|call| call.duration(entry.call_time(call)))
                .map(|took| took.ms);
            took.is_some_and(|ms| compare.holds(ms, *bound))
        }
        // The message to a sub-agent is a task, written by another agent.
        Term::Role(Speaker::User) => {
            entry.role == Role::User && transcript.is_main_lane(entry.lane.as_ref())
        }
        Term::Role(Speaker::Bot) => entry.role == Role::Assistant,
        Term::Role(Speaker::Sys) => entry.role == Role::System,
        Term::Role(Speaker::Note) => entry.role == Role::Harness,
        Term::Lane(wanted) => match &entry.lane {
            None => wanted == "main",
            Some(name) => {
                let label = transcript.lane(name).map(|lane| lane.label.as_str());
                is_like(name, wanted) || label.is_some_and(|label| is_like(label, wanted))
            }
        },
        Term::Session(wanted) => {
            let session = entry
                .lane
                .as_ref()
                .and_then(|lane| transcript.session_of_lane(lane));
            session.is_some_and(|(_, session)| is_like(&session.label, wanted))
        }
        Term::Id(wanted) => ids_of(transcript, entry, block)
            .iter()
            .any(|id| id.starts_with(wanted.as_str())),
        Term::File(wanted) => block.call().is_some_and(|call| {
            let is_of_file = call.is_on_file() || call.kind == ToolKind::Search;
            is_of_file && is_on_file(call, wanted, transcript, entry)
        }),
        Term::Model(wanted) => entry
            .model
            .as_ref()
            .is_some_and(|model| is_like(model, wanted)),
        Term::Since(_)
        | Term::Before(_)
        | Term::Agent(_)
        | Term::Project(_)
        | Term::Text(_)
        | Term::Pattern(_)
        | Term::State(_) => false,
    }
}

/// Ids of a block: of its call, its entry, its parent, and the call that started its sub-agent.
pub(crate) fn ids_of<'a>(
    transcript: &'a Transcript,
    entry: &'a Entry,
    block: &'a Block,
) -> Vec<&'a str> {
    let call = match &block.kind {
        BlockKind::Call(call) => Some(&call.key),
        BlockKind::Result(stray) => Some(&stray.call),
        _ => None,
    };
    let lane = entry
        .lane
        .as_ref()
        .and_then(|lane| transcript.lane(lane))
        .and_then(|lane| lane.call.as_ref());
    let ids = [call, Some(&entry.key), entry.parent.as_ref(), lane];
    ids.into_iter()
        .flatten()
        .map(Text::as_str)
        .filter(|id| !id.is_empty())
        .collect()
}

/// Whether a call is on a file with a matching path: as recorded, or as shown relative to a root.
fn is_on_file(call: &ToolCall, wanted: &str, transcript: &Transcript, entry: &Entry) -> bool {
    let session = entry
        .lane
        .as_ref()
        .and_then(|lane| transcript.session_of_lane(lane));
    let own = session.and_then(|(_, session)| session.root.as_deref());
    let roots = [None, transcript.meta().root.as_deref(), own];
    let is_it = |path: &str| {
        roots
            .iter()
            .any(|root| is_like(path::relative_to(path, *root), wanted))
    };
    if call.is_on_file() {
        return path::listed(&call.headline).any(is_it);
    }
    let headline = &call.headline;
    is_like(headline, wanted)
        || headline
            .rsplit_once(" in ")
            .is_some_and(|(_, place)| is_it(place))
}

/// Whether a call, or its background work, has this id.
pub(crate) fn call_has_id(call: &ToolCall, id: &str) -> bool {
    call.key.as_str() == id
        || call
            .state
            .work()
            .is_some_and(|work| work.handle.as_str() == id)
}

/// Whether a call is of a tool, by its whole name or its kind.
fn is_tool(call: &ToolCall, wanted: &str) -> bool {
    let matches = |name: &str| match wanted.contains('*') {
        true => is_like(name, wanted),
        false if wanted.chars().any(char::is_uppercase) => name == wanted,
        false => name.to_lowercase() == wanted,
    };
    matches(call.kind.word()) || matches(&call.name)
}

/// Whether a name contains a text, or, with `*`, matches a pattern as a whole. Case matters only if
/// the text has capitals.
pub(crate) fn is_like(name: &str, wanted: &str) -> bool {
    let name = if wanted.chars().any(char::is_uppercase) {
        name.to_owned()
    } else {
        name.to_lowercase()
    };
    let mut parts = wanted.split('*');
    let first = parts.next().unwrap_or_default();
    if !wanted.contains('*') {
        return name.contains(wanted);
    }
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{Judge, is_like};
    use crate::analysis::expression::parse::parse;
    use crate::model::edit::{Batch, MetaEdit};
    use crate::model::entry::{BlockKind, Role};
    use crate::model::samples;
    use crate::model::tool::ToolKind;
    use crate::model::transcript::Transcript;

    #[test]
    fn files_are_meant_as_they_are_written_and_as_they_are_shown() {
        let mut batch = Batch::default();
        batch.meta(MetaEdit::Cwd("/home/mira/boats".into()));
        let mut call = samples::call(&mut batch, "c");
        call.kind = ToolKind::Edit;
        call.headline = "/home/mira/boats/src/a.rs:1-9 ; Dockerfile".into();
        let mut entry = batch.new_entry("e".into(), Role::Assistant, None);
        entry.push(BlockKind::Call(Box::new(call)));
        batch.entry(entry);
        let mut transcript = Transcript::new();
        transcript.apply(batch);
        let is_meant = |wanted: &str| {
            let judge = Judge::new(&parse(&format!("file:{wanted}")).unwrap(), None);
            let entry = transcript.entries().next().unwrap();
            judge.holds(&transcript, Some((entry, 0)), &|_| false)
        };
        for wanted in ["src/*.rs", "/home/*/a.rs", "docker*", "src/a", "boats/src"] {
            assert!(is_meant(wanted), "{wanted}");
        }
        for wanted in ["*.toml", "a.rs*docker*", "lib/*.rs"] {
            assert!(!is_meant(wanted), "{wanted}");
        }
    }

    #[test]
    fn stars_stand_for_anything() {
        for (name, wanted, is) in [
            ("src/watch.rs", "watch", true),
            ("src/Watch.rs", "watch", true),
            ("src/watch.rs", "Watch", false),
            ("src/watch.rs", "*.rs", true),
            ("src/watch.rs", "src/*.toml", false),
            ("mcp__github__issue", "mcp*hub*", true),
            ("bash", "*", true),
            ("bash", "b*h", true),
            ("bash", "*a", false),
        ] {
            assert_eq!(is_like(name, wanted), is, "{name} {wanted}");
        }
    }
}
