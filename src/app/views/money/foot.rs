//! How the chosen figure is computed: tokens times rates, the source of the rates, the recorded
//! cost, and usage without a price.

use ratatui::text::{Line, Span};

use crate::analysis::money::prices::{self, Tier};
use crate::analysis::money::spending::Charge;
use crate::analysis::money::spending::arithmetic::{Arithmetic, Bill, precise};
use crate::model::figures::{count, exact};
use crate::render::theme::Theme;
use crate::render::wrap::{self, LineFrame};

/// Share from which a difference of recorded and estimated cost is shown.
const DIFFERENCE: f64 = 0.01;

/// The arithmetic of charges, wrapped to `width`.
pub fn lines(charges: &[&Charge], width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let made = Arithmetic::of(charges);
    let mut said: Vec<Vec<Vec<Span<'static>>>> = Vec::new();
    if let Some((picos, records)) = made.recorded {
        said.push(vec![recorded(picos, records, &made, theme)]);
    }
    for bill in &made.estimated {
        said.push(sum(bill, made.estimated.len() > 1, theme));
    }
    for (model, tokens) in &made.unpriced {
        let name = model_name(model);
        let words = format!(
            "$? {name} has no price: {} tokens are in no sum",
            exact(*tokens)
        );
        let hint = "  ([prices.\"NAME\"] in config.toml gives it one)";
        said.push(vec![vec![
            Span::styled(words, theme.warn),
            Span::styled(hint, theme.dim),
        ]]);
    }
    if let Some(picos) = made.runs {
        let words = format!(
            "{} told for the whole run, beyond what its requests add up to",
            precise(picos)
        );
        said.push(vec![vec![Span::styled(words, theme.text)]]);
    }
    if price_deviation(&made).is_some() {
        for bill in &made.expected {
            said.push(sum(bill, made.expected.len() > 1, theme));
        }
    }
    let shown = if price_deviation(&made).is_some() {
        made.expected.as_slice()
    } else {
        &[]
    };
    for bill in distinct(made.estimated.iter().chain(shown)) {
        said.push(vec![source(bill, theme)]);
    }
    if said.is_empty() {
        let words = "no tokens are recorded here, so there is nothing to reckon";
        said.push(vec![vec![Span::styled(words, theme.dim)]]);
    }
    said.into_iter()
        .flat_map(|parts| packed(parts, width))
        .collect()
}

/// The difference of list prices to the recorded cost, as a share of it; `None` if they cannot be
/// compared.
fn price_deviation(made: &Arithmetic) -> Option<f64> {
    let (recorded, records) = made.recorded?;
    let compared: u64 = made.expected.iter().map(|bill| bill.charges).sum();
    (compared == records && recorded > 0).then(|| {
        let expected: i128 = made.expected.iter().map(Bill::picos).sum();
        expected as f64 / recorded as f64 - 1.0
    })
}

fn recorded(picos: i128, records: u64, made: &Arithmetic, theme: &Theme) -> Vec<Span<'static>> {
    let words = format!("{} recorded by the agent", precise(picos));
    let mut spans = vec![Span::styled(words, theme.text)];
    if records > 1 {
        spans.push(Span::styled(
            format!(" in {}", count(records, "request")),
            theme.dim,
        ));
    }
    let compared = match price_deviation(made) {
        Some(off) if off.abs() > DIFFERENCE => {
            let expected: i128 = made.expected.iter().map(Bill::picos).sum();
            let more = if off > 0.0 { "more" } else { "less" };
            let percent = format!("{:.1}%", off.abs() * 100.0);
            Span::styled(
                format!("; by list prices ~{}, {percent} {more}:", precise(expected)),
                theme.warn,
            )
        }
        Some(_) => Span::styled("; list prices come to the same:", theme.dim),
        None => Span::styled("; not all of it has list prices to compare", theme.dim),
    };
    spans.push(compared);
    spans
}

/// `12 345 input × $3.00/M = $0.037035 + 1 200 output × $15.00/M = $0.018000 = ~$0.055035`, as
/// parts that are not broken across lines.
fn sum(bill: &Bill, is_one_of_many: bool, theme: &Theme) -> Vec<Vec<Span<'static>>> {
    let times = theme.glyphs().times;
    let mut parts = Vec::new();
    let mut names: Vec<String> = Vec::new();
    if is_one_of_many {
        names.push(model_name(&bill.model));
    }
    names.extend(tier(&bill.tier));
    if !names.is_empty() {
        parts.push(vec![Span::styled(
            format!("{}: ", names.join(", ")),
            theme.accent,
        )]);
    }
    for (number, product) in bill.products.iter().enumerate() {
        let plus = if number > 0 { "+ " } else { "" };
        let blank = if bill.products.len() > 1 { " " } else { "" };
        parts.push(vec![
            Span::styled(
                format!("{plus}{} {}", exact(product.count), product.class),
                theme.text,
            ),
            Span::styled(format!(" {times} {}", product.price()), theme.dim),
            Span::styled(
                format!(" = {}{blank}", precise(product.picos())),
                theme.text,
            ),
        ]);
    }
    if bill.products.len() > 1 {
        parts.push(vec![Span::styled(
            format!("= ~{}", precise(bill.picos())),
            theme.heading,
        )]);
    }
    parts
}

/// Wraps parts to lines without breaking a part.
fn packed(parts: Vec<Vec<Span<'static>>>, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut line: Vec<Span<'static>> = Vec::new();
    for part in parts {
        if !line.is_empty() && wrap::width_of(&line) + wrap::width_of(&part) > width {
            lines.extend(wrap::wrap(&line, &LineFrame::hanging(width, 2)));
            line = vec![Span::raw("  ")];
        }
        line.extend(part);
    }
    lines.extend(wrap::wrap(&line, &LineFrame::hanging(width, 2)));
    lines
}

fn tier(tier: &Tier) -> Vec<String> {
    let long = tier
        .above
        .map(|limit| format!("prompts of more than {} tokens", exact(limit)));
    tier.terms
        .iter()
        .map(ToString::to_string)
        .chain(long)
        .collect()
}

/// `prices of claude-opus-4-6: https://… · litellm …, 2026-11-21`
fn source(bill: &Bill, theme: &Theme) -> Vec<Span<'static>> {
    let (table, date) = prices::provenance();
    let is_own = bill.source == OWN;
    let table = table.split(": ").next().unwrap_or(table);
    let from = match (is_own, bill.source.is_empty()) {
        (true, _) => format!("your {OWN}"),
        (false, true) => format!("{table}, {date}"),
        (false, false) => {
            let page = bill.source.trim_start_matches("https://");
            format!("{table}, {date} {} {page}", theme.glyphs().dot)
        }
    };
    vec![Span::styled(
        format!("prices of {}: {from}", bill.row),
        theme.dim,
    )]
}

/// The source of prices that the user configured.
const OWN: &str = "config.toml";

/// One bill for each row of the price table.
fn distinct<'a>(bills: impl Iterator<Item = &'a Bill>) -> Vec<&'a Bill> {
    let mut found: Vec<&Bill> = Vec::new();
    for bill in bills {
        if found.iter().all(|known| known.row != bill.row) {
            found.push(bill);
        }
    }
    found
}

/// A model's name for display.
pub fn model_name(model: &str) -> String {
    if model.is_empty() {
        "model not recorded".to_owned()
    } else {
        model.to_owned()
    }
}
