//! Figures for readers: sizes, tokens, durations, counts.

/// `512 B`, `45 KB`, `1.2 MB`.
pub fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..10_000 => format!("{} KB", tenths(count, 1_000)),
        10_000..1_000_000 => format!("{} KB", count / 1_000),
        1_000_000..10_000_000 => format!("{} MB", tenths(count, 1_000_000)),
        10_000_000..1_000_000_000 => format!("{} MB", count / 1_000_000),
        _ => format!("{} GB", tenths(count, 1_000_000_000)),
    }
}

/// `402`, `1.2k`, `148k`, `1.5M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => format!("{}k", tenths(count, 1_000)),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", tenths(count, 1_000_000)),
    }
}

/// `8ms`, `41.2s`, `1m52s`, `3h07m`.
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{}s", tenths(ms, 1_000)),
        60_000..3_600_000 => format!("{}m{:02}s", ms / 60_000, ms / 1_000 % 60),
        _ => format!("{}h{:02}m", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// `1 line`, `212 lines`.
pub fn count(number: u64, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// Saturating, for counts of rows.
pub fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn tenths(count: u64, unit: u64) -> String {
    format!("{}.{}", count / unit, count % unit * 10 / unit)
}

#[cfg(test)]
mod tests {
    use super::{bytes, count, duration, tokens};

    #[test]
    fn figures_read_well() {
        assert_eq!(
            [bytes(45), bytes(1_250), bytes(45_300), bytes(24_000_000)],
            ["45 B", "1.2 KB", "45 KB", "24 MB"]
        );
        assert_eq!([tokens(402), tokens(1_234), tokens(148_000)], ["402", "1.2k", "148k"]);
        assert_eq!([duration(8), duration(41_200), duration(112_000)], ["8ms", "41.2s", "1m52s"]);
        assert_eq!([count(1, "line"), count(2, "line")], ["1 line", "2 lines"]);
    }
}
