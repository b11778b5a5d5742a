//! Parses the rules of a definition.

use toml::Spanned;
use toml::de::DeValue;

use super::table::{MistakeLog, TomlTable};
use super::when::{flag, path, tests};
use super::{journal, leak, places};
use crate::formats::definition::path::Path;
use crate::formats::definition::rule::{
    BlockRule, BlockSource, COUNTS, CallId, CallRule, EndRule, EntryRule, FromRule, LaneRule,
    MARKS, MarkRule, Numbered, RecordKind, RepeatedKey, ResultRule, Rewind, RoleRule, Rule,
    StarterRule, StateRule, UsageRule, role_of,
};
use crate::formats::definition::when::Conditions;
use crate::model::entry::Role;
use crate::model::entry::sender::SenderKind;
use crate::model::usage::Scope;

/// Fields of entries for all rules: `[entry]`.
#[derive(Default)]
pub(super) struct Defaults<'t> {
    paths: Vec<(&'static str, &'t Spanned<DeValue<'t>>)>,
    /// Values of `lane` that mean the session itself.
    pub(super) main: Vec<&'static str>,
}

/// The limit of usages of a rule.
const USAGES: usize = 16;

/// The fields of `[entry]`.
const DEFAULTS: [&str; 6] = ["key", "parent", "at", "ended", "model", "lane"];

impl<'t> Defaults<'t> {
    pub(super) fn read(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'t>) -> Self {
        let Some(mut inner) = table.table(reader, "entry") else {
            return Self::default();
        };
        let mut paths = Vec::new();
        for name in DEFAULTS {
            paths.extend(inner.take(name).map(|value| (name, value)));
        }
        let main = inner
            .strings(reader, "main")
            .into_iter()
            .map(|(name, _)| leak(name))
            .collect();
        inner.finish(reader);
        Self { paths, main }
    }

    pub(super) fn path(&self, reader: &mut MistakeLog<'_>, name: &str) -> Option<Path> {
        let (_, value) = self.paths.iter().find(|(known, _)| *known == name)?;
        reader.path_of(name, value)
    }
}

pub(super) fn rule(
    reader: &mut MistakeLog<'_>,
    mut table: TomlTable<'_>,
    defaults: &Defaults<'_>,
) -> Rule {
    let span = table.span();
    let mut rule = Rule {
        line: reader.line(&span),
        kind: kind(reader, &mut table),
        ..Rule::default()
    };
    rule.part = journal::part(reader, &mut table);
    if rule.part.is_some() {
        rule.kind = RecordKind::Part;
    }
    let mut words = Vec::new();
    rule.when = table
        .table(reader, "when")
        .map_or_else(Conditions::default, |inner| {
            tests(reader, inner, &mut words)
        });
    rule.words = words.join(", ");
    rule.also = table.bool(reader, "also").unwrap_or(false);
    rule.skip = table.string(reader, "skip").map(|(why, _)| leak(why));
    rule.again = again(reader, &mut table);
    let entry = table.table(reader, "entry");
    let (fields, is_spoken) = self::entry(reader, entry, defaults);
    for block in table.tables(reader, "block") {
        rule.blocks.extend(self::block(reader, block));
    }
    for result in table.tables(reader, "result") {
        rule.results.push(self::result(reader, result, true));
    }
    for usage in table.tables(reader, "usage") {
        rule.usages.push(self::usage(reader, usage));
    }
    if rule.usages.len() > USAGES {
        reader.mistake(
            span.clone(),
            format!("a rule has at most {USAGES} tables `usage`"),
        );
    }
    rule.mark = table
        .table(reader, "mark")
        .and_then(|mark| self::mark(reader, mark, "kind"));
    for state in table.tables(reader, "state") {
        rule.states.of_calls.extend(self::state(reader, state));
    }
    for end in table.tables(reader, "completes") {
        rule.states.of_work.extend(self::end(reader, end));
    }
    rule.lane = table
        .table(reader, "lane")
        .and_then(|lane| self::lane(reader, lane));
    let replace = table.bool(reader, "replace").unwrap_or(false);
    rule.records = table.path(reader, "records").map(|path| (path, replace));
    rule.rewind = table
        .table(reader, "rewind")
        .and_then(|rewind| self::rewind(reader, rewind));
    rule.resets.run = table.path(reader, "run");
    rule.unless_answered = table.path(reader, "unsaid");
    rule.resets.sums = table.bool(reader, "anew").unwrap_or(false);
    if !rule.blocks.is_empty() && !is_spoken {
        reader.mistake(
            span.clone(),
            "a rule with `block` says who speaks: entry = { role = … }, which is user, assistant, system, harness \
             or a path to such a word"
                .to_owned(),
        );
    }
    let does_nothing = !is_spoken
        && rule.blocks.is_empty()
        && rule.results.is_empty()
        && rule.usages.is_empty()
        && rule.states.is_empty()
        && rule.mark.is_none()
        && rule.lane.is_none()
        && rule.records.is_none()
        && rule.rewind.is_none()
        && rule.resets.run.is_none();
    if does_nothing && rule.skip.is_none() {
        let what = "a rule does something: entry, block, result, usage, mark, state, completes, lane, records, rewind, \
                    run; or says why not: skip = \"…\"";
        reader.mistake(span, what.to_owned());
    }
    if let Some(what) = journal::is_wrong(&rule) {
        reader.mistake(table.span(), what.to_owned());
    }
    // Records that are no entries need keys, times and lanes, too.
    rule.entry = Some(fields);
    table.finish(reader);
    rule
}

