//! One sample: what was asked, what the model did, how that was scored.

use super::message;
use super::references::{Attached, Sample, Uses, known, usage_of};
use crate::formats::json::Json;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Break, Piece, Raw, Role};
use crate::model::tally::Fate;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::usage::{Scope, Usage};

/// Decodes a sample; keys of its entries begin with `place`.
pub(super) fn sample(json: &Json<'_>, place: Text, out: &mut Batch) -> Fate {
    let id = json.get("id");
    let id = id.str().map_or_else(|| id.to_source(), str::to_owned);
    let epoch = json.get("epoch").count().unwrap_or(1);
    let sample = Sample {
        name: format!("{id}.{epoch}"),
        place,
        attached: Attached::of(json.get("attachments")),
        known: known(json.get("events").items()),
        asked: Uses::default(),
        answered: Uses::default(),
    };
    let started = json
        .get("started_at")
        .moment()
        .or_else(|| json.get("events").items().iter().find_map(|event| event.get("timestamp").moment()));
    begin(json, &sample, (&id, epoch, started), out);
    for (number, item) in json.get("messages").items().iter().enumerate() {
        message::message(item, number, &sample, started, out);
    }
    end(json, &sample, out);
    spend(json.get("model_usage"), &sample, out);
    Fate::Shown
}

fn begin(
    json: &Json<'_>,
    sample: &Sample<'_>,
    (id, epoch, at): (&str, u64, Option<Timestamp>),
    out: &mut Batch,
) {
    let mut entry = out.new_entry(sample.place.clone(), Role::Harness, at);
    let words = format!("sample {id}, epoch {epoch}");
    entry.blocks.push(Batch::block(Piece(0), BlockKind::Break(Break::Setting(Text::clean(&words)))));
    let targets: Vec<&str> = json.get("target").blocks().iter().filter_map(Json::filled).collect();
    if !targets.is_empty() {
        let body = out.output(&sample.attached.text(&targets.join("\n")));
        let raw = Raw { title: "target".into(), body };
        entry.blocks.push(Batch::block(Piece(1), BlockKind::Raw(raw)));
    }
    out.entry(entry);
}

/// How it ended: errors, scores, and how long it took.
fn end(json: &Json<'_>, sample: &Sample<'_>, out: &mut Batch) {
    let origin = &sample.place;
    let last = json.get("events").items().iter().rev().find_map(|event| event.get("timestamp").moment());
    if let Some(error) = json.at(&["error", "message"]).filled() {
        let mut entry = out.new_entry(Text::clean(&format!("{origin}:error")), Role::Harness, last);
        let line = Break::Error(Text::clean(&sample.attached.text(error)));
        entry.blocks.push(Batch::block(Piece(0), BlockKind::Break(line)));
        out.entry(entry);
    }
    let scores = json.get("scores").members();
    let took = json.get("total_time").number().filter(|seconds| *seconds >= 0.0);
    let took = took.and_then(|seconds| Json::Number(seconds * 1000.0).count());
    if scores.is_empty() && took.is_none() {
        return;
    }
    let mut entry = out.new_entry(Text::clean(&format!("{origin}:scores")), Role::Harness, last);
    for (number, (name, score)) in (0..).zip(scores) {
        let value = score.get("value");
        let value = value.str().map_or_else(|| value.to_source(), str::to_owned);
        let said = ["answer", "explanation"].iter().filter_map(|part| score.get(part).filled());
        let said: Vec<String> = said.map(|text| sample.attached.text(text).into_owned()).collect();
        let title = Text::clean(&format!("score {name}: {value}"));
        let body = out.output(&said.join("\n\n"));
        entry.blocks.push(Batch::block(Piece(number), BlockKind::Raw(Raw { title, body })));
    }
    if let Some(ms) = took {
        entry.blocks.push(Batch::block(Piece(u64::MAX), BlockKind::Break(Break::Took(ms))));
    }
    out.entry(entry);
}

/// What the sample took, by model: also what its scorers asked for.
fn spend(usage: &Json<'_>, sample: &Sample<'_>, out: &mut Batch) {
    for (model, counts) in usage.members() {
        let of = Text::clean(&format!("{}:run:{model}", sample.place));
        let usage = Box::new(Usage { scope: Scope::Run, ..usage_of(counts) });
        out.push(Edit::Usage { of, usage, model: Some(Text::clean(model)) });
    }
}
