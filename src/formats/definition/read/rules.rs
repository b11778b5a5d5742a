//! Parses the rules of a definition.

use toml::Spanned;
use toml::de::DeValue;

use super::places;
use super::table::{MistakeLog, TomlTable};
use super::when::{flag, given_flag, path, tests};
use crate::formats::definition::path::RecordPath;
use crate::formats::definition::rule::{
    BlockRule, BlockSource, COUNTS, CallId, CallRule, EndRule, EntryRule, FromRule, LaneRule,
    MARKS, MarkRule, Numbered, RecordKind, RecordRule, RepeatedKey, ResultRule, Rewind, RoleRule,
    StarterRule, StateRule, UsageRule, role_of,
};
use crate::formats::definition::when::Conditions;
use crate::model::entry::Role;
use crate::model::entry::sender::SenderKind;
use crate::model::usage::Scope;

/// `[entry]`: the fields of entries that all rules inherit.
pub(super) struct Defaults<'t> {
    log: &'t MistakeLog<'t>,
    paths: Vec<(&'static str, &'t Spanned<DeValue<'t>>)>,
    /// Values of `lane` that mean the main lane.
    pub(super) main: Vec<&'static str>,
}

/// The maximum number of usages of a rule.
const USAGES: usize = 16;

/// The fields of `[entry]`.
const DEFAULTS: [&str; 6] = ["key", "parent", "at", "ended", "model", "lane"];

impl<'t> Defaults<'t> {
    pub(super) fn read(table: &mut TomlTable<'t>) -> Self {
        let mut read = Self {
            log: table.log,
            paths: Vec::new(),
            main: Vec::new(),
        };
        if let Some(mut inner) = table.table("entry") {
            for name in DEFAULTS {
                let value = inner.get(name);
                read.paths.extend(value.map(|value| (name, value)));
            }
            read.main = inner.words("main");
            inner.finish();
        }
        read
    }

    fn path(&self, name: &str) -> RecordPath {
        let value = self.paths.iter().find(|(known, _)| *known == name);
        let path = value.and_then(|(_, value)| self.log.path_of(name, value));
        path.unwrap_or_default()
    }
}

