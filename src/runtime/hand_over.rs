//! Hands text and the terminal to other programs: clipboard, editor, shell command, the agent
//! itself, alarms.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use itertools::Itertools as _;

use super::child::ChildExit;
use super::{Flow, Viewer, editor, notify, pipe};
use crate::app::alarms::AlarmNotice;
use crate::app::copying::excerpt;
use crate::app::effect::{PageExtent, PageForm};
use crate::app::update::Event;
use crate::formats::json;
use crate::ingest;
use crate::model::body::Key;
use crate::model::found::Target;
use crate::model::record::Origin;
use crate::model::text::Text;
use crate::source::fs;

impl Viewer {
    /// Copies a text to the clipboard.
    pub(super) fn copy(&mut self, text: &str) -> anyhow::Result<()> {
        let (text, more) = self.app.copying.prepare(text);
        let copied = self.config.terminal.clipboard.copy(&text);
        self.screen.send(&copied.sequence)?;
        self.set_status(copied.message + &more);
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
            let report = move |why| drop(say.send(Event::Status(why)));
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

    /// Writes the session as a page by a program of its own: what that masks is shown here as it is.
    pub(super) fn export(&mut self, form: PageForm, extent: PageExtent, keys: &[Key]) {
        let Some(opened) = &self.opened else { return };
        if opened.target.is_stdin() || !opened.joined.is_empty() {
            return self
                .set_status("only a session that lies somewhere, and alone, can be exported");
        }
        let place = opened.target.clone();
        let meta = self.app.reader.session.transcript.meta();
        let name = meta.id.as_deref().or(place.session.as_deref());
        let name = name
            .unwrap_or("session")
            .replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_");
        let part = match extent {
            PageExtent::Session => String::new(),
            part => format!("-{}", part.word()),
        };
        let to = format!("{}{part}.{}", name.trim_start_matches('-'), form.name());
        let option = match extent {
            PageExtent::Turn => "turn",
            _ => "entry",
        };
        let part = keys.iter().map(|key| format!("--{option}={key}"));
        let part: Vec<String> = part.collect();
        let say = self.events_in.clone();
        self.set_status(format!("writing {to}\u{2026}"));
        std::thread::spawn(move || {
            let words = match export_page(&place, form, &part, &to) {
                Ok(()) => format!("{to} is written, known keys masked"),
                Err(why) => why,
            };
            // Without a viewer nobody needs to know.
            let _ = say.send(Event::Status(Text::clean(&words).to_string()));
        });
    }

    /// The records as they were written, one a line.
    pub(super) fn read_lines(&self, origins: &[Origin]) -> Option<String> {
        let records = self.opened.as_ref()?.workers.texts(origins)?;
        Some(records.iter().map(|record| on_one_line(record)).join("\n"))
    }

    /// Opens the file of a record in the editor.
    pub(super) fn edit(&mut self, origin: Origin) -> anyhow::Result<Flow> {
        let path = self.app.reader.session.file.path(origin.file).cloned();
        let Some(path) = path.filter(|path| fs::is_file(path)) else {
            self.set_status("there is no file to open");
            return Ok(Flow::Continue);
        };
        if ingest::remote::is_far(&path) {
            self.set_status("the file is on another machine; r shows the record");
            return Ok(Flow::Continue);
        }
        if ingest::is_database(&path) {
            self.set_status("the session is in a database; r shows the record");
            return Ok(Flow::Continue);
        }
        let Some(editor) = self.config.editor.clone() else {
            self.set_status("neither $VISUAL nor $EDITOR is set");
            return Ok(Flow::Continue);
        };
        let started = match editor::command(&editor, &path, origin.line) {
            Ok(mut command) => self.run_in_foreground(|| command.spawn()),
            Err(why) => {
                self.set_status(why);
                return Ok(Flow::Continue);
            }
        };
        let ended = match started {
            ChildExit::Interrupted(code) => return Ok(Flow::Exit(ExitCode::from(code))),
            ChildExit::Exited(ended) => ended,
        };
        self.retake_terminal()?;
        if let Some(why) = editor::failure(&editor, ended) {
            self.set_status(why);
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
                self.set_status(format!("the folder of the session is not here: {folder}"));
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
        self.set_status(words.unwrap_or_else(|| format!("back from {program}")));
        Ok(Flow::Continue)
    }

    /// Pipes records to a shell command, and shows its output until a key is pressed.
    pub(super) fn pipe(&mut self, command: &str, origins: &[Origin]) -> anyhow::Result<Flow> {
        let Some(text) = self.read_lines(origins) else {
            self.set_status("the record cannot be read any more");
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
        self.set_status(format!("| {command}: {ended}"));
        Ok(Flow::Continue)
    }
}

/// Writes the session at a place, or the part that options name, to a file; else the sentence that
/// says why not.
fn export_page(place: &Target, form: PageForm, part: &[String], to: &str) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|why| format!("cannot export: {why}"))?;
    let mut address = place.path.clone().into_os_string();
    if let Some(session) = &place.session {
        address.push("#");
        address.push(session);
    }
    let mut command = Command::new(program);
    command.args(["export", "--to", form.name(), "-o", to]);
    command.args(part);
    command.arg("--");
    let output = command.arg(address).stdin(Stdio::null()).output();
    let output = output.map_err(|why| format!("cannot export: {why}"))?;
    if output.status.success() {
        return Ok(());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    let first = error.lines().next().unwrap_or("it could not be exported");
    Err(first.strip_prefix("tv: ").unwrap_or(first).to_owned())
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
