//! Sessions that the calls of a session started: their rows become lanes of the calls.

use std::collections::HashMap;
use std::path::Path;

use super::envelope;
use crate::formats::decoder::{Decoder, Input};
use crate::formats::json::Json;
use crate::formats::pi::session::SessionDecoder;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};

/// The lanes of one session.
#[derive(Default)]
pub struct Lanes {
    /// Session keys that results of calls named.
    keys: Vec<Name>,
    decoders: HashMap<Name, SessionDecoder>,
}

impl Lanes {
    /// Asks for the session that a record names as the child of its call.
    pub fn see(&mut self, json: &Json<'_>, out: &mut Batch) {
        let Some(key) = json.at(&["message", "details", "childSessionKey"]).text() else { return };
        if !self.keys.contains(&key) {
            let id = last(&key);
            out.wanted.push(Text::clean(&format!("session/{id}")));
            self.keys.push(key);
        }
    }

    /// Decodes a record of the session that lies at `path` beside this one.
    pub fn decode(&mut self, path: &Path, input: Input<'_>, out: &mut Batch) -> Fate {
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let lane = self.keys.iter().find(|key| last(key) == id).cloned().unwrap_or_else(|| Text::clean(&id));
        let decoder =
            self.decoders.entry(lane.clone()).or_insert_with(|| SessionDecoder::new(envelope::open));
        let told = out.edits.len();
        let fate = decoder.decode(input, out);
        into_lane(told, &lane, out);
        self.see(input.json, out);
        fate
    }

    /// Gives out what was held back.
    pub fn finish(&mut self, out: &mut Batch) {
        for (lane, decoder) in &mut self.decoders {
            let told = out.edits.len();
            decoder.finish(out);
            into_lane(told, lane, out);
        }
    }
}

/// The id in a session key.
fn last(key: &Text) -> &str {
    key.rsplit(':').next().unwrap_or_default()
}

/// Makes what was told since then the lane's. Facts about a child are none about the session.
fn into_lane(told: usize, lane: &Name, out: &mut Batch) {
    let edits = out.edits.split_off(told.min(out.edits.len()));
    out.edits.extend(edits.into_iter().filter_map(|edit| match edit {
        Edit::Entry(mut entry) => {
            entry.lane = Some(lane.clone());
            Some(Edit::Entry(entry))
        }
        Edit::Result { call, result, .. } => Some(Edit::Result { call, result, lane: Some(lane.clone()) }),
        Edit::Link { .. } => None,
        Edit::Meta(fact) => matches!(fact, MetaEdit::Lane { .. }).then_some(Edit::Meta(fact)),
        other @ (Edit::State { .. } | Edit::Usage { .. } | Edit::Retire(_) | Edit::RetirePiece { .. }) => {
            Some(other)
        }
    }));
}
