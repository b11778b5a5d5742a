//! The dialog with commands that resume the session in its own agent.
//!
//! Invariant: commands are run as argument lists, and quoted for a shell only when copied; of the
//! session's records they contain only the id and the folder.

use crate::model::resume::Resume;
use crate::session::Session;

/// State of the dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeDialog {
    pub choices: Vec<ResumeCommand>,
    /// Index of the selected command.
    pub at: usize,
    /// The folder to run them in; `None` if not recorded.
    pub folder: Option<String>,
    /// How to return to the current entry within the agent.
    pub back: &'static str,
}

/// A command that resumes the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeCommand {
    /// What the command does with the session.
    pub does: &'static str,
    /// The command as an argument list.
    pub words: Vec<String>,
    /// The command, quoted for a shell.
    pub command: String,
    /// The command with a `cd` to the folder, quoted for a shell.
    pub line: String,
}

impl ResumeDialog {
    /// The commands for a session; an error is the reason why there are none.
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
            Some(ResumeCommand {
                does: resume.does,
                words,
                command,
                line,
            })
        };
        let choices: Vec<ResumeCommand> = opened.resumes.iter().filter_map(choice).collect();
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

    pub(crate) fn chosen(&self) -> Option<&ResumeCommand> {
        self.choices.get(self.at)
    }

    pub(crate) fn choose(&mut self, by: isize) {
        self.at = self
            .at
            .saturating_add_signed(by)
            .min(self.choices.len().saturating_sub(1));
    }
}