pub(super) fn rule(mut table: TomlTable<'_>, defaults: &Defaults<'_>) -> RecordRule {
    let span = table.span();
    let mut rule = RecordRule {
        line: table.log.line(&span),
        kind: kind(&mut table),
        ..RecordRule::default()
    };
    let mut words = Vec::new();
    rule.when = table
        .table("when")
        .map_or_else(Conditions::default, |inner| tests(inner, &mut words));
    rule.words = words.join(", ");
    rule.also = table.is("also");
    rule.skip = table.word("skip");
    rule.again = again(&mut table);
    let entry = table.table("entry");
    let (fields, is_spoken) = self::entry(entry, defaults);
    for block in table.tables("block") {
        rule.blocks.extend(self::block(block));
    }
    for result in table.tables("result") {
        rule.results.push(self::result(result, true));
    }
    for usage in table.tables("usage") {
        rule.usages.push(self::usage(usage));
    }
    if rule.usages.len() > USAGES {
        table.log.mistake(
            span.clone(),
            format!("a rule has at most {USAGES} tables `usage`"),
        );
    }
    rule.mark = table
        .table("mark")
        .and_then(|mark| self::mark(mark, "kind"));
    for state in table.tables("state") {
        rule.states.of_calls.extend(self::state(state));
    }
    for end in table.tables("completes") {
        rule.states.of_work.extend(self::end(end));
    }
    rule.lane = table.table("lane").and_then(lane);
    let replace = table.is("replace");
    rule.records = table.required_path("records").map(|path| (path, replace));
    rule.rewind = table.table("rewind").and_then(rewind);
    rule.resets.run = table.required_path("run");
    rule.unless_answered = table.required_path("unsaid");
    rule.resets.sums = table.is("anew");
    if !rule.blocks.is_empty() && !is_spoken {
        table.log.mistake(
            span.clone(),
            "a rule with `block` says who speaks: entry = { role = … }, which is user, assistant, system, harness \
             or a path to such a word"
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
        table.log.mistake(span, what);
    }
    // Rules that make no entries still need keys, timestamps and lanes.
    rule.entry = Some(fields);
    table.finish();
    rule
}

/// The fields of entries of records that no rule matches.
pub(super) fn unruled(defaults: &Defaults<'_>) -> EntryRule {
    entry(None, defaults).0
}

/// Parses the kind of records that a rule applies to.
pub(super) fn kind(table: &mut TomlTable<'_>) -> RecordKind {
    let words = [
        ("record", RecordKind::Record),
        ("header", RecordKind::Header),
        ("companion", RecordKind::Companion),
        ("beside", RecordKind::Beside),
    ];
    table.one_of("in", &words).unwrap_or_default()
}

fn again(table: &mut TomlTable<'_>) -> RepeatedKey {
    let words = [
        ("join", RepeatedKey::Join),
        ("replace", RepeatedKey::Replace),
        ("keep", RepeatedKey::Keep),
    ];
    table.one_of("again", &words).unwrap_or_default()
}

fn when(table: &mut TomlTable<'_>) -> Conditions {
    table
        .table("when")
        .map_or_else(Conditions::default, |inner| tests(inner, &mut Vec::new()))
}

fn entry(table: Option<TomlTable<'_>>, defaults: &Defaults<'_>) -> (EntryRule, bool) {
    let mut rule = EntryRule::default();
    if let Some(mut table) = table {
        rule = EntryRule {
            role: role(&mut table),
            from: table.table("from").and_then(from),
            key: table.path("key"),
            parent: table.path("parent"),
            at: table.path("at"),
            ended: table.path("ended"),
            model: table.path("model"),
            lane: table.path("lane"),
            stop: table.path("stop"),
            title: table.path("title"),
            once: table.is("once"),
            prompt: given_flag(&mut table, "prompt"),
            quiet: flag(&mut table, "quiet"),
            trace: flag(&mut table, "trace"),
            copy: flag(&mut table, "copy"),
            open: flag(&mut table, "open"),
            done: flag(&mut table, "done"),
        };
        table.finish();
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
        if !field.is_given() {
            *field = defaults.path(name);
        }
    }
    let is_spoken = rule.role.is_some();
    (rule, is_spoken)
}

/// Parses a role, or a path to one.
fn role(table: &mut TomlTable<'_>) -> Option<RoleRule> {
    let value = table.get("role")?;
    Some(match value.get_ref().as_str() {
        Some("user") => RoleRule::Fixed(Role::User),
        Some("assistant") => RoleRule::Fixed(Role::Assistant),
        Some("system") => RoleRule::Fixed(Role::System),
        Some("harness") => RoleRule::Fixed(Role::Harness),
        _ => {
            let path = table.log.path_of("role", value)?;
            for word in path.constants().filter(|word| role_of(word).is_none()) {
                let what =
                    format!("`{word}` is no role; roles are user, assistant, system, harness");
                table.log.mistake(value.span(), what);
            }
            RoleRule::Named(path)
        }
    })
}

/// Parses a kind of sender, and a path to its name.
fn from(mut table: TomlTable<'_>) -> Option<FromRule> {
    let kind = table.string("kind");
    let name = table.path("name");
    let span = kind
        .as_ref()
        .map_or_else(|| table.span(), |(_, span)| span.clone());
    table.finish();
    let known = kind.and_then(|(word, _)| SenderKind::of(word));
    if known.is_none() {
        let kinds = SenderKind::ALL.map(SenderKind::word).join(", ");
        table
            .log
            .mistake(span, format!("`from` has a `kind`, which is {kinds}"));
    }
    known.map(|kind| FromRule { kind, name })
}

fn block(mut table: TomlTable<'_>) -> Option<BlockRule> {
    const KINDS: [&str; 10] = [
        "text", "thinking", "content", "image", "raw", "unknown", "call", "result", "mark", "block",
    ];
    let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| table.has(kind)).collect();
    // A call may contain its result.
    let kind = match kinds.as_slice() {
        ["call", "result"] => "call",
        // The text belongs to the result.
        ["text", "result"] => "result",
        ["text", "mark"] => "mark",
        [one] => one,
        _ => {
            let what = format!("a block is one of {}", KINDS.join(", "));
            table.log.mistake(table.span(), what);
            return None;
        }
    };
    let is_result = kind == "result";
    let each = if is_result {
        RecordPath::default()
    } else {
        table.path("each")
    };
    let when = if is_result {
        Conditions::default()
    } else {
        when(&mut table)
    };
    let what = match kind {
        "text" => BlockSource::Text(table.required_path("text")?),
        "thinking" => BlockSource::Thinking(table.required_path("thinking")?),
        "content" => BlockSource::Content(table.required_path("content")?),
        "image" => BlockSource::Image {
            data: table.required_path("image")?,
            mime: table.path("mime"),
        },
        "raw" => BlockSource::Raw {
            value: table.required_path("raw")?,
            title: table.path("title"),
        },
        "unknown" => BlockSource::Unknown(table.required_path("unknown")?),
        "call" => BlockSource::Call(Box::new(call(&mut table)?)),
        "mark" => {
            let mark = mark(table, "mark")?;
            return Some(BlockRule {
                each,
                when,
                what: BlockSource::Mark(mark),
            });
        }
        "block" => {
            let inner = table.tables("block").into_iter();
            BlockSource::Blocks(inner.filter_map(block).collect())
        }
        _ => {
            let result = result(table, true);
            return Some(BlockRule {
                each,
                when,
                what: BlockSource::Result(Box::new(result)),
            });
        }
    };
    table.finish();
    Some(BlockRule { each, when, what })
}

