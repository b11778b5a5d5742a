//! The price table: list prices by model, read from `assets/prices.tsv` when first needed.
//!
//! Invariant: a model that the table does not name has no price.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::models;

static TABLE: LazyLock<HashMap<&'static str, Prices>> =
    LazyLock::new(|| include_str!("../../assets/prices.tsv").lines().filter_map(row).collect());

/// Prices of one model in USD per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Uncached input.
    pub input: f64,
    /// Output, reasoning included.
    pub output: f64,
    /// Cache reads.
    pub cache_read: f64,
    /// Cache writes that live for five minutes.
    pub cache_write_5m: f64,
    /// Cache writes that live for an hour.
    pub cache_write_1h: f64,
}

impl Prices {
    /// The price of tokens in USD; they come in the order of the fields.
    pub fn of(&self, tokens: [u64; 5]) -> f64 {
        let prices = [self.input, self.output, self.cache_read, self.cache_write_5m, self.cache_write_1h];
        prices.iter().zip(tokens).map(|(price, n)| price * n as f64).sum::<f64>() / 1e6
    }
}

/// The prices of a model, however its name is spelled.
pub fn of_model(name: &str) -> Option<&'static Prices> {
    if models::is_free_variant(name) {
        return None;
    }
    TABLE.get(models::canonical(name).as_str())
}

fn row(line: &'static str) -> Option<(&'static str, Prices)> {
    let mut cells = line.split('\t').map(str::trim);
    let model = cells.next().filter(|name| !name.starts_with('#'))?;
    let mut price = || cells.next().map(|cell| cell.parse::<f64>().ok());
    let input = price()??;
    let output = price()??;
    Some((
        model,
        Prices {
            input,
            output,
            cache_read: price()?.unwrap_or(input),
            cache_write_5m: price()?.unwrap_or(input),
            cache_write_1h: price()?.unwrap_or(input),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::{TABLE, of_model, row};

    #[test]
    fn every_line_of_the_table_is_a_price() {
        let lines = include_str!("../../assets/prices.tsv").lines();
        let rows: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
        for line in &rows {
            assert!(row(line).is_some(), "{line}");
        }
        assert_eq!(TABLE.len(), rows.len(), "a model is listed twice");
    }

    #[test]
    fn unknown_and_free_models_have_no_price() {
        assert!(of_model("").is_none());
        assert!(of_model("glm-5").is_none());
        assert!(of_model("claude-opus-4-8-fast").is_none());
        assert!(of_model("openai/gpt-4o:free").is_none());
    }

    #[test]
    fn tokens_cost_what_their_kind_costs() {
        let opus = of_model("claude-opus-4-6").unwrap();
        let usd = opus.of([1_000_000, 100_000, 2_000_000, 100_000, 10_000]);
        assert!((usd - (5.0 + 2.5 + 1.0 + 0.625 + 0.1)).abs() < 1e-9);
    }
}
