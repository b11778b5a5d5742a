//! The decoder of a definition.
//!
//! Rules are tried in order; the first that matches decodes the record, and so do all that match
//! and have `also`. A record that no rule matches is shown raw, so a definition cannot lose a
//! record.

mod blocks;
mod budget;
mod commands;
mod counting;
mod deduplication;
mod entries;
mod held;
mod journal;
mod lane_files;
mod lanes;
mod nested;
mod program_runs;
mod questions;
mod so_far;
mod work;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::Ordering;

use self::budget::{LOOK, RULE, RecordBudget};
use self::commands::BackgroundCommands;
use self::counting::UsageCounter;
use self::deduplication::Deduplicated;
use self::entries::{EntryIndex, Versions};
use self::held::HeldEdits;
use self::journal::JournalReplay;
use self::lane_files::LaneFiles;
pub(super) use self::lane_files::place_of;
use self::program_runs::ProgramRuns;
use self::questions::Questions;
use super::head::Head;
use super::kinds::{self, FactKind, KindClass};
use super::path::{PathScope, RecordPath, word_of};
use super::rule::{
    Definition, EntryRule, FactRule, FlagRule, MarkKind, MarkRule, RecordKind, RecordRule,
    RepeatedKey, RoleRule, role_of,
};
use crate::formats::decoder::{BESIDE, Decoder, Input, RecordPlace, show_raw};
use crate::formats::json::Json;
use crate::formats::unknown;
use crate::formats::yaml;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::sender::Sender;
use crate::model::entry::{Block, BlockKind, Break, Entry, Marks, Piece, Role, Stop};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::usage::{self, Usage};

/// The maximum number of calls without ids that wait for results.
const OPEN: usize = 1 << 10;
/// The maximum length of a title made from a prompt, in characters.
const TITLE: usize = 120;

/// The decoder of one session.
pub(super) struct DefinitionDecoder {
    definition: &'static Definition,
    /// The project folder, until a record names the working directory.
    project: Option<Text>,
    /// The last value of each fact, in the order of the rules.
    facts: Vec<Option<Text>>,
    first: First,
    /// Usage of answers whose model no record has named yet.
    unnamed: Vec<(Key, Usage)>,
    /// Open calls without ids and open questions by lane, since files of lanes are read in any
    /// order.
    waiting: HashMap<Option<Name>, OpenCalls>,
    /// All calls that results may join by order.
    ordered_calls: HashSet<Key>,
    /// Calls whose results are not recorded.
    unrecorded: HashSet<Key>,
    /// The call of each result that was joined by order.
    answered: HashMap<Key, Key>,
    once: Deduplicated,
    commands: BackgroundCommands,
    /// Hashes of records by key, to detect replays of replaced records.
    versions: HashMap<Key, Versions>,
    /// The first record of each key, for calls and results that several records repeat.
    first_records: HashMap<Key, Key>,
    /// All entries, if a rule may undo some.
    entries: EntryIndex,
    counting: UsageCounter,
    runs: ProgramRuns,
    files: LaneFiles,
    /// The document that the records of a journal edit.
    replay: JournalReplay,
    /// Edits to emit last, unless an answer has the same text.
    held_edits: HeldEdits,
    /// The cost of decoding the current record.
    budget: RecordBudget,
}

/// What has been found of the session's first prompt and title.
#[derive(Default)]
struct First {
    prompt: Option<Key>,
    has_title: bool,
}

/// Calls of a lane without results, and questions without answers.
#[derive(Default)]
struct OpenCalls {
    /// Key and tool of each call, oldest first.
    open: VecDeque<(Key, Text)>,
    /// The entry that has these calls.
    asking: Key,
    questions: Questions,
}

/// A record with its context, while its rules run.
#[derive(Clone, Copy)]
struct RecordSite<'s> {
    scope: PathScope<'s>,
    place: RecordPlace<'s>,
    /// The index of a nested record within the outer record.
    number: Option<&'s str>,
    /// The lane of the outer record.
    lane: Option<&'s Name>,
    depth: u8,
}