fn call_id(table: &mut TomlTable<'_>, name: &'static str) -> Option<CallId> {
    let value = table.get(name)?;
    let text = value.get_ref().as_str().unwrap_or_default();
    if text == "@order" {
        return Some(CallId::Order);
    }
    if let Some(id) = text.strip_suffix("|@order") {
        return path(table.log, id, value).map(CallId::PathOrOrder);
    }
    if name == "of" && text == "@waiting" {
        return Some(CallId::Waiting);
    }
    table.log.path_of(name, value).map(CallId::Path)
}

fn call(table: &mut TomlTable<'_>) -> Option<CallRule> {
    let id = call_id(table, "call");
    let name = table.required_path("name");
    if name.is_none() {
        table.log.mistake(
            table.span(),
            "a call has a name: { call = \"id\", name = \"name\", input = \"arguments\" }",
        );
    }
    let rule = CallRule {
        id: id?,
        name: name?,
        input: table.path("input"),
        started: table.path("at"),
        lane: table.path("lane"),
        lost: flag(table, "lost"),
        result: table.table("result").map(|inner| result(inner, false)),
        once: table.is("once"),
    };
    Some(rule)
}

/// Parses a result. `is_apart`: it is in another record than its call.
fn result(mut table: TomlTable<'_>, is_apart: bool) -> ResultRule {
    // In a block, the value of `result` is the id of the call.
    let name = if table.has("result") { "result" } else { "of" };
    let of = if is_apart {
        call_id(&mut table, name)
    } else {
        None
    };
    if is_apart && of.is_none() {
        let what = "a result names its call: of = \"path to the id\", or of = \"@order\" where there are no ids";
        table.log.mistake(table.span(), what);
    }
    let rule = ResultRule {
        each: table.path("each"),
        when: when(&mut table),
        of,
        tool: table.path("tool"),
        text: table.path("text"),
        failed: flag(&mut table, "failed"),
        refused: flag(&mut table, "refused"),
        stopped: flag(&mut table, "stopped"),
        running: flag(&mut table, "running"),
        exit: table.path("exit"),
        patch: table.path("patch"),
        at: table.path("at"),
        took: table.path("took"),
        once: table.is("once"),
        unrecorded: table.is("unrecorded"),
        acknowledges: given_flag(&mut table, "acknowledges"),
        handle: table.path("handle"),
        command: table.path("command"),
        ends: places::ends(&mut table),
    };
    table.finish();
    rule
}

fn usage(mut table: TomlTable<'_>) -> UsageRule {
    let mut rule = UsageRule {
        each: table.path("each"),
        when: when(&mut table),
        cost: table.path("cost"),
        model: table.path("model"),
        of: table.path("of"),
        input_includes_cache: table.is("input_includes_cache"),
        output_includes_reasoning: table.bool("output_includes_reasoning").unwrap_or(true),
        cumulative: table.is("cumulative"),
        so_far: table.is("so_far"),
        ..UsageRule::default()
    };
    for (name, path) in COUNTS.into_iter().zip(&mut rule.counts) {
        *path = table.path(name);
    }
    let scopes = [
        ("request", Scope::Request),
        ("extra", Scope::Extra),
        ("run", Scope::Run),
        ("fallback", Scope::Fallback),
    ];
    rule.scope = table.one_of("scope", &scopes).unwrap_or(Scope::Request);
    if rule.so_far && !matches!(rule.scope, Scope::Run | Scope::Fallback) {
        let what = "a sum of all so far has the scope `run`, or `fallback` if it says no more than the cost";
        table.log.mistake(table.span(), what);
    }
    table.finish();
    rule
}