/// The fields of entries of records that no rule matches.
pub(super) fn unruled(reader: &mut MistakeLog<'_>, defaults: &Defaults<'_>) -> EntryRule {
    entry(reader, None, defaults).0
}

/// Parses which records a rule is for.
pub(super) fn kind(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'_>) -> RecordKind {
    match table.string(reader, "in") {
        None | Some(("record", _)) => RecordKind::Record,
        Some(("header", _)) => RecordKind::Header,
        Some(("companion", _)) => RecordKind::Companion,
        Some(("beside", _)) => RecordKind::Beside,
        Some((word, span)) => {
            reader.mistake(
                span,
                format!("`{word}` is no place; `in` is record, header, companion or beside"),
            );
            RecordKind::Record
        }
    }
}

fn again(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'_>) -> RepeatedKey {
    match table.string(reader, "again") {
        None | Some(("join", _)) => RepeatedKey::Join,
        Some(("replace", _)) => RepeatedKey::Replace,
        Some(("keep", _)) => RepeatedKey::Keep,
        Some((word, span)) => {
            reader.mistake(
                span,
                format!("`{word}` is not known; `again` is join, replace or keep"),
            );
            RepeatedKey::Join
        }
    }
}

fn when(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'_>) -> Conditions {
    table
        .table(reader, "when")
        .map_or_else(Conditions::default, |inner| {
            tests(reader, inner, &mut Vec::new())
        })
}

fn entry(
    reader: &mut MistakeLog<'_>,
    table: Option<TomlTable<'_>>,
    defaults: &Defaults<'_>,
) -> (EntryRule, bool) {
    let mut rule = EntryRule::default();
    if let Some(mut table) = table {
        rule = EntryRule {
            role: role(reader, &mut table),
            from: table
                .table(reader, "from")
                .and_then(|from| self::from(reader, from)),
            key: table.path(reader, "key"),
            parent: table.path(reader, "parent"),
            at: table.path(reader, "at"),
            ended: table.path(reader, "ended"),
            model: table.path(reader, "model"),
            lane: table.path(reader, "lane"),
            stop: table.path(reader, "stop"),
            title: table.path(reader, "title"),
            once: table.bool(reader, "once").unwrap_or(false),
            prompt: flag(reader, &mut table, "prompt"),
            quiet: flag(reader, &mut table, "quiet"),
            trace: flag(reader, &mut table, "trace"),
            copy: flag(reader, &mut table, "copy"),
            open: flag(reader, &mut table, "open"),
            done: flag(reader, &mut table, "done"),
        };
        table.finish(reader);
    }
    let fields = [
        (&mut rule.key, "key"),
        (&mut rule.parent, "parent"),
        (&mut rule.at, "at"),
        (&mut rule.ended, "ended"),
        (&mut rule.model, "model"),
        (&mut rule.lane, "lane"),
    ];
    for (field, name) in fields {
        if field.is_none() {
            *field = defaults.path(reader, name);
        }
    }
    let is_spoken = rule.role.is_some();
    (rule, is_spoken)
}

