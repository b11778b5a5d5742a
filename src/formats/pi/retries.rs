//! Merges requests that fail repeatedly in the same way: the first shows the number of attempts,
//! the others show nothing.
//!
//! Invariant: each attempt remains an entry with its own usage; only its text is merged.

use crate::model::edit::Edit;
use crate::model::entry::{BlockKind, Break, Entry, Role};
use crate::model::text::{Text, text};

/// The text that OpenClaw writes if there was no answer.
const NOTHING: &str = "[assistant turn failed before producing content]";

/// The failures since the last success.
#[derive(Default)]
pub(crate) struct Retries {
    run: Option<RetryRun>,
}

struct RetryRun {
    /// The entry of the first attempt.
    first: Entry,
    error: Text,
    count: u32,
}

impl Retries {
    /// Adds the next message. If it fails like the one before, its blocks are cleared and the first
    /// attempt is returned with the number of attempts.
    pub(crate) fn fold(&mut self, entry: &mut Entry) -> Option<Edit> {
        // An entry of an unknown kind is neither a success nor a failure.
        if entry.is_aside() {
            return None;
        }
        let Some(error) = failure(entry) else {
            self.run = None;
            return None;
        };
        let is_again = |run: &&mut RetryRun| {
            error_words(&run.error) == error_words(&error) && run.first.key != entry.key
        };
        let Some(run) = self.run.as_mut().filter(is_again) else {
            self.run = Some(RetryRun {
                first: entry.clone(),
                error,
                count: 1,
            });
            return None;
        };
        run.count += 1;
        entry.blocks.clear();
        let error = text!("{} ×{}", run.error, run.count);
        run.first
            .blocks
            .retain(|block| !matches!(block.kind, BlockKind::Break(_)));
        run.first.push(Break::Error(error));
        // The entry is already in the tree. With its parent it would look as if the session had
        // returned there.
        Some(Edit::Entry(Box::new(Entry {
            parent: None,
            ..run.first.clone()
        })))
    }
}

/// The error of an answer without other content.
fn failure(entry: &Entry) -> Option<Text> {
    let mut error = None;
    for block in &entry.blocks {
        match &block.kind {
            BlockKind::Break(Break::Error(text)) => error = Some(text.clone()),
            BlockKind::Text(body) if body.stub.as_str() == NOTHING => {}
            _ => return None,
        }
    }
    error.filter(|_| entry.role == Role::Assistant)
}

/// The words of an error, without numbers and ids of its request.
fn error_words(error: &str) -> Vec<&str> {
    let words = error.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Retries;
    use crate::model::edit::{Batch, Edit};
    use crate::model::entry::{BlockKind, Break, Entry, Role};

    fn failed(key: &str, error: &str) -> Entry {
        let mut entry = Batch::default().new_entry(key.into(), Role::Assistant, None);
        entry.push(Break::Error(error.into()));
        entry
    }

    fn error_of(edit: Option<Edit>) -> Option<String> {
        let Edit::Entry(entry) = edit? else {
            return None;
        };
        let BlockKind::Break(Break::Error(text)) = &entry.blocks.last()?.kind else {
            return None;
        };
        Some(format!("{}: {text}", entry.key))
    }

    #[test]
    fn attempts_that_fail_alike_are_counted_at_the_first() {
        let mut retries = Retries::default();
        let mut fold = |key: &str, error: &str| {
            let mut entry = failed(key, error);
            let again = error_of(retries.fold(&mut entry));
            (entry.blocks.len(), again)
        };
        assert_eq!(fold("a", "429 busy (ref 81f2)"), (1, None));
        assert_eq!(
            fold("b", "429 busy (ref 77aa)"),
            (0, Some("a: 429 busy (ref 81f2) ×2".to_owned()))
        );
        assert_eq!(
            fold("c", "429 busy (ref 1)"),
            (0, Some("a: 429 busy (ref 81f2) ×3".to_owned()))
        );
        assert_eq!(fold("d", "401 no key"), (1, None));
        assert_eq!(
            fold("e", "429 busy (ref 2)"),
            (1, None),
            "another failure came between"
        );
    }

    #[test]
    fn an_answer_ends_the_row_of_attempts() {
        let mut retries = Retries::default();
        assert!(retries.fold(&mut failed("a", "busy")).is_none());
        let mut answer = Batch::default().new_entry("b".into(), Role::Assistant, None);
        answer.push(BlockKind::Text(Batch::default().prose("hi")));
        assert!(retries.fold(&mut answer).is_none());
        assert!(retries.fold(&mut failed("c", "busy")).is_none());
    }
}
