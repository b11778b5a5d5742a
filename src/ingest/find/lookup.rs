//! Finds a session by its id, a prefix of it, the name of its file, or the key that its agent gives
//! it. If none matches, the beginnings of the files are read for the ids that they record.

use std::collections::HashSet;
use std::path::Path;

use super::candidates::{Candidate, DatabaseCache, DiscoveryQuery, collect, places};
use super::facts::{FactReader, matches_name_end, recorded_id};
use crate::formats;
use crate::formats::roots::{Environment, SessionName, file_name};
use crate::ingest::target::OpenError;
use crate::model::found::Target;
use crate::model::text::Text;
use crate::model::text::likeness::likeness;
use crate::model::timestamp::Timestamp;

/// Limit of the sessions in an error message, when several match or are similar.
const NAMED: usize = 3;
/// Characters of an id and of a title in such a message.
const NAME: usize = 8;
const TITLE: usize = 18;
/// Least similarity of a word of a session's title or folder to a mistyped one.
const LIKE: f64 = 0.85;

/// Quality of a match, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    Exact,
    ExactArchive,
    Beginning,
    BeginningOfArchive,
    /// The file name ends with the beginning of the session's id.
    End,
}

/// Finds the session for an argument that is no path. `None`: it does not have the form of a name,
/// or the agents' folders are unknown.
pub(crate) fn locate(
    argument: &str,
    environment: &Environment,
) -> Option<Result<Target, OpenError>> {
    if places(environment).is_empty() || !is_possible_name(argument) {
        return None;
    }
    Some(match matching(argument, environment).as_slice() {
        [] => Err(none(argument, environment)),
        [(_, only)] => Ok(only.place()),
        several => Err(ambiguous(argument, several, environment)),
    })
}

/// Whether a word matches any session.
pub(crate) fn is_name(argument: &str, environment: &Environment) -> bool {
    is_possible_name(argument) && !matching(argument, environment).is_empty()
}

/// The sessions that match a word best.
fn matching(argument: &str, environment: &Environment) -> Vec<(Match, Candidate)> {
    let search = DiscoveryQuery {
        environment: environment.clone(),
        ..DiscoveryQuery::default()
    };
    let candidates = collect(&search, &mut DatabaseCache::default()).candidates;
    let mut facts = FactReader::new(Timestamp(0));
    let those = |how: &mut dyn FnMut(&Candidate) -> Option<Match>| -> Vec<_> {
        let how = |candidate: &Candidate| Some((how(candidate)?, candidate.clone()));
        candidates.iter().filter_map(how).collect()
    };
    let mut matches = those(&mut |candidate| match_of(candidate, argument, &mut facts));
    if matches.is_empty() {
        // Some files have another name than the session in them.
        matches = those(&mut |candidate| {
            let id = recorded_id(candidate)?;
            rank(
                *id == *argument,
                id.starts_with(argument),
                candidate.is_archive,
            )
        });
    }
    let best = matches.iter().map(|(how, _)| *how).min();
    matches.retain(|(how, _)| Some(*how) == best);
    matches
}

/// Ids, keys and titles have no slashes and do not begin with a dot or a dash. No session is opened
/// by its title, but a mistaken one is told its id.
fn is_possible_name(argument: &str) -> bool {
    let is_of_a_name = |c: char| !c.is_control() && !matches!(c, '/' | '\\' | '*');
    !argument.is_empty()
        && !argument.starts_with(['.', '-', '~'])
        && argument.chars().all(is_of_a_name)
}

fn match_of(candidate: &Candidate, name: &str, facts: &mut FactReader) -> Option<Match> {
    let file = if candidate.row.is_some() {
        ""
    } else {
        file_name(&candidate.path)
    };
    // Only keys contain colons, and for keys of files an index must be read.
    let key = candidate
        .row
        .as_ref()
        .and_then(|row| row.key.clone())
        .or_else(|| {
            let format = candidate
                .format
                .filter(|_| name.contains(':') && candidate.row.is_none())?;
            facts.listing(candidate, format).map(|listing| listing.key)
        });
    let names = [
        candidate.id.as_str(),
        file,
        key.as_deref().unwrap_or_default(),
    ];
    if file == name {
        return Some(Match::Exact);
    }
    let begins = names.iter().any(|known| known.starts_with(name));
    let end = || matches_name_end(name, &candidate.id).then_some(Match::End);
    rank(names.contains(&name), begins, candidate.is_archive).or_else(end)
}

