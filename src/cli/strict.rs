//! The option `--strict`, and the handling of unreadable files in reports.

use std::ffi::OsString;

use super::naming::session;
use super::surroundings::Surroundings;
use crate::ingest::{OpenError, Target};
use crate::report::reading::NamedSessions;

/// The option.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct StrictArgs {
    /// End with exit code 2 if anything cannot be read, not only what was named
    #[arg(long)]
    pub(super) strict: bool,
}

impl StrictArgs {
    /// The sessions that these arguments name.
    pub(super) fn named(self, names: &[OsString], surroundings: &Surroundings) -> NamedSessions {
        let targets = names.iter().map(|name| session(name, surroundings));
        self.sessions(targets.collect(), surroundings)
    }

    pub(super) fn sessions(
        self,
        targets: Vec<Result<Target, OpenError>>,
        surroundings: &Surroundings,
    ) -> NamedSessions {
        NamedSessions {
            targets,
            environment: surroundings.environment.clone(),
            strict: self.strict,
        }
    }
}
