//! A compact notation of a transcript for reviews of snapshots: a line per block.

use std::fmt::Write as _;

use tv::model::body::{Body, Held, Image, Tree};
use tv::model::edit::Severity;
use tv::model::entry::{BlockKind, Break, Entry, Sent};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolCall, ToolResult, ToolState};
use tv::model::totals::ModelUsage;
use tv::model::transcript::Transcript;
use tv::model::usage::{Scope, Usage};

/// Longer texts are shown by their stubs.
const WHOLE_UP_TO: usize = 200;

/// All of a transcript.
pub(crate) fn transcript(transcript: &Transcript) -> String {
    let mut out = session(transcript);
    for entry in transcript.entries() {
        out += &self::entry(entry, transcript);
    }
    out += &sums(transcript);
    out
}

fn session(transcript: &Transcript) -> String {
    let meta = transcript.meta();
    let mut out = String::from("session");
    let facts = [
        ("id", meta.id.as_ref()),
        ("title", meta.title()),
        ("agent", meta.agent.as_ref()),
        ("cwd", meta.cwd.as_ref()),
        ("model", meta.model.as_ref()),
    ];
    for (name, fact) in facts {
        if let Some(fact) = fact {
            write!(out, " {name}={:?}", short(fact)).unwrap();
        }
    }
    if !meta.versions.is_empty() {
        write!(out, " versions={:?}", meta.versions).unwrap();
    }
    if meta.models.len() > 1 {
        write!(out, " models={:?}", meta.models).unwrap();
    }
    if let Some(window) = meta.window {
        write!(out, " window={window}").unwrap();
    }
    if let Some(live) = meta.live {
        write!(out, " live={live}").unwrap();
    }
    out.push('\n');
    for lane in transcript.lanes() {
        let call = lane.call.as_deref().unwrap_or("-");
        let n = lane.entries.len();
        writeln!(
            out,
            "lane {} {:?} call={call} entries={n}",
            lane.name, lane.label
        )
        .unwrap();
    }
    out
}

/// One entry: a head line, a line for each block, usage.
pub(crate) fn entry(entry: &Entry, transcript: &Transcript) -> String {
    let mut out = format!("\n{} {}", time(entry.at), entry.role.word());
    let marks = entry.marks;
    let named = [
        (marks.prompt, "prompt"),
        (marks.quiet, "quiet"),
        (marks.trace, "trace"),
        (marks.copy, "copy"),
        (marks.open, "open"),
        (marks.undone, "undone"),
        (marks.unsent, "unsent"),
        (is_abandoned(entry, transcript), "abandoned"),
    ];
    for (is_set, mark) in named {
        if is_set {
            write!(out, " {mark}").unwrap();
        }
    }
    if let Some(from) = &entry.from {
        write!(out, " by {}", from.kind.word()).unwrap();
        if let Some(name) = &from.name {
            write!(out, "={name}").unwrap();
        }
    }
    if let Some(model) = &entry.model {
        write!(out, " {model}").unwrap();
    }
    if let Some(lane) = &entry.lane {
        write!(out, " lane={lane}").unwrap();
    }
    write!(out, " key={}", short(&entry.key)).unwrap();
    if let Some(parent) = &entry.parent {
        write!(out, " parent={}", short(parent)).unwrap();
    }
    writeln!(out, " from={}:{}", entry.origin.file.0, entry.origin.line).unwrap();
    for block in &entry.blocks {
        out += &sent(&block.sent);
        out += &self::block(&block.kind);
    }
    if let Some(usage) = &entry.usage {
        writeln!(out, "  usage {}", self::usage(usage)).unwrap();
    }
    out
}

fn is_abandoned(entry: &Entry, transcript: &Transcript) -> bool {
    transcript
        .find(&entry.key)
        .is_some_and(|id| transcript.branches().abandoned.contains(&id))
}

/// What the model was sent of the block below, unless that is the usual.
fn sent(sent: &Sent) -> String {
    match sent {
        Sent::Usual => String::new(),
        Sent::Whole => "  [sent whole]\n".to_owned(),
        Sent::Never => "  [never sent]\n".to_owned(),
        Sent::Until(end) => format!("  [result sent until {}]\n", time(Some(*end))),
        Sent::As(words) => format!("  [sent as {words:?}]\n"),
    }
}

