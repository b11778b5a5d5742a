//! Lists of calls for tables.

use super::tools::{Tool, Tools};
use super::{Calls, Place};

impl Calls {
    /// All calls in file order.
    pub(crate) fn all(&self) -> impl Iterator<Item = Place> {
        self.all.iter().copied()
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.by_name.get(name)
    }

    /// The calls of a tool in file order.
    pub(crate) fn of_tool(&self, name: &str) -> impl Iterator<Item = Place> {
        self.tools
            .by_name
            .get(name)
            .into_iter()
            .flat_map(|tool| tool.calls.iter().copied())
    }

    /// Aggregates some calls by tool.
    pub(crate) fn tools_among(&self, places: impl Iterator<Item = Place>) -> Tools {
        let mut tools = Tools::default();
        for place in places {
            self.find(place)
                .into_iter()
                .for_each(|(_, known)| tools.add(place, known));
        }
        tools.sort();
        tools
    }

    /// Calls that start sub-agents, in file order.
    pub(crate) fn delegates(&self) -> impl Iterator<Item = Place> {
        self.delegates.iter().copied()
    }
}
