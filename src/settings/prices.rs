//! Prices in the settings, for models that the price table lacks or prices differently.
//!
//! ```toml
//! [prices."my-model"]        # USD per million tokens
//! input = 0.5
//! output = 2.0
//! cache_read = 0.05          # kinds without a price cost as much as input
//! window = 200_000           # tokens
//! ```

use toml::de::{DeTable, DeValue};

use super::table::in_order;
use crate::analysis::money::prices::Prices;

/// An error: its offset in the text, and its message.
pub(crate) type Complaint = (usize, String);

/// Parses prices by model; a model with an error gets none.
pub fn read(models: &DeTable<'_>, complaints: &mut Vec<Complaint>) -> Vec<(String, Prices)> {
    let mut own = Vec::new();
    for (name, value) in in_order(models) {
        let Some(members) = value.get_ref().as_table() else {
            complaints.push((
                value.span().start,
                "prices of a model are a table: [prices.\"name\"]".to_owned(),
            ));
            continue;
        };
        match prices(members) {
            Ok(prices) => own.push((name.get_ref().to_string(), prices)),
            Err((at, what)) => complaints.push((at.unwrap_or(name.span().start), what)),
        }
    }
    own
}

const RATES: [&str; 5] = [
    "input",
    "output",
    "cache_read",
    "cache_write_5m",
    "cache_write_1h",
];

fn prices(members: &DeTable<'_>) -> Result<Prices, (Option<usize>, String)> {
    let mut rates: [Option<u64>; 5] = [None; 5];
    let mut prices = Prices {
        source: "config.toml".to_owned(),
        ..Prices::default()
    };
    for (name, value) in in_order(members) {
        let fail = |what: String| (Some(value.span().start), what);
        let number = number(value.get_ref()).filter(|number| (0.0..1e9).contains(number));
        let number =
            number.ok_or_else(|| fail("a number is wanted here, not below 0".to_owned()))?;
        match name.get_ref().as_ref() {
            "window" => prices.window = Some(scaled(number, 1.0)),
            "search" => prices.search = scaled(number, 1e6),
            other => match RATES
                .iter()
                .zip(&mut rates)
                .find(|(rate, _)| **rate == other)
            {
                Some((_, rate)) => *rate = Some(scaled(number, 1e6)),
                None => {
                    return Err((
                        Some(name.span().start),
                        format!("no price is called {other}"),
                    ));
                }
            },
        }
    }
    let [Some(input), Some(output), rest @ ..] = rates else {
        return Err((
            None,
            "the prices of input and output are wanted, in USD for a million tokens".to_owned(),
        ));
    };
    let [read, short, long] = rest.map(|rate| rate.unwrap_or(input));
    prices.rates = [input, output, read, short, long];
    Ok(prices)
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    let digits = |text: &str| text.replace('_', "").parse().ok();
    value
        .as_integer()
        .and_then(|number| digits(number.as_str()))
        .or_else(|| value.as_float().and_then(|number| digits(number.as_str())))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounded, and not below 0"
)]
fn scaled(number: f64, scale: f64) -> u64 {
    (number * scale).round() as u64
}
