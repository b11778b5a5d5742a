//! All calls, for tables of them.

use super::tools::{Tool, Tools};
use super::{Calls, Place, Rank};

impl Calls {
    /// All calls in the order of the file.
    pub(crate) fn all(&self) -> impl Iterator<Item = Place> {
        self.all.iter().map(Rank::call)
    }

    /// The calls of a tool.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// All tools.
    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// The calls of a tool in the order of the file.
    pub(crate) fn of_tool(&self, name: &str) -> impl Iterator<Item = Place> {
        let ranks = self.tools.get(name).map_or(&[][..], |tool| tool.ranks.as_slice());
        ranks.iter().map(Rank::call)
    }

    /// The tools of some calls only.
    pub(crate) fn tools_among(&self, places: impl Iterator<Item = Place>) -> Tools {
        let mut tools = Tools::default();
        for (rank, known) in places.filter_map(|place| self.known(place)) {
            tools.add(rank, known);
        }
        tools
    }

    /// Calls that start sub-agents, in the order of the file.
    pub(crate) fn delegates(&self) -> impl Iterator<Item = Place> {
        self.delegates.iter().map(Rank::call)
    }
}
