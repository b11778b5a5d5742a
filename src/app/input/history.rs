//! Histories of typed lines, recalled with up and down.

/// Limit of a history, in lines.
const MAX_LINES: usize = 100;

/// Lines of one kind, the newest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineHistory {
    pub(crate) lines: Vec<String>,
    /// Lines typed since the program started; they are saved at the end.
    pub(crate) fresh: Vec<String>,
    at: Option<usize>,
    draft: String,
}

/// Purpose of a typed line; each has its own history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryKind {
    Search,
    Filter,
    /// To pipe records to a command.
    Command,
}

/// Lines of all kinds.
#[derive(Clone, Debug, Default)]
pub struct Histories {
    pub(crate) searches: LineHistory,
    pub(crate) filters: LineHistory,
    /// Shell commands that records were piped to.
    pub(crate) commands: LineHistory,
    /// Names of commands of the viewer that were run.
    pub(crate) ran: LineHistory,
}

impl Histories {
    pub(crate) fn of(&mut self, kind: HistoryKind) -> &mut LineHistory {
        match kind {
            HistoryKind::Search => &mut self.searches,
            HistoryKind::Filter => &mut self.filters,
            HistoryKind::Command => &mut self.commands,
        }
    }
}

impl LineHistory {
    /// A history saved by earlier runs, the newest line last.
    pub(crate) fn of(lines: Vec<String>) -> Self {
        let superfluous = lines.len().saturating_sub(MAX_LINES);
        Self {
            lines: lines.into_iter().skip(superfluous).collect(),
            ..Self::default()
        }
    }

    /// Adds a finished line as the newest.
    pub(crate) fn add(&mut self, line: &str) {
        self.at = None;
        if line.is_empty() {
            return;
        }
        for lines in [&mut self.lines, &mut self.fresh] {
            lines.retain(|known| known != line);
            lines.push(line.to_owned());
            if lines.len() > MAX_LINES {
                lines.remove(0);
            }
        }
    }

    /// The line before or after the one recalled last. The unfinished line follows the newest one.
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

    /// Resets the position of the last recall.
    pub(crate) fn reset(&mut self) {
        self.at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::LineHistory;

    #[test]
    fn what_was_typed_earlier_is_older_and_not_fresh() {
        let mut history = LineHistory::of((0..150).map(|n| n.to_string()).collect());
        assert_eq!(
            (
                history.lines.len(),
                history.lines.first().map(String::as_str)
            ),
            (100, Some("50"))
        );
        history.add("70");
        history.add("new");
        assert_eq!(history.fresh, ["70", "new"]);
        assert_eq!(history.lines.iter().filter(|line| *line == "70").count(), 1);
        assert_eq!(history.recall(true, "").as_deref(), Some("new"));
        assert_eq!(history.recall(true, "").as_deref(), Some("70"));
        assert_eq!(history.recall(true, "").as_deref(), Some("149"));
    }

    #[test]
    fn lines_come_back_newest_first() {
        let mut history = LineHistory::default();
        for line in ["a", "b", "a", "", "c"] {
            history.add(line);
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
