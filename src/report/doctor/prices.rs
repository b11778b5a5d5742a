//! Which models of the session have a price, and how old the price table is.

use std::io::{self, Write};

use serde::Serialize;

use crate::analysis::money::{cost, prices};
use crate::model::figures::count;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::totals::Totals;
use crate::report::spent::CostFigures;

/// Age from which the table may lack current models.
const OLD_DAYS: u64 = 90;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The price table behind estimates.
#[derive(Serialize)]
pub(super) struct PriceLines {
    source: &'static str,
    date: &'static str,
    days: Option<u64>,
    unpriced_models: Vec<String>,
    warning: Option<String>,
    /// Whether a cost is estimated, or would be if prices were available.
    #[serde(skip)]
    is_of_interest: bool,
}

impl PriceLines {
    pub(super) fn of(totals: &Totals, now: Timestamp) -> Self {
        let (source, date) = prices::provenance();
        let cost = cost::of(totals);
        let named = cost
            .unpriced_models
            .iter()
            .filter(|model| !model.is_blank());
        let named: Vec<&str> = named.map(Text::as_str).collect();
        let unpriced_models = CostFigures::from(&cost).unpriced_models;
        let days = prices::retrieved().map(|taken| now.since(taken) / DAY_MS);
        // An unnamed model is in no table, however new.
        let age = days.filter(|days| *days > OLD_DAYS && !named.is_empty());
        let warning = age.map(|days| {
            format!(
                "the prices are {} old and do not know {}; `tv help cost` tells how to put newer ones in their place",
                count(days, "day"),
                named.join(", ")
            )
        });
        let is_of_interest = cost.is_estimated || !unpriced_models.is_empty();
        Self {
            source,
            date,
            days,
            unpriced_models,
            warning,
            is_of_interest,
        }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.is_of_interest {
            return Ok(());
        }
        let source = self.source.split(": ").next().unwrap_or(self.source);
        write!(out, "  prices: {source}, taken on {}", self.date)?;
        if !self.unpriced_models.is_empty() {
            write!(out, "; none for {}", self.unpriced_models.join(", "))?;
        }
        writeln!(out)?;
        self.warning
            .iter()
            .try_for_each(|warning| writeln!(out, "  warning: {warning}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{DAY_MS, OLD_DAYS, PriceLines};
    use crate::analysis::money::prices;
    use crate::model::text::Text;
    use crate::model::timestamp::Timestamp;
    use crate::model::totals::Totals;
    use crate::model::usage::{Scope, Usage};

    #[test]
    fn old_prices_are_told_beside_a_model_that_they_do_not_know() {
        let taken = prices::retrieved().unwrap();
        let after = |days: u64| Timestamp(taken.0 + i64::try_from(days * DAY_MS).unwrap());
        let spent = |model: &str| {
            let mut totals = Totals::default();
            let usage = Usage {
                input: Some(10),
                output: Some(1),
                scope: Scope::Request,
                ..Usage::default()
            };
            totals.add(&usage, Some(&Text::clean(model)));
            totals
        };
        let said = |model: &str, days: u64| {
            let mut out = Vec::new();
            PriceLines::of(&spent(model), after(days))
                .write(&mut out)
                .unwrap();
            String::from_utf8(out).unwrap()
        };
        let new = said("unheard-of-5", OLD_DAYS);
        assert!(
            new.contains("; none for unheard-of-5") && !new.contains("warning"),
            "{new}"
        );
        let old = said("unheard-of-5", OLD_DAYS + 1);
        assert!(
            old.contains("warning: the prices are 91 days old and do not know unheard-of-5"),
            "{old}"
        );
        let known = said("claude-opus-4-6", 1000);
        assert!(
            known.contains("prices: litellm") && !known.contains("warning"),
            "{known}"
        );
        assert_eq!(
            PriceLines::of(&Totals::default(), after(1000)).unpriced_models,
            Vec::<String>::new()
        );
        assert!(
            PriceLines::of(&spent("<synthetic>"), after(0))
                .warning
                .is_none()
        );
    }
}
