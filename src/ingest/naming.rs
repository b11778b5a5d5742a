//! Which session an argument means: a path, an id, one on another machine, and an entry in it.

use std::ffi::OsString;

use super::find::{self, DiscoveryQuery, Environment};
use super::target::{OpenError, parse_target};
use super::{far, open};
use crate::model::found::{FoundSession, Target};
use crate::model::timestamp::Timestamp;
use crate::source::{fs, remote};

/// The target of an argument: a path, or the id of a session; with `newest` the newest session of a
/// folder or database.
pub(crate) fn named(
    argument: &OsString,
    environment: &Environment,
    newest: bool,
) -> Result<Target, OpenError> {
    let target = at(argument, environment)?;
    Ok(if newest {
        newest_in(target, environment)
    } else {
        target
    })
}

/// The newest session of a folder or database; other targets are unchanged.
fn newest_in(target: Target, environment: &Environment) -> Target {
    let is_whole = target.session.is_none() && !target.is_stdin();
    let has_several =
        fs::is_dir(&target.path) || (fs::is_file(&target.path) && open::is_database(&target.path));
    if !is_whole || !has_several {
        return target;
    }
    // A folder may be a single session.
    let newest = sessions_in(&target, environment).next();
    newest.map_or(target, |found| found.place())
}

/// The readable sessions of a folder or database, newest first.
pub(crate) fn sessions_in(
    target: &Target,
    environment: &Environment,
) -> impl Iterator<Item = FoundSession> {
    let search = DiscoveryQuery::among(environment.clone(), [Ok(target.clone())], None);
    // Whether sessions are running is not needed here, so no time is needed.
    find::sessions(&search, Timestamp(0))
        .flatten()
        .filter(|found| found.unreadable.is_none())
}

fn at(argument: &OsString, environment: &Environment) -> Result<Target, OpenError> {
    // An argument that is not UTF-8 can only be a path.
    let Some(argument) = argument.to_str() else {
        return Ok(Target::at(argument));
    };
    // `./host:` is a file here, whichever machines are read.
    let is_far = remote::parse(argument).is_some();
    let target = if is_far {
        parse_target(&format!("./{argument}"))
    } else {
        parse_target(argument)
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
        far::resolve(argument)
    };
    match far {
        None => here().unwrap_or_else(|| Ok(parse_target(argument))),
        Some(Err(why)) => Err(why),
        Some(Ok(far::FarTarget::Path(path))) => Ok(parse_target(&path.to_string_lossy())),
        Some(Ok(far::FarTarget::Session(name, there))) => {
            let unknown = || Err(OpenError(format!("{argument}: there is no such session")));
            find::locate(&name, &there).unwrap_or_else(unknown)
        }
    }
}

/// A session, and the entry named after another `#`. In a file, which has only one session, the
/// part after `#` is an entry; elsewhere it is one if no session has the whole name.
pub(crate) fn with_entry(
    argument: &OsString,
    environment: &Environment,
    newest: bool,
) -> Result<(Target, Option<String>), OpenError> {
    let whole = named(argument, environment, newest);
    let session = whole
        .as_ref()
        .ok()
        .and_then(|target| target.session.clone());
    if let (Ok(target), Some(entry)) = (&whole, &session)
        && fs::is_file(&target.path)
        && !open::is_database(&target.path)
    {
        return Ok((Target::at(&target.path), Some(entry.clone())));
    }
    let Some((head, entry)) = argument
        .to_str()
        .and_then(|argument| argument.rsplit_once('#'))
    else {
        return whole.map(|target| (target, None));
    };
    let is_session = |target: &Target| {
        let within = Target::at(&target.path);
        let name = target.session.as_deref().unwrap_or_default();
        let heads = open::sessions(&within).unwrap_or_default();
        heads
            .iter()
            .any(|head| head.id == name || head.key.as_deref() == Some(name))
    };
    let is_there =
        |target: &Target| target.is_stdin() || fs::symlink_metadata(&target.path).is_ok();
    match (whole, named(&head.into(), environment, newest)) {
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
