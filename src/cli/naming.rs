//! Resolves arguments to sessions.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::surroundings::Surroundings;
use crate::ingest::find::{self, Environment};
use crate::ingest::fs;
use crate::ingest::{self, OpenError, Target, far, naming};
use crate::model::text::Text;
use crate::model::text::likeness::nearest;
use crate::report::reading;

/// The target of an argument: a path, or the id of a session.
pub(super) fn target_of(
    argument: &OsString,
    surroundings: &Surroundings,
) -> Result<Target, OpenError> {
    naming::named(
        argument,
        &surroundings.environment,
        surroundings.typed.newest,
    )
}

/// A session, and the entry named after another `#`.
pub(super) fn with_entry(
    argument: &OsString,
    surroundings: &Surroundings,
) -> Result<(Target, Option<String>), OpenError> {
    naming::with_entry(
        argument,
        &surroundings.environment,
        surroundings.typed.newest,
    )
}

/// Whether a target is a folder or database with several sessions to choose from.
pub(super) fn has_several(target: &Target, surroundings: &Surroundings) -> bool {
    if far::is_host(&target.path) {
        return true;
    }
    let is_folder = target.session.is_none() && fs::is_dir(&target.path);
    if !is_folder {
        return ingest::is_choice(target);
    }
    naming::sessions_in(target, &surroundings.environment)
        .nth(1)
        .is_some()
}

/// A session to follow; a folder or database with several leaves open which one.
pub(super) fn single_session(
    target: Target,
    surroundings: &Surroundings,
) -> Result<Target, OpenError> {
    if has_several(&target, surroundings) {
        let place = Text::clean(&target.path.to_string_lossy());
        return Err(OpenError(format!(
            "{place} has several sessions: name one that `tv list` shows, or take the newest with --newest"
        )));
    }
    Ok(target)
}

/// The session of an argument; if the argument names an entry, the entry must exist.
pub(super) fn session(
    argument: &OsString,
    surroundings: &Surroundings,
) -> Result<Target, OpenError> {
    let (target, entry) = with_entry(argument, surroundings)?;
    if let Some(entry) = entry {
        reading::read(&target, true)?.find(&entry)?;
    }
    Ok(target)
}

/// The error for a word that resolves to nothing but resembles a command.
pub(super) fn slip(
    word: &OsStr,
    commands: &clap::Command,
    environment: &Environment,
) -> Option<String> {
    let word = word
        .to_str()
        .filter(|word| word.chars().all(|c| c.is_ascii_alphabetic()))?;
    let is_command = commands.find_subcommand(word).is_some();
    let command = if is_command {
        word.to_owned()
    } else {
        let names = commands.get_subcommands().map(clap::Command::get_name);
        (*nearest(word, names).first()?).to_owned()
    };
    let is_session =
        PathBuf::from(word).symlink_metadata().is_ok() || find::is_name(word, environment);
    if is_command && !is_session {
        return Some(format!(
            "options stand behind the command: `tv {command} --…`"
        ));
    }
    (!is_session).then(|| {
        format!("neither a command nor a session is called {word}; did you mean `tv {command}`?")
    })
}