/// The head of an entry. The entry itself is emitted only if it has content.
struct EntryHead {
    key: Key,
    at: Option<Timestamp>,
    /// When the user answered.
    answered: Option<Timestamp>,
    lane: Option<Name>,
}

impl DefinitionDecoder {
    pub(super) fn new(definition: &'static Definition) -> Self {
        Self {
            definition,
            project: None,
            facts: vec![None; definition.facts.len()],
            first: First::default(),
            unnamed: Vec::new(),
            waiting: HashMap::new(),
            ordered_calls: HashSet::new(),
            unrecorded: HashSet::new(),
            answered: HashMap::new(),
            once: Deduplicated::default(),
            commands: BackgroundCommands::default(),
            versions: HashMap::new(),
            first_records: HashMap::new(),
            entries: EntryIndex::default(),
            counting: UsageCounter::default(),
            runs: ProgramRuns::default(),
            files: LaneFiles::default(),
            replay: JournalReplay::default(),
            held_edits: HeldEdits::default(),
            budget: RecordBudget::default(),
        }
    }

    /// Makes a decoder for a session in the folder `home`, about the project `project`.
    pub(super) fn at(
        definition: &'static Definition,
        home: PathBuf,
        project: Option<&FilePath>,
    ) -> Self {
        let project = project.map(|project| Text::clean(&project.to_string_lossy()));
        Self {
            files: LaneFiles::at(home),
            project,
            ..Self::new(definition)
        }
    }

    fn kind_of(&self, site: RecordSite<'_>) -> RecordKind {
        match site.place {
            RecordPlace::Line | RecordPlace::Element | RecordPlace::Row(_) => RecordKind::Record,
            RecordPlace::CompanionLine(_) => RecordKind::Companion,
            // A record nested in the header of a document is decoded like any other.
            RecordPlace::Header if site.number.is_some() => RecordKind::Record,
            RecordPlace::Header => RecordKind::Header,
            RecordPlace::File(path) if self.definition.is_record(path) => RecordKind::Record,
            RecordPlace::File(_) if self.definition.head.files_word.is_some() => {
                RecordKind::Companion
            }
            RecordPlace::File(_) | RecordPlace::Text(_) | RecordPlace::Passage => {
                RecordKind::Beside
            }
        }
    }

    /// Whether the record, or the outer record, belongs to a sub-agent, so that it has no facts of
    /// the session.
    fn is_of_lane(&self, site: RecordSite<'_>) -> bool {
        let kind = self.kind_of(site);
        let begins_lane = |rule: &RecordRule| rule.lane.is_some() && rule.records.is_some();
        let begins_lane = |rule: &RecordRule| {
            begins_lane(rule) && rule.is_for(kind) && rule.when.holds(site.scope)
        };
        let of_lane = || self.definition.unruled.lane.word(site.scope);
        kind == RecordKind::Companion
            || site.lane.is_some()
            || self.definition.rules.iter().any(begins_lane)
            || of_lane().is_some_and(|lane| !self.is_main(&lane))
    }

    /// Emits the facts of a record, unless its kind is unknown: neither a rule nor a list of kinds
    /// names it.
    fn facts_at(&mut self, site: RecordSite<'_>, out: &mut Batch) {
        let kind = self.kind_of(site);
        let takes = |rule: &RecordRule| rule.is_for(kind) && rule.when.holds(site.scope);
        let is_named = || {
            self.kind_names(site.scope.record, out)
                .iter()
                .any(|(class, name)| class.get(name).is_some())
        };
        let is_known =
            kind != RecordKind::Record || self.definition.rules.iter().any(takes) || is_named();
        if is_known && !self.is_of_lane(site) {
            self.facts(site.scope, out);
        }
    }

