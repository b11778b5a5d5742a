//! Formats durations.

/// Formats milliseconds: `0.5 s`, `13 s`, `2 min 05 s`.
pub(crate) fn seconds(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        10_000..120_000 => format!("{} s", ms / 1000),
        _ => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1000),
    }
}
