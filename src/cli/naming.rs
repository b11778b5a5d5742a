//! Resolves arguments to sessions.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::surroundings::Surroundings;
use crate::ingest::find::{self, Environment, Search};
use crate::ingest::fs;
use crate::ingest::{self, OpenError, Target, far, remote};
use crate::model::found::Found;
use crate::model::text::Text;
use crate::model::text::likeness::nearest;
use crate::model::timestamp::Timestamp;
use crate::report::reading;

/// The target of an argument: a path, or the id of a session.
pub(super) fn named(argument: &OsString, surroundings: &Surroundings) -> Result<Target, OpenError> {
    let target = at(argument, &surroundings.environment)?;
    Ok(if surroundings.typed.newest {
        newest(target, &surroundings.environment)
    } else {
        target
    })
}

/// The newest session of a folder or database; other targets are unchanged.
fn newest(target: Target, environment: &Environment) -> Target {
    let is_whole = target.session.is_none() && !target.is_stdin();
    let has_several = fs::is_dir(&target.path)
        || (fs::is_file(&target.path) && ingest::is_database(&target.path));
    if !is_whole || !has_several {
        return target;
    }
    // A folder may be a single session.
    let newest = sessions_in(&target, environment).next();
    newest.map_or(target, |found| Target::of(found.place()))
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
    sessions_in(target, &surroundings.environment)
        .nth(1)
        .is_some()
}

/// A session to follow; a folder or database with several leaves open which one.
pub(super) fn alone(target: Target, surroundings: &Surroundings) -> Result<Target, OpenError> {
    if has_several(&target, surroundings) {
        let place = Text::clean(&target.path.to_string_lossy());
        return Err(OpenError(format!(
            "{place} has several sessions: name one that `tv list` shows, or take the newest with --newest"
        )));
    }
    Ok(target)
}

/// The readable sessions of a folder or database, newest first.
fn sessions_in(target: &Target, environment: &Environment) -> impl Iterator<Item = Found> {
    let search = Search::among(environment.clone(), [Ok(target.clone())], None);
    // Whether sessions are running is not needed here, so no time is needed.
    find::sessions(&search, Timestamp(0))
        .flatten()
        .filter(|found| found.unreadable.is_none())
}

fn at(argument: &OsString, environment: &Environment) -> Result<Target, OpenError> {
    // An argument that is not UTF-8 can only be a path.
    let Some(argument) = argument.to_str() else {
        return Ok(Target {
            path: PathBuf::from(argument),
            session: None,
        });
    };
    // `./host:` is a file here, whichever machines are read.
    let is_far = remote::parse(argument).is_some();
    let target = if is_far {
        Target::parse(&format!("./{argument}"))
    } else {
        Target::parse(argument)
    };
    if target.is_stdin() || fs::symlink_metadata(&target.path).is_ok() {
        return Ok(target);
    }
    let here = || find::locate(argument, environment);
    // Keys of sessions contain colons, too.
    let is_key = is_far && !argument.ends_with(':') && !argument.contains('/');
    let far = if is_key && here().is_some_and(|at| at.is_ok()) {
        None
    } else {
        far::named(argument)
    };
    match far {
        None => here().unwrap_or_else(|| Ok(Target::parse(argument))),
        Some(Err(why)) => Err(why),
        Some(Ok(far::Named::Path(path))) => Ok(Target::parse(&path.to_string_lossy())),
        Some(Ok(far::Named::Session(name, there))) => {
            let unknown = || Err(OpenError(format!("{argument}: there is no such session")));
            find::locate(&name, &there).unwrap_or_else(unknown)
        }
    }
}

/// A session, and the entry named after another `#`. In a file, which has only one session, the
/// part after `#` is an entry; elsewhere it is one if no session has the whole name.
pub(super) fn with_entry(
    argument: &OsString,
    surroundings: &Surroundings,
) -> Result<(Target, Option<String>), OpenError> {
    let whole = named(argument, surroundings);
    let session = whole
        .as_ref()
        .ok()
        .and_then(|target| target.session.clone());
    if let (Ok(target), Some(entry)) = (&whole, &session)
        && fs::is_file(&target.path)
        && !ingest::is_database(&target.path)
    {
        return Ok((
            Target {
                path: target.path.clone(),
                session: None,
            },
            Some(entry.clone()),
        ));
    }
    let Some((head, entry)) = argument
        .to_str()
        .and_then(|argument| argument.rsplit_once('#'))
    else {
        return whole.map(|target| (target, None));
    };
    let is_session = |target: &Target| {
        let within = Target {
            path: target.path.clone(),
            session: None,
        };
        let name = target.session.as_deref().unwrap_or_default();
        let heads = ingest::sessions(&within).unwrap_or_default();
        heads
            .iter()
            .any(|head| head.id == name || head.key.as_deref() == Some(name))
    };
    let is_there =
        |target: &Target| target.is_stdin() || fs::symlink_metadata(&target.path).is_ok();
    match (whole, named(&head.into(), surroundings)) {
        (Ok(whole), Ok(inner))
            if is_there(&whole)
                && inner.session.is_some()
                && is_session(&inner)
                && !is_session(&whole) =>
        {
            Ok((inner, Some(entry.to_owned())))
        }
        (Ok(whole), _) if is_there(&whole) => Ok((whole, None)),
        (_, Ok(inner)) if is_there(&inner) => Ok((inner, Some(entry.to_owned()))),
        (whole, _) => whole.map(|target| (target, None)),
    }
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
