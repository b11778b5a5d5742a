//! Timestamps as agents write them: RFC 3339, epoch seconds or epoch milliseconds.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

use jiff::civil::{Date, DateTime, ISOWeekDate, Time, Weekday};
use jiff::tz::Offset;
use jiff::{Span, Zoned};

mod zone;

pub(crate) use zone::Zone;
use zone::current;

/// A point in time, in milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(pub i64);

/// Numbers below this are seconds: in milliseconds they would be before March 1973.
const SECONDS_BELOW: f64 = 1e11;

/// The day before, as a word.
const YESTERDAY: &str = "yesterday";
/// Within this time in ms a weekday is unambiguous.
const WEEK_MS: u64 = 6 * 24 * 60 * 60 * 1000;

/// A week as [`Timestamp::calendar_week`] formats it, with its days: `2026-W05 (26 Jan - 1 Feb)`.
pub(crate) fn week_and_days(week: &str) -> String {
    let days = || {
        let (year, number) = week.split_once("-W")?;
        let monday = ISOWeekDate::new(year.parse().ok()?, number.parse().ok()?, Weekday::Monday);
        let monday = monday.ok()?.date();
        let sunday = monday.checked_add(Span::new().days(6)).ok()?;
        let first = monday.strftime("%-d %b");
        Some(format!("{week} ({first} - {})", sunday.strftime("%-d %b")))
    };
    days().unwrap_or_else(|| week.to_owned())
}

impl Timestamp {
    /// Parses an RFC 3339 timestamp such as `2026-01-31T11:53:47.108Z`.
    pub fn parse(raw: &str) -> Option<Self> {
        usual(raw.as_bytes())
            .or_else(|| raw.parse().ok())
            .map(|at| Self(at.as_millisecond()))
    }

    /// Converts an epoch number, in seconds or milliseconds by its magnitude.
    pub(crate) fn from_number(number: f64) -> Option<Self> {
        let ms = if number.abs() < SECONDS_BELOW {
            number * 1000.0
        } else {
            number
        };
        let in_range = ms.is_finite() && (1.0..2.5e14).contains(&ms);
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        in_range.then_some(Self(ms as i64))
    }

    /// Milliseconds since `earlier`; 0 if the clock went backwards.
    pub fn since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// RFC 3339 in UTC with milliseconds, as in every JSON output.
    pub fn to_rfc3339(self) -> String {
        jiff::Timestamp::from_millisecond(self.0)
            .map_or_else(|_| String::new(), |at| format!("{at:.3}"))
    }

    /// `10:41:07` in the reader's time zone.
    pub fn clock(self) -> String {
        self.local("%H:%M:%S")
    }

    /// `10:41:07.081` in the reader's time zone.
    pub(crate) fn precise(self) -> String {
        self.local("%H:%M:%S%.3f")
    }

    /// `2026-01-31 10:41:07.081 CET` in the reader's time zone.
    pub(crate) fn day_and_precise(self) -> String {
        self.local("%Y-%m-%d %H:%M:%S%.3f %Z")
    }

    /// `10:41` in the reader's time zone.
    pub(crate) fn minute(self) -> String {
        self.local("%H:%M")
    }

    /// `2026-01-31 10:41` in the reader's time zone.
    pub fn date_and_clock(self) -> String {
        self.local("%Y-%m-%d %H:%M")
    }

    /// `2026-01-31` in the reader's time zone.
    pub(crate) fn calendar_day(self) -> String {
        self.local("%Y-%m-%d")
    }

    /// `2026-W05`: the week by ISO 8601, in the reader's time zone.
    pub(crate) fn calendar_week(self) -> String {
        self.local("%G-W%V")
    }

    /// `2026-01` in the reader's time zone.
    pub(crate) fn calendar_month(self) -> String {
        self.local("%Y-%m")
    }

    /// Abbreviation of the reader's time zone at this time: `CET`, `+03`.
    pub(crate) fn zone(self) -> String {
        self.local("%Z")
    }

    /// `01-31` in the reader's time zone.
    pub(crate) fn day(self) -> String {
        self.local("%m-%d")
    }

    /// `01-31 10:41` in the reader's time zone.
    pub(crate) fn day_and_minute(self) -> String {
        self.local("%m-%d %H:%M")
    }

    /// [`Self::clock`], or [`Self::day_and_minute`] among times of several days.
    pub(crate) fn clock_or_dated(self, is_dated: bool) -> String {
        if is_dated {
            self.day_and_minute()
        } else {
            self.clock()
        }
    }

    /// [`Self::minute`], or [`Self::day_and_minute`] among times of several days.
    pub(crate) fn minute_or_dated(self, is_dated: bool) -> String {
        if is_dated {
            self.day_and_minute()
        } else {
            self.minute()
        }
    }

