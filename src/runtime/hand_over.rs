//! Hands text and the terminal to other programs: clipboard, editor, shell command, the agent
//! itself, alarms.

use std::path::Path;
use std::process::{Command, ExitCode};

use super::child::ChildExit;
use super::{Flow, Viewer, editor, notify, pipe};
use crate::app::alarms::AlarmNotice;
use crate::app::copying::excerpt;
use crate::app::update::Event;
use crate::formats::json;
use crate::ingest;
use crate::model::record::Origin;

impl Viewer {
    /// Copies a text to the clipboard.
    pub(super) fn copy(&mut self, text: &str) -> anyhow::Result<()> {
        let (text, more) = self.app.copying.prepare(text);
        let copied = self.config.terminal.clipboard.copy(&text);
        self.screen.send(&copied.sequence)?;
        self.say(copied.message + &more);
        Ok(())
    }

    /// Announces an alarm: by the terminal, and by the command of the alarm if it has one.
    pub(super) fn notify(&mut self, notice: &AlarmNotice) -> anyhow::Result<()> {
        let multiplexer = self.config.terminal.clipboard.multiplexer;
        self.screen.send(&notify::sequence(
            notice,
            self.app.notify,
            multiplexer,
            &self.config.terminal.graphics.environment,
        ))?;
        if let Some(command) = notice.command.clone() {
            let say = self.events_in.clone();
            let report = move |why| drop(say.send(Event::Say(why)));
            let line = command.clone();
            self.alarm_commands.push(
                &command,
                notice,
                move |it, missed| notify::start(&line, it, missed),
                report,
            );
        }
        Ok(())
    }

    /// The records as they were written, one a line.
    pub(super) fn read_lines(&self, origins: &[Origin]) -> Option<String> {
        let records = self.opened.as_ref()?.workers.texts(origins)?;
        Some(
            records
                .iter()
                .map(|record| on_one_line(record))
                .collect::<Vec<_>>()
                .join("\n"),
        )
    }

    /// Opens the file of a record in the editor.
    pub(super) fn edit(&mut self, origin: Origin) -> anyhow::Result<Flow> {
        let path = self.app.reader.session.file.path(origin.file).cloned();
        let Some(path) = path.filter(|path| path.is_file()) else {
            self.say("there is no file to open");
            return Ok(Flow::Continue);
        };
        if ingest::is_database(&path) {
            self.say("the session is in a database; r shows the record");
            return Ok(Flow::Continue);
        }
        let Some(editor) = self.config.editor.clone() else {
            self.say("neither $VISUAL nor $EDITOR is set");
            return Ok(Flow::Continue);
        };
        let started = match editor::command(&editor, &path, origin.line) {
            Ok(mut command) => self.run_in_foreground(|| command.spawn()),
            Err(why) => {
                self.say(why);
                return Ok(Flow::Continue);
            }
        };
        let ended = match started {
            ChildExit::Interrupted(code) => return Ok(Flow::Exit(ExitCode::from(code))),
            ChildExit::Exited(ended) => ended,
        };
        self.retake_terminal()?;
        if let Some(why) = editor::failure(&editor, ended) {
            self.say(why);
        }
        Ok(Flow::Continue)
    }

    /// Resumes the session in its agent, which gets the terminal. After a failure its output stays
    /// until a key is pressed.
    pub(super) fn resume(
        &mut self,
        words: &[String],
        folder: Option<&str>,
    ) -> anyhow::Result<Flow> {
        let Some((program, arguments)) = words.split_first() else {
            return Ok(Flow::Continue);
        };
        let mut command = Command::new(program);
        command.args(arguments);
        if let Some(folder) = folder {
            if !Path::new(folder).is_dir() {
                self.say(format!("the folder of the session is not here: {folder}"));
                return Ok(Flow::Continue);
            }
            command.current_dir(folder);
        }
        let ended = match self.run_in_foreground(|| command.spawn()) {
            ChildExit::Interrupted(code) => return Ok(Flow::Exit(ExitCode::from(code))),
            ChildExit::Exited(ended) => ended,
        };
        let words = match ended {
            Ok(status) if status.success() => None,
            Ok(status) => Some(format!("{program} ended with {status}")),
            Err(error) => Some(format!("{program} cannot be started: {error}")),
        };
        if let Some(code) = words.as_ref().and_then(|words| self.wait_for_key(words)) {
            return Ok(Flow::Exit(ExitCode::from(code)));
        }
        self.retake_terminal()?;
        self.say(words.unwrap_or_else(|| format!("back from {program}")));
        Ok(Flow::Continue)
    }

    /// Pipes records to a shell command, and shows its output until a key is pressed.
    pub(super) fn pipe(&mut self, command: &str, origins: &[Origin]) -> anyhow::Result<Flow> {
        let Some(text) = self.read_lines(origins) else {
            self.say("the record cannot be read any more");
            return Ok(Flow::Continue);
        };
        let ended = match self.run_in_foreground(|| pipe::start(command, text)) {
            ChildExit::Interrupted(code) => return Ok(Flow::Exit(ExitCode::from(code))),
            ChildExit::Exited(ended) => pipe::words_of(ended),
        };
        if let Some(code) = self.wait_for_key(&ended) {
            return Ok(Flow::Exit(ExitCode::from(code)));
        }
        self.retake_terminal()?;
        self.say(format!("| {command}: {ended}"));
        Ok(Flow::Continue)
    }
}

/// A record on one line: those of documents may span several. What is no JSON stays as it is.
fn on_one_line(record: &str) -> String {
    if !record.contains('\n') {
        return record.to_owned();
    }
    json::parse(record).map_or_else(
        |_| record.to_owned(),
        |value| excerpt::json(&value.to_tree()),
    )
}

#[cfg(test)]
mod tests {
    use super::on_one_line;

    #[test]
    fn records_become_lines() {
        assert_eq!(
            on_one_line("{\n  \"a\": [1.5, \"x\\ny\"]\n}"),
            r#"{"a":[1.5,"x\ny"]}"#
        );
        assert_eq!(on_one_line("broken\nline"), "broken\nline");
    }
}
