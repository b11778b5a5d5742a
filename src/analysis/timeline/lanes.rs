//! The lanes of a timeline: their numbers, and which calls started them.

use std::collections::HashMap;

use super::SpanId;
use crate::model::fingerprint::Print;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// The main agent, or a sub-agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lane {
    /// The name that its entries carry; none for the main agent.
    pub(crate) name: Option<Name>,
    /// Its rows, in the order in which they were needed.
    pub(crate) rows: Vec<usize>,
    /// From when to when its spans reach.
    pub(crate) reach: Option<(Timestamp, Timestamp)>,
    /// The lane and the call that started it.
    pub(crate) caller: Option<(usize, SpanId)>,
    /// Its calls whose results may still come, in the order of the file.
    pub(super) open: Vec<SpanId>,
}

/// All lanes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lanes {
    /// The main agent first.
    pub(super) list: Vec<Lane>,
    numbers: HashMap<Name, usize>,
    /// Lanes by the call that started them.
    pub(super) callers: HashMap<Print, Name>,
}

impl Default for Lanes {
    fn default() -> Self {
        let list = vec![Lane::default()];
        Self {
            list,
            numbers: HashMap::new(),
            callers: HashMap::new(),
        }
    }
}

impl Lanes {
    /// No other lane yet, but which calls start which.
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

    /// The number of a name, if there is such a lane.
    pub(super) fn find(&self, name: Option<&Name>) -> Option<usize> {
        name.map_or(Some(0), |name| self.numbers.get(name).copied())
    }

    /// The number of a name; a new lane if there was none.
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
