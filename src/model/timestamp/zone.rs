//! The reader's time zone: the system's, or the one in `TZ`.
//!
//! Invariant: it is set once, before any timestamp is formatted; only the switch to UTC may follow.
//! Without it timestamps are in UTC on every machine. This module reads no file for `TZ`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::tz::TimeZone;

static ZONE: OnceLock<TimeZone> = OnceLock::new();
/// Whether UTC is shown instead.
static IN_UTC: AtomicBool = AtomicBool::new(false);

#[derive(Clone, Debug, PartialEq)]
pub struct Zone(TimeZone);

/// Coordinated universal time.
impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    /// The time zone of the system.
    pub(crate) fn system() -> Self {
        Self(TimeZone::system())
    }

    /// Parses a name such as `Europe/Berlin` or a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        TimeZone::get(name)
            .or_else(|_| TimeZone::posix(name))
            .ok()
            .map(Self)
    }

    /// Parses a TZif file of the system.
    pub(crate) fn of_file(bytes: &[u8]) -> Option<Self> {
        TimeZone::tzif("", bytes).ok().map(Self)
    }

    /// Makes it the time zone for formatting.
    pub fn install(self) {
        let _ = ZONE.set(self.0);
    }

    /// Switches between UTC and the reader's time zone.
    pub fn show_utc(is_on: bool) {
        IN_UTC.store(is_on, Ordering::Relaxed);
    }
}

/// The time zone for formatting.
pub(super) fn current() -> TimeZone {
    if IN_UTC.load(Ordering::Relaxed) {
        return TimeZone::UTC;
    }
    ZONE.get().cloned().unwrap_or(TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use super::Zone;

    #[test]
    fn zones_have_names_or_rules() {
        assert_eq!(Zone::parse("UTC"), Some(Zone::default()));
        assert!(
            Zone::parse("CET-1CEST,M3.5.0,M10.5.0/3").is_some() && Zone::parse("JST-9").is_some()
        );
        for none in ["", "/dev/zero", "../../dev/zero", "no zone", "Europe"] {
            assert_eq!(Zone::parse(none), None, "{none}");
        }
        assert_eq!(Zone::of_file(&[0; 4096]), None);
    }
}
