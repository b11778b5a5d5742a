//! Decodes one sample: input, messages and scores.

use super::references::{Attachments, EvalSample, IdCounts, event_facts, usage_of};
use super::{failure, message, value_of};
use crate::formats::json::Json;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Piece, Raw, Role};
use crate::model::tally::Fate;
use crate::model::text::{Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::usage::{Scope, Usage};

/// Decodes a sample. Its keys do not depend on its position, since a growing archive gets other
/// samples before it.
pub(super) fn sample(json: &Json<'_>, out: &mut Batch) -> Fate {
    let id = json.get("id");
    let id = value_of(id);
    let epoch = json.get("epoch").count().unwrap_or(1);
    let sample = EvalSample {
        place: text!("sample {id}.{epoch}"),
        name: format!("{id}.{epoch}"),
        attached: Attachments::of(json.get("attachments")),
        known: event_facts(json.get("events").items()),
        asked: IdCounts::default(),
        answered: IdCounts::default(),
    };
    let started = json.get("started_at").moment().or_else(|| {
        json.get("events")
            .items()
            .iter()
            .find_map(|event| event.get("timestamp").moment())
    });
    begin(json, &sample, (&id, epoch, started), out);
    // The messages repeat the input, if there are any.
    let messages = Some(json.get("messages").items()).filter(|messages| !messages.is_empty());
    let input = json.get("input");
    for (number, item) in messages.unwrap_or(input.items()).iter().enumerate() {
        message::message(item, number, &sample, started, out);
    }
    if let Some(asked) = input.filled().filter(|_| messages.is_none()) {
        message::emit_input(asked, &sample, started, out);
    }
    end(json, &sample, out);
    emit_usage(json, &sample, out);
    Fate::Shown
}

fn begin(
    json: &Json<'_>,
    sample: &EvalSample<'_>,
    (id, epoch, at): (&str, u64, Option<Timestamp>),
    out: &mut Batch,
) {
    let mut entry = out.new_entry(sample.place.clone(), Role::Harness, at);
    let words = format!("sample {id}, epoch {epoch}");
    entry.push(Break::setting(&words));
    let targets: Vec<&str> = json
        .get("target")
        .blocks()
        .iter()
        .filter_map(Json::filled)
        .collect();
    if !targets.is_empty() {
        let body = out.output(&sample.attached.text(&targets.join("\n")));
        let raw = Raw {
            title: "target".into(),
            body,
        };
        entry.push_piece(Piece(1), BlockKind::Raw(raw));
    }
    out.entry(entry);
}

/// Emits the end of a sample: errors, scores and duration.
fn end(json: &Json<'_>, sample: &EvalSample<'_>, out: &mut Batch) {
    let origin = &sample.place;
    let last = json
        .get("events")
        .items()
        .iter()
        .rev()
        .find_map(|event| event.get("timestamp").moment());
    let why = failure(json.get("error"), Piece(0), &sample.attached, out);
    if !why.is_empty() {
        let mut entry = out.new_entry(text!("{origin}:error"), Role::Harness, last);
        entry.blocks = why;
        out.entry(entry);
    }
    for name in ["limit", "error_retries", "invalidation"] {
        let value = json.get(name);
        if value.blocks().is_empty() {
            continue;
        }
        let mut entry = out.new_entry(text!("{origin}:{name}"), Role::Harness, last);
        entry.push(value.to_block(name, out));
        out.entry(entry);
    }
    let scores = json.get("scores").members();
    let took = json
        .get("total_time")
        .number()
        .filter(|seconds| *seconds >= 0.0);
    let took = took.and_then(|seconds| Json::Number(seconds * 1000.0).count());
    if scores.is_empty() && took.is_none() {
        return;
    }
    let mut entry = out.new_entry(text!("{origin}:scores"), Role::Harness, last);
    for (number, (name, score)) in (0..).zip(scores) {
        let value = score.get("value");
        let value = value_of(value);
        let said = ["answer", "explanation"]
            .iter()
            .filter_map(|part| score.get(part).filled());
        let said: Vec<String> = said
            .map(|text| sample.attached.text(text).into_owned())
            .collect();
        let body = out.output(&said.join("\n\n"));
        entry.push_piece(
            Piece(number),
            BlockKind::raw(&format!("score {name}: {value}"), body),
        );
    }
    if let Some(ms) = took {
        entry.push_piece(Piece(u64::MAX), Break::Took(ms));
    }
    out.entry(entry);
}

/// Emits the usage of the sample by model, including its scorers. Without sums it is the usage in
/// the events. Sums name models with their provider, answers as the provider returned them.
fn emit_usage(json: &Json<'_>, sample: &EvalSample<'_>, out: &mut Batch) {
    let place = &sample.place;
    let mut spent = |of: String, counts: &Json<'_>, model: Option<Text>| {
        let usage = Box::new(Usage {
            scope: Scope::Run,
            ..usage_of(counts)
        });
        out.usage(Text::clean(&of), usage, model);
    };
    let sums = json.get("model_usage").members();
    let answers = || {
        json.get("events")
            .items()
            .iter()
            .filter(|event| event.get("event").is("model"))
    };
    let own_name = |event: &Json<'_>| event.at("output.model").text();
    for (model, counts) in sums {
        let own = answers()
            .filter(|event| event.get("model").str() == Some(model))
            .find_map(own_name);
        spent(
            format!("{place}:run:{model}"),
            counts,
            own.or_else(|| Some(Text::clean(model))),
        );
    }
    if !sums.is_empty() {
        return;
    }
    for (number, event) in json.get("events").items().iter().enumerate() {
        let counts = event.at("output.usage");
        if event.get("event").is("model") && counts.is_object() {
            let model = own_name(event).or_else(|| event.get("model").text());
            spent(format!("{place}:run:{number}"), counts, model);
        }
    }
}
