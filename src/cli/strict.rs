//! The option `--strict`, and how reports treat what they cannot read.

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
    /// How other files in a named folder are treated.
    pub(super) fn folders(self, surroundings: &Surroundings) -> Folders {
        Folders {
            environment: surroundings.environment.clone(),
            strict: self.strict,
        }
    }

    /// The named sessions, and how other files are treated.
    pub(super) fn named(
        self,
        names: &[OsString],
        surroundings: &Surroundings,
    ) -> (Vec<Result<Target, OpenError>>, Folders) {
        let targets = names.iter().map(|name| session(name, surroundings));
        (targets.collect(), self.folders(surroundings))
    }
}
