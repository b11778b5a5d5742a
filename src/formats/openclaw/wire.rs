//! OpenClaw's wire protocols, recorded as JSON: frames of the gateway, messages of channels in the
//! gateway's form and in their own, replies, and sent messages. A file may mix them.
//!
//! Invariant: one entry per frame, except that responses belong to the entries of their requests,
//! and all frames of a run share an entry.

mod channel;
pub mod frame;
mod request;
mod run;

use crate::formats::json::Json;
use crate::formats::pi::message;
use crate::formats::unknown::{self, NamedKind};
use crate::model::edit::Batch;
use crate::model::entry::{Entry, Role};
use crate::model::tally::Fate;
use frame::{WireFrame, payload};
use request::WireRequests;
use run::WireRuns;

/// The state of runs and requests.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    runs: WireRuns,
    requests: WireRequests,
}

impl Wire {
    pub(crate) fn decode(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let frame = frame::of(json).unwrap_or(WireFrame::Reply);
        if frame == WireFrame::Event {
            return self.event(json, out);
        }
        self.runs.flush(out);
        let entry = match frame {
            WireFrame::Request => self.requests.add(json, out),
            WireFrame::Response => {
                let (entry, is_answer) = self.requests.answer(json, out);
                out.entry(entry);
                return if is_answer { Fate::Merged } else { Fate::Shown };
            }
            WireFrame::Event => return other(json, out),
            WireFrame::Message => channel::received(json, json, out),
            WireFrame::Telegram => channel::telegram(json, out),
            WireFrame::Whatsapp => channel::whatsapp(json, out),
            WireFrame::Reply | WireFrame::Sent => channel::reply(json, out),
        };
        shown(entry, out)
    }

    /// Emits the runs that were held back.
    pub(crate) fn flush(&mut self, out: &mut Batch) {
        self.runs.flush(out);
    }

    fn event(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let payload = payload(json);
        let fate = match json.get("event").str_or_empty() {
            "chat" => self.runs.chat(payload, out),
            "agent" => self.runs.agent(payload, out),
            _ => None,
        };
        fate.unwrap_or_else(|| {
            self.runs.flush(out);
            other(json, out)
        })
    }
}

pub(crate) fn is_frame(json: &Json<'_>) -> bool {
    frame::of(json).is_some() || frame::is_plain_reply(json)
}

fn shown(entry: Entry, out: &mut Batch) -> Fate {
    message::title(&entry, out);
    out.show(entry)
}

/// Emits an event that is not a part of an answer.
fn other(json: &Json<'_>, out: &mut Batch) -> Fate {
    let payload = payload(json);
    let at = payload.first(&["ts", "timestamp"], Json::moment);
    let entry = out.new_entry(out.origin_key(), Role::Harness, at);
    unknown::record(
        NamedKind("event", json.get("event").str_or_empty()),
        json,
        entry,
        out,
    )
}