    fn facts(&mut self, scope: PathScope<'_>, out: &mut Batch) {
        for (rule, last) in self.definition.facts.iter().zip(&mut self.facts) {
            if rule.fact == FactKind::Id {
                rule.path
                    .word(scope)
                    .inspect(|id| self.counting.so_far.set_session(id));
            }
            if !(rule.first && last.is_some()) {
                rule.path
                    .first(scope, |value| push_fact(rule, value, last, out));
            }
        }
        // Some agents record the model only after the answer.
        if !self.unnamed.is_empty()
            && let Some(model) = self.model()
        {
            for (of, usage) in std::mem::take(&mut self.unnamed) {
                out.usage(of, usage, Some(model.clone()));
            }
        }
    }

    /// Runs the rules over a record or a nested record.
    fn record(&mut self, site: RecordSite<'_>, out: &mut Batch) -> Fate {
        let kind = self.kind_of(site);
        let mut fate: Option<Fate> = None;
        let mut is_taken = false;
        for rule in &self.definition.rules {
            if (is_taken && !rule.also) || !rule.is_for(kind) || !rule.when.holds(site.scope) {
                continue;
            }
            if !self.spend_budget(RULE, site.scope, out) {
                break;
            }
            rule.matched.fetch_add(1, Ordering::Relaxed);
            let edits = out.edits.len();
            let became = self.rule(rule, site, out);
            self.budget
                .add(out.edits.len().saturating_sub(edits) * LOOK);
            if fate != Some(Fate::Shown) {
                fate = Some(became);
            }
            is_taken |= !rule.also;
        }
        fate.unwrap_or_else(|| self.decode_unmatched(site, kind, out))
    }

    /// Emits a record that no rule matches.
    fn decode_unmatched(
        &mut self,
        site: RecordSite<'_>,
        kind: RecordKind,
        out: &mut Batch,
    ) -> Fate {
        let record = site.scope.record;
        if kind == RecordKind::Beside {
            return Fate::Passed("nothing in it to show");
        }
        let input = Input {
            json: record,
            place: site.place,
        };
        if kind == RecordKind::Header {
            let is_empty =
                |(_, value): &(_, Json<'_>)| value.is_null() || value.blocks().is_empty();
            if record.members().iter().all(is_empty) {
                return Fate::Passed("frame of a document");
            }
            return show_trace(input, out);
        }
        if record.filled().is_some() && !record.is_object() {
            return show_raw(input, "text", out);
        }
        let named = self.kind_names(record, out);
        let known = named
            .iter()
            .find(|(class, name)| class.get(name).is_some())
            .or(named.first());
        let EntryHead { key, at, lane, .. } = self.head(&self.definition.unruled, site, out);
        // A record of an unknown kind never becomes part of another entry, even if it has that
        // entry's key.
        let is_known = known.is_some_and(|(class, name)| class.get(name).is_some());
        let key = if is_known { key } else { own_key(site, out) };
        let (class, name) = known.map_or(("type", ""), |(class, name)| (class.name, name));
        let at = at.or_else(|| record.get("timestamp").moment());
        let mut entry = out.new_entry(key, Role::Harness, at);
        entry.lane = lane;
        let from = out.edits.len();
        let fate = unknown::record(unknown::NamedKind(class, name), record, entry, out);
        // The raw entry can be undone with its neighbours, and a rewind may name it by its id.
        let id = self.key(&self.definition.unruled, site.scope);
        let made = out
            .edits
            .get(from..)
            .unwrap_or_default()
            .iter()
            .filter_map(|edit| match edit {
                Edit::Entry(entry) => Some(entry),
                _ => None,
            });
        for entry in made {
            self.push_entry(entry);
            if self.definition.needs.undoes_entries {
                self.entries.add_name(id.as_ref(), &entry.key);
            }
        }
        fate
    }

    /// The kind names of a record, each with its class.
    fn kind_names<'j>(
        &self,
        record: &'j Json<'_>,
        out: &Batch,
    ) -> Vec<(&'static KindClass, Cow<'j, str>)> {
        // A definition that is not installed is not in the registry.
        let all = Some(unknown::kinds(out)).filter(|all| all.classes().next().is_some());
        let named = all
            .unwrap_or(&self.definition.head.kinds)
            .classes()
            .filter_map(|class| {
                let value = class
                    .name
                    .split('.')
                    .fold(record, |value, name| value.get(name));
                Some((class, word_of(value)?))
            });
        named.collect()
    }

