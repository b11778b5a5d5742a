//! The manifest beside a session's messages: title, end, origin of a fork, and the total cost,
//! which is only compared with the sum of the messages.

use crate::formats::json::Json;
use crate::model::edit::{Batch, MetaEdit, Severity};
use crate::model::entry::{BlockKind, Break, Piece, Role};
use crate::model::record::Origin;
use crate::model::text::{Text, text};

/// The tolerance of the comparison in USD.
const SAME: f64 = 1e-6;

/// The cost of the lead: the sum of its messages, and the total in the manifest.
#[derive(Default)]
pub(super) struct CostCheck {
    summed: f64,
    recorded: Option<(f64, Origin)>,
    is_checked: bool,
}

impl CostCheck {
    pub(super) fn restart(&mut self) {
        self.summed = 0.0;
    }

    /// Adds the cost of a message of the lead.
    pub(super) fn add(&mut self, usd: Option<f64>) {
        self.summed += usd.unwrap_or(0.0);
    }

    /// Emits a notice if the manifest of an ended session has another total.
    pub(super) fn check(&mut self, out: &mut Batch) {
        let Some((recorded, origin)) = self
            .recorded
            .filter(|(recorded, _)| (recorded - self.summed).abs() > SAME)
        else {
            return;
        };
        if !std::mem::replace(&mut self.is_checked, true) {
            out.begin_record(origin);
            let sum = self.summed;
            let what = format!(
                "the manifest tells a cost of ${recorded:.6}, the messages sum up to ${sum:.6}"
            );
            out.notice(Severity::Note, &what);
        }
    }
}

pub(super) fn is_manifest(json: &Json<'_>) -> bool {
    let names_messages = json
        .get("messages_path")
        .str_or_empty()
        .ends_with(".messages.json");
    json.has("session_id")
        && (names_messages || (json.has("started_at") && json.has("enable_tools")))
}

/// Emits the facts of a manifest, and a row for it.
pub(super) fn emit(json: &Json<'_>, bill: &mut CostCheck, out: &mut Batch) {
    let metadata = json.get("metadata");
    let status = json.get("status").str_or_empty();
    let has_ended = matches!(status, "completed" | "failed" | "cancelled");
    let live = match status {
        "running" | "pending" => Some(true),
        _ if has_ended => Some(false),
        // An idle session waits for the user, which its messages show.
        _ => None,
    };
    let edits = [
        json.get("session_id").text().map(MetaEdit::Id),
        metadata
            .get("title")
            .text()
            .map(|title| MetaEdit::Title { rank: 2, title }),
        json.get("cwd").text().map(MetaEdit::Cwd),
        Some(MetaEdit::Live(live)),
    ];
    edits.into_iter().flatten().for_each(|edit| out.meta(edit));
    let cost = metadata
        .get("totalCost")
        .number()
        .filter(|usd| *usd > 0.0 && has_ended);
    bill.recorded = cost.map(|usd| (usd, out.origin()));
    let mut entry = out.new_entry(
        text!("manifest:{}", out.origin().file.0),
        Role::Harness,
        None,
    );
    entry.marks.quiet = true;
    let body = json.to_body(&Text::default(), out);
    entry.push_piece(
        Piece::default(),
        BlockKind::raw(&format!("session {}", facts(json).join(", ")), body),
    );
    let end = match status {
        "failed" => Some(Break::error(&format!("the session failed{}", cause(json)))),
        "cancelled" => Some(Break::Interrupted(Text::clean("the session was cancelled"))),
        _ => None,
    };
    out.entry(entry);
    if let Some(end) = end {
        let key = text!("manifest:{}:end", out.origin().file.0);
        let mut entry = out.new_entry(key, Role::Harness, json.get("ended_at").moment());
        entry.push_piece(Piece::default(), end);
        out.entry(entry);
    }
}

/// The name of the file with the session's messages.
pub(super) fn messages_file<'j>(json: &'j Json<'_>) -> Option<&'j str> {
    let path = json.get("messages_path").filled()?;
    path.rsplit(['/', '\\'])
        .next()
        .filter(|name| name.ends_with(".messages.json"))
}

fn facts(json: &Json<'_>) -> Vec<String> {
    let metadata = json.get("metadata");
    let mut facts = vec![
        json.get("status")
            .filled()
            .unwrap_or("of unknown state")
            .to_owned(),
    ];
    if let Some(code) = json.get("exit_code").int() {
        facts.push(format!("exit {code}"));
    }
    if let Some(pid) = json.get("pid").int() {
        facts.push(format!("process {pid}"));
    }
    if let Some(from) = metadata.at("fork.forkedFromSessionId").filled() {
        facts.push(format!("forked from {from}"));
    }
    // The manifest of a fork still has the path of the session that it came from.
    let id = json.get("session_id").str_or_empty();
    let paths = [json.get("messages_path"), metadata.get("messagesPath")];
    if let Some(other) = paths
        .iter()
        .filter_map(|path| path.filled())
        .find(|path| !path.contains(id))
    {
        facts.push(format!("names the messages of another session, {other}"));
    }
    facts
}

/// The reason for a failure.
fn cause(json: &Json<'_>) -> String {
    let marker = json
        .at("metadata.terminal_marker")
        .filled()
        .map(|marker| marker.replace('_', " "));
    let code = json
        .get("exit_code")
        .int()
        .map(|code| format!("exit {code}"));
    marker
        .or(code)
        .map(|cause| format!(": {cause}"))
        .unwrap_or_default()
}
