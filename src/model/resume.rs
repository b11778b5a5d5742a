//! How an agent itself goes on with one of its sessions: the words of the command.
//!
//! Invariant: of a session only its id goes into a command, as one word of it, and only an id that cannot be taken for
//! an option or a path. No shell reads it.

/// A longer id names nothing.
const LONGEST: usize = 200;

/// A way to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// What becomes of the session: `continue`, `fork`.
    pub does: &'static str,
    /// The words before the id, the program first.
    pub before: &'static [&'static str],
    /// The words after it.
    pub after: &'static [&'static str],
    /// How its reader gets back to an earlier point then; empty if that cannot be done.
    pub back: &'static str,
}

impl Resume {
    /// The command, word by word. Nothing if the id is none that a command may be given.
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