/// Parses a separator. The member `name` has its kind.
fn mark(mut table: TomlTable<'_>, name: &'static str) -> Option<MarkRule> {
    let kind = table.string(name);
    let known = kind
        .as_ref()
        .and_then(|(word, _)| MARKS.iter().find(|(known, _)| known == word));
    if known.is_none() {
        let span = kind.map_or_else(|| table.span(), |(_, span)| span);
        let words = MARKS.map(|(word, _)| word).join(", ");
        table
            .log
            .mistake(span, format!("`{name}` of a mark is one of {words}"));
    }
    let rule = MarkRule {
        kind: known.map(|(_, kind)| *kind)?,
        text: table.path("text"),
        before: table.path("before"),
        after: table.path("after"),
        trigger: table.path("trigger"),
        of: table.path("of"),
    };
    table.finish();
    Some(rule)
}

fn state(mut table: TomlTable<'_>) -> Option<StateRule> {
    let of = table.required_path("of");
    let is_lost = match table.string("is") {
        Some(("running", _)) => Some(false),
        Some(("lost", _)) => Some(true),
        other => {
            let span = other.map_or_else(|| table.span(), |(_, span)| span);
            table
                .log
                .mistake(span, "`is` of a state is running or lost");
            None
        }
    };
    let span = table.span();
    table.finish();
    if of.is_none() {
        table
            .log
            .mistake(span, "a state names its call: of = \"path to the id\"");
    }
    Some(StateRule {
        of: of?,
        is_lost: is_lost?,
    })
}

/// Parses an update of work that continues after the result of its call.
fn end(mut table: TomlTable<'_>) -> Option<EndRule> {
    let rule = EndRule {
        each: table.path("each"),
        when: when(&mut table),
        of: table.path("of"),
        call: table.path("call"),
        status: table.path("status"),
        exit: table.path("exit"),
        at: table.path("at"),
        reason: table.path("reason"),
        asked: flag(&mut table, "asked"),
        command: table.path("command"),
        queued: flag(&mut table, "queued"),
        delivered: table.path("delivered"),
    };
    let span = table.span();
    table.finish();
    if ![&rule.of, &rule.call, &rule.command]
        .iter()
        .any(|path| path.is_given())
    {
        let what = "what completes names the work, of = \"path to its handle\", or its call, call = \"path to the id\", \
                    or command = \"path to what was run\" where there are no ids";
        table.log.mistake(span, what);
        return None;
    }
    Some(rule)
}

fn lane(mut table: TomlTable<'_>) -> Option<LaneRule> {
    let name = table.required_path("name");
    if name.is_none() {
        table.log.mistake(
            table.span(),
            "a lane has a name: { name = \"path\", call = \"path\" }",
        );
    }
    let (each, of) = (table.path("each"), table.path("of"));
    let (label, call) = (table.path("label"), table.path("call"));
    let file = table.path("file");
    let by = table.table("by").and_then(starter);
    table.finish();
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

/// Parses how to find the call of a sub-agent that no record names.
fn starter(mut table: TomlTable<'_>) -> Option<StarterRule> {
    let tool = table.word("tool");
    let (before, of) = (table.required_path("before"), table.path("of"));
    let span = table.span();
    table.finish();
    let (Some(tool), Some(before)) = (tool, before) else {
        let what = "`by` says which call starts it: { tool = \"name\", before = \"path of its beginning\" }";
        table.log.mistake(span, what);
        return None;
    };
    Some(StarterRule { tool, before, of })
}

pub(super) fn numbered(mut table: TomlTable<'_>) -> Option<Numbered> {
    let item = table.required_path("item");
    let mut tests = |name| {
        let inner = table.table(name)?;
        Some(tests(inner, &mut Vec::new()))
    };
    let (done, over) = (tests("done"), tests("over"));
    let span = table.span();
    table.finish();
    let (Some(item), Some(done), Some(over)) = (item, done, over) else {
        let what =
            "`runs` says what each numbers anew: { item = \"path\", done = { … }, over = { … } }";
        table.log.mistake(span, what);
        return None;
    };
    Some(Numbered { item, done, over })
}

fn rewind(mut table: TomlTable<'_>) -> Option<Rewind> {
    let (to, after) = (table.required_path("to"), table.required_path("after"));
    let span = table.span();
    table.finish();
    match (to, after) {
        (Some(to), None) => Some(Rewind { to, stays: false }),
        (None, Some(to)) => Some(Rewind { to, stays: true }),
        _ => {
            let what = "a rewind says where: to = \"path\" (that entry goes, too) or after = \"path\" (it stays)";
            table.log.mistake(span, what);
            None
        }
    }
}
