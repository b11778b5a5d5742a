//! What a report makes of what it cannot read.

use std::ffi::OsString;

use super::naming::session;
use super::surroundings::Surroundings;
use crate::ingest::{OpenError, Target};
use crate::report::reading::Folders;

/// What was typed of it.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct StrictArgs {
    /// End with exit code 2 if anything cannot be read, not only what was named
    #[arg(long)]
    pub(super) strict: bool,
}

impl StrictArgs {
    /// What becomes of what else lies in a folder that is named.
    pub(super) fn folders(self, surroundings: &Surroundings) -> Folders {
        Folders {
            environment: surroundings.environment.clone(),
            strict: self.strict,
        }
    }

    /// The sessions that were named, and the same.
    pub(super) fn named(
        self,
        names: &[OsString],
        surroundings: &Surroundings,
    ) -> (Vec<Result<Target, OpenError>>, Folders) {
        let targets = names.iter().map(|name| session(name, surroundings));
        (targets.collect(), self.folders(surroundings))
    }
}
