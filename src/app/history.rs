//! Lines that were typed before, to be called back with up and down.

/// More are not kept.
const KEPT: usize = 100;

/// Lines of one kind, the newest last.
#[derive(Clone, Debug, Default)]
pub struct History {
    lines: Vec<String>,
    at: Option<usize>,
    draft: String,
}

impl History {
    /// Keeps a line that was finished.
    pub fn keep(&mut self, line: &str) {
        self.at = None;
        if line.is_empty() {
            return;
        }
        self.lines.retain(|known| known != line);
        self.lines.push(line.to_owned());
        if self.lines.len() > KEPT {
            self.lines.remove(0);
        }
    }

    /// The line before (`older`) or after the one called back last. What was being typed comes after the
    /// newest one.
    pub fn recall(&mut self, is_older: bool, typed: &str) -> Option<String> {
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
    pub fn rest(&mut self) {
        self.at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::History;

    #[test]
    fn lines_come_back_newest_first() {
        let mut history = History::default();
        for line in ["a", "b", "a", "", "c"] {
            history.keep(line);
        }
        let mut back = |is_older| history.recall(is_older, "draft").unwrap_or_default();
        assert_eq!([back(true), back(true), back(true), back(true)], ["c", "a", "b", ""]);
        assert_eq!([back(false), back(false), back(false), back(false)], ["a", "c", "draft", ""]);
    }
}
