//! The option `--strict`, and the handling of unreadable files in reports.

use std::ffi::OsString;

use super::naming::session;
use super::surroundings::Surroundings;
use crate::ingest::{OpenError, Target};
use crate::report::reading::Folders;

/// The option.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct StrictArgs {
    /// End with exit code 2 if anything cannot be read, not only what was named
    #[arg(long)]
    pub(super) strict: bool,
}

impl StrictArgs {
    /// The handling of unreadable files in a folder of the arguments.
    pub(super) fn folders(self, surroundings: &Surroundings) -> Folders {
        Folders {
            environment: surroundings.environment.clone(),
            strict: self.strict,
        }
    }

    /// The sessions of the arguments, and the handling of unreadable files.
    pub(super) fn targets(
        self,
        names: &[OsString],
        surroundings: &Surroundings,
    ) -> (Vec<Result<Target, OpenError>>, Folders) {
        let targets = names.iter().map(|name| session(name, surroundings));
        (targets.collect(), self.folders(surroundings))
    }
}
