//! Usage limits: how much of a provider's allowance for a span of time is used.

use super::timestamp::Timestamp;

/// A limit and how much of it is used, as a session records it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Length of the span in minutes: 300 are five hours, 10 080 a week. Some agents write one
    /// minute less.
    pub minutes: u64,
    /// Used share in percent.
    pub used: f64,
    /// When the span starts again; `None` if not recorded.
    pub resets: Option<Timestamp>,
    /// When this was recorded.
    pub recorded: Option<Timestamp>,
}

impl Limit {
    /// Merges it into a list with one limit for each span: the latest recorded counts.
    pub(crate) fn merge_into(self, others: &mut Vec<Self>) {
        match others
            .iter_mut()
            .find(|known| known.minutes.abs_diff(self.minutes) <= 1)
        {
            Some(known) if known.recorded <= self.recorded => *known = self,
            Some(_) => {}
            None => others.push(self),
        }
    }

    /// Whether the span has started again since it was recorded.
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
            limit.merge_into(&mut limits);
        }
        assert_eq!(limits, [recorded(300, 9.0, 6), recorded(10_080, 2.0, 5)]);
    }
}
