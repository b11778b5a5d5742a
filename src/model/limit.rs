//! How much of what a provider allows for a span of time is used up.

use super::timestamp::Timestamp;

/// A span of time and what is used up of it, as a session tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Minutes of the span: 300 are five hours, 10 080 a week. Some agents write one less.
    pub minutes: u64,
    /// In percent.
    pub used: f64,
    /// When it begins anew.
    pub resets: Option<Timestamp>,
    /// When this was recorded.
    pub recorded: Option<Timestamp>,
}

impl Limit {
    /// Takes its place among others: of each span what was recorded last counts.
    pub(crate) fn join(self, others: &mut Vec<Self>) {
        match others
            .iter_mut()
            .find(|known| known.minutes.abs_diff(self.minutes) <= 1)
        {
            Some(known) if known.recorded <= self.recorded => *known = self,
            Some(_) => {}
            None => others.push(self),
        }
    }

    /// Whether it has begun anew since.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.resets.is_some_and(|resets| resets <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::Limit;
    use crate::model::timestamp::Timestamp;

    #[test]
    fn of_each_span_the_newest_counts() {
        let recorded = |minutes, used, recorded| Limit {
            minutes,
            used,
            resets: None,
            recorded: Some(Timestamp(recorded)),
        };
        let mut limits = Vec::new();
        for limit in [
            recorded(299, 8.0, 5),
            recorded(10_080, 2.0, 5),
            recorded(300, 9.0, 6),
            recorded(10_079, 1.0, 4),
        ] {
            limit.join(&mut limits);
        }
        assert_eq!(limits, [recorded(300, 9.0, 6), recorded(10_080, 2.0, 5)]);
    }
}
