//! How the session's own agent goes on with it: the commands, one of which is chosen, copied and run.
//!
//! Invariant: what is run are words, what is copied is quoted for a shell; of the records only the id and the folder of
//! the session are in them.

use crate::model::resume::Resume;
use crate::session::Session;

/// The commands, in a pop-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resuming {
    /// They themselves.
    pub choices: Vec<Choice>,
    /// Which is chosen.
    pub at: usize,
    /// The folder in which they are run.
    pub folder: Option<String>,
    /// How their reader gets back to the item from which this was called.
    pub back: &'static str,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What becomes of the session.
    pub does: &'static str,
    /// Word by word.
    pub words: Vec<String>,
    /// As a shell takes it.
    pub command: String,
    /// As a shell takes it, from any folder.
    pub line: String,
}

impl Resuming {
    /// The commands for a session, or why there are none.
    pub(crate) fn of(session: &Session) -> Result<Self, String> {
        let Some(opened) = &session.file.opened else {
            return Err("no session is open".to_owned());
        };
        if opened.resumes.is_empty() {
            return Err(format!(
                "no command is known that goes on with such a session ({})",
                opened.format
            ));
        }
        let meta = session.transcript.meta();
        let Some(id) = meta.id.as_ref().filter(|id| !id.is_blank()) else {
            return Err("the session records no id by which its agent finds it".to_owned());
        };
        let folder = meta
            .root
            .as_ref()
            .or(meta.cwd.as_ref())
            .map(ToString::to_string);
        let folder =
            folder.filter(|folder| folder.starts_with('/') && !folder.contains(char::is_control));
        let choice = |resume: &Resume| {
            let words = resume.words(id)?;
            let command = shlex::try_join(words.iter().map(String::as_str)).ok()?;
            let line = match folder.as_deref().map(shlex::try_quote) {
                Some(folder) => format!("cd {} && {command}", folder.ok()?),
                None => command.clone(),
            };
            Some(Choice {
                does: resume.does,
                words,
                command,
                line,
            })
        };
        let choices: Vec<Choice> = opened.resumes.iter().filter_map(choice).collect();
        if choices.is_empty() {
            return Err("the session's id is none that a command may be given".to_owned());
        }
        let back = opened.resumes.first().map_or("", |resume| resume.back);
        Ok(Self {
            choices,
            at: 0,
            folder,
            back,
        })
    }

    /// The chosen one.
    pub(crate) fn chosen(&self) -> Option<&Choice> {
        self.choices.get(self.at)
    }

    /// Chooses another one.
    pub(crate) fn choose(&mut self, by: isize) {
        self.at = self
            .at
            .saturating_add_signed(by)
            .min(self.choices.len().saturating_sub(1));
    }
}
