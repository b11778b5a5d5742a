//! Names of groups and rate limits as text: the same for the written table and for the view.

use itertools::Itertools as _;

use super::UsageGroup;
use crate::analysis::by::By;
use crate::model::figures;
use crate::model::limit::Limit;
use crate::model::timestamp::Timestamp;

impl UsageGroup {
    /// The name of a group in one grouping; for a session its id.
    pub fn name(&self, by: By) -> String {
        let known = |name: Option<&str>| {
            name.filter(|name| !name.is_empty())
                .unwrap_or(by.none())
                .to_owned()
        };
        match by {
            By::Day | By::Week | By::Month => known(self.period.as_deref()),
            By::Project => known(self.project.as_deref()),
            By::Agent => known(self.agent),
            By::Model => known(self.model.as_deref()),
            By::Session => known(self.session.as_ref().map(|(id, _)| id.as_str())),
            By::SubAgent | By::Skill | By::Branch | By::Mcp | By::Tool => {
                known(self.attributed(by))
            }
        }
    }

    /// Its name by an attribution; `None` if none is recorded.
    pub(crate) fn attributed(&self, by: By) -> Option<&str> {
        let mut attributed = self.attributed.iter();
        let (_, name) = attributed.find(|(known, _)| *known == by)?;
        name.as_deref()
    }

    /// The title of the session, on one line.
    pub fn title(&self) -> String {
        let title = self
            .session
            .as_ref()
            .and_then(|(_, title)| title.as_deref())
            .unwrap_or_default();
        title.split_whitespace().join(" ")
    }
}

/// In minutes.
const WEEK: u64 = 7 * 24 * 60;

/// The usage of a rate limit: `codex 5h: 28% used, begins anew in 2h, recorded 12m ago`.
pub fn limit(agent: &str, limit: Limit, now: Timestamp) -> String {
    // Some agents write one minute less.
    let is_short = (limit.minutes + 1).is_multiple_of(60);
    let minutes = limit.minutes + u64::from(is_short);
    let span = match (minutes / WEEK, minutes % WEEK) {
        (1, 0) => "week".to_owned(),
        (weeks @ 2.., 0) => format!("{weeks} weeks"),
        _ => figures::span(minutes * 60_000),
    };
    let ago = |at: Timestamp| figures::ago(now.since(at));
    let resets = limit.resets.map(|at| {
        if limit.is_over(now) {
            format!(", began anew {}", ago(at))
        } else {
            match at.since(now) {
                0..60_000 => ", begins anew in a minute".to_owned(),
                ms => format!(", begins anew in {}", figures::age(ms)),
            }
        }
    });
    let recorded = limit
        .recorded
        .map(|at| format!(", recorded {}", ago(at)))
        .unwrap_or_default();
    format!(
        "{agent} {span}: {}% used{}{recorded}",
        limit.used.round(),
        resets.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::limit;
    use crate::model::limit::Limit;
    use crate::model::timestamp::Timestamp;

    #[test]
    fn a_limit_says_of_which_span_and_how_old_it_is() {
        let now = Timestamp(100_000_000_000);
        let at = |minutes: i64| Some(Timestamp(now.0 + minutes * 60_000));
        let words = |minutes, used, resets, recorded| {
            limit(
                "codex",
                Limit {
                    minutes,
                    used,
                    resets,
                    recorded,
                },
                now,
            )
        };
        assert_eq!(
            words(300, 28.4, at(125), at(-12)),
            "codex 5h: 28% used, begins anew in 2h, recorded 12m ago"
        );
        assert_eq!(
            words(299, 8.0, None, at(-12)),
            "codex 5h: 8% used, recorded 12m ago"
        );
        assert_eq!(
            words(10_079, 99.6, at(-60), at(-90)),
            "codex week: 100% used, began anew 1h ago, recorded 1h ago"
        );
        assert_eq!(words(43_200, 1.0, None, None), "codex 30d: 1% used");
    }
}
