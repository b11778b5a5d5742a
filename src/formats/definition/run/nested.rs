//! Decodes records that are nested within records.

use super::budget::LOOK;
use super::{DefinitionDecoder, RecordSite, show_within};
use crate::formats::decoder::Input;
use crate::formats::definition::path::{PathScope, RecordPath};
use crate::formats::definition::rule::RecordRule;
use crate::model::edit::{Batch, Severity};
use crate::model::tally::Fate;

/// The maximum nesting of records.
const DEEPEST: u8 = 4;

impl DefinitionDecoder {
    /// Applies the rules to the records nested in a record.
    pub(super) fn within(
        &mut self,
        rule: &RecordRule,
        of: &(RecordPath, bool),
        site: RecordSite<'_>,
        out: &mut Batch,
    ) -> bool {
        let (records, replace) = of;
        if site.depth >= DEEPEST {
            return show_deep(records, site, out);
        }
        let edits = out.edits.len();
        let is_shown = self.records(records, *replace, site, out);
        if let Some(text) = &rule.unless_answered {
            let text = text.word(site.scope).unwrap_or_default();
            self.held_edits.hold(&text, out.edits.split_off(edits));
        }
        is_shown
    }

    /// Applies the rules to the nested records at this path.
    fn records(
        &mut self,
        path: &RecordPath,
        replace: bool,
        site: RecordSite<'_>,
        out: &mut Batch,
    ) -> bool {
        let before = if replace {
            std::mem::take(&mut self.entries).list
        } else {
            Vec::new()
        };
        let from = out.edits.len();
        let (mut number, mut is_shown) = (0, false);
        self.budget.weigh(site.scope.record);
        let cost = LOOK + self.definition.rules.len() + self.definition.facts.len();
        path.each(site.scope, &mut |found| {
            if !self.spend_budget(cost, site.scope, out) {
                return;
            }
            let scope = PathScope {
                record: found.here,
                ..found
            };
            let place = number_within(site, number);
            let within = RecordSite {
                scope,
                number: Some(&place),
                depth: site.depth + 1,
                ..site
            };
            self.facts_at(within, out);
            is_shown |= self.record(within, out) == Fate::Shown;
            number += 1;
        });
        if replace {
            self.undo_unnamed(before, from, out);
        }
        is_shown
    }
}

/// Emits records beyond the maximum nesting as raw trees.
fn show_deep(path: &RecordPath, site: RecordSite<'_>, out: &mut Batch) -> bool {
    let mut number = 0;
    path.each(site.scope, &mut |found| {
        let place = number_within(site, number);
        let within = RecordSite {
            number: Some(&place),
            ..site
        };
        show_within(
            Input {
                json: found.here,
                place: site.place,
            },
            "record",
            within,
            out,
        );
        number += 1;
    });
    if number > 0 {
        let what = format!(
            "records within records within records are read {DEEPEST} deep; what lies deeper is shown as it is"
        );
        out.notice(Severity::Warning, &what);
    }
    number > 0
}

/// The index of a nested record, prefixed with the indexes of its outer records.
fn number_within(site: RecordSite<'_>, number: usize) -> String {
    site.number
        .map_or_else(|| number.to_string(), |outer| format!("{outer}/{number}"))
}
