//! A task folder of the extension has its session twice: as the API history and as the messages of the
//! panel. Either may be opened; of the one beside it only what was spent is added.
//!
//! Invariant: an answer has one usage, which is that of its request in the panel, with cost and
//! cache, completed by its own. So nothing is counted twice, whichever file was opened.

use std::collections::{BTreeMap, HashSet};

use super::content::raw;
use super::message::KnownMessage;
use super::panel::request::{self, PanelRequest};
use super::panel::{self, block};
use crate::formats::json::{self, Json};
use crate::formats::unknown;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::text;
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;

/// Joins the usage in the panel's messages with the answers of the history. Unknown messages of the
/// panel are shown.
pub(super) fn emit(messages: &[Json<'_>], history: &mut [KnownMessage], out: &mut Batch) -> Fate {
    let mut kinds: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    let mut requests = Vec::new();
    for message in messages {
        let kind = panel::kind_of(message);
        let (count, is_unread) = kinds
            .entry(kind)
            .or_insert_with(|| (0, block::is_unread(kind, message)));
        *count += 1;
        if *is_unread && block::is_panel_only(kind, message, out) {
            let key = text!("panel:{}:{kind}:{count}", out.origin().file.0);
            let entry = out.new_entry(key, Role::Harness, message.get("ts").moment());
            unknown::record(block::name_of(kind, message), message, entry, out);
            continue;
        }
        let payload = json::read(message.get("text").str_or_empty()).unwrap_or(Json::Null);
        let usage = request::usage(kind, &payload, out);
        let ts = message.get("ts").int().unwrap_or(0);
        let request = PanelRequest::new(message, text!("panel:{ts}:{kind}"), usage);
        if kind == "api_req_started" {
            requests.push(request);
        } else if let Some(usage) = request.usage {
            out.usage(request.key, usage, request.model);
        }
    }
    bill(&requests, history, |_, answer| answer.key.clone(), out);
    let key = text!("panel:{}", out.origin().file.0);
    let mut entry = out.new_entry(key, Role::Harness, None);
    entry.marks.quiet = true;
    let counts: Vec<String> = kinds
        .iter()
        .map(|(kind, (count, _))| format!("{count} {kind}"))
        .collect();
    let shown = raw(
        "what the panel showed, with the usage of the requests",
        &counts.join(", "),
        out,
    );
    entry.push_piece(Piece::default(), shown);
    out.show(entry)
}

/// Emits the usage of the panel's requests, of each completed by that of its answer and for the key
/// that `key_of` selects of the two.
pub(super) fn bill(
    requests: &[PanelRequest],
    history: &mut [KnownMessage],
    key_of: fn(&PanelRequest, &KnownMessage) -> Key,
    out: &mut Batch,
) {
    let mut taken: HashSet<usize> = HashSet::new();
    let ends = requests.iter().skip(1).map(|next| next.at);
    for (request, next) in requests.iter().zip(ends.chain([None])) {
        let Some(usage) = request.usage.clone() else {
            continue;
        };
        let place = answer(request, next, history).filter(|place| taken.insert(*place));
        let (of, usage) = match place.and_then(|place| history.get_mut(place)) {
            Some(answer) => {
                answer.is_billed = true;
                let usage = completed(usage, answer.usage.as_ref());
                (key_of(request, answer), usage)
            }
            None => (request.key.clone(), usage),
        };
        out.usage(of, usage, request.model.clone());
    }
}

/// The usage in the panel, completed by that of the answer.
fn completed(panel: Usage, answer: Option<&Usage>) -> Usage {
    let Some(answer) = answer else { return panel };
    Usage {
        input: panel.input.or(answer.input),
        output: panel.output.or(answer.output),
        cache_read: panel.cache_read.or(answer.cache_read),
        cache_write: panel.cache_write.or(answer.cache_write),
        cost: panel.cost.or(answer.cost),
        ..panel
    }
}

/// The position of the answer to a request in the history: two after the recorded index of the
/// message before the request, or else the first answer between this request and the next.
fn answer(
    request: &PanelRequest,
    next: Option<Timestamp>,
    history: &[KnownMessage],
) -> Option<usize> {
    if let Some(index) = request.index {
        let place = usize::try_from(index.saturating_add(2)).ok()?;
        return history
            .get(place)
            .filter(|message| message.is_answer)
            .map(|_| place);
    }
    let asked = request.at?;
    history.iter().position(|message| {
        let is_after = message.at.is_some_and(|at| at >= asked);
        is_after
            && message.is_answer
            && next.is_none_or(|next| message.at.is_some_and(|at| at < next))
    })
}