    /// `Sat 31 Jan 2026` in the reader's time zone.
    pub fn date(self) -> String {
        self.local("%a %-d %b %Y")
    }

    /// Whether it is the same calendar day in the reader's time zone.
    pub(crate) fn is_same_day(self, other: Self) -> bool {
        self.zoned().map(|at| at.date()) == other.zoned().map(|at| at.date())
    }

    /// Milliseconds since midnight by the clock of the reader's time zone.
    pub(crate) fn since_midnight(self) -> i64 {
        let Some(at) = self.zoned() else { return 0 };
        let seconds =
            (i64::from(at.hour()) * 60 + i64::from(at.minute())) * 60 + i64::from(at.second());
        seconds * 1_000 + i64::from(at.millisecond())
    }

    /// Short form relative to `now`: `10:41` on the same day, `yesterday 10:41`, `Tue 10:41` within
    /// a week, else `2026-01-31 10:41`, in the reader's time zone.
    pub fn short(self, now: Self) -> String {
        match self.day_or_minute(now) {
            time if self.is_same_day(now) => time,
            day if day == YESTERDAY => format!("{day} {}", self.minute()),
            _ if now.since(self) < WEEK_MS && self <= now => self.local("%a %H:%M"),
            day => format!("{day} {}", self.minute()),
        }
    }

    /// Shortest form relative to `now`: `10:41` on the same day, `yesterday`, else `2026-01-31`.
    pub(crate) fn day_or_minute(self, now: Self) -> String {
        let begin = |day| now.start_of(day).unwrap_or(now);
        if self.is_same_day(now) {
            self.minute()
        } else if (begin(Day::Yesterday)..begin(Day::Today)).contains(&self) {
            YESTERDAY.to_owned()
        } else {
            self.calendar_day()
        }
    }

    /// Parses `2026-01`, `2026-01-31` or `2026-01-31 10:42[:07]` in the reader's time zone.
    pub(crate) fn parse_local(typed: &str) -> Option<Self> {
        let typed = typed.trim().replace(' ', "T");
        let month = || {
            Some(
                Date::strptime("%Y-%m-%d", format!("{typed}-01"))
                    .ok()?
                    .into(),
            )
        };
        let at: DateTime = typed.parse().ok().or_else(month)?;
        at.to_zoned(current())
            .ok()
            .map(|at| Self(at.timestamp().as_millisecond()))
    }

    /// The time `clock` of the same day in the reader's time zone.
    pub(crate) fn at(self, clock: Clock) -> Option<Self> {
        let then = self.zoned()?.with().time(clock.0).build().ok()?;
        Some(Self(then.timestamp().as_millisecond()))
    }

    /// Start of the named day in the reader's time zone, relative to this time.
    pub(crate) fn start_of(self, day: Day) -> Option<Self> {
        let now = self.zoned()?;
        let days = match day {
            Day::Today => 0,
            Day::Yesterday => 1,
            Day::Weekday(weekday) => weekday.until(now.weekday()),
        };
        let then = now.checked_sub(Span::new().days(days)).ok()?;
        let start = then.start_of_day().ok()?;
        Some(Self(start.timestamp().as_millisecond()))
    }

    fn local(self, format: &str) -> String {
        self.zoned()
            .map_or_else(String::new, |at| at.strftime(format).to_string())
    }

    fn zoned(self) -> Option<Zoned> {
        jiff::Timestamp::from_millisecond(self.0)
            .ok()
            .map(|at| at.to_zoned(current()))
    }
}

/// Parses the usual form of timestamps, `2026-01-31T11:53:47.108Z`. All other forms go to the
/// general parser, which is many times slower.
fn usual(raw: &[u8]) -> Option<jiff::Timestamp> {
    let number = |digits: Range<usize>| {
        let digit = |sum: i16, byte: &u8| {
            byte.is_ascii_digit()
                .then(|| sum * 10 + i16::from(byte - b'0'))
        };
        raw.get(digits)?.iter().try_fold(0, digit)
    };
    let pair = |at: usize| i8::try_from(number(at..at + 2)?).ok();
    let millis = match raw.get(19..)? {
        b"Z" => 0,
        [b'.', _, _, _, b'Z'] => number(20..23)?,
        _ => return None,
    };
    let date = Date::new(number(0..4)?, pair(5)?, pair(8)?).ok()?;
    let time = Time::new(
        pair(11)?,
        pair(14)?,
        pair(17)?,
        i32::from(millis) * 1_000_000,
    )
    .ok()?;
    let signs = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let is_usual = signs.iter().all(|(at, sign)| raw.get(*at) == Some(sign));
    Offset::UTC
        .to_timestamp(date.to_datetime(time))
        .ok()
        .filter(|_| is_usual)
}

