//! Compact formats for figures, shared by the screen and the reports.

/// Token counts: `402`, `9.8k`, `118k`, `1.2M`.
pub(crate) fn tokens(n: u64) -> String {
    let float = n as f64;
    match n {
        0..=999 => n.to_string(),
        1_000..=9_949 => format!("{:.1}k", float / 1e3),
        9_950..=999_499 => format!("{:.0}k", float / 1e3),
        1_000_000_000.. => format!("{:.1}G", float / 1e9),
        _ => format!("{:.1}M", float / 1e6),
    }
}

/// All digits in groups of three: `402`, `12 345`.
pub(crate) fn exact(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Sizes: `512 B`, `1.2 KB`, `45 KB`, `3.1 MB`.
pub(crate) fn bytes(n: u64) -> String {
    let (unit, name) = match n {
        0..1_000 => return format!("{n} B"),
        1_000..1_000_000 => (1_000, "KB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    if n < 10 * unit {
        format!("{}.{} {name}", n / unit, n % unit * 10 / unit)
    } else {
        format!("{} {name}", n / unit)
    }
}

/// Durations in ms: `8ms`, `41.2s`, `1m52s`, `2h05m`, `3d04h`.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..59_950 => format!("{:.1}s", ms as f64 / 1e3),
        59_950..60_000 => "1m00s".to_owned(),
        60_000..3_600_000 => format!("{}m{:02}s", ms / 60_000, ms / 1_000 % 60),
        3_600_000..86_400_000 => format!("{}h{:02}m", ms / 3_600_000, ms / 60_000 % 60),
        _ => format!("{}d{:02}h", ms / 86_400_000, ms / 3_600_000 % 24),
    }
}

/// Spans that a user configured, in ms: `90m`, `3h`, `2d`.
pub(crate) fn span(ms: u64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0..=119 => format!("{minutes}m"),
        120..=2_879 if minutes.is_multiple_of(60) => format!("{}h", minutes / 60),
        _ if minutes.is_multiple_of(24 * 60) => format!("{}d", minutes / (24 * 60)),
        _ => duration(ms),
    }
}

/// Running times in ms, in whole seconds: `42s`, `12m41s`; above an hour without seconds: `1h02m`.
pub(crate) fn elapsed(ms: u64) -> String {
    match ms {
        0..60_000 => format!("{}s", ms / 1_000),
        _ => duration(ms),
    }
}

/// Age in ms, in at most four columns: `now`, `41m`, `23h`, `364d`, `2y`.
pub(crate) fn age(ms: u64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0 => "now".to_owned(),
        1..60 => format!("{minutes}m"),
        60..1_440 => format!("{}h", minutes / 60),
        1_440..525_600 => format!("{}d", minutes / 1_440),
        _ => format!("{}y", minutes / 525_600),
    }
}

/// Age in ms as a phrase: `just now`, `41m ago`.
pub(crate) fn ago(ms: u64) -> String {
    if ms < 60_000 {
        "just now".to_owned()
    } else {
        format!("{} ago", age(ms))
    }
}

/// A number with its noun: `1 line`, `212 lines`, `2 entries`, `2 branches`.
pub fn count(number: u64, word: &str) -> String {
    match word.strip_suffix("ry") {
        _ if number == 1 => format!("1 {word}"),
        Some(stem) => format!("{number} {stem}ries"),
        None if word.ends_with("ch") => format!("{number} {word}es"),
        None => format!("{number} {word}s"),
    }
}

/// Percentage, rounded down; 0 if `whole` is 0.
pub fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{age, ago, bytes, count, duration, elapsed, exact, percent, tokens};

    #[test]
    fn ages_have_one_unit() {
        let ages =
            [0, 1, 59, 60, 1_439, 1_440, 525_599, 525_600].map(|minutes| age(minutes * 60_000));
        assert_eq!(ages, ["now", "1m", "59m", "1h", "23h", "1d", "364d", "1y"]);
        assert_eq!([59_999, 60_000].map(ago), ["just now", "1m ago"]);
    }

    #[test]
    fn figures_stay_short() {
        let shown = [0, 999, 1_000, 9_949, 9_950, 118_400, 999_600, 1_240_000].map(tokens);
        assert_eq!(
            shown,
            ["0", "999", "1.0k", "9.9k", "10k", "118k", "1.0M", "1.2M"]
        );
        assert_eq!(
            [0, 402, 12_345, 1_000_000].map(exact),
            ["0", "402", "12 345", "1 000 000"]
        );
        let shown = [8, 41_200, 59_990, 60_000, 112_000, 7_500_000, 273_600_000].map(duration);
        assert_eq!(
            shown,
            ["8ms", "41.2s", "1m00s", "1m00s", "1m52s", "2h05m", "3d04h"]
        );
        let spans = [5_400_000, 10_800_000, 172_800_000, 180_060_000].map(super::span);
        assert_eq!(spans, ["90m", "3h", "2d", "2d02h"]);
        assert_eq!(
            [45, 1_250, 45_300, 24_000_000].map(bytes),
            ["45 B", "1.2 KB", "45 KB", "24 MB"]
        );
        assert_eq!(
            [42_900, 59_990, 190_000, 3_723_000].map(elapsed),
            ["42s", "59s", "3m10s", "1h02m"]
        );
        assert_eq!([1, 212].map(|n| count(n, "line")), ["1 line", "212 lines"]);
        assert_eq!(
            [1, 2].map(|n| count(n, "branch")),
            ["1 branch", "2 branches"]
        );
        assert_eq!((percent(1, 3), percent(1, 0)), (33, 0));
    }
}
