//! Lines that were typed before, to be called back with up and down.

/// More are not kept.
const KEPT: usize = 100;

/// Lines of one kind, the newest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    lines: Vec<String>,
    /// Those that were typed since the program began.
    fresh: Vec<String>,
    at: Option<usize>,
    draft: String,
}

/// What lines are typed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To search.
    Search,
    /// To filter.
    Filter,
    /// To pipe records to a command.
    Command,
}

/// Lines of all kinds.
#[derive(Clone, Debug, Default)]
pub struct Histories {
    /// Searches.
    pub(crate) searches: History,
    /// Filters.
    pub(crate) filters: History,
    /// Commands that records were piped to.
    pub(crate) commands: History,
}

impl Histories {
    /// The lines that were typed for one thing.
    pub(crate) fn of(&mut self, kind: Kind) -> &mut History {
        match kind {
            Kind::Search => &mut self.searches,
            Kind::Filter => &mut self.filters,
            Kind::Command => &mut self.commands,
        }
    }
}

impl History {
    /// What was typed in earlier runs of the program, the newest last.
    pub(crate) fn of(lines: Vec<String>) -> Self {
        let superfluous = lines.len().saturating_sub(KEPT);
        Self {
            lines: lines.into_iter().skip(superfluous).collect(),
            ..Self::default()
        }
    }

    /// Keeps a line that was finished.
    pub(crate) fn keep(&mut self, line: &str) {
        self.at = None;
        if line.is_empty() {
            return;
        }
        for lines in [&mut self.lines, &mut self.fresh] {
            lines.retain(|known| known != line);
            lines.push(line.to_owned());
            if lines.len() > KEPT {
                lines.remove(0);
            }
        }
    }

    /// All lines, the newest last.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The lines that were typed since the program began, the newest last.
    pub(crate) fn fresh(&self) -> &[String] {
        &self.fresh
    }

    /// The line before (`older`) or after the one called back last. What was being typed comes after the
    /// newest one.
    pub(crate) fn recall(&mut self, is_older: bool, typed: &str) -> Option<String> {
        let at = match (self.at, is_older) {
            (None, true) => {
                typed.clone_into(&mut self.draft);
                self.lines.len().checked_sub(1)?
            }
            (None, false) => return None,
            (Some(at), true) => at.checked_sub(1)?,
            (Some(at), false) => at + 1,
        };
        self.at = (at < self.lines.len()).then_some(at);
        Some(self.lines.get(at).unwrap_or(&self.draft).clone())
    }

    /// Nothing is called back any more.
    pub(crate) fn rest(&mut self) {
        self.at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::History;

    #[test]
    fn what_was_typed_earlier_is_older_and_not_fresh() {
        let mut history = History::of((0..150).map(|n| n.to_string()).collect());
        assert_eq!(
            (
                history.lines().len(),
                history.lines().first().map(String::as_str)
            ),
            (100, Some("50"))
        );
        history.keep("70");
        history.keep("new");
        assert_eq!(history.fresh(), ["70", "new"]);
        assert_eq!(
            history.lines().iter().filter(|line| *line == "70").count(),
            1
        );
        assert_eq!(history.recall(true, "").as_deref(), Some("new"));
        assert_eq!(history.recall(true, "").as_deref(), Some("70"));
        assert_eq!(history.recall(true, "").as_deref(), Some("149"));
    }

    #[test]
    fn lines_come_back_newest_first() {
        let mut history = History::default();
        for line in ["a", "b", "a", "", "c"] {
            history.keep(line);
        }
        let mut back = |is_older| history.recall(is_older, "draft").unwrap_or_default();
        assert_eq!(
            [back(true), back(true), back(true), back(true)],
            ["c", "a", "b", ""]
        );
        assert_eq!(
            [back(false), back(false), back(false), back(false)],
            ["a", "c", "draft", ""]
        );
    }
}
