//! Makes blocks, calls and results from a record.

use super::budget::LOOK;
use super::{DefinitionDecoder, EntryHead, OPEN, line};
use crate::formats::anthropic::{self, BlockContent};
use crate::formats::definition::heads;
use crate::formats::definition::path::PathScope;
use crate::formats::definition::rule::{BlockRule, BlockSource, CallId, CallRule, ResultRule};
use crate::formats::inline;
use crate::formats::json::Json;
use crate::formats::tools;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::{Image, Key};
use crate::model::change;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Raw};
use crate::model::text::{Text, text};
use crate::model::tool::work::Work;
use crate::model::tool::{self, ToolCall, ToolResult, ToolState, Verdict};

/// The blocks of an entry, and edits to emit after the entry.
type BlockOutput<'m> = (&'m mut Vec<BlockKind>, &'m mut Vec<Edit>);

impl DefinitionDecoder {
    /// Applies one block of a rule to a record.
    pub(super) fn block(
        &mut self,
        rule: &BlockRule,
        head: &EntryHead,
        scope: PathScope<'_>,
        made: BlockOutput<'_>,
        out: &mut Batch,
    ) {
        let (blocks, results) = made;
        rule.each.elements(scope, &mut |found| {
            if self.spend_budget(LOOK, found, out) && rule.when.holds(found) {
                self.one(rule, head, found, (&mut *blocks, &mut *results), out);
            }
        });
    }

    fn one(
        &mut self,
        rule: &BlockRule,
        head: &EntryHead,
        scope: PathScope<'_>,
        made: BlockOutput<'_>,
        out: &mut Batch,
    ) {
        let (blocks, results) = made;
        match &rule.what {
            BlockSource::Text(path) => {
                let text = path.prose(scope, |text| {
                    (!text.trim().is_empty()).then(|| out.prose(text))
                });
                blocks.extend(text.flatten().map(BlockKind::Text));
            }
            BlockSource::Thinking(path) => {
                let says = |text: &str| path.is_constant() || !text.trim().is_empty();
                let text = path.prose(scope, |text| says(text).then(|| out.prose(text)));
                blocks.extend(text.flatten().map(BlockKind::Thinking));
            }
            BlockSource::Content(path) => path.each(scope, &mut |found| {
                for item in found.here.blocks() {
                    Self::content(item, head, (&mut *blocks, &mut *results), out);
                }
            }),
            BlockSource::Image { data, mime } => {
                let mime = mime.word(scope).unwrap_or_default();
                blocks.extend(data.string(scope, |data| BlockKind::Image(image(data, mime, out))));
            }
            BlockSource::Raw { value, title } => {
                let title = title.word(scope).unwrap_or_else(|| Text::from("record"));
                value.each(scope, &mut |found| {
                    let value = found.here;
                    let body = value.to_body(&title, out);
                    blocks.push(BlockKind::Raw(Raw {
                        title: title.clone(),
                        body,
                    }));
                });
            }
            BlockSource::Unknown(name) => {
                let name = name.word(scope).unwrap_or_default();
                blocks.push(unknown::block(
                    NamedKind("block.type", &name),
                    scope.here,
                    out,
                ));
            }
            BlockSource::Mark(mark) => blocks.extend(line(mark, scope, out)),
            BlockSource::Blocks(rules) => {
                for rule in rules {
                    self.block(rule, head, scope, (&mut *blocks, &mut *results), out);
                }
            }
            BlockSource::Call(rule) => {
                let call = self.call(rule, head, (scope, blocks.len()), out);
                if rule.once && !self.once.is_new(&call, &head.key) {
                    let result = self.once.result_of(call, &head.key, head.lane.clone());
                    results.extend(result);
                } else {
                    blocks.push(call.into());
                }
            }
            BlockSource::Result(rule) => {
                let number = results.len();
                self.results(rule, head, (scope, number), results, out);
            }
        }
    }

    /// Adds a part of a message in the format of the large providers.
    fn content(item: &Json<'_>, head: &EntryHead, made: BlockOutput<'_>, out: &mut Batch) {
        let (blocks, results) = made;
        let kind = item.kind();
        if matches!(kind, "" | "input_text" | "output_text") && item.get("text").str().is_some() {
            let text = item.get("text").str_or_empty();
            blocks.extend((!text.trim().is_empty()).then(|| BlockKind::Text(out.prose(text))));
            return;
        }
        if matches!(kind, "image_url" | "input_image") {
            let url = item.first(&["image_url.url", "image_url"], Json::str);
            let data = url.or(item.get("url").str()).unwrap_or_default();
            blocks.push(BlockKind::Image(image(data, Text::default(), out)));
            return;
        }
        let site = anthropic::Site {
            record: &head.key,
            place: blocks.len() + results.len(),
            at: head.at,
        };
        match anthropic::content(item, site, out) {
            BlockContent::Part(part) => blocks.push(part),
            BlockContent::Result(call, mut result) => {
                result.body.flags.unjudged = !item.has("is_error");
                results.push(Edit::Result {
                    call,
                    result,
                    lane: head.lane.clone(),
                });
            }
            BlockContent::Blank => {}
        }
    }