    fn rule(&mut self, rule: &RecordRule, site: RecordSite<'_>, out: &mut Batch) -> Fate {
        let (edits, scope) = (out.edits.len(), site.scope);
        let lane = self.lane_of(rule, site, out);
        let site = RecordSite {
            lane: lane
                .as_ref()
                .filter(|_| rule.records.is_some())
                .or(site.lane),
            ..site
        };
        let mut is_shown = rule
            .records
            .as_ref()
            .is_some_and(|records| self.within(rule, records, site, out));
        self.begin_run(rule, scope);
        if let Some(rewind) = &rule.rewind {
            self.rewind(rewind, scope, out);
        }
        let fallback = EntryRule::default();
        let fields = rule.entry.as_ref().unwrap_or(&fallback);
        let mut head = self.head(fields, site, out);
        if rule.also {
            // Several rules may make entries from the same record, so the key includes the rule's
            // line.
            head.key = text!("{}+{}", head.key, rule.line);
        }
        if rule.again == RepeatedKey::Keep && !self.is_first(&head.key, own_key(site, out)) {
            self.skip_bodies(rule, &head, scope, out);
            return Fate::Passed("the same again");
        }
        if rule.again == RepeatedKey::Replace && self.is_replayed(&head.key, scope.record) {
            return Fate::Passed("an older state of what was replaced");
        }
        self.states(rule, scope, out);
        self.emit_work_updates(rule, &head, scope, out);
        let is_again = rule.again == RepeatedKey::Replace;
        let (at, lane) = (head.at, head.lane.clone());
        let mut piece = if is_again {
            Piece(0)
        } else {
            Piece::of(&own_key(site, out))
        };
        let mut blocks: Vec<BlockKind> = Vec::new();
        if let Some(mark) = &rule.mark {
            blocks.extend(line(mark, scope, out));
            if self.definition.needs.answers {
                let call = self.runs.id(&mark.of, scope);
                let waiting = self.waiting.entry(head.lane.clone()).or_default();
                waiting
                    .questions
                    .merge((mark.kind, call), &mut blocks, (&mut head, &mut piece));
            }
        }
        let mut results = Vec::new();
        for block in &rule.blocks {
            self.block(block, &head, scope, (&mut blocks, &mut results), out);
        }
        for (number, result) in rule.results.iter().enumerate() {
            self.results(result, &head, (scope, number), &mut results, out);
        }
        let of_session = self
            .model()
            .filter(|_| self.kind_of(site) != RecordKind::Companion);
        let of_entry = (&head.key, fields.role.is_some());
        let whose = (self.usage_owner(site, &head), of_session.clone());
        let from = out.edits.len();
        let usage = self
            .counting
            .usage(&rule.usages, (scope, &self.runs), of_entry, whose, out);
        // Separate usage is attributed to the owner of its entry, so it is emitted after the entry.
        let beside = out.edits.split_off(from);
        let is_entry = !blocks.is_empty() || usage.is_some();
        self.runs.is_used |= is_entry;
        if is_entry {
            let blocks = blocks
                .into_iter()
                .map(|kind| Block::new(piece, kind))
                .collect();
            let mut entry = self.entry(fields, head, blocks, site, out);
            entry.usage = usage.map(Box::new);
            self.add(entry, of_session, out);
            is_shown = true;
        }
        out.edits.extend(beside);
        out.edits.extend(results);
        if self.definition.needs.answers {
            self.answer_by_calls(edits, (at, &lane), out);
        }
        match (is_shown, rule.skip) {
            (true, _) => Fate::Shown,
            _ if out.edits.len() > edits => Fate::Merged,
            (false, Some(why)) => Fate::Passed(why),
            (false, None) => Fate::Passed("nothing in it to show"),
        }
    }

