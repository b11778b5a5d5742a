//! Completion scripts, and pages of the manual for the screen and for `man`.

use clap::Command;
use clap::builder::PossibleValue;
use clap_complete::Shell;

use super::roff;
use crate::render::manual::{self, ManualPage, PAGES};

/// The completion script for a shell.
pub fn completions(mut command: Command, shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "tv", &mut script);
    let sessions = match shell {
        Shell::Bash => include_str!("../../assets/completions/sessions.bash"),
        Shell::Fish => include_str!("../../assets/completions/sessions.fish"),
        Shell::Zsh => {
            let text = String::from_utf8_lossy(&script);
            let is_session =
                |line: &str| line.contains(":session -- ") || line.contains(":sessions -- ");
            let lines = text.lines().map(|line| {
                let end = if is_session(line) {
                    ":_tv_sessions'"
                } else {
                    ":_default'"
                };
                format!("{}\n", line.replace(":_default'", end))
            });
            script = lines.collect::<String>().into_bytes();
            include_str!("../../assets/completions/sessions.zsh")
        }
        _ => "",
    };
    script.extend_from_slice(sessions.as_bytes());
    script
}

/// The values of `help` and `man`: the topics of the manual, then the commands.
pub(crate) fn names(command: &Command) -> Vec<PossibleValue> {
    let topics = PAGES
        .iter()
        .map(|page| PossibleValue::new(page.topic).help(page.about()));
    let commands = command
        .get_subcommands()
        .map(|command| PossibleValue::new(command.get_name().to_owned()));
    topics
        .chain(commands.map(|name| name.help("what the command takes")))
        .collect()
}

/// The page on a topic; `None` without a topic. The help of a command is returned as an error, as
/// by `--help`.
pub(crate) fn help(
    mut command: Command,
    topic: Option<&str>,
) -> Result<Option<&'static ManualPage>, clap::Error> {
    let Some(name) = topic else { return Ok(None) };
    let page = manual::find(name);
    if page.is_none() {
        command.try_get_matches_from_mut(["tv", name, "--help"])?;
    }
    Ok(page)
}

/// A page for `man`: of the program, a command, or a topic of the manual.
pub(crate) fn manual(mut command: Command, of: Option<&str>) -> Result<Vec<u8>, clap::Error> {
    if let Some(page) = of.and_then(manual::find) {
        return Ok(roff::page(page).into_bytes());
    }
    command.build();
    let wanted = of
        .and_then(|name| command.find_subcommand(name))
        .unwrap_or(&command)
        .clone();
    let mut page = Vec::new();
    clap_mangen::Man::new(wanted).render(&mut page)?;
    if of.is_none() {
        page.extend(roff::topics().into_bytes());
    }
    Ok(page)
}
