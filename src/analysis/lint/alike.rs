//! Groups findings of one kind: findings of a rule are listed once, with their count.

use super::Finding;

/// Findings that are listed as one row.
#[derive(Clone, Debug)]
pub(crate) struct Alike<'a> {
    pub(crate) first: &'a Finding,
    /// The last one, which may be the first.
    pub(crate) last: &'a Finding,
    pub(crate) count: u64,
}

impl<'a> Alike<'a> {
    /// Groups these findings as one; `None` if there are none.
    pub(crate) fn of(findings: impl IntoIterator<Item = &'a Finding>) -> Option<Self> {
        let mut findings = findings.into_iter();
        let first = findings.next()?;
        let one = Self {
            first,
            last: first,
            count: 1,
        };
        Some(findings.fold(one, |alike, last| Self {
            last,
            count: alike.count + 1,
            ..alike
        }))
    }

    /// Whether a finding has the same rule and severity.
    pub(crate) fn matches(&self, finding: &Finding) -> bool {
        (self.first.rule.id, self.first.severity) == (finding.rule.id, finding.severity)
    }
}

/// Groups findings by kind, in the order of their first findings.
pub(crate) fn group_findings<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
) -> Vec<Alike<'a>> {
    let mut kinds: Vec<Alike<'a>> = Vec::new();
    for finding in findings {
        match kinds.iter_mut().find(|kind| kind.matches(finding)) {
            Some(kind) => {
                kind.last = finding;
                kind.count += 1;
            }
            None => kinds.push(Alike {
                first: finding,
                last: finding,
                count: 1,
            }),
        }
    }
    kinds
}