    /// Emits an entry. An entry of a sub-agent that names no model gets the session's model.
    fn add(&mut self, mut entry: Entry, of_session: Option<Name>, out: &mut Batch) {
        entry.mark_by_asides();
        if entry.usage.is_some() && entry.role == Role::Assistant {
            entry.model = entry.model.take().or(of_session);
        }
        self.count_request(&entry, out);
        self.push_entry(&entry);
        if let Some(tool) = self.definition.needs.starter {
            self.files.add_starting_calls(tool, &entry);
        }
        out.entry(entry);
    }

    /// Counts the usage of an entry as a request: no earlier sum includes it. If its model is
    /// recorded later, the usage waits for it.
    fn count_request(&mut self, entry: &Entry, out: &mut Batch) {
        let request = entry
            .usage
            .as_deref()
            .filter(|usage| usage.scope == usage::Scope::Request);
        let Some(usage) = request else { return };
        if self.definition.needs.sums {
            self.counting
                .so_far
                .add_request(&entry.key, usage, entry.model.as_ref(), out);
        }
        if entry.model.is_none() && entry.lane.is_none() {
            self.unnamed.push((entry.key.clone(), usage.clone()));
        }
    }

    /// Counts the bodies of a record without emitting them, since the bodies of later rules are
    /// identified by their number.
    fn skip_bodies(
        &mut self,
        rule: &RecordRule,
        head: &EntryHead,
        scope: PathScope<'_>,
        out: &mut Batch,
    ) {
        let from = out.edits.len();
        let mut results = Vec::new();
        if let Some(mark) = &rule.mark {
            line(mark, scope, out);
        }
        for block in &rule.blocks {
            self.block(block, head, scope, (&mut Vec::new(), &mut results), out);
        }
        for (number, result) in rule.results.iter().enumerate() {
            self.results(result, head, (scope, number), &mut results, out);
        }
        out.edits.truncate(from);
    }

    fn entry(
        &mut self,
        fields: &EntryRule,
        head: EntryHead,
        blocks: Vec<Block>,
        site: RecordSite<'_>,
        out: &mut Batch,
    ) -> Entry {
        let scope = site.scope;
        let word = |path: &RecordPath| path.word(scope);
        let flag = |flag: &FlagRule| flag.holds(scope);
        let is_later = fields.once
            && self
                .first
                .prompt
                .as_ref()
                .is_some_and(|first| *first != head.key);
        let role = fields.role.as_ref().filter(|_| !is_later);
        let role = role.map_or(Role::Harness, |role| role.of(scope));
        let mut entry = out.new_entry(head.key, role, head.at);
        let parent = self.runs.id(&fields.parent, scope);
        entry.parent = parent.map(|parent| within_lane(site, parent));
        let of_session = || self.model().filter(|_| head.lane.is_none());
        entry.model = word(&fields.model)
            .or_else(of_session)
            .filter(|_| role == Role::Assistant);
        entry.ended = fields.ended.moment(scope).or(head.answered);
        let from = fields.from.as_ref().filter(|_| role == Role::Harness);
        entry.from = from.map(|from| {
            Box::new(Sender {
                kind: from.kind,
                name: word(&from.name),
            })
        });
        let otherwise = if flag(&fields.done) {
            Stop::Done
        } else {
            Stop::Unrecorded
        };
        entry.stop = word(&fields.stop).map_or(otherwise, |word| Stop::of(&word));
        entry.lane = head.lane;
        let has_text = blocks
            .iter()
            .any(|block| matches!(block.kind, BlockKind::Text(_) | BlockKind::Image(_)));
        let is_asked = || role == Role::User && has_text;
        entry.marks = Marks {
            quiet: flag(&fields.quiet),
            trace: flag(&fields.trace),
            copy: flag(&fields.copy),
            open: flag(&fields.open),
            ..Marks::default()
        };
        let marks = entry.marks;
        entry.marks.prompt = match &fields.prompt {
            Some(prompt) => prompt.holds(scope) && !is_later,
            None => is_asked() && !(marks.quiet || marks.trace || marks.copy),
        };
        entry.blocks = blocks;
        if entry.marks.prompt {
            // A prompt ends the wait for results and answers of earlier calls and questions.
            self.waiting.remove(&entry.lane);
        }
        if entry.marks.prompt && entry.lane.is_none() {
            self.first.prompt.get_or_insert_with(|| entry.key.clone());
        }
        if entry.marks.prompt && entry.lane.is_none() && !self.first.has_title {
            let text = entry.blocks.iter().find_map(|block| match &block.kind {
                BlockKind::Text(body) => Some(Text::stub(&body.stub, TITLE)),
                _ => None,
            });
            let text = word(&fields.title)
                .map(|title| Text::stub(&title, TITLE))
                .or(text);
            if let Some(title) = text {
                self.first.has_title = true;
                out.title(0, title);
            }
        }
        entry
    }