fn block(kind: &BlockKind) -> String {
    match kind {
        BlockKind::Text(body) => format!("  text {}\n", self::body(body)),
        BlockKind::Thinking(body) => format!("  thinking {}\n", self::body(body)),
        BlockKind::Call(call) => self::call(call),
        BlockKind::Result(stray) => {
            let what = if stray.duplicate {
                "duplicate"
            } else {
                "stray"
            };
            format!(
                "  {what} result of {:?}\n{}",
                stray.call,
                result(&stray.result)
            )
        }
        BlockKind::Image(image) => format!("  {}\n", self::image(image)),
        BlockKind::Break(line) => format!("  --- {}\n", self::line(line)),
        BlockKind::Raw(raw) => format!("  raw {:?} {}\n", raw.title, body(&raw.body)),
        BlockKind::Aside(judged, raw) => {
            format!("  {} {:?} {}\n", judged.word(), raw.title, body(&raw.body))
        }
    }
}

fn call(call: &ToolCall) -> String {
    let mut out = format!(
        "  call {} {} {:?}",
        call.kind.word(),
        call.name,
        short(&call.headline)
    );
    write!(out, " {}", state(&call.state)).unwrap();
    if let (Some(start), Some(end)) = (
        call.started,
        call.state.result().and_then(|result| result.at),
    ) {
        write!(out, " after {} ms", end.since(start)).unwrap();
    }
    if let Some(lane) = &call.lane {
        write!(out, " lane={lane}").unwrap();
    }
    writeln!(out, " id={}", short(&call.key)).unwrap();
    writeln!(out, "    input {}", body(&call.input)).unwrap();
    if let Some(live) = call.state.live_output() {
        writeln!(out, "    so far {}", body(live)).unwrap();
    }
    if let Some(result) = call.state.result() {
        out += &self::result(result);
    }
    out
}

fn result(result: &ToolResult) -> String {
    let mut out = String::from("    result");
    if !result.facts.is_empty() {
        write!(out, " [{}]", result.facts).unwrap();
    }
    if let Some(ms) = result.duration_ms {
        write!(out, " took {ms} ms").unwrap();
    }
    writeln!(out, " {}", body(&result.body)).unwrap();
    if let Some(patch) = &result.patch {
        writeln!(out, "    patch {}", body(patch)).unwrap();
    }
    for image in &result.images {
        writeln!(out, "    {}", self::image(image)).unwrap();
    }
    out
}

fn image(image: &Image) -> String {
    let bytes = image
        .bytes
        .map_or_else(|| "?".to_owned(), |n| n.to_string());
    let source = image
        .source
        .as_ref()
        .map(|source| format!(" {source:?}"))
        .unwrap_or_default();
    format!("image {:?} {bytes} B{source}", image.mime)
}

fn line(line: &Break) -> String {
    match line {
        Break::Compaction {
            before,
            after,
            trigger,
            partial,
            took,
        } => {
            let partly = if *partial { " partial" } else { "" };
            let took = took.map(|ms| format!(" took={ms}")).unwrap_or_default();
            format!("compaction{partly} {trigger:?} before={before:?} after={after:?}{took}")
        }
        Break::Branch(text) => format!("branch {:?}", short(text)),
        Break::Interrupted(text) => format!("interrupted {:?}", short(text)),
        Break::Resumed(text) => format!("resumed {:?}", short(text)),
        Break::Error(text) => format!("error {:?}", short(text)),
        Break::ModelChange(name) => format!("model {name}"),
        Break::Setting(text) => format!("setting {:?}", short(text)),
        Break::Ended(text) => format!("ended {:?}", short(text)),
        Break::Continued(id) => format!("continued {id}"),
        Break::Waiting(text) => format!("waiting {:?}", short(text)),
        Break::Took(ms) => format!("took {ms}"),
    }
}

fn body(body: &Body) -> String {
    let shown = match &body.held {
        Held::Stub => visible(&body.stub),
        Held::Text(text) if text.len() <= WHOLE_UP_TO => visible(text),
        Held::Text(_) => format!("{} …", visible(&body.stub)),
        Held::Tree(tree) => json(tree),
        Held::OnDisk => format!("away: {}", visible(&body.stub)),
    };
    let lines = if body.lines == 1 {
        String::new()
    } else {
        format!(" {} lines", body.lines)
    };
    format!("{} B{lines} | {shown}", body.bytes)
}

fn visible(text: &str) -> String {
    text.replace('\n', "⏎")
        .replace('\t', "⇥")
        .replace('\u{1b}', "␛")
}

/// A tree on one line; long strings are cut.
fn json(tree: &Tree) -> String {
    match tree {
        Tree::Null => "null".to_owned(),
        Tree::Bool(bool) => bool.to_string(),
        Tree::Number(number) => number.to_string(),
        Tree::Text(text) => format!("{:?}", short(text)),
        Tree::List(items) => format!(
            "[{}]",
            items.iter().map(json).collect::<Vec<_>>().join(", ")
        ),
        Tree::Map(members) => {
            let member = |(name, value): &(Text, Tree)| format!("{name}: {}", json(value));
            format!(
                "{{{}}}",
                members.iter().map(member).collect::<Vec<_>>().join(", ")
            )
        }
    }
}

