//! A task folder of the extension: the API history is the transcript, and the panel's file beside
//! it has the usage of requests.
//!
//! Invariant: an answer has one usage, which is that of its request in the panel, with cost and
//! cache, completed by its own. So nothing is counted twice.

use std::collections::{BTreeMap, HashSet};

use super::content::raw;
use super::message::KnownMessage;
use super::panel::{self, block, request};
use crate::formats::json::{self, Json};
use crate::formats::unknown;
use crate::model::edit::Batch;
use crate::model::entry::{Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;

/// Joins the usage in the panel's messages with the answers of the history. Unknown messages of the
/// panel are shown.
pub(super) fn emit(messages: &[Json<'_>], history: &mut [KnownMessage], out: &mut Batch) -> Fate {
    let mut taken: HashSet<usize> = HashSet::new();
    let mut kinds: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    let requests: Vec<Option<Timestamp>> = messages
        .iter()
        .filter(|message| panel::kind_of(message) == "api_req_started")
        .map(|message| message.get("ts").moment())
        .collect();
    let mut number = 0;
    for message in messages {
        let kind = panel::kind_of(message);
        let (count, is_unread) = kinds
            .entry(kind)
            .or_insert_with(|| (0, block::is_unread(kind, message)));
        *count += 1;
        if *is_unread && block::is_panel_only(kind, message, out) {
            let key = Text::clean(&format!("panel:{}:{kind}:{count}", out.origin().file.0));
            let entry = out.new_entry(key, Role::Harness, message.get("ts").moment());
            unknown::record(block::name_of(kind, message), message, entry, out);
            continue;
        }
        let is_request = kind == "api_req_started";
        number += usize::from(is_request);
        let payload = json::read(message.get("text").str_or_empty()).unwrap_or(Json::Null);
        let Some(usage) = request::usage(kind, &payload, out).filter(|usage| !usage.is_zero())
        else {
            continue;
        };
        let next = requests.get(number).copied().flatten();
        let place =
            answer(message, next, history).filter(|place| is_request && taken.insert(*place));
        let answer = place.and_then(|place| history.get_mut(place));
        let own = || {
            Text::clean(&format!(
                "panel:{}:{kind}",
                message.get("ts").int().unwrap_or(0)
            ))
        };
        let of = answer
            .as_ref()
            .map_or_else(own, |answer| answer.key.clone());
        let model = message.at(&["modelInfo", "modelId"]).text();
        let usage = match answer {
            Some(answer) => {
                answer.is_billed = true;
                completed(usage, answer.usage.as_ref())
            }
            None => usage,
        };
        out.usage(of, usage, model);
    }
    let key = Text::clean(&format!("panel:{}", out.origin().file.0));
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
fn answer(request: &Json<'_>, next: Option<Timestamp>, history: &[KnownMessage]) -> Option<usize> {
    if let Some(index) = request.get("conversationHistoryIndex").int() {
        let place = usize::try_from(index.saturating_add(2)).ok()?;
        return history
            .get(place)
            .filter(|message| message.is_answer)
            .map(|_| place);
    }
    let asked = request.get("ts").moment()?;
    history.iter().position(|message| {
        let is_after = message.at.is_some_and(|at| at >= asked);
        is_after
            && message.is_answer
            && next.is_none_or(|next| message.at.is_some_and(|at| at < next))
    })
}