    fn call(
        &mut self,
        rule: &CallRule,
        head: &EntryHead,
        at: (PathScope<'_>, usize),
        out: &mut Batch,
    ) -> ToolCall {
        let (scope, number) = at;
        let name = rule.name.word(scope).unwrap_or_default();
        let null = Json::Null;
        let mut input = |input: &Json<'_>| {
            let kind = tools::kind_of_call(&name, input);
            let headline = tools::headline(kind, input);
            let mut body = input.to_body(&headline, out);
            body.flags.broken_off = tools::is_truncated(input);
            (kind, headline, body)
        };
        let read = rule.input.first(scope, &mut input);
        let (kind, headline, input) = read.unwrap_or_else(|| input(&null));
        let key = match &rule.id {
            CallId::Path(path) => self.runs.id(path, scope).unwrap_or_default(),
            CallId::PathOrOrder(path) => self
                .runs
                .id(path, scope)
                .unwrap_or_else(|| tool::textual_key(&head.key, number)),
            CallId::Order | CallId::Waiting => tool::textual_key(&head.key, number),
        };
        // For a tool whose results are usually not recorded, some calls have a recorded result
        // after all.
        let may_wait = rule.result.as_ref().is_none_or(|result| result.unrecorded);
        if self.definition.needs.by_order && may_wait && self.ordered_calls.insert(key.clone()) {
            // Results directly follow their calls, so calls of earlier entries get none any more.
            let waiting = self.waiting.entry(head.lane.clone()).or_default();
            if waiting.asking != head.key || waiting.open.len() >= OPEN {
                waiting.open.clear();
                waiting.asking = head.key.clone();
            }
            waiting.open.push_back((key.clone(), name.clone()));
        }
        let started = rule.started.moment(scope).or(head.at);
        let result = rule
            .result
            .as_ref()
            .filter(|result| result.when.holds(scope));
        let result = result.and_then(|rule| within(rule, &key, scope, out));
        if result
            .as_ref()
            .is_some_and(|result| result.body.flags.unrecorded)
        {
            self.unrecorded.insert(key.clone());
        }
        let within = rule.result.as_ref();
        self.begin_work(&key, within.zip(result.as_ref()), scope, out);
        let is_lost = rule.lost.holds(scope);
        let state = match result {
            Some(result) => tool::ended(result),
            None if is_lost => ToolState::Lost,
            None => ToolState::Pending,
        };
        ToolCall {
            key,
            name,
            kind,
            headline,
            input,
            state,
            started,
            lane: rule.lane.word(scope),
        }
    }

