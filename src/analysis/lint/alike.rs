//! Findings of one kind as one: what a rule finds sixty times is listed once, with its count.

use super::Finding;

/// Findings that are listed as one.
#[derive(Clone, Debug)]
pub(crate) struct Alike<'a> {
    /// The first of them.
    pub(crate) first: &'a Finding,
    /// The last of them, which may be the first.
    pub(crate) last: &'a Finding,
    count: u64,
}

impl<'a> Alike<'a> {
    /// All of these as one; `None` if there are none.
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

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether a finding is of their kind: of the same rule, and as bad.
    pub(crate) fn holds(&self, finding: &Finding) -> bool {
        (self.first.rule.id, self.first.severity) == (finding.rule.id, finding.severity)
    }
}

/// Findings by their kinds, in the order in which the kinds were found first.
pub(crate) fn alike<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<Alike<'a>> {
    let mut kinds: Vec<Alike<'a>> = Vec::new();
    for finding in findings {
        match kinds.iter_mut().find(|kind| kind.holds(finding)) {
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
