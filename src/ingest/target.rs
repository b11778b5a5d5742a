//! Parses what the user names, and describes why it cannot be opened.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::model::found::Target;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::source::fs;

/// Parses `path` or `path#session`; an existing path that contains `#` is taken as a path.
pub(crate) fn parse_target(argument: &str) -> Target {
    let whole = Target::at(argument);
    if fs::symlink_metadata(&whole.path).is_ok() {
        return whole;
    }
    // Keys of sessions may contain `#`, too.
    let mut splits = argument.rmatch_indices('#').filter_map(|(at, _)| {
        let (path, session) = argument.split_at_checked(at)?;
        Some((path, session.strip_prefix('#')?))
    });
    let existing = splits.find(|(path, _)| fs::symlink_metadata(path.as_ref()).is_ok());
    match existing.or_else(|| argument.rsplit_once('#')) {
        Some((path, session)) if !path.is_empty() && !session.is_empty() => Target {
            path: PathBuf::from(path),
            session: Some(session.to_owned()),
        },
        _ => whole,
    }
}

/// A session of a folder or database, as far as it can be listed without reading it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionHead {
    /// Name after `path#`; empty for a file that is one session.
    pub id: String,
    /// Another name that its agent gives it: OpenClaw's session key.
    pub key: Option<String>,
    /// Title; `None` if not recorded.
    pub title: Option<Text>,
    /// When it was last written to.
    pub(crate) updated: Option<Timestamp>,
    /// Id or key of the session that started it.
    pub(crate) parent: Option<String>,
    /// Number of messages; `None` if not counted.
    pub messages: Option<u64>,
}

impl SessionHead {
    /// A session with nothing but a name.
    pub(crate) fn with_id(id: String) -> Self {
        Self {
            id,
            ..Self::default()
        }
    }
}

/// Why a target cannot be opened: one sentence that says what was found and what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError(pub String);

impl OpenError {
    /// The message without the path.
    pub(crate) fn about(&self, path: &Path) -> &str {
        let rest = self.0.strip_prefix(&*path.to_string_lossy());
        rest.and_then(|rest| rest.strip_prefix(": "))
            .unwrap_or(&self.0)
    }
}

pub(crate) fn refusal(path: &Path, what: &str) -> OpenError {
    OpenError(format!("{}: {what}", path.display()))
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OpenError {}
