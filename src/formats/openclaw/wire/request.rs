//! Requests to the gateway and their responses: a response is a part of its request's entry, by id.

use std::collections::HashMap;

use itertools::Itertools as _;

use super::channel;
use super::frame::payload;
use crate::formats::json::Json;
use crate::formats::pi::block;
use crate::model::edit::Batch;
use crate::model::entry::{Block, Break, Entry, Piece, Role};

/// Requests by id. If an id is reused, the last request counts.
#[derive(Debug, Default)]
pub(crate) struct WireRequests {
    pending: HashMap<String, Entry>,
}

impl WireRequests {
    /// Adds a request and returns its entry.
    pub(crate) fn add(&mut self, json: &Json<'_>, out: &mut Batch) -> Entry {
        let entry = request(json, out);
        let head = Entry {
            blocks: Vec::new(),
            ..entry.clone()
        };
        if !json.get("id").is_null() {
            self.pending.insert(json.get("id").to_source(), head);
        }
        entry
    }

    /// Decodes a response. Returns its entry and whether the request was found. A request may have
    /// two responses: that it was accepted, and how it ended.
    pub(crate) fn answer(&self, json: &Json<'_>, out: &mut Batch) -> (Entry, bool) {
        let id = json.get("id").to_source();
        let asked = self.pending.get(&id);
        let mut entry = asked
            .cloned()
            .unwrap_or_else(|| out.new_entry(out.origin_key(), Role::Harness, None));
        let error = json.get("error");
        let is_failed = !error.is_null() || *json.get("ok") == Json::Bool(false);
        let status = payload(json)
            .get("status")
            .filled()
            .map(|status| format!(": {status}"));
        let what = if is_failed {
            "error response"
        } else {
            "response"
        };
        let title = format!(
            "{what} to {}{}",
            id.trim_matches('"'),
            status.unwrap_or_default()
        );
        // The response is a piece of its own, so that it does not replace the request.
        let piece = if asked.is_some() {
            out.piece()
        } else {
            Piece(0)
        };
        let mut blocks = vec![block::tree(&title, json, out)];
        if is_failed {
            let recorded = error
                .get("message")
                .filled()
                .or_else(|| error.filled())
                .unwrap_or("the request failed");
            let code = error.get("code");
            let code = if code.is_null() {
                String::new()
            } else {
                format!(" ({})", code.to_source().trim_matches('"'))
            };
            let failure = Break::error(&format!("{recorded}{code}"));
            blocks.push(Block::new(Piece(0), failure));
        }
        entry.blocks = blocks
            .into_iter()
            .map(|block| Block::new(piece, block.kind))
            .collect();
        (entry, asked.is_some())
    }
}

fn request(json: &Json<'_>, out: &mut Batch) -> Entry {
    let method = json.get("method").str_or_empty();
    let params = json.get("params");
    let recorded = params.get("message");
    if recorded.has("From") || recorded.has("Text") {
        return channel::received(recorded, json, out);
    }
    let text = recorded.filled().or_else(|| params.get("text").filled());
    let Some(text) = text else {
        let mut entry = out.new_entry(out.origin_key(), Role::Harness, None);
        entry
            .blocks
            .push(block::tree(&format!("request: {method}"), json, out));
        return entry;
    };
    // `send` and `poll` address a channel, the other methods an agent.
    let is_prompt = matches!(
        method,
        "agent" | "chat.send" | "sessions.send" | "sessions.steer"
    );
    let role = if is_prompt {
        Role::User
    } else {
        Role::Assistant
    };
    let mut entry = out.new_entry(out.origin_key(), role, None);
    entry.marks.prompt = is_prompt;
    let session = params.first(&["sessionKey", "to", "channel"], Json::filled);
    let title = [Some(method), session].into_iter().flatten().join(" · ");
    entry.blocks.extend(block::text(text, out));
    entry.blocks.push(block::tree(&title, json, out));
    entry
}
