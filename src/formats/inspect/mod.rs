//! inspect-eval: logs of evaluations by Inspect AI: `.eval` archives, whose members are read as
//! lines, and the older documents. A sample is one record with its messages, scores and events.
//!
//! **Messages are the transcript, events have the times.** Events repeat the model's input, which
//! is not shown again; tokens are the sums of the sample by model.
//!
//! Source: <https://inspect.aisi.org.uk/eval-logs.html>.

mod message;
mod references;
mod sample;

use std::borrow::Cow;
use std::path::Path;

use self::references::{Attachments, usage_of};
use super::decoder::{Decoder, Format, Input, RecordPlace};
use super::definition::head::Head;
use super::definition::heads::head;
use super::json::Json;
use super::probe::{Confidence, Probe, ProbeResult};
use super::unknown::{self, NamedKind};
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Piece, Role};
use crate::model::record::Shape;
use crate::model::tally::Fate;
use crate::model::text::{Text, text};
use crate::model::usage::{Scope, Usage};

pub(crate) struct Inspect;

impl Format for Inspect {
    head!("inspect-eval");

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        if probe.is_document && probe.header.is_some_and(is_log) {
            return ProbeResult::yes(
                Confidence::Certain,
                Shape::Document,
                "the log of an evaluation",
            );
        }
        if probe
            .lines
            .iter()
            .any(|line| is_log(line) || is_sample(line))
        {
            return ProbeResult::yes(
                Confidence::Certain,
                Shape::Lines,
                "the parts of the log of an evaluation",
            );
        }
        ProbeResult::no("no evaluation with its samples")
    }

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(InspectDecoder::default())
    }
}

/// Whether a value is the log of an evaluation: a whole document, or the record of its beginning or
/// end.
fn is_log(json: &Json<'_>) -> bool {
    let eval = json.get("eval");
    json.has("version")
        && eval.get("task").filled().is_some()
        && eval.has("model")
        && json.has("plan")
}

fn is_sample(json: &Json<'_>) -> bool {
    json.has("epoch")
        && json.has("id")
        && json.has("input")
        && (json.has("messages") || json.has("target"))
}

#[derive(Default)]
struct InspectDecoder {
    has_header: bool,
}

impl Decoder for InspectDecoder {
    fn head(&self) -> &'static Head {
        Inspect.head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let json = input.json;
        if is_sample(json) {
            return sample::sample(json, out);
        }
        if is_log(json) {
            let fate = self.header(json, input.place == RecordPlace::Header, out);
            // A log on one line contains its samples, and so does a document whose longest list is
            // another one.
            let samples = json
                .get("samples")
                .items()
                .iter()
                .filter(|sample| is_sample(sample));
            return samples.fold(fate, |_, each| sample::sample(each, out));
        }
        // Summaries of samples, and scores over all epochs.
        let is_sum =
            |item: &Json<'_>| item.has("epoch") && item.has("target") || item.has("scorer");
        if matches!(json, Json::Array(items) if items.iter().all(is_sum)) {
            return Fate::Merged;
        }
        let entry = out.new_entry(out.origin_key(), Role::Harness, None);
        unknown::record(NamedKind("type", "part of a log"), json, entry, out)
    }
}

impl InspectDecoder {
    fn header(&mut self, json: &Json<'_>, is_document: bool, out: &mut Batch) -> Fate {
        let eval = json.get("eval");
        // The record of the end repeats the facts of the beginning.
        if std::mem::replace(&mut self.has_header, true) && !json.has("results") {
            return Fate::Merged;
        }
        let fact =
            |name, value: &Json<'_>| value.text().map(|value| MetaEdit::Fact { name, value });
        let facts = [
            eval.get("task")
                .text()
                .map(|title| MetaEdit::Title { rank: 1, title }),
            eval.get("model").text().map(MetaEdit::Model),
            eval.get("eval_id").text().map(MetaEdit::Id),
            eval.at("packages.inspect_ai").text().map(MetaEdit::Version),
            fact("status", json.get("status")),
            fact("dataset", eval.at("dataset.name")),
            fact("solver", eval.get("solver")),
        ];
        for known in facts.into_iter().flatten() {
            out.meta(known);
        }
        if let Some(status) = json.get("status").filled() {
            out.meta(MetaEdit::Live(Some(status == "started")));
        }
        // The total usage counts only if samples are missing or have no usage.
        for (model, counts) in json.at("stats.model_usage").members() {
            let of = text!("stats:{model}");
            let usage = Box::new(Usage {
                scope: Scope::Fallback,
                ..usage_of(counts)
            });
            out.usage(of, usage, Some(Text::clean(model)));
        }
        let at = eval.get("created").moment();
        let mut entry = out.new_entry(out.origin_key(), Role::Harness, at);
        let said = results(json);
        let body = out.output(&said);
        entry.push(BlockKind::raw(
            &format!("evaluation of {}", eval.get("task").str_or_empty()),
            body,
        ));
        entry.blocks.extend(failure(
            json.get("error"),
            Piece(1),
            &Attachments::of(&Json::Null),
            out,
        ));
        out.entry(entry);
        if is_document {
            Fate::Merged
        } else {
            Fate::Shown
        }
    }
}

/// An error with its stack trace.
fn failure(
    error: &Json<'_>,
    first: Piece,
    attached: &Attachments<'_>,
    out: &mut Batch,
) -> Vec<Block> {
    let Some(message) = error.get("message").filled() else {
        return Vec::new();
    };
    let line = BlockKind::Break(Break::error(&attached.text(message)));
    let traceback = error
        .get("traceback")
        .filled()
        .map(|traceback| BlockKind::raw("traceback", out.output(&attached.text(traceback))));
    std::iter::once(line)
        .chain(traceback)
        .zip(first.0..)
        .map(|(kind, at)| Block::new(Piece(at), kind))
        .collect()
}

/// A value as text.
fn value_of(json: &Json<'_>) -> String {
    json.str().map_or_else(|| json.to_source(), str::to_owned)
}

/// The results of the evaluation, one per line.
fn results(json: &Json<'_>) -> String {
    let eval = json.get("eval");
    let mut lines = vec![format!("model {}", eval.get("model").str_or_empty())];
    if let Some(status) = json.get("status").filled() {
        lines.push(format!("status {status}"));
    }
    let results = json.get("results");
    let counts = [
        ("completed_samples", results.get("completed_samples")),
        ("total_samples", results.get("total_samples")),
        ("samples", eval.at("dataset.samples")),
    ];
    for (name, number) in counts {
        lines.extend(number.count().map(|number| format!("{name} {number}")));
    }
    for score in results.get("scores").items() {
        let metric = |(name, metric): &(Cow<'_, str>, Json<'_>)| {
            format!("{name} {}", value_of(metric.get("value")))
        };
        let metrics: Vec<String> = score.get("metrics").members().iter().map(metric).collect();
        lines.push(format!(
            "{}: {}",
            score.get("name").str_or_empty(),
            metrics.join(", ")
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
