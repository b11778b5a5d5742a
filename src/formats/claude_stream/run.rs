//! A run: `system/init` begins it, `result` ends it with the authoritative usage and cost.

use super::sums::{Count, StreamSums};
use crate::formats::anthropic::{self, spent};
use crate::formats::claude::line::TranscriptLine;
use crate::formats::claude::system::setting;
use crate::formats::json::Json;
use crate::formats::tools;
use crate::model::body::Key;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Entry, Role};
use crate::model::figures::count;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::usage::{Scope, Usage};

/// Limit of the denied calls that are named; the closing line has their number.
const DENIALS: usize = 20;

/// The state of a run.
#[derive(Debug, Default)]
pub struct StreamRun {
    /// The model in `system/init`.
    model: Option<Name>,
    /// The last text of the model in the main lane, which the result repeats: stub and size in
    /// bytes.
    last_words: Option<(Text, u32)>,
    /// The error in the last message, if it was one, which the result repeats.
    last_error: Option<Text>,
    sums: StreamSums,
}

impl StreamRun {
    /// Decodes `system/init`.
    pub(crate) fn begin(&mut self, line: &TranscriptLine<'_>, out: &mut Batch) -> Fate {
        let json = line.json;
        self.model = json.get("model").text();
        (self.last_words, self.last_error) = (None, None);
        if let Some(model) = &self.model {
            out.meta(MetaEdit::Model(model.clone()));
        }
        out.meta(MetaEdit::Live(Some(true)));
        let mut facts = vec!["session begins".to_owned()];
        facts.extend(json.get("model").filled().map(str::to_owned));
        facts.extend(
            json.get("permissionMode")
                .filled()
                .map(|mode| format!("permissions {mode}")),
        );
        for (member, what) in [("tools", "tool"), ("mcp_servers", "MCP server")] {
            let n = json.get(member).items().len();
            facts.extend((n > 0).then(|| count(n as u64, what)));
        }
        facts.extend(
            json.get("claude_code_version")
                .filled()
                .map(|version| format!("version {version}")),
        );
        setting(line, &facts.join(" · "), true, out)
    }

    /// Records a message of the model.
    pub(crate) fn add_message(&mut self, entry: &Entry, out: &mut Batch) {
        if let Some(usage) = entry.usage.as_deref() {
            self.sums
                .add(entry.key.clone(), usage.clone(), entry.model.clone(), out);
        }
        let words = entry
            .blocks
            .iter()
            .rev()
            .find_map(|block| match &block.kind {
                BlockKind::Text(body) => Some((body.stub.clone(), body.bytes)),
                _ => None,
            });
        if entry.lane.is_none() {
            self.last_error = entry.blocks.last().and_then(|block| match &block.kind {
                BlockKind::Break(Break::Error(words)) => Some(words.clone()),
                _ => None,
            });
        }
        if entry.lane.is_none() && words.is_some() {
            self.last_words = words;
        }
    }

    pub(crate) fn add_usage(&mut self, of: Key, usage: Usage, out: &mut Batch) {
        self.sums.add(of, usage, self.model.clone(), out);
    }

    /// Decodes `result`.
    pub(crate) fn end(&mut self, line: &TranscriptLine<'_>, out: &mut Batch) -> Fate {
        let json = line.json;
        let (count, difference) = self.sums.close(json, &line.id, out);
        emit_usage(line, &count, self.model.as_ref(), out);
        let block = |what: Break| Block::new(line.piece(), what);
        let mut entry = line.entry(line.id.clone(), Role::Harness, out);
        if json.get("subtype").is("input_required") {
            entry
                .blocks
                .push(block(Break::Waiting(Text::clean("input is required"))));
            out.entry(entry);
            return Fate::Shown;
        }
        out.meta(MetaEdit::Live(Some(false)));
        let is_repeated = self
            .last_error
            .take()
            .is_some_and(|error| json.get("result").text() == Some(error));
        entry.blocks.extend(
            error_of(json)
                .filter(|_| !is_repeated)
                .map(|error| block(Break::Error(error))),
        );
        entry
            .blocks
            .push(block(Break::Ended(Text::clean(&facts(json).join(" · ")))));
        entry.blocks.extend(
            json.get("duration_ms")
                .count()
                .map(|ms| block(Break::Took(ms))),
        );
        let denials = json.get("permission_denials").items().iter();
        entry.blocks.extend(
            denials
                .take(DENIALS)
                .map(|denial| block(Break::Setting(denied(denial)))),
        );
        entry
            .blocks
            .extend(difference.map(|words| block(Break::Setting(words))));
        if !json.get("structured_output").is_null() {
            let block = anthropic::raw(json.get("structured_output"), "structured output", out);
            entry.push_piece(line.piece(), block);
        }
        out.entry(entry);
        self.emit_answer(line, out);
        Fate::Shown
    }

