//! inspect-eval: logs of evaluations by Inspect AI: `.eval` archives, of which each member is a line here, and the
//! older documents. A sample is one record, with its messages, its scores, and the events that they came about by.
//!
//! **Messages are the transcript, events tell when.** What a model was given stands in its events once more, so nothing
//! of their input is shown; tokens are those that the sample sums up by model.
//!
//! Source: <https://inspect.aisi.org.uk/eval-logs.html>.

mod message;
mod references;
mod sample;

use std::borrow::Cow;

use self::references::{Attached, usage_of};
use super::decoder::{Confidence, Decoder, Format, Input, Place, Probe, Verdict};
use super::definition::head::head;
use super::json::Json;
use super::unknown::{self, Kind};
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Piece, Raw, Role};
use crate::model::record::Shape;
use crate::model::tally::Fate;
use crate::model::text::Text;
use crate::model::usage::{Scope, Usage};

/// The format.
pub(crate) struct Inspect;

impl Format for Inspect {
    head!("inspect-eval");

    fn sniff(&self, probe: &Probe<'_>) -> Verdict {
        if probe.is_document && probe.header.is_some_and(is_log) {
            return Verdict::yes(
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
            return Verdict::yes(
                Confidence::Certain,
                Shape::Lines,
                "the parts of the log of an evaluation",
            );
        }
        Verdict::no("no evaluation with its samples")
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(InspectDecoder::default())
    }
}

/// What is said of an evaluation: when it begins, and once more at its end.
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

/// Decodes one log.
#[derive(Default)]
struct InspectDecoder {
    has_header: bool,
}

impl Decoder for InspectDecoder {
    fn format(&self) -> &'static str {
        Inspect.name()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let json = input.json;
        if is_sample(json) {
            return sample::sample(json, out);
        }
        if is_log(json) {
            let fate = self.header(json, input.place == Place::Header, out);
            // A log on one line has its samples within, and so has one whose longest list is another one.
            let samples = json
                .get("samples")
                .items()
                .iter()
                .filter(|sample| is_sample(sample));
            return samples.fold(fate, |_, each| sample::sample(each, out));
        }
        // Summaries of samples, and scores that were put together over epochs.
        let is_sum =
            |item: &Json<'_>| item.has("epoch") && item.has("target") || item.has("scorer");
        if matches!(json, Json::Array(items) if items.iter().all(is_sum)) {
            return Fate::Merged;
        }
        let entry = out.new_entry(out.origin_key(), Role::Harness, None);
        unknown::record(Kind("type", "part of a log"), json, entry, out)
    }
}

impl InspectDecoder {
    fn header(&mut self, json: &Json<'_>, is_document: bool, out: &mut Batch) -> Fate {
        let eval = json.get("eval");
        // What was said at the beginning is said at the end as well.
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
            eval.at(&["packages", "inspect_ai"])
                .text()
                .map(MetaEdit::Version),
            fact("status", json.get("status")),
            fact("dataset", eval.at(&["dataset", "name"])),
            fact("solver", eval.get("solver")),
        ];
        for known in facts.into_iter().flatten() {
            out.meta(known);
        }
        if let Some(status) = json.get("status").filled() {
            out.meta(MetaEdit::Live(Some(status == "started")));
        }
        // What all samples took, for logs that have none of them, or where these do not say.
        for (model, counts) in json.at(&["stats", "model_usage"]).members() {
            let of = Text::clean(&format!("stats:{model}"));
            let usage = Box::new(Usage {
                scope: Scope::Fallback,
                ..usage_of(counts)
            });
            out.push(Edit::Usage {
                of,
                usage,
                model: Some(Text::clean(model)),
            });
        }
        let at = eval.get("created").moment();
        let mut entry = out.new_entry(out.origin_key(), Role::Harness, at);
        let said = results(json);
        let title = Text::clean(&format!(
            "evaluation of {}",
            eval.get("task").str_or_empty()
        ));
        let body = out.output(&said);
        entry
            .blocks
            .push(Batch::block(Piece(0), BlockKind::Raw(Raw { title, body })));
        entry.blocks.extend(failure(
            json.get("error"),
            Piece(1),
            &Attached::of(&Json::Null),
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

/// Why something failed, and where in the program.
fn failure(error: &Json<'_>, first: Piece, attached: &Attached<'_>, out: &mut Batch) -> Vec<Block> {
    let Some(message) = error.get("message").filled() else {
        return Vec::new();
    };
    let line = BlockKind::Break(Break::Error(Text::clean(&attached.text(message))));
    let traceback = error.get("traceback").filled().map(|traceback| {
        let body = out.output(&attached.text(traceback));
        BlockKind::Raw(Raw {
            title: "traceback".into(),
            body,
        })
    });
    std::iter::once(line)
        .chain(traceback)
        .zip(first.0..)
        .map(|(kind, at)| Batch::block(Piece(at), kind))
        .collect()
}

/// A value as it is read.
fn value_of(json: &Json<'_>) -> String {
    json.str().map_or_else(|| json.to_source(), str::to_owned)
}

/// How the evaluation went, a line for each thing.
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
        ("samples", eval.at(&["dataset", "samples"])),
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