    /// The session's current model, for answers that name none.
    fn model(&self) -> Option<Name> {
        let mut facts = self.definition.facts.iter().zip(&self.facts);
        facts.find_map(|(rule, last)| matches!(rule.fact, FactKind::Model).then(|| last.clone())?)
    }

    fn head(&self, fields: &EntryRule, site: RecordSite<'_>, out: &Batch) -> EntryHead {
        let lane = self.lane_at(fields.lane.word(site.scope), site);
        let key = self
            .key(fields, site.scope)
            .map(|key| within_lane(site, key));
        EntryHead {
            key: key.unwrap_or_else(|| own_key(site, out)),
            at: fields.at.moment(site.scope),
            answered: None,
            lane,
        }
    }

    /// The key of an entry, if the record has one.
    fn key(&self, fields: &EntryRule, scope: PathScope<'_>) -> Option<Key> {
        self.runs.id(&fields.key, scope)
    }
}

impl Decoder for DefinitionDecoder {
    fn head(&self) -> &'static Head {
        &self.definition.head
    }

    fn passages(&self, text: &str) -> Vec<Range<usize>> {
        let all = || std::iter::once(0..text.len()).collect();
        self.definition
            .chat
            .as_ref()
            .map_or_else(all, |chat| chat.passages(text))
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        if let (RecordPlace::Passage, Some(chat)) = (input.place, &self.definition.chat) {
            let record = chat.record(input.json.str_or_empty());
            return self.decode(
                Input {
                    json: &record,
                    place: RecordPlace::Element,
                },
                out,
            );
        }
        // A text file beside the session may be of any length; only its front matter has facts.
        if let (RecordPlace::Text(path), Json::Str(text)) = (input.place, input.json) {
            let record = yaml::framed(
                text,
                &path.file_stem().unwrap_or_default().to_string_lossy(),
            );
            return self.decode(
                Input {
                    json: &record,
                    place: input.place,
                },
                out,
            );
        }
        self.budget.begin();
        if let Some(project) = self.project.take() {
            out.meta(MetaEdit::Cwd(project));
        }
        if let Some(fate) = self.journal(input, out) {
            return fate;
        }
        let scope = PathScope::of(input.json);
        if let Some(id) = self.definition.unique.word(scope)
            && !self.is_first(&id, out.origin_key())
        {
            return Fate::Passed("the same again");
        }
        self.read_item(scope);
        let lane = self.files.lane_of(input.place, out);
        let site = RecordSite {
            scope,
            place: input.place,
            number: None,
            lane: lane.as_ref(),
            depth: 0,
        };
        self.facts_at(site, out);
        match (self.record(site, out), self.kind_of(site)) {
            (_, RecordKind::Beside) => BESIDE,
            (fate, _) => fate,
        }
    }

    fn finish(&mut self, out: &mut Batch) {
        self.finish_journal(out);
        self.held_edits.finish(out);
    }
}

impl RecordRule {
    fn is_for(&self, kind: RecordKind) -> bool {
        self.kind == kind || (self.kind == RecordKind::Record && kind == RecordKind::Companion)
    }
}

impl FlagRule {
    fn holds(&self, scope: PathScope<'_>) -> bool {
        match self {
            Self::Fixed(flag) => *flag,
            Self::If(tests) => tests.iter().any(|test| test.holds(scope)),
        }
    }