    /// Shows the text of the result, unless it repeats the last text of the model.
    fn emit_answer(&mut self, line: &TranscriptLine<'_>, out: &mut Batch) {
        let Some(answer) = line
            .json
            .get("result")
            .filled()
            .filter(|_| error_of(line.json).is_none())
        else {
            return;
        };
        let body = out.prose(answer);
        let mut entry = line.entry(line.sub_key("answer"), Role::Harness, out);
        let is_copy = self.last_words.take() == Some((body.stub.clone(), body.bytes));
        if !is_copy {
            entry.push_piece(line.piece(), BlockKind::Text(body));
            out.entry(entry);
        }
    }
}

/// The error of a result. `is_error` may come with `success`: then the text of the result is the
/// error.
fn error_of(json: &Json<'_>) -> Option<Text> {
    let subtype = json.get("subtype").str_or_empty();
    if !subtype.starts_with("error") && !json.get("is_error").is_true() {
        return None;
    }
    let mut words = vec![
        subtype
            .trim_start_matches("error")
            .trim_matches('_')
            .replace('_', " "),
    ];
    words.extend(json.get("error").filled().map(str::to_owned));
    words.extend(
        json.get("error_code")
            .filled()
            .map(|code| format!("({code})")),
    );
    words.extend(
        json.get("exit_code")
            .int()
            .map(|code| format!("exit {code}")),
    );
    words.extend(
        json.get("api_error_status")
            .int()
            .map(|status| format!("status {status}")),
    );
    words.extend(
        json.get("errors")
            .items()
            .iter()
            .filter_map(Json::filled)
            .map(str::to_owned),
    );
    words.extend(json.get("result").filled().map(str::to_owned));
    words.retain(|word| !word.is_empty() && word != "success");
    Some(Text::clean(&words.join(" ")))
}

fn facts(json: &Json<'_>) -> Vec<String> {
    let subtype = json.get("subtype").filled().unwrap_or("success");
    let mut facts = vec![if error_of(json).is_some() {
        "failed".to_owned()
    } else {
        subtype.replace('_', " ")
    }];
    facts.extend(
        json.get("num_turns")
            .count()
            .map(|turns| count(turns, "turn")),
    );
    facts.extend(
        json.get("total_cost_usd")
            .number()
            .map(|usd| format!("${usd:.4}")),
    );
    let denials = json.get("permission_denials").items().len();
    facts.extend((denials > 0).then(|| format!("{} not allowed", count(denials as u64, "call"))));
    facts.extend(
        json.get("terminal_reason")
            .filled()
            .filter(|reason| *reason != "completed")
            .map(str::to_owned),
    );
    facts
}

/// `not allowed: Bash rm -rf build`
fn denied(denial: &Json<'_>) -> Text {
    let tool = denial.get("tool_name").str_or_empty();
    let input = denial.get("tool_input");
    let headline = tools::headline(tools::kind_of_call(tool, input), input);
    Text::stub(&format!("not allowed: {tool} {headline}"), 200)
}

/// Emits the usage of a run from `modelUsage`. Messages have early snapshots of usage, and `usage`
/// of a result lacks sub-agents and, after a stop hook, all but the last leg. The cost is emitted
/// once, beside them.
fn emit_usage(line: &TranscriptLine<'_>, count: &Count, model: Option<&Name>, out: &mut Batch) {
    let of = |what: &str| text!("{}:usage{what}", count.key);
    for (name, usage) in &count.totals.models {
        let (of, usage) = (of(&format!(":{name}")), Box::new(usage.clone()));
        out.usage(of, usage, Some(name.clone()));
        let window = line
            .json
            .get("modelUsage")
            .get(name)
            .get("contextWindow")
            .count();
        if let Some(window) = window.filter(|tokens| *tokens > 0)
            && model.is_none_or(|model| model == name)
        {
            out.meta(MetaEdit::Window(window));
        }
    }
    let usage = spent::usage(line.json.get("usage"), out).unwrap_or_default();
    let usage = Usage {
        scope: Scope::Fallback,
        cost: count.totals.unattributed_cost(),
        ..usage
    };
    if usage
        != (Usage {
            scope: Scope::Fallback,
            ..Usage::default()
        })
    {
        out.usage(of(""), usage, model.cloned());
    }
}
