//! Handing things out: to the clipboard, to an editor, to a shell command, to whoever waits for an alarm.

use std::path::Path;
use std::process::{Command, ExitCode};

use super::child::Outcome;
use super::{Next, Viewer, editor, notify, pipe};
use crate::app::alarms::Notice;
use crate::app::copying::excerpt;
use crate::app::update::Event;
use crate::formats::json;
use crate::ingest;
use crate::model::record::Origin;

impl Viewer {
    /// Puts a text on the clipboard and says so.
    pub(super) fn copy(&mut self, text: &str) -> anyhow::Result<()> {
        let (text, more) = self.app.copying.prepare(text);
        let copied = self.config.terminal.clipboard.copy(&text);
        self.screen.send(&copied.sequence)?;
        self.app.reader.screen.say(copied.words + &more);
        Ok(())
    }

    /// Announces an alarm to the reader.
    pub(super) fn notify(&mut self, notice: &Notice) -> anyhow::Result<()> {
        let between = self.config.terminal.clipboard.between;
        self.screen.send(&notify::sequence(
            notice,
            between,
            &self.config.terminal.graphics.environment,
        ))?;
        if let Some(command) = notice.command.clone() {
            let say = self.say.clone();
            let report = move |why| drop(say.send(Event::Say(why)));
            let line = command.clone();
            self.commands.ring(
                &command,
                notice,
                move |it, missed| notify::start(&line, it, missed),
                report,
            );
        }
        Ok(())
    }

    /// Records as they were written, one a line.
    pub(super) fn lines_of(&self, origins: &[Origin]) -> Option<String> {
        let records = self.opened.as_ref()?.workers.texts(origins)?;
        Some(
            records
                .iter()
                .map(|record| on_one_line(record))
                .collect::<Vec<_>>()
                .join("\n"),
        )
    }

    /// Opens a record's file in the editor.
    pub(super) fn edit(&mut self, origin: Origin) -> anyhow::Result<Next> {
        let path = self.app.reader.session.file.path(origin.file).cloned();
        let Some(path) = path.filter(|path| path.is_file()) else {
            self.app.reader.screen.say("there is no file to open");
            return Ok(Next::Go);
        };
        if ingest::is_database(&path) {
            self.app
                .reader
                .screen
                .say("the session is in a database; r shows the record");
            return Ok(Next::Go);
        }
        let Some(editor) = self.config.editor.clone() else {
            self.app
                .reader
                .screen
                .say("neither $VISUAL nor $EDITOR is set");
            return Ok(Next::Go);
        };
        let started = match editor::command(&editor, &path, origin.line) {
            Ok(mut command) => self.lend(|| command.spawn()),
            Err(why) => {
                self.app.reader.screen.say(why);
                return Ok(Next::Go);
            }
        };
        let ended = match started {
            Outcome::Over(code) => return Ok(Next::End(ExitCode::from(code))),
            Outcome::Ended(ended) => ended,
        };
        self.come_back()?;
        if let Some(why) = editor::failure(&editor, ended) {
            self.app.reader.screen.say(why);
        }
        Ok(Next::Go)
    }

    /// Gives the terminal to the session's own agent. What it wrote when it failed stays until a key is pressed.
    pub(super) fn resume(
        &mut self,
        words: &[String],
        folder: Option<&str>,
    ) -> anyhow::Result<Next> {
        let Some((program, arguments)) = words.split_first() else {
            return Ok(Next::Go);
        };
        let mut command = Command::new(program);
        command.args(arguments);
        if let Some(folder) = folder {
            if !Path::new(folder).is_dir() {
                self.app
                    .reader
                    .screen
                    .say(format!("the folder of the session is not here: {folder}"));
                return Ok(Next::Go);
            }
            command.current_dir(folder);
        }
        let ended = match self.lend(|| command.spawn()) {
            Outcome::Over(code) => return Ok(Next::End(ExitCode::from(code))),
            Outcome::Ended(ended) => ended,
        };
        let words = match ended {
            Ok(status) if status.success() => None,
            Ok(status) => Some(format!("{program} ended with {status}")),
            Err(error) => Some(format!("{program} cannot be started: {error}")),
        };
        if let Some(code) = words.as_ref().and_then(|words| self.wait_for_key(words)) {
            return Ok(Next::End(ExitCode::from(code)));
        }
        self.come_back()?;
        self.app
            .reader
            .screen
            .say(words.unwrap_or_else(|| format!("back from {program}")));
        Ok(Next::Go)
    }

    /// Gives records to a shell command, and shows what it wrote until a key is pressed.
    pub(super) fn pipe(&mut self, command: &str, origins: &[Origin]) -> anyhow::Result<Next> {
        let Some(text) = self.lines_of(origins) else {
            self.app
                .reader
                .screen
                .say("the record cannot be read any more");
            return Ok(Next::Go);
        };
        let ended = match self.lend(|| pipe::start(command, text)) {
            Outcome::Over(code) => return Ok(Next::End(ExitCode::from(code))),
            Outcome::Ended(ended) => pipe::words_of(ended),
        };
        if let Some(code) = self.wait_for_key(&ended) {
            return Ok(Next::End(ExitCode::from(code)));
        }
        self.come_back()?;
        self.app.reader.screen.say(format!("| {command}: {ended}"));
        Ok(Next::Go)
    }
}

/// Records of documents may be written over several lines; what is no JSON stays as it is.
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
