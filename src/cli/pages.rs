//! What is written about the command line itself: completion scripts and manual pages.

use clap::Command;
use clap::error::ErrorKind;

/// The completion script for a shell.
pub fn completions(mut command: Command, shell: clap_complete::Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "tv", &mut script);
    script
}

/// The manual page of the program, or of one of its commands.
pub fn manual(mut command: Command, of: Option<&str>) -> Result<Vec<u8>, clap::Error> {
    command.build();
    let wanted = match of {
        None => command,
        Some(name) => match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => {
                let what = format!("there is no command {name}");
                return Err(command.error(ErrorKind::InvalidSubcommand, what));
            }
        },
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(wanted).render(&mut page)?;
    Ok(page)
}