    /// Makes the results of calls in other records.
    pub(super) fn results(
        &mut self,
        rule: &ResultRule,
        head: &EntryHead,
        at: (PathScope<'_>, usize),
        results: &mut Vec<Edit>,
        out: &mut Batch,
    ) {
        let (scope, number) = at;
        if !rule.each.is_given() {
            results.extend(self.result(rule, head, (scope, number), out));
            return;
        }
        rule.each.elements(scope, &mut |found| {
            if self.spend_budget(LOOK, found, out) {
                let number = results.len();
                results.extend(self.result(rule, head, (found, number), out));
            }
        });
    }

    fn result(
        &mut self,
        rule: &ResultRule,
        head: &EntryHead,
        at: (PathScope<'_>, usize),
        out: &mut Batch,
    ) -> Option<Edit> {
        let (scope, number) = at;
        if !rule.when.holds(scope) {
            return None;
        }
        let tool = rule.tool.word(scope);
        let key = text!("{}:{number}", head.key);
        let of = rule.of.as_ref()?;
        let id = match of {
            CallId::Path(path) => Some(self.runs.id(path, scope).unwrap_or_default()),
            // Some results have an id although their call has none.
            CallId::PathOrOrder(path) => self
                .runs
                .id(path, scope)
                .filter(|id| self.ordered_calls.contains(id)),
            CallId::Order | CallId::Waiting => None,
        };
        let has_id = id.is_some();
        let call = match id {
            Some(call) => {
                if let Some(waiting) = self.waiting.get_mut(&head.lane) {
                    waiting.open.retain(|(open, _)| *open != call);
                }
                call
            }
            None if matches!(of, CallId::Waiting)
                && self.waits_for_none(head)
                && !self.answered.contains_key(&key) =>
            {
                return None;
            }
            None => self.next_open(&key, head, tool.as_ref()),
        };
        // The result replaces the one that says that no result is recorded.
        let key = if self.unrecorded.contains(&call) {
            key_within(&call)
        } else {
            key
        };
        let mut result = of_rule(rule, key, scope, out);
        if rule.running.holds(scope) && !call.is_blank() {
            let state = ToolState::running(result.body);
            return Some(Edit::State { call, state });
        }
        if rule.once && !self.once.is_answer(&call, &head.key) {
            return None;
        }
        // Joined by order, the result may have another name for the tool than the call; a result
        // without a call has only its own.
        result.tool = tool.filter(|_| has_id || call.is_blank());
        result.at = result.at.or(head.at);
        self.begin_work(&call, Some((rule, &result)), scope, out);
        Some(Edit::Result {
            call,
            result: Box::new(result),
            lane: head.lane.clone(),
        })
    }

    /// Registers background work that is identified by its command.
    fn begin_work(
        &mut self,
        call: &Key,
        result: Option<(&ResultRule, &ToolResult)>,
        scope: PathScope<'_>,
        out: &mut Batch,
    ) {
        if !self.definition.needs.commands {
            return;
        }
        let Some((rule, result)) = result else { return };
        let has_no_id = (result.work.as_ref()).is_some_and(|work| work.handle.is_blank());
        if let Some(command) = rule.command.word(scope).filter(|_| has_no_id) {
            self.commands.call(&command, call, out);
        }
    }

    fn waits_for_none(&self, head: &EntryHead) -> bool {
        self.waiting
            .get(&head.lane)
            .is_none_or(|waiting| waiting.open.is_empty())
    }

    /// The oldest call without a result, of the given tool if calls name one. A repeated result
    /// keeps its call.
    fn next_open(&mut self, result: &Key, head: &EntryHead, tool: Option<&Text>) -> Key {
        if let Some(call) = self.answered.get(result) {
            return call.clone();
        }
        let same = |name: &Text| tool.is_some_and(|tool| tools::is_step_of(tool, name));
        let next = self.waiting.get_mut(&head.lane).and_then(|waiting| {
            let place = waiting
                .open
                .iter()
                .position(|(_, name)| same(name))
                .unwrap_or(0);
            waiting.open.remove(place)
        });
        let call = next.map(|(key, _)| key).unwrap_or_default();
        self.answered.insert(result.clone(), call.clone());
        call
    }
}

/// The result that a call has in its own record, if any.
fn within(
    rule: &ResultRule,
    call: &Key,
    scope: PathScope<'_>,
    out: &mut Batch,
) -> Option<ToolResult> {
    let is_there = rule.text.has_value(scope);
    // A rule with a condition has a result whenever the condition holds, even without text.
    if !is_there
        && !rule.unrecorded
        && rule.when.is_empty()
        && !rule.failed.holds(scope)
        && !rule.refused.holds(scope)
        && !rule.stopped.holds(scope)
    {
        return None;
    }
    Some(of_rule(rule, key_within(call), scope, out))
}

/// The key of a result that its call contains.
fn key_within(call: &Key) -> Key {
    text!("{call}:result")
}

fn of_rule(rule: &ResultRule, key: Key, scope: PathScope<'_>, out: &mut Batch) -> ToolResult {
    let exit = rule.exit.number(scope);
    let has_failed = rule.failed.holds(scope) || exit.is_some_and(|code| code != 0.0);
    let text = rule.text.string(scope, |text| out.output(text));
    let mut body = text.unwrap_or_else(|| out.output(""));
    body.flags.unjudged = !rule.exit.is_given() && !rule.failed.is_recorded(scope);
    body.flags.unrecorded = rule.unrecorded;
    // Agents record this text for their own display, and it is not always a diff.
    let patch = rule.patch.string(scope, |text| {
        change::is_patch(text).then(|| out.output(text))
    });
    ToolResult {
        key,
        tool: None,
        verdict: if rule.refused.holds(scope) {
            Verdict::Refused
        } else if rule.stopped.holds(scope) {
            Verdict::Stopped
        } else if has_failed {
            Verdict::Failed
        } else {
            Verdict::Done
        },
        body,
        patch: patch.flatten(),
        images: Vec::new(),
        facts: exit
            .filter(|code| *code != 0.0)
            .map(|code| text!("exit {code}"))
            .unwrap_or_default(),
        at: rule.at.moment(scope),
        duration_ms: rule.took.count(scope),
        work: work(rule, scope, out),
    }
}

/// The background work that a result acknowledges.
fn work(rule: &ResultRule, scope: PathScope<'_>, out: &Batch) -> Option<Box<Work>> {
    let handle = rule.handle.word(scope).filter(|handle| !handle.is_blank());
    let acknowledges = rule
        .acknowledges
        .as_ref()
        .map_or(handle.is_some(), |flag| flag.holds(scope));
    let mut work = acknowledges.then(|| heads::work(out.format, handle.unwrap_or_default()))?;
    work.ends = rule.ends.unwrap_or(work.ends);
    Some(Box::new(work))
}

/// An image, from its data or from its path or URL.
fn image(data: &str, mime: Text, out: &Batch) -> Image {
    let is_address = data.contains("://") || data.starts_with(['/', '~', '.']);
    inline::image(data, mime, !is_address, out)
}