fn short(text: &str) -> String {
    const MAX: usize = 72;
    let mut short: String = text.chars().take(MAX).collect();
    if text.chars().nth(MAX).is_some() {
        short.push('…');
    }
    short
}

fn state(state: &ToolState) -> &'static str {
    match state {
        ToolState::Running | ToolState::Streaming(_) => "running",
        other => other.word(),
    }
}

fn usage(usage: &Usage) -> String {
    let scope = match usage.scope {
        Scope::Request => "",
        Scope::Extra => "extra ",
        Scope::Run => "run ",
        Scope::Total => "total ",
        Scope::Fallback => "fallback ",
        Scope::Open => "open ",
    };
    let parts = [
        ("in", usage.input),
        ("out", usage.output),
        ("read", usage.cache_read),
        ("write", usage.cache_write),
        ("write1h", usage.cache_write_1h),
        ("reasoning", usage.reasoning),
    ];
    let mut words: Vec<String> = parts
        .iter()
        .filter_map(|(name, n)| n.map(|n| format!("{name}={n}")))
        .collect();
    words.extend(usage.cost.map(|usd| format!("usd={usd:.6}")));
    words.extend(usage.terms.iter().map(|term| format!("on={term}")));
    words.extend(usage.last.as_ref().map(|last| {
        let prompt = [last.input, last.cache_read, last.cache_write]
            .into_iter()
            .flatten()
            .sum::<u64>();
        format!("last={prompt}+{}", last.output.unwrap_or(0))
    }));
    format!("{scope}{}", words.join(" "))
}

fn time(at: Option<Timestamp>) -> String {
    at.map_or_else(|| "-".to_owned(), Timestamp::to_rfc3339)
}

fn sums(transcript: &Transcript) -> String {
    let mut out = String::from("\n=== sums\n");
    writeln!(
        out,
        "turns {} branches {}",
        transcript.turns().len(),
        transcript.branches().roots.len()
    )
    .unwrap();
    for branch in &transcript.branches().list {
        let keys: Vec<String> = branch
            .entries
            .iter()
            .filter_map(|id| Some(short(&transcript.get(*id)?.key)))
            .collect();
        let active = if branch.is_active {
            " active again"
        } else {
            ""
        };
        let why = branch.why.word();
        writeln!(
            out,
            "branch {} {why}{active}: {}",
            branch.number,
            keys.join(" ")
        )
        .unwrap();
    }
    for (model, spent) in transcript.totals().by_model().iter() {
        if !is_nothing(spent) {
            writeln!(out, "spent {model:?} {}", self::spent(spent)).unwrap();
        }
    }
    writeln!(out, "spent in all {}", spent(&transcript.totals().sum())).unwrap();
    if let Some(usd) = transcript.totals().run_cost() {
        writeln!(out, "run cost usd={usd:.6}").unwrap();
    }
    let tally = transcript.tally();
    let records = tally.records();
    writeln!(
        out,
        "records {records} = {} shown + {} merged + {} passed + {} faulty",
        tally.shown, tally.merged, tally.passed, tally.faulty
    )
    .unwrap();
    for (reason, n) in &tally.reasons {
        writeln!(out, "passed {n} × {reason}").unwrap();
    }
    for (what, found) in &tally.unknown {
        let (n, judged, first) = (found.count(), found.judged().word(), found.first);
        writeln!(
            out,
            "unknown {n} × {what}, {judged}, first at {}:{}",
            first.file.0, first.line
        )
        .unwrap();
    }
    for notice in transcript.notices() {
        let severity = match notice.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let (file, line) = (notice.origin.file.0, notice.origin.line);
        writeln!(out, "{severity} at {file}:{line} {}", visible(&notice.what)).unwrap();
    }
    out
}

fn is_nothing(spent: &ModelUsage) -> bool {
    spent.requests == 0 && spent.input.recorded + spent.output.recorded + spent.priced == 0
}

fn spent(spent: &ModelUsage) -> String {
    let sums = [
        ("in", spent.input),
        ("out", spent.output),
        ("read", spent.cache_read),
        ("write", spent.cache_write),
        ("reasoning", spent.reasoning),
    ];
    let mut words = vec![format!("requests={}", spent.requests)];
    words.extend(
        sums.iter()
            .filter_map(|(name, sum)| sum.value().map(|n| format!("{name}={n}"))),
    );
    if spent.priced > 0 {
        words.push(format!("recorded micros={}", spent.recorded_nanos / 1_000));
    }
    words.join(" ")
}
