//! A task folder of the extension: the API history is the transcript, the panel's file beside it tells
//! what the requests cost.
//!
//! Invariant: an answer that tells its own usage is not told a second one, so nothing counts twice.

use std::collections::{BTreeMap, HashSet};

use super::content::raw;
use super::message::Told;
use super::panel::{self, request};
use crate::formats::json::{self, Json};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Piece, Role};
use crate::model::moment::Moment;
use crate::model::tally::Fate;
use crate::model::text::Text;

/// Takes the usage out of the panel's messages and gives it to the answers of the history.
pub(super) fn tell(messages: &[Json<'_>], history: &[Told], out: &mut Batch) -> Fate {
    let mut taken: HashSet<&Key> = HashSet::new();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let requests: Vec<Option<Moment>> = messages
        .iter()
        .filter(|message| panel::kind_of(message) == "api_req_started")
        .map(|message| message.get("ts").moment())
        .collect();
    let mut number = 0;
    for message in messages {
        let kind = panel::kind_of(message);
        *kinds.entry(kind).or_default() += 1;
        let is_request = kind == "api_req_started";
        number += usize::from(is_request);
        let told = json::parse(message.get("text").str_or_empty()).unwrap_or(Json::Null);
        let Some(usage) = request::usage(kind, &told, out).filter(|usage| !usage.is_zero()) else { continue };
        let next = requests.get(number).copied().flatten();
        let answer = answer(message, next, history).filter(|answer| is_request && taken.insert(&answer.key));
        if answer.is_some_and(|answer| answer.is_metered) {
            continue;
        }
        let own = || Text::clean(&format!("panel:{}:{kind}", message.get("ts").int().unwrap_or(0)));
        let of = answer.map_or_else(own, |answer| answer.key.clone());
        let model = message.at(&["modelInfo", "modelId"]).text();
        out.push(Edit::Usage { of, usage: Box::new(usage), model });
    }
    let key = Text::clean(&format!("panel:{}", out.origin().file.0));
    let mut entry = out.new_entry(key, Role::Harness, None);
    entry.marks.quiet = true;
    let told: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let shown = raw("what the panel showed, with the usage of the requests", &told.join(", "), out);
    entry.blocks.push(Batch::block(Piece::default(), shown));
    out.entry(entry);
    Fate::Shown
}

/// The answer to a request: two after the message that the request came after, else the first one that
/// was written between this request and the next.
fn answer<'h>(request: &Json<'_>, next: Option<Moment>, history: &'h [Told]) -> Option<&'h Told> {
    if let Some(index) = request.get("conversationHistoryIndex").int() {
        let place = usize::try_from(index.saturating_add(2)).ok()?;
        return history.get(place).filter(|told| told.is_answer);
    }
    let asked = request.get("ts").moment()?;
    history.iter().find(|told| {
        let is_after = told.at.is_some_and(|at| at >= asked);
        is_after && told.is_answer && next.is_none_or(|next| told.at.is_some_and(|at| at < next))
    })
}