fn rank(is_exact: bool, is_beginning: bool, is_archive: bool) -> Option<Match> {
    match (is_exact, is_beginning, is_archive) {
        (true, _, false) => Some(Match::Exact),
        (true, _, true) => Some(Match::ExactArchive),
        (false, true, false) => Some(Match::Beginning),
        (false, true, true) => Some(Match::BeginningOfArchive),
        (false, false, _) => None,
    }
}

/// Id and agent of a session, as far as the path of its file tells.
pub(crate) fn name_of_file(path: &Path, format: &str) -> Option<(Text, Option<Text>)> {
    let named = formats::named(format)
        .and_then(|format| format.session_name(path))
        .or_else(|| SessionName::stem(path))?;
    Some((Text::clean(named.id), named.agent.map(Text::clean)))
}

fn none(argument: &str, environment: &Environment) -> OpenError {
    let near = suggestions(argument, environment);
    let near = if near.is_empty() {
        String::new()
    } else {
        format!("; near: {}", near.join(", "))
    };
    OpenError(format!(
        "{argument}: no file, folder or session is called so{near}; `tv list` shows all"
    ))
}

/// The newest sessions with the word, or one like it, in their id, title or folder.
fn suggestions(argument: &str, environment: &Environment) -> Vec<String> {
    let search = DiscoveryQuery {
        environment: environment.clone(),
        ..DiscoveryQuery::default()
    };
    let candidates = collect(&search, &mut DatabaseCache::default()).candidates;
    let mut facts = FactReader::new(Timestamp(0));
    let wanted = argument.to_lowercase();
    let name = |candidate: Candidate| {
        let found = facts.read(candidate)?;
        let title = found.title.clone().unwrap_or_default();
        let has = |text: &Text| {
            let text = text.to_lowercase();
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            text.contains(&wanted) || words.any(|word| likeness(&wanted, word) >= LIKE)
        };
        let is_near = [Some(&found.id), Some(&title), found.cwd.as_ref()]
            .into_iter()
            .flatten()
            .any(has);
        let id: String = found.id.chars().take(NAME).collect();
        let begin: String = title.chars().take(TITLE).collect();
        let title = if begin.len() < title.len() {
            format!("{}…", begin.trim_end())
        } else {
            begin
        };
        is_near.then(|| {
            if title.is_empty() {
                id
            } else {
                format!("{id} {title}")
            }
        })
    };
    candidates
        .into_iter()
        .filter_map(name)
        .take(NAMED)
        .collect()
}

fn ambiguous(
    argument: &str,
    several: &[(Match, Candidate)],
    environment: &Environment,
) -> OpenError {
    let differ = |length: usize| {
        let ids = several
            .iter()
            .map(|(_, candidate)| candidate.id.get(..length));
        ids.collect::<HashSet<_>>().len() == several.len()
    };
    let length = (NAME..=argument.len() + NAME).find(|length| differ(*length));
    let name = |(_, candidate): &(Match, Candidate)| {
        let id = length.and_then(|length| candidate.id.get(..length));
        match (id, candidate.format) {
            (Some(id), Some(format)) => format!("{id} ({})", format.name()),
            _ => environment.shortened(&candidate.path),
        }
    };
    let mut named: Vec<String> = several.iter().take(NAMED).map(name).collect();
    if several.len() > NAMED {
        named.push(format!("and {} more", several.len() - NAMED));
    }
    OpenError(format!(
        "{argument} names {} sessions, newest first: {}; give more of the id, or the path",
        several.len(),
        named.join(", ")
    ))
}
