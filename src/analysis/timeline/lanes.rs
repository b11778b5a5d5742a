//! The lanes of a timeline: their numbers, and the calls that started them.

use std::collections::HashMap;

use super::SpanId;
use crate::model::fingerprint::Print;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// The main agent, or a sub-agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lane {
    /// The lane's name; `None` for the main agent.
    pub(crate) name: Option<Name>,
    /// Numbers of its rows, in the order of their first spans.
    pub(crate) rows: Vec<usize>,
    /// Start and end of its spans.
    pub(crate) reach: Option<(Timestamp, Timestamp)>,
    /// The lane and the call that started it.
    pub(crate) caller: Option<(usize, SpanId)>,
    /// Calls that may still get results, in file order.
    pub(super) open: Vec<SpanId>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimelineLanes {
    /// The main lane first.
    pub(super) list: Vec<Lane>,
    numbers: HashMap<Name, usize>,
    /// Lanes by the call that started them.
    pub(super) callers: HashMap<Print, Name>,
}

impl Default for TimelineLanes {
    fn default() -> Self {
        let list = vec![Lane::default()];
        Self {
            list,
            numbers: HashMap::new(),
            callers: HashMap::new(),
        }
    }
}

impl TimelineLanes {
    /// Only the main lane, with the callers of all others.
    pub(super) fn of(transcript: &Transcript) -> Self {
        let called = transcript
            .lanes()
            .iter()
            .filter_map(|lane| Some((lane.call.as_ref()?, &lane.name)));
        let called = called.filter(|(call, _)| !call.is_empty());
        let callers = called
            .map(|(call, name)| (transcript.print_of(call), name.clone()))
            .collect();
        Self {
            callers,
            ..Self::default()
        }
    }

    /// The number of a lane, if it exists.
    pub(super) fn find(&self, name: Option<&Name>) -> Option<usize> {
        name.map_or(Some(0), |name| self.numbers.get(name).copied())
    }

    /// The number of a lane, which is added if it does not exist.
    pub(super) fn number(&mut self, name: Option<&Name>) -> usize {
        if let Some(number) = self.find(name) {
            return number;
        }
        let number = self.list.len();
        self.numbers.extend(name.map(|name| (name.clone(), number)));
        self.list.push(Lane {
            name: name.cloned(),
            ..Lane::default()
        });
        number
    }
}