/// Parses a role, or a path to one.
fn role(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'_>) -> Option<RoleRule> {
    let value = table.take("role")?;
    Some(match value.get_ref().as_str() {
        Some("user") => RoleRule::Fixed(Role::User),
        Some("assistant") => RoleRule::Fixed(Role::Assistant),
        Some("system") => RoleRule::Fixed(Role::System),
        Some("harness") => RoleRule::Fixed(Role::Harness),
        _ => {
            let path = reader.path_of("role", value)?;
            for word in path.constants().filter(|word| role_of(word).is_none()) {
                let what =
                    format!("`{word}` is no role; roles are user, assistant, system, harness");
                reader.mistake(value.span(), what);
            }
            RoleRule::Named(path)
        }
    })
}

/// Parses a kind of sender, and a path to its name.
fn from(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Option<FromRule> {
    let kind = table.string(reader, "kind");
    let name = table.path(reader, "name");
    let span = kind
        .as_ref()
        .map_or_else(|| table.span(), |(_, span)| span.clone());
    table.finish(reader);
    let known = kind.and_then(|(word, _)| SenderKind::of(word));
    if known.is_none() {
        let kinds = SenderKind::ALL.map(SenderKind::word).join(", ");
        reader.mistake(span, format!("`from` has a `kind`, which is {kinds}"));
    }
    known.map(|kind| FromRule { kind, name })
}

fn block(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Option<BlockRule> {
    const KINDS: [&str; 10] = [
        "text", "thinking", "content", "image", "raw", "unknown", "call", "result", "mark", "block",
    ];
    let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| table.has(kind)).collect();
    // A call may have its result in it.
    let kind = match kinds.as_slice() {
        ["call", "result"] => "call",
        // The text of a result does not belong to the call.
        ["text", "result"] => "result",
        ["text", "mark"] => "mark",
        [one] => one,
        _ => {
            let what = format!("a block is one of {}", KINDS.join(", "));
            reader.mistake(table.span(), what);
            return None;
        }
    };
    let is_result = kind == "result";
    let each = if is_result {
        None
    } else {
        table.path(reader, "each")
    };
    let when = if is_result {
        Conditions::default()
    } else {
        when(reader, &mut table)
    };
    let what = match kind {
        "text" => BlockSource::Text(table.path(reader, "text")?),
        "thinking" => BlockSource::Thinking(table.path(reader, "thinking")?),
        "content" => BlockSource::Content(table.path(reader, "content")?),
        "image" => BlockSource::Image {
            data: table.path(reader, "image")?,
            mime: table.path(reader, "mime"),
        },
        "raw" => BlockSource::Raw {
            value: table.path(reader, "raw")?,
            title: table.path(reader, "title"),
        },
        "unknown" => BlockSource::Unknown(table.path(reader, "unknown")?),
        "call" => BlockSource::Call(Box::new(call(reader, &mut table)?)),
        "mark" => {
            let mark = mark(reader, table, "mark")?;
            return Some(BlockRule {
                each,
                when,
                what: BlockSource::Mark(mark),
            });
        }
        "block" => {
            let inner = table.tables(reader, "block").into_iter();
            BlockSource::Blocks(inner.filter_map(|inner| block(reader, inner)).collect())
        }
        _ => {
            let result = result(reader, table, true);
            return Some(BlockRule {
                each: None,
                when,
                what: BlockSource::Result(Box::new(result)),
            });
        }
    };
    table.finish(reader);
    Some(BlockRule { each, when, what })
}

fn call_id(
    reader: &mut MistakeLog<'_>,
    table: &mut TomlTable<'_>,
    name: &'static str,
) -> Option<CallId> {
    let value = table.take(name)?;
    let text = value.get_ref().as_str().unwrap_or_default();
    if text == "@order" {
        return Some(CallId::Order);
    }
    if let Some(id) = text.strip_suffix("|@order") {
        return path(reader, id, value).map(CallId::PathOrOrder);
    }
    if name == "of" && text == "@waiting" {
        return Some(CallId::Waiting);
    }
    reader.path_of(name, value).map(CallId::Path)
}

fn call(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'_>) -> Option<CallRule> {
    let id = call_id(reader, table, "call");
    let name = table.path(reader, "name");
    if name.is_none() {
        reader.mistake(
            table.span(),
            "a call has a name: { call = \"id\", name = \"name\", input = \"arguments\" }"
                .to_owned(),
        );
    }
    let rule = CallRule {
        id: id?,
        name: name?,
        input: table.path(reader, "input"),
        started: table.path(reader, "at"),
        lane: table.path(reader, "lane"),
        lost: flag(reader, table, "lost"),
        result: table
            .table(reader, "result")
            .map(|inner| result(reader, inner, false)),
        once: table.bool(reader, "once").unwrap_or(false),
    };
    Some(rule)
}

/// Parses a result. `is_apart`: it is not within its call.
fn result(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>, is_apart: bool) -> ResultRule {
    // In a block the value of `result` is the id of the call.
    let name = if table.has("result") { "result" } else { "of" };
    let of = if is_apart {
        call_id(reader, &mut table, name)
    } else {
        None
    };
    if is_apart && of.is_none() {
        let what = "a result names its call: of = \"path to the id\", or of = \"@order\" where there are no ids";
        reader.mistake(table.span(), what.to_owned());
    }
    let rule = ResultRule {
        each: table.path(reader, "each"),
        when: when(reader, &mut table),
        of,
        tool: table.path(reader, "tool"),
        text: table.path(reader, "text"),
        failed: flag(reader, &mut table, "failed"),
        refused: flag(reader, &mut table, "refused"),
        running: flag(reader, &mut table, "running"),
        exit: table.path(reader, "exit"),
        patch: table.path(reader, "patch"),
        at: table.path(reader, "at"),
        took: table.path(reader, "took"),
        once: table.bool(reader, "once").unwrap_or(false),
        unrecorded: table.bool(reader, "unrecorded").unwrap_or(false),
        acknowledges: flag(reader, &mut table, "acknowledges"),
        handle: table.path(reader, "handle"),
        command: table.path(reader, "command"),
        ends: places::ends(reader, &mut table),
    };
    table.finish(reader);
    rule
}

fn usage(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> UsageRule {
    let mut rule = UsageRule {
        each: table.path(reader, "each"),
        when: when(reader, &mut table),
        cost: table.path(reader, "cost"),
        model: table.path(reader, "model"),
        of: table.path(reader, "of"),
        input_includes_cache: table.bool(reader, "input_includes_cache").unwrap_or(false),
        output_includes_reasoning: table
            .bool(reader, "output_includes_reasoning")
            .unwrap_or(true),
        cumulative: table.bool(reader, "cumulative").unwrap_or(false),
        so_far: table.bool(reader, "so_far").unwrap_or(false),
        ..UsageRule::default()
    };
    for (name, path) in COUNTS.into_iter().zip(&mut rule.counts) {
        *path = table.path(reader, name);
    }
    rule.scope = match table.string(reader, "scope") {
        None | Some(("request", _)) => Scope::Request,
        Some(("extra", _)) => Scope::Extra,
        Some(("run", _)) => Scope::Run,
        Some(("fallback", _)) => Scope::Fallback,
        Some((word, span)) => {
            reader.mistake(
                span,
                format!("`{word}` is not known; `scope` is request, extra, run or fallback"),
            );
            Scope::Request
        }
    };
    if rule.so_far && !matches!(rule.scope, Scope::Run | Scope::Fallback) {
        let what = "a sum of all so far has the scope `run`, or `fallback` if it says no more than the cost";
        reader.mistake(table.span(), what.to_owned());
    }
    table.finish(reader);
    rule
}

/// Parses a separator, whose kind is the member of this name.
fn mark(
    reader: &mut MistakeLog<'_>,
    mut table: TomlTable<'_>,
    name: &'static str,
) -> Option<MarkRule> {
    let kind = table.string(reader, name);
    let known = kind
        .as_ref()
        .and_then(|(word, _)| MARKS.iter().find(|(known, _)| known == word));
    if known.is_none() {
        let span = kind.map_or_else(|| table.span(), |(_, span)| span);
        let words = MARKS.map(|(word, _)| word).join(", ");
        reader.mistake(span, format!("`{name}` of a mark is one of {words}"));
    }
    let rule = MarkRule {
        kind: known.map(|(_, kind)| *kind)?,
        text: table.path(reader, "text"),
        before: table.path(reader, "before"),
        after: table.path(reader, "after"),
        trigger: table.path(reader, "trigger"),
        of: table.path(reader, "of"),
    };
    table.finish(reader);
    Some(rule)
}

fn state(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Option<StateRule> {
    let of = table.path(reader, "of");
    let is_lost = match table.string(reader, "is") {
        Some(("running", _)) => Some(false),
        Some(("lost", _)) => Some(true),
        other => {
            let span = other.map_or_else(|| table.span(), |(_, span)| span);
            reader.mistake(span, "`is` of a state is running or lost".to_owned());
            None
        }
    };
    let span = table.span();
    table.finish(reader);
    if of.is_none() {
        reader.mistake(
            span,
            "a state names its call: of = \"path to the id\"".to_owned(),
        );
    }
    Some(StateRule {
        of: of?,
        is_lost: is_lost?,
    })
}

/// Parses the state of work that continues after the result of its call.
fn end(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Option<EndRule> {
    let rule = EndRule {
        each: table.path(reader, "each"),
        when: when(reader, &mut table),
        of: table.path(reader, "of"),
        call: table.path(reader, "call"),
        status: table.path(reader, "status"),
        exit: table.path(reader, "exit"),
        at: table.path(reader, "at"),
        reason: table.path(reader, "reason"),
        asked: flag(reader, &mut table, "asked"),
        command: table.path(reader, "command"),
        queued: flag(reader, &mut table, "queued"),
        delivered: table.path(reader, "delivered"),
    };
    let span = table.span();
    table.finish(reader);
    if rule.of.is_none() && rule.call.is_none() && rule.command.is_none() {
        let what = "what completes names the work, of = \"path to its handle\", or its call, call = \"path to the id\", \
                    or command = \"path to what was run\" where there are no ids";
        reader.mistake(span, what.to_owned());
        return None;
    }
    Some(rule)
}

fn lane(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Option<LaneRule> {
    let name = table.path(reader, "name");
    if name.is_none() {
        reader.mistake(
            table.span(),
            "a lane has a name: { name = \"path\", call = \"path\" }".to_owned(),
        );
    }
    let (each, of) = (table.path(reader, "each"), table.path(reader, "of"));
    let (label, call) = (table.path(reader, "label"), table.path(reader, "call"));
    let file = table.path(reader, "file");
    let by = table.table(reader, "by").and_then(|by| starter(reader, by));
    table.finish(reader);
    Some(LaneRule {
        each,
        of,
        file,
        name: name?,
        label,
        call,
        by,
    })
}

/// Parses how the call of a sub-agent is found if no record names it.
fn starter(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Option<StarterRule> {
    let tool = table.string(reader, "tool").map(|(tool, _)| leak(tool));
    let (before, of) = (table.path(reader, "before"), table.path(reader, "of"));
    let span = table.span();
    table.finish(reader);
    let (Some(tool), Some(before)) = (tool, before) else {
        let what = "`by` says which call starts it: { tool = \"name\", before = \"path of its beginning\" }";
        reader.mistake(span, what.to_owned());
        return None;
    };
    Some(StarterRule { tool, before, of })
}

pub(super) fn numbered(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Option<Numbered> {
    let item = table.path(reader, "item");
    let mut tests = |reader: &mut MistakeLog<'_>, name| {
        let inner = table.table(reader, name)?;
        Some(tests(reader, inner, &mut Vec::new()))
    };
    let (done, over) = (tests(reader, "done"), tests(reader, "over"));
    let span = table.span();
    table.finish(reader);
    let (Some(item), Some(done), Some(over)) = (item, done, over) else {
        let what =
            "`runs` says what each numbers anew: { item = \"path\", done = { … }, over = { … } }";
        reader.mistake(span, what.to_owned());
        return None;
    };
    Some(Numbered { item, done, over })
}

fn rewind(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Option<Rewind> {
    let (to, after) = (table.path(reader, "to"), table.path(reader, "after"));
    let span = table.span();
    table.finish(reader);
    match (to, after) {
        (Some(to), None) => Some(Rewind { to, stays: false }),
        (None, Some(to)) => Some(Rewind { to, stays: true }),
        _ => {
            let what = "a rewind says where: to = \"path\" (that entry goes, too) or after = \"path\" (it stays)";
            reader.mistake(span, what.to_owned());
            None
        }
    }
}