    /// Whether the record has a value for this flag.
    fn is_recorded(&self, scope: PathScope<'_>) -> bool {
        match self {
            Self::Fixed(_) => true,
            Self::If(tests) => tests
                .iter()
                .flat_map(|test| &test.all)
                .any(|test| test.path.has_value(scope)),
        }
    }
}

impl RoleRule {
    fn of(&self, scope: PathScope<'_>) -> Role {
        let path = match self {
            Self::Fixed(role) => return *role,
            Self::Named(path) => path,
        };
        path.word(scope)
            .and_then(|word| role_of(&word))
            .unwrap_or(Role::Harness)
    }
}

/// Emits the header of a document as a trace entry.
fn show_trace(input: Input<'_>, out: &mut Batch) -> Fate {
    let mut entry = out.new_entry(out.origin_key(), Role::Harness, None);
    entry.marks.trace = true;
    entry.push(input.json.to_block("document", out));
    out.show(entry)
}

/// As [`show_raw`], for a nested record.
fn show_within(input: Input<'_>, title: &str, site: RecordSite<'_>, out: &mut Batch) -> Fate {
    let key = own_key(site, out);
    let from = out.edits.len();
    let fate = show_raw(input, title, out);
    for edit in out.edits.iter_mut().skip(from) {
        if let Edit::Entry(entry) = edit {
            entry.key = key.clone();
        }
    }
    fate
}

/// The key of a record that has no key of its own.
fn own_key(site: RecordSite<'_>, out: &Batch) -> Key {
    match site.number {
        None => out.origin_key(),
        Some(number) => text!("{}/{number}", out.origin_key()),
    }
}

/// The key of an entry, prefixed with its lane: nested records of a lane may have the same keys as
/// the session.
fn within_lane(site: RecordSite<'_>, key: Key) -> Key {
    match site.lane {
        None => key,
        Some(lane) => text!("{lane}/{key}"),
    }
}

/// Emits a fact if its value has changed.
fn push_fact(rule: &FactRule, value: &Json<'_>, last: &mut Option<Text>, out: &mut Batch) {
    let Some(word) = word_of(value) else { return };
    if last.as_ref().is_some_and(|last| last.as_str() == word) {
        return;
    }
    *last = Some(Text::clean(&word));
    if let Some(edit) = kinds::of_fact(rule.fact, value) {
        out.meta(edit);
    }
}

/// The blocks of a separator: the separator itself and the text below it.
fn line(mark: &MarkRule, scope: PathScope<'_>, out: &mut Batch) -> Vec<BlockKind> {
    let count = |path: &RecordPath| path.count(scope);
    let text = |path: &RecordPath| {
        let text = path.string(scope, |text| Text::clean(text.trim()));
        text.unwrap_or_default()
    };
    let said = || text(&mark.text);
    let line = match mark.kind {
        MarkKind::Compaction => {
            let trigger = text(&mark.trigger);
            let line = Break::Compaction {
                before: count(&mark.before),
                after: count(&mark.after),
                trigger,
                partial: false,
                took: None,
            };
            let summary = mark.text.string(scope, |text| out.prose(text));
            let summary = summary.filter(|body| body.bytes > 0).map(BlockKind::Text);
            return std::iter::once(BlockKind::Break(line))
                .chain(summary)
                .collect();
        }
        MarkKind::Model if said().is_blank() => return Vec::new(),
        MarkKind::Model => Break::ModelChange(said()),
        MarkKind::Error => Break::Error(said()),
        MarkKind::Interrupted => Break::Interrupted(said()),
        MarkKind::Resumed => Break::Resumed(said()),
        MarkKind::Setting | MarkKind::Answered => Break::Setting(said()),
        MarkKind::Ended => Break::Ended(said()),
        MarkKind::Branch => Break::Branch(said()),
        MarkKind::Waiting => Break::Waiting(said()),
        MarkKind::Permission => Break::Waiting(text!("permission: {}", said())),
    };
    vec![BlockKind::Break(line)]
}