/// A time of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock(Time);

impl Clock {
    /// Parses `10:42` or `10:42:07`.
    pub(crate) fn parse(typed: &str) -> Option<Self> {
        let is_clock = typed.contains(':') && typed.chars().all(|c| c.is_ascii_digit() || c == ':');
        let time: Option<Time> = is_clock.then(|| typed.parse().ok())?;
        time.map(Self)
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.strftime("%H:%M:%S"))
    }
}

/// A day by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Day {
    Today,
    Yesterday,
    /// The latest day with that name, today included.
    Weekday(Weekday),
}

impl Day {
    /// Parses `today`, `yesterday`, `monday` or `mon`.
    pub(crate) fn parse(typed: &str) -> Option<Self> {
        match typed.to_ascii_lowercase().as_str() {
            "today" => Some(Self::Today),
            "yesterday" => Some(Self::Yesterday),
            name => WEEKDAYS
                .iter()
                .find(|(_, known)| *known == name || known.get(..3) == Some(name))
                .map(|(weekday, _)| Self::Weekday(*weekday)),
        }
    }
}

pub(crate) const WEEKDAYS: [(Weekday, &str); 7] = [
    (Weekday::Monday, "monday"),
    (Weekday::Tuesday, "tuesday"),
    (Weekday::Wednesday, "wednesday"),
    (Weekday::Thursday, "thursday"),
    (Weekday::Friday, "friday"),
    (Weekday::Saturday, "saturday"),
    (Weekday::Sunday, "sunday"),
];

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weekday = |wanted: Weekday| WEEKDAYS.iter().find(|(known, _)| *known == wanted);
        f.write_str(match *self {
            Self::Today => "today",
            Self::Yesterday => YESTERDAY,
            Self::Weekday(day) => weekday(day).map_or("", |(_, name)| name),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{Day, Timestamp, usual};

    #[test]
    fn days_begin_at_midnight_of_the_reader() {
        // This is a Friday.
        let now = Timestamp::parse_local("2026-10-30 23:30").unwrap();
        let start = |day: &str| {
            let day = Day::parse(day).unwrap();
            now.start_of(day).unwrap().date_and_clock()
        };
        assert_eq!(start("today"), "2026-10-30 00:00");
        assert_eq!(start("Yesterday"), "2026-10-29 00:00");
        assert_eq!(start("fri"), "2026-10-30 00:00");
        assert_eq!(start("monday"), "2026-10-26 00:00");
        assert_eq!(start("sat"), "2026-10-24 00:00");
        assert_eq!(Day::parse("someday"), None);
        let month = Timestamp::parse_local("2026-10").unwrap();
        assert_eq!(month.date_and_clock(), "2026-10-01 00:00");
        assert_eq!(Timestamp::parse_local("2026-13"), None);
    }

    #[test]
    fn a_time_is_told_by_how_long_ago_it_is() {
        let now = Timestamp::parse_local("2026-10-30 23:30").unwrap();
        let told = |at: &str| {
            let at = Timestamp::parse_local(at).unwrap();
            (at.day_or_minute(now), at.short(now))
        };
        let same = |words: &str| (words.to_owned(), words.to_owned());
        let two = |short: &str, long: &str| (short.to_owned(), long.to_owned());
        assert_eq!(told("2026-10-30 00:10"), same("00:10"));
        assert_eq!(
            told("2026-10-29 09:00"),
            two("yesterday", "yesterday 09:00")
        );
        assert_eq!(told("2026-10-27 09:00"), two("2026-10-27", "Tue 09:00"));
        assert_eq!(
            told("2026-01-31 09:00"),
            two("2026-01-31", "2026-01-31 09:00")
        );
    }

    #[test]
    fn the_usual_form_is_taken_without_the_parser() {
        let known = |raw: &[u8]| usual(raw).map(jiff::Timestamp::as_millisecond);
        assert_eq!(known(b"2026-01-28T11:53:47.108Z"), Some(1_769_601_227_108));
        assert_eq!(known(b"1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(known(b"2026-01-28T11:53:47.108+01:00"), None);
    }

    proptest! {
        #[test]
        fn a_time_is_what_the_parser_says(
            raw in "(19[67]|20[0-3]|[0-9]{3})[0-9]-([01][0-9])-([0-3][0-9])[T ]([0-2][0-9]):([0-6][0-9]):([0-6][0-9])(\\.[0-9]{1,6})?(Z|z|\\+00:00|-08:00)"
        ) {
            let parsed = raw.parse::<jiff::Timestamp>().ok().map(|at| Timestamp(at.as_millisecond()));
            assert_eq!(Timestamp::parse(&raw), parsed, "{raw}");
        }
    }
}
