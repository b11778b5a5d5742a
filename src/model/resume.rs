//! Commands with which an agent resumes its own sessions.
//!
//! Invariant: only the session's id is inserted into a command, as one argument, and only if it
//! cannot be taken for an option or a path. No shell parses it.

/// Limit of an id in bytes; longer ones are rejected.
const LONGEST: usize = 200;

/// A command to resume a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// What the command does: `continue`, `fork`.
    pub does: &'static str,
    /// Arguments before the id, the program first.
    pub before: &'static [&'static str],
    /// Arguments after the id.
    pub after: &'static [&'static str],
    /// How the user gets back to an earlier point in the resumed session; empty if that is not
    /// possible.
    pub back: &'static str,
}

impl Resume {
    /// The arguments of the command; `None` if the id is not safe to insert.
    pub fn words(&self, id: &str) -> Option<Vec<String>> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let begins = id.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !begins || id.len() > LONGEST || !id.chars().all(is_plain) {
            return None;
        }
        let words = self
            .before
            .iter()
            .copied()
            .chain([id])
            .chain(self.after.iter().copied());
        Some(words.map(str::to_owned).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Resume;

    const FORK: Resume = Resume {
        does: "fork",
        before: &["claude", "--resume"],
        after: &["--fork-session"],
        back: "",
    };

    #[test]
    fn an_id_is_one_word_and_no_option() {
        let words = FORK.words("5d0c1c52-0001").unwrap();
        assert_eq!(
            words,
            ["claude", "--resume", "5d0c1c52-0001", "--fork-session"]
        );
        let long = "a".repeat(300);
        for hostile in [
            "",
            "-p",
            "--dangerously-skip-permissions",
            "a b",
            "$(id)",
            "a;b",
            "../a",
            "a\n",
            "é",
            &long,
        ] {
            assert_eq!(FORK.words(hostile), None, "{hostile}");
        }
    }
}
