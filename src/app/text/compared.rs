//! Asks for the comparison of the session with another run, and takes what the runtime read.

use super::TextPane;
use crate::analysis::phrases;
use crate::app::comparison::{Compared, Comparison, ComparisonState, OtherRun};
use crate::app::effect::Effect;
use crate::app::scene::Scene;
use crate::model::body::Key;
use crate::model::entry::{BlockKind, Break, EntryId};
use crate::model::meta::LaneFacts;
use crate::model::transcript::Transcript;
use crate::session::Session;

/// Maximum number of branches and of sub-agents that are offered.
const OFFERED: usize = 100;
/// Entries at the beginning that may say what the session was forked from.
const HEAD: usize = 50;

/// Asks for a comparison of the session, or of the run at the cursor, with another run.
pub(crate) fn begin(text: &mut TextPane, scene: &mut Scene<'_>, other: &str) -> Vec<Effect> {
    let session = scene.session;
    if session.file.address.is_none() {
        scene.set_status("only a session that lies somewhere, and alone, can be compared");
        return Vec::new();
    }
    let here = run_at(text, &session.transcript);
    let wanted = run_named(&session.transcript, other);
    let (run, own) = match (&wanted, here) {
        // Within a session the run at the cursor is compared, unless it is the other one.
        (OtherRun::Here(of), Some((key, name))) if of.as_ref() != Some(&key) => (Some(key), name),
        _ => (None, "this session".to_owned()),
    };
    if wanted == OtherRun::Here(None) && run.is_none() {
        scene.set_status("the main agent is what would be compared; name another run");
        return Vec::new();
    }
    let names = [own, other.to_owned()];
    text.compared = Some(Comparison {
        names: names.clone(),
        state: ComparisonState::Reading,
    });
    vec![Effect::Compare {
        names,
        run,
        other: wanted,
    }]
}

/// Takes what the runtime read, if it was asked for last.
pub(crate) fn apply(text: &mut TextPane, names: &[String; 2], read: Result<Compared, String>) {
    if let Some(comparison) = &mut text.compared
        && comparison.names == *names
    {
        comparison.state = match read {
            Ok(compared) => ComparisonState::Done(compared),
            Err(why) => ComparisonState::Failed(why),
        };
    }
}

/// The run with a typed name: one of the shown session, else another session.
fn run_named(transcript: &Transcript, name: &str) -> OtherRun {
    if name == "main" {
        return OtherRun::Here(None);
    }
    let number = name.strip_prefix("branch ").map(str::trim);
    let branch = number.and_then(|number| {
        let number: usize = number.parse().ok()?;
        transcript.branches().list.get(number.checked_sub(1)?)
    });
    let key = Key::clean(name);
    let is_named = |lane: &&LaneFacts| lane.name == key || lane.label == key;
    let lane = transcript.lanes().iter().find(is_named);
    let entry = branch.and_then(|branch| branch.entries.first().copied());
    let entry = entry.or_else(|| transcript.find(name));
    let here = lane
        .map(|lane| lane.name.to_string())
        .or_else(|| key_of(transcript, entry?));
    match here {
        Some(key) => OtherRun::Here(Some(key)),
        None => OtherRun::Named(name.to_owned()),
    }
}

/// The sub-agent or the abandoned branch at the cursor, with its name.
fn run_at(text: &TextPane, transcript: &Transcript) -> Option<(String, String)> {
    let id = text.view.focus?.entry;
    if let Some(lane) = transcript.lane_at(id) {
        return Some((lane.to_string(), lane.to_string()));
    }
    let branches = transcript.branches();
    let left = branches.abandoned.contains(&id);
    let branch = branches.of(id).filter(|_| left)?;
    let first = branch.entries.first()?;
    Some((
        key_of(transcript, *first)?,
        format!("branch {}", branch.number),
    ))
}

fn key_of(transcript: &Transcript, id: EntryId) -> Option<String> {
    Some(transcript.get(id)?.key.to_string())
}

/// Runs to compare with, as they are typed, and what each is.
pub(crate) fn candidates(text: &TextPane, session: &Session) -> Vec<(String, String)> {
    let transcript = &session.transcript;
    let here = run_at(text, transcript);
    let mut found: Vec<(String, String)> = Vec::new();
    if here.is_some() {
        found.push(("main".to_owned(), "the main agent".to_owned()));
    }
    if let Some(beside) = &session.file.beside {
        found.push((
            beside.clone(),
            "the session that this one was opened over".to_owned(),
        ));
    }
    if let Some(parent) = forked_from(transcript) {
        found.push((parent, "the session that it was forked from".to_owned()));
    }
    let branches = transcript.branches().list.iter();
    let branches = branches.filter(|branch| !branch.is_active).map(|branch| {
        let left = transcript
            .abandoned_at(branch)
            .map(|at| format!(", left at {}", at.clock()));
        let words = format!(
            "{}{}",
            phrases::abandoned_reason(branch.why),
            left.unwrap_or_default()
        );
        (format!("branch {}", branch.number), words)
    });
    found.extend(branches.take(OFFERED));
    let lanes = transcript.lanes().iter();
    let lanes = lanes.filter(|lane| !lane.is_helper && !lane.entries.is_empty());
    let lanes = lanes.map(|lane| (lane.name.to_string(), format!("sub-agent: {}", lane.label)));
    found.extend(lanes.take(OFFERED));
    found.retain(|(name, _)| here.as_ref().is_none_or(|(_, here)| here != name));
    found
}

/// The session that this one says it was forked from.
fn forked_from(transcript: &Transcript) -> Option<String> {
    let entries = transcript.order().iter().take(HEAD);
    let mut blocks = entries
        .filter_map(|id| transcript.get(*id))
        .flat_map(|entry| &entry.blocks);
    blocks.find_map(|block| match &block.kind {
        BlockKind::Break(Break::Resumed(words) | Break::Setting(words)) => {
            let from = words.strip_prefix("forked from ")?;
            Some(from.strip_prefix("session ").unwrap_or(from).to_owned())
        }
        _ => None,
    })
}
